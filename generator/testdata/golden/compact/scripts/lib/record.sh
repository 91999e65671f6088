#!/usr/bin/env bash
# record.sh: the log of a stage, its record in the installer's format, and the
# likely cause when it fails
#
# Sourced by stage.sh.
RECORDS="${HOST_ROOT}/var/log/openshift/bootkube.json"
PHASE='' LINE='' COMMAND='' LOGGER=''

# Everything that is printed from here on also goes to the log.
open_log() {
  # shellcheck disable=SC2015 # either may fail
  mkdir -p "${LOG%/*}" && TZ=UTC printf '==> %s starts, %(%FT%TZ)T\n' "${0##*/}" -1 >> "${LOG}" ||
    die 4 "cannot write to ${LOG}" 'check its owner, its mode and the space on the disk'
  # tee must outlive Ctrl-C and a closed terminal, or the last lines are lost.
  exec > >(
    trap '' INT TERM HUP PIPE
    exec tee --append --output-error=warn-nopipe "${LOG}" 9>&-
  ) 2>&1
  LOGGER=$!
  trap note_line ERR
  catch_signals
  trap ended EXIT
}

# Ctrl-C in a terminal reaches the running program too. TERM and HUP may reach this
# shell alone. Without a trap for them bash does not wait for the program: it runs the
# EXIT trap at once, which ends the program.
catch_signals() {
  trap 'die 1 interrupted "run ${0##*/} again"' INT
  trap - TERM HUP
}

# Note the line in the stage script, even when a library function failed.
note_line() {
  local i
  COMMAND=${BASH_COMMAND%%$'\n'*}
  for ((i = 1; i < ${#BASH_SOURCE[@]}; i++)); do
    [[ ${BASH_SOURCE[i]} != "$0" ]] || LINE="${BASH_LINENO[i - 1]} ${FUNCNAME[i]} ${0##*/}"
  done
}

# Ends the programs that still run, those of subshells too, but not the logger. The
# status of the last command says nothing about a signal: a stage whose record is open,
# and that had no error, was interrupted.
end_programs() { # STATUS
  local i pid children programs=("$$")
  trap '' INT TERM HUP
  for ((i = 0; i < ${#programs[@]}; i++)); do
    children='' pid=${programs[i]} && read -r children < "/proc/${pid}/task/${pid}/children"
    for pid in ${children}; do [[ ${pid} == "${LOGGER}" ]] || programs+=("${pid}"); done
  done
  [[ ${PHASE} != *' start' || -n ${ERROR}${LINE} || $1 != 0 && ${#programs[@]} == 1 ]] ||
    { ERROR=interrupted && printf 'error: interrupted\n  hint: run %s again\n' "${0##*/}"; }
  kill "${programs[@]:1}"
  for ((i = 0; i < 150; i++)); do kill -0 "${programs[@]:1}" && sleep 0.1 || break; done
} 2> /dev/null

# Runs on every exit except kill -9.
ended() { # [STATUS]
  local status=${1:-$?}
  trap - ERR EXIT
  set +e
  end_programs "${status}"
  exec 9>&-
  if ((status != 0)) || [[ ${ERROR} == interrupted ]]; then
    # A program may end with 3 or 4: these have a meaning only where the script says why.
    [[ -n ${ERROR} && ${status} == [34] ]] || status=1
    [[ -n ${ERROR} ]] ||
      printf 'error: %s failed%s\n' "${TITLE}" "${LINE:+ at line ${LINE%% *}: ${COMMAND}}"
    # In a subshell: what follows is printed although the disk may be full.
    [[ ${PHASE} != *' start' ]] ||
      (record "${PHASE% start} end" failure "${LINE}" "${ERROR:-${TITLE} failed}")
    printf '  log: %s\n' "${LOG}"
    likely_causes
  fi
  exec > /dev/null 2>&1
  timeout 2 tail --sleep-interval=0.002 --pid="${LOGGER}" --follow /dev/null
  exit "${status}"
}

# Print known causes whose messages appear in this run's log. tee may lag, so wait for
# our own 'log:' line. Skip earlier runs, and error lines that merely quote a command.
likely_causes() {
  local tries
  for ((tries = 0; tries < 50; tries++)); do
    tail --bytes=4096 "${LOG}" | grep --quiet --line-regexp --fixed-strings "  log: ${LOG}" && break
    sleep 0.02
  done
  sed --quiet "/^==> ${0##*/} starts, /{h; d}; H; \${x; p}" "${LOG}" |
    sed '/^==> Checks$/,$d; /^==> /d; /^error: .* failed at line /d' |
    jq --raw-input --slurp --raw-output --slurpfile stage "${SCRIPTS}/checks/${STAGE}.json" '
      split("\n") as $log | $stage[0].failures[]
      | select((.message | split("…")) as $parts
        | any($log[]; . as $line | all($parts[]; . as $part | $line | contains($part))))
      | "  cause: \(.cause)\n  hint: \(.fix)"'
}

# The installer's own format, which openshift-install analyze reads: one service
# start at the first script, then a start and an end for each stage.
record() { # PHASE [RESULT [LINE MESSAGE]]
  PHASE=$1
  write_record "$@" 2> /dev/null || die 1 "cannot write ${RECORDS}" 'check the space on its disk'
}

# Adds an entry to the JSON as text: jq would take longer than all other bookkeeping.
write_record() { # PHASE [RESULT [LINE MESSAGE]]
  local entries before stage=${RECORD} message=${4:-}
  [[ -s ${RECORDS} ]] || echo '[]' > "${RECORDS}" || return 1
  entries="$(< "${RECORDS}")"
  # jq reads what another program wrote. A torn file is kept, and a new one begins.
  [[ ${entries} == $'[\n  {\n    "'*$'\n  }\n]' ]] ||
    entries="$(jq 'if type == "array" then . else error end' "${RECORDS}")" ||
    { mv -f "${RECORDS}" "${RECORDS}.torn" && entries='[]'; } || return 1
  [[ ${entries} == '[]' ]] && entries='[' || entries="${entries%$'\n]'},"
  # A service that is not running begins.
  before="${entries%'"phase": "service '*}"
  [[ ${entries:${#before}} == '"phase": "service start"'* ]] ||
    entries+=$'\n'"$(entry '' 'service start'),"
  [[ $1 != service* ]] || stage=''
  message=${message//\\/\\\\} message=${message//\"/\\\"} message=${message//$'\n'/\\n}
  message=${message//[[:cntrl:]]/ }
  printf '%s\n%s\n]\n' "${entries}" "$(entry "${stage}" "$1" "${2:-}" "${3:-}" "${message}")" \
    > "${RECORDS}.tmp" && mv -f "${RECORDS}.tmp" "${RECORDS}"
}

entry() { # STAGE PHASE [RESULT LINE MESSAGE], without the keys that have no value
  TZ=UTC printf '  {\n    "timestamp": "%(%FT%TZ)T"' -1
  printf ',\n    "%s": "%s"' ${1:+stage "$1"} phase "$2" ${3:+result "$3"} \
    ${4:+errorLine "$4"} ${5:+errorMessage "$5"}
  printf '\n  }'
}

# A signal must not come between the marker and its record.
mark() {
  [[ -z ${SKIPPED} ]] || return 0
  trap '' INT TERM HUP
  [[ -z ${MARKER} ]] || touch "${MARKER}"
  [[ -z ${RECORD} ]] || record 'stage end' success
  catch_signals
}

# A run killed between marker and record leaves the record open; close it.
close_record() {
  [[ -z ${RECORD} ]] || jq --exit-status --arg stage "${RECORD}" \
    'map(select(.stage == $stage)) | last | .result == "success"' \
    "${RECORDS}" > /dev/null 2>&1 || record 'stage end' success
}
