#!/usr/bin/env bash
# stage.sh: the protocol that every stage script follows
#
# A stage script is read from top to bottom: settings, what it needs, begin, its
# steps, finish. It calls the functions below between its steps, never in one.
#
#   begin   reads the options, checks what is needed, opens lock, log and record
#   step    announces a step; with --step it asks first
#   finish  runs checks/STAGE.sh, writes the marker, closes the record
#
# Exit status: 0 done, 1 the stage failed, 2 wrong usage, 3 a check failed,
# 4 something is missing on this host, or not run yet.
umask 022
export LC_ALL=C # the same messages and the same order of names on every host
MODE=run FORCE=no ERROR='' TITLE='the look-ups' SKIPPED='' PARALLEL=no WORDS=''
COMMANDS=() INPUTS=() LATER=() OPTIONS=()
LOG="${HOST_ROOT}/var/log/openshift/bootlab/${STAGE}.log"
# shellcheck source=lib/host.sh
source "${SCRIPTS}/lib/host.sh" # is this host fit, and is nothing else running?
# shellcheck source=lib/record.sh
source "${SCRIPTS}/lib/record.sh" # the log, the installer's record, the likely cause

log() { printf '==> %s\n' "$*"; }

die() { # STATUS MESSAGE HINT
  printf 'error: %s\n  hint: %s\n' "$2" "$3" >&2
  ERROR=$2
  exit "$1"
}

# --- before begin: what the stage needs -------------------------------------

needs() { COMMANDS+=("$@"); } # COMMAND...

needs_input() { # HINT FILE...
  local file
  for file in "${@:2}"; do INPUTS+=("${file}" "$1"); done
}

# What a later stage made from this one's files is no longer valid after a rerun.
invalidates() { LATER+=(rerun "$@"); }  # MARKER SCRIPT WHY
never_after() { LATER+=(refuse "$@"); } # MARKER SCRIPT WHY

option() { OPTIONS+=("$@"); } # --NAME[=VALUE] VARIABLE MEANING
takes_words() { WORDS=$1; }   # VARIABLE, for what is no option

# For a script in a second terminal: a lock, and a record, of its own.
runs_in_parallel() { PARALLEL=yes RECORDS="${LOG%.log}.json"; }

# --- begin ------------------------------------------------------------------

begin() { # ARGUMENT...
  read_options "$@"
  check_host
  if [[ ${MODE} == verify ]]; then verify; fi
  enter_directory
  check_inputs
  take_lock
  skip_if_done
  check_later_stages
  open_log
  record 'stage start'
  rm -rf .new ${MARKER:+"${MARKER}"}
  remove_old_container
}

read_options() { # ARGUMENT...
  local argument i
  for argument in "$@"; do
    case ${argument} in
      -h | --help) usage && exit ;;
      --explain) explain && exit ;;
      --dry-run) show_commands && exit ;;
      --step | --verify) MODE=${argument#--} && continue ;;
      --force) FORCE=yes && continue ;;
    esac
    for ((i = 0; i < ${#OPTIONS[@]}; i += 3)); do
      [[ ${argument%%=*} == "${OPTIONS[i]%%=*}" ]] || continue
      printf -v "${OPTIONS[i + 1]}" %s "${argument#*=}"
      continue 2
    done
    [[ ${argument} != -* && -n ${WORDS} ]] ||
      die 2 "unknown option ${argument@Q}" "${0##*/} --help lists the options"
    printf -v "${WORDS}" %s "${!WORDS:-} ${argument}"
  done
}

# What an earlier run finished is checked and left alone.
skip_if_done() {
  [[ -n ${MARKER} && -e ${MARKER} && ${FORCE} == no ]] || return 0
  if "${SCRIPTS}/checks/${STAGE}.sh" > /dev/null; then
    close_record
    log "${STAGE} is done already; --verify shows the checks, --force runs it again"
    exit
  fi
  log "${STAGE} is marked as done, but a check fails: running it again"
}

check_later_stages() {
  local i invalid=()
  for ((i = 0; i < ${#LATER[@]}; i += 4)); do
    [[ -e ${LATER[i + 1]} ]] || continue
    [[ ${LATER[i]} == rerun ]] ||
      die 1 "${STAGE} cannot run again after ${LATER[i + 2]}: ${LATER[i + 3]}" \
        'start with a new bootstrap node'
    log "running ${STAGE} again invalidates ${LATER[i + 2]}: ${LATER[i + 3]}"
    invalid+=("${LATER[i + 1]}")
  done
  ((${#invalid[@]} > 0)) || return 0
  [[ ${FORCE} == yes ]] || die 1 "${STAGE} would invalidate the results named above" \
    "${0##*/} --force runs it and removes their markers; run those scripts after it"
  rm -f "${invalid[@]}"
}

# --- step -------------------------------------------------------------------

step() { # NUMBER TITLE
  local answer
  TITLE="step $1 (${2})"
  log "$1. $2"
  [[ ${MODE} == step ]] || return 0
  while true; do
    printf '    [Enter] run it, s skip, a run all, c show the commands, q stop: '
    read -r answer || answer=q
    case ${answer} in
      '') return 0 ;;
      s) SKIPPED+=" $1" && return 1 ;;
      a) MODE=run && return 0 ;;
      c) step_text "$1" ;;
      q) die 1 "stopped before step $1" "${0##*/} runs the whole stage again" ;;
    esac
  done
}

# --- finish -----------------------------------------------------------------

finish() {
  [[ -z ${SKIPPED} ]] || die 1 "skipped:${SKIPPED}; the stage is not done" "${0##*/} runs it whole"
  log 'Checks'
  "${SCRIPTS}/checks/${STAGE}.sh" 9>&- || die 3 'a check failed' 'each failed check says what to do'
  mark
  log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
}

mark() {
  [[ -z ${MARKER} ]] || touch "${MARKER}"
  record 'stage end' success
}

verify() {
  if [[ -z ${MARKER} || -e ${MARKER} || -e ${LOG} ]]; then exec "${SCRIPTS}/checks/${STAGE}.sh"; fi
  printf 'TAP version 14\nnot ok 1 - done: not run yet; run %s first\n1..1\n' "${0##*/}"
  exit 4
}

# --- the script as text -----------------------------------------------------

# The steps as a bash script of their own: nothing but the programs that run.
show_commands() {
  printf "cd -- %q\nset -Eeuo pipefail\nSCRIPTS=%q\nASSET_DIR=\${PWD}\n" "${ASSET_DIR}" "${SCRIPTS}"
  awk '/^# Settings: every value/ { settings = 1 }
    /^source / { settings = 0 }
    /^finish/ { after = 0 }
    settings && !/^(#|SCRIPTS=|ASSET_DIR=|STAGE=|MARKER=|$)/ { print }
    after && /^if step / { sub(/^if step /, "{ # "); sub(/; then$/, "") }
    after && /^fi( 9>&-)?$/ { $0 = "}" }
    after && !/^(mark|# shellcheck.*)$/ { print }
    /^begin / { after = 1 }' "$0"
}

step_text() { # NUMBER
  awk -v first="if step $1 " '
    index($0, first) == 1 { on = 1; next }
    /^fi( 9>&-)?$/ { on = 0 }
    on' "$0"
}

explain() {
  awk 'NR == 1 || /^ *# shellcheck/ { next }
    /^ *#/ { sub(/^ *# ?/, ""); print; open = 1; next }
    open { print ""; open = 0 }' "$0"
}

usage() {
  local i
  printf 'Usage: %s [OPTION]%s\n\n' "${0##*/}" "${WORDS:+ ${WORDS}...}"
  printf '  %-12s %s\n' '' 'check the inputs, do what is not done, check the result' \
    --explain 'what the stage does and why' \
    --dry-run 'print the commands as a bash script, change nothing' \
    --step 'ask before each step' --verify 'run only the checks (TAP 14)' \
    --force 'run again although it is done' --help 'this text'
  for ((i = 0; i < ${#OPTIONS[@]}; i += 3)); do
    printf '  %-12s %s\n' "${OPTIONS[i]}" "${OPTIONS[i + 2]}"
  done
}
