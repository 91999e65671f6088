#!/usr/bin/env bash
# stage-lib.sh: how every stage script runs
#
# A stage script sets its settings and STAGE, CALL (what it is called with),
# RECORD, MARKER, NEEDS and NEXT, sources this file, defines check_inputs, invalidates,
# do_stage, verify and usual_failures, and ends with stage_main "$@". Exit status:
# 0 done, 1 the stage failed, 2 wrong usage, 3 a check failed, 4 this host lacks
# something.
umask 022
# Programs are asked in English, for some answers are compared, and sorted alike
# everywhere. Not C.UTF-8, which is not on every host: what lies outside ASCII is
# kept byte for byte all the same, and jq reads UTF-8 whatever stands here.
export LC_ALL=C
MODE=run FORCE=no ERROR='' SAID=no LINE='' BEGUN=no PHASE='' CHECKS=0 FAILED=0 LOG_FROM=1 LOGGER='' INVALIDATED=()
AGAIN='' RECORDS="${HOST_ROOT}/var/log/openshift/bootkube.json"
# bootkube.sh has one stage open at a time; what runs beside it tells its own.
[[ -z ${PARALLEL:-} ]] || RECORDS="${HOST_ROOT}/var/log/openshift/bootlab/${STAGE}.json"
readonly LOG="${HOST_ROOT}/var/log/openshift/bootlab/${STAGE}.log"
# 3, 4 and 5 stay the terminal while output goes through the log; 9 is the lock.
exec 3<&0 4>&1 5>&2
# shellcheck source-path=SCRIPTDIR source=command-lib.sh
source "${BASH_SOURCE[0]%/*}/command-lib.sh"
# shellcheck source-path=SCRIPTDIR source=check-lib.sh
source "${BASH_SOURCE[0]%/*}/check-lib.sh"
# shellcheck source-path=SCRIPTDIR source=certificate-lib.sh
source "${BASH_SOURCE[0]%/*}/certificate-lib.sh"

# What this stage's result was used for must be done again after it.
invalidated() { # MARKER SCRIPT WHY
  [[ -e $1 ]] || return 0
  INVALIDATED+=("$1")
  log "what $2 made is invalidated by doing ${STAGE} again: $3"
}

refuse_to_invalidate() {
  [[ ${#INVALIDATED[@]} == 0 || ${FORCE} == yes ]] || die 1 "repeating ${STAGE} invalidates ${#INVALIDATED[@]} later results, named above" \
    "${CALL} --force does it and marks them as not done; run their scripts after it"
}

# The same where the script finds out only later that its result is another.
made_from_old() { # MARKER SCRIPT WHY
  [[ -e $1 ]] || return 0
  run rm --force "$1"
  log "run $2 again: $3"
}

never_after() { # MARKER SCRIPT WHY
  [[ ! -e $1 ]] || die 1 "${STAGE} cannot be repeated after $2: $3" 'begin with a new bootstrap node'
}

# The installer's own format, so that openshift-install analyze reads it too:
# one service start at the first script, then stage by stage.
record() { # PHASE [RESULT [LINE MESSAGE]]
  PHASE=$1
  put_on_record "$@" || { PHASE='' && die 1 "${RECORDS} cannot be written to" 'look at the space on its disk'; }
}

put_on_record() { # PHASE [RESULT [LINE MESSAGE]]
  mkdir --parents "${RECORDS%/*}" && { [[ -s ${RECORDS} ]] || echo '[]' > "${RECORDS}"; } || return 1
  if ! with_entry "$@" 2> /dev/null; then
    if ! jq --exit-status 'type == "array"' "${RECORDS}" > /dev/null 2>&1; then
      mv --force "${RECORDS}" "${RECORDS}.torn" && echo '[]' > "${RECORDS}" || return 1
    fi
    with_entry "$@" || return 1
  fi
  mv --force "${RECORDS}.tmp" "${RECORDS}"
}

begin_record() { [[ ${PHASE} == 'stage start' ]] || record 'stage start'; }

# A run that was killed behind its marker did not come to say so.
end_record() {
  # shellcheck disable=SC2153 # the stage script sets RECORD, but where it has two
  [[ ! -v RECORD || ! -s ${RECORDS} ]] || jq --exit-status --arg stage "${RECORD}" \
    'map(select(.stage == $stage)) | last | .phase != "stage start"' "${RECORDS}" > /dev/null 2>&1 || record 'stage end' success
}

with_entry() { # PHASE [RESULT [LINE MESSAGE]]
  # shellcheck disable=SC2153 # the stage script sets RECORD
  jq --arg timestamp "$(date --utc +%Y-%m-%dT%H:%M:%SZ)" --arg stage "${RECORD}" --arg phase "$1" \
    --arg result "${2:-}" --arg errorLine "${3:-}" --arg errorMessage "${4:-}" '
    (map(.phase | select(startswith("service"))) | last) as $service
    | if $service == "service start" then . else . + [{$timestamp, phase: "service start"}] end
    | . + [{$timestamp, stage: (if $phase | startswith("service") then "" else $stage end), $phase, $result, $errorLine, $errorMessage}
           | with_entries(select(.value != ""))]' "${RECORDS}" > "${RECORDS}.tmp"
}

prepare_directory() {
  if [[ -z ${HOST_ROOT} ]]; then
    ((EUID == 0)) || die 4 'on the bootstrap node the stages run as root' "sudo $0"
    [[ -d ${ASSET_DIR} ]] || die 4 "there is no ${ASSET_DIR}" 'it comes with bootstrap.ign: is this the bootstrap node?'
  elif [[ ${MODE} != dry-run ]]; then
    [[ ${ASSET_DIR} != *:* ]] || die 4 "the path ${ASSET_DIR} holds a colon" 'podman cannot mount it: move the lab'
    # Keys lie below: no one else may look in, however the directory came about.
    (umask 077 && mkdir --parents "${ASSET_DIR}" "${HOST_ROOT}") 2> /dev/null || true
    [[ -w ${ASSET_DIR} && -w ${HOST_ROOT} ]] ||
      die 4 "${ASSET_DIR} cannot be written to" 'look at its owner, its mode and the space on its disk'
    chmod go-rwx "${ASSET_DIR%/*}" 2> /dev/null ||
      die 4 "${ASSET_DIR%/*} cannot be closed to others" 'it belongs to somebody else: move the lab to a directory of your own'
  fi
  # Without an asset directory a dry run must not take the caller's for it, and
  # what it shows is run from there all the same.
  cd -- "${ASSET_DIR}" 2> /dev/null || { cd / && PWD=${ASSET_DIR}; }
}

lock() {
  exec 9> "${ASSET_DIR}/.bootlab${PARALLEL:+.${STAGE}}.lock"
  local other='stage script'
  [[ -z ${PARALLEL:-} ]] || other=${CALL}
  flock --nonblock 9 || die 1 "another ${other} is running in ${ASSET_DIR}" 'wait until it ends'
  [[ -n ${HOST_ROOT} || -n ${PARALLEL:-} ]] || without_bootkube
}

# bootkube.service looks at the lock before it starts, and this looks at
# bootkube.service once it has the lock: in a race both stand back.
without_bootkube() {
  case "$(systemctl show --property=ActiveState --value bootkube.service 2> /dev/null || true)" in
    active | activating | reloading | deactivating)
      die 1 'bootkube.service is running on this node' 'let it end; to go on by hand, see run-bootkube-until.sh' ;;
  esac
}

begin() {
  # Whoever reads the log later can tell this run from those before it.
  { mkdir --parents "${LOG%/*}" && date --utc "+==> ${CALL} begins, %Y-%m-%dT%H:%M:%SZ" >> "${LOG}"; } 2> /dev/null ||
    die 4 "${LOG} cannot be written to" 'look at its owner and its mode'
  LOG_FROM=$(($(wc -l < "${LOG}") + 1))
  # The log outlives a lost terminal, a signal to all, and a reader who leaves.
  trap '' PIPE
  exec > >(trap '' INT TERM HUP && exec 9>&- && exec tee --append --output-error=warn-nopipe "${LOG}") 2>&1
  LOGGER=$! BEGUN=yes
  trap 'LINE="${LINENO} ${FUNCNAME[0]:-main} ${CALL%% *}"' ERR
  trap 'die 1 interrupted "${AGAIN:-${CALL} does the whole stage again}"' INT TERM HUP
  trap finish EXIT
}

# Runs however the script ends, but for kill -9: the record gets its end.
finish() {
  local status=$? tries
  trap - ERR EXIT
  trap '' INT TERM HUP
  set +e
  tidy_up
  exec >&4 2>&5
  for ((tries = 0; tries < 50; tries++)); do kill -0 "${LOGGER}" 2> /dev/null || break; sleep 0.02; done
  [[ ${BEGUN} == yes && ${status} != 0 ]] || exit "${status}"
  [[ ${status} == [134] ]] || status=1
  [[ -n ${ERROR} ]] || said_in_subshell
  # In a subshell, for what comes behind it is said in any case.
  [[ ${PHASE} != 'stage start' ]] || (record 'stage end' failure "${LINE}" "${ERROR:-a command failed}")
  [[ ${SAID} == yes ]] || printf 'error: %s (line %s)\n' "${ERROR:-a command failed}" "${LINE}" >&2
  usual_failures >&2
  cluster_failures >&2
  printf '  log: %s\n' "${LOG}" >&2
  exit "${status}"
}

# A stage that leaves something running behind its back defines this again.
tidy_up() { :; }

# What die said inside $(…) is in the log and nowhere else.
said_in_subshell() {
  ERROR="$(tail --lines="+${LOG_FROM}" "${LOG}" | sed -n 's/^error: //p' | tail --lines=1)"
  [[ -z ${ERROR} ]] || SAID=yes
}

# The log of this run without the script's own words, which name failures before
# there are any: commands, progress, and what checks expect and advise.
their_words() {
  tail --lines="+${LOG_FROM}" "${LOG}" | awk '
    /^  (expected|hint): \|-$/ { own = 1 }
    /^  (found: \|2-|\.\.\.)$/ { own = 0 }
    !own && !/^(==> |  \$ |    \| |(not )?ok [0-9]+ - |  hint: )/'
}

# Said only when the component's own message stands in the log of this run.
usual_failure() { # MESSAGE CAUSE FIX
  # Who finds it reads no further; those before it fail then, and count for nothing.
  grep --quiet --fixed-strings --regexp="$1" < <(their_words 2> /dev/null) || return 0
  printf '  cause: %s\n  hint: %s\n' "$2" "$3"
}

# The explanation of a stage is what its script's comments say.
explain() {
  awk 'NR == 1 || /^ *# shellcheck/ { next }
    /^ *#/ { sub(/^ *# ?/, ""); print; open = 1; next }
    open { print ""; open = 0 }' < "$0"
}

usage() {
  printf 'Usage: %s [MODE]\n\n' "${CALL}"
  printf '  %-10s %s\n' '' 'check, do what is not done, check again' \
    --explain 'what the stage does and why' --dry-run 'show the exact commands, change nothing' \
    --step 'show each command and wait for Enter' --verify 'only the checks, as TAP 14' \
    --force 'do it again although it is done' --help 'this text'
  own_usage
}
own_usage() { :; }

tap() {
  [[ -n ${HOST_ROOT} || ${EUID} == 0 ]] || die 4 'on the bootstrap node the checks run as root' "sudo $0 --verify"
  echo 'TAP version 14'
  if cd -- "${ASSET_DIR}" 2> /dev/null; then verify; else echo "Bail out! ${ASSET_DIR} cannot be entered"; exit 3; fi
  echo "1..${CHECKS}"
  ((FAILED == 0)) || exit 3
}

options() { # ARGUMENT...
  local option
  for option in "$@"; do
    case ${option} in
      --explain) explain; exit ;;
      --help) usage; exit ;;
      --dry-run) MODE=dry-run ;;
      --step | --verify) [[ ${MODE} == dry-run ]] || MODE=${option#--} ;;
      --force) FORCE=yes ;;
      *) own_option "${option}" || die 2 "unknown option ${option@Q}" "${CALL} --help lists the modes" ;;
    esac
  done
  own_words
}
own_option() { false; }
own_words() { :; } # a script that cannot do without a word defines this again
cluster_failures() { :; } # cluster-lib.sh knows some

# A stage that leaves several markers, or none, defines this again.
marked() { [[ -n ${MARKER} && -e ${MARKER} ]]; }

# A stage that doing again would not fix defines this again.
although_marked() { log "${STAGE} is marked as done, but ${FAILED} of ${CHECKS} checks fail: doing it again"; }

# From the start in the record to the marker. A stage of several records, or
# one whose failure stops nothing, defines this again.
whole_stage() {
  begin
  # What is refused has not begun.
  invalidates
  refuse_to_invalidate
  begin_record
  ((${#INVALIDATED[@]} == 0)) || run rm --force "${INVALIDATED[@]}"
  [[ -z ${MARKER} ]] || rm --force "${MARKER}"
  [[ -n ${PARALLEL:-} ]] || sweep
  do_stage
  CHECKS=0 FAILED=0
  verify
  ((FAILED == 0)) || die 3 "${FAILED} of ${CHECKS} checks fail" 'each says above what it expected and what to do'
  [[ -z ${MARKER} ]] || touch "${MARKER}"
  record 'stage end' success
  log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
}

# What a copy left that was killed, operators would read with the rest.
sweep() {
  rm --recursive --force {manifests,tls,bootstrap-manifests}/.*bootlab \
    "${HOST_ROOT}"/etc/kubernetes/{manifests,bootstrap-configs}/.*bootlab "${HOST_ROOT}"/etc/mcc/bootstrap/.*bootlab
}

stage_main() {
  options "$@"
  need "${NEEDS[@]}"
  [[ ${MODE} != verify ]] || { tap; exit; }
  prepare_directory
  check_inputs
  if [[ ${MODE} == dry-run ]]; then do_stage; exit; fi
  lock
  if [[ ${FORCE} == no ]] && marked; then
    verify > /dev/null
    if ((FAILED == 0)); then
      end_record
      log "${STAGE} is done already; --verify shows the checks, --force repeats it"
      exit
    fi
    although_marked
  fi
  whole_stage
}
