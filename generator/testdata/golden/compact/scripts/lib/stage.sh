#!/usr/bin/env bash
# stage.sh: the protocol that every stage script follows
#
# A stage script is read from top to bottom: settings, what it needs, begin, its
# steps, finish. It calls the functions below between steps, never inside one.
#
#   begin   reads the options, checks what is needed, opens lock, log and record
#   step    announces a step; with --step it asks first
#   finish  runs checks/STAGE.sh, writes the marker, closes the record
#
# Exit status: 0 done, 1 the stage failed, 2 wrong usage, 3 a check failed,
# 4 something is missing on this host, or an earlier stage has not been run. TERM and
# HUP end a script with the status of the signal, 143 or 129.
umask 022
export LC_ALL=C # the same messages and the same order of names on every host
MODE=run FORCE=no ERROR='' TITLE='the preparation before step 1' SKIPPED='' BY_STEP=no RERUN=yes
LOCK=.bootlab.lock WORDS='' WORDS_MEAN='' PARSED=no COMMANDS=() INPUTS=() OPTIONS=()
LATER=() NEVER=()
LOG="${HOST_ROOT}/var/log/openshift/bootlab/${STAGE}.log"
# shellcheck source=lib/host.sh
source "${SCRIPTS}/lib/host.sh" # is this host fit, and is nothing else running?
# shellcheck source=lib/record.sh
source "${SCRIPTS}/lib/record.sh" # the log, the installer's record, the likely cause

log() { printf '==> %s\n' "$*" || true; } # what cannot be shown stops no stage

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

never_reruns() { RERUN=$1; } # HINT: shown when a check fails that a rerun would not fix

# For a script in a second terminal: it has its own lock and its own record.
runs_in_parallel() { LOCK=.bootlab.${STAGE}.lock RECORDS="${LOG%.log}.json"; }

# --- begin ------------------------------------------------------------------

begin() { # ARGUMENT...
  [[ ${PARSED} == yes ]] || read_options "$@"
  if [[ ${MODE} == dry-run ]]; then as_text commands; fi
  check_host
  if [[ ${MODE} == verify ]]; then verify; fi
  enter_directory
  [[ ! -s release-info/stand-in ]] || log "$(< release-info/stand-in)"
  check_inputs
  take_lock
  skip_if_done
  ((${#LATER[@]} == 0)) || check_later_stages
  ((${#NEVER[@]} == 0)) || refuse_after "${NEVER[@]}"
  open_log
  [[ -z ${RECORD} ]] || record 'stage start'
  [[ ${BY_STEP} == yes || ! -e ${MARKER} ]] || rm -f "${MARKER}"
  [[ ! -e .new ]] || rm -rf .new
  remove_old_container
}

# shellcheck source=lib/text.sh
as_text() { source "${SCRIPTS}/lib/text.sh" && "$@" && exit; } # FUNCTION-OF-TEXT.SH ARGUMENT...

# A script that has to look at its options calls this before it begins.
read_options() { # ARGUMENT...
  local argument
  PARSED=yes
  for argument in "$@"; do
    case ${argument} in
      -h | --help) as_text usage ;;
      --explain) as_text explain ;;
      --dry-run) MODE=dry-run && continue ;;
      --step | --verify) [[ ${MODE} == dry-run ]] || MODE=${argument#--} && continue ;;
      --force) FORCE=yes && continue ;;
    esac
    ((${#OPTIONS[@]} + ${#WORDS} > 0)) && own_argument "${argument}" ||
      die 2 "unknown option ${argument@Q}" "${0##*/} --help lists the options"
  done
}

# If an earlier run finished, only check its results.
skip_if_done() {
  local checks
  # shellcheck disable=SC2086 # a stage of several parts has several markers
  [[ ${FORCE} == no ]] && all_there ${MARKERS:-${MARKER}} || return 0
  if checks="$("${SCRIPTS}/checks/${STAGE}.sh")"; then
    close_record
    log "${STAGE} is done already; --verify shows the checks, --force runs it again"
    exit
  fi
  [[ ${RERUN} == yes ]] ||
    { echo "${checks}" && die 3 "${STAGE} is done, but a check fails" "${RERUN}"; }
  log "${STAGE} is marked as done, but a check fails: running it again"
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
      c) (as_text step_text "$1") ;;
      q) die 1 "stopped before step $1" "${0##*/} runs the whole stage again" ;;
    esac
  done
}

# --- finish -----------------------------------------------------------------

finish() {
  [[ -z ${SKIPPED} ]] || die 1 "skipped:${SKIPPED}; the stage is not done" "${0##*/} runs it whole"
  run_checks
  [[ -e ${MARKER} ]] || mark
  log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
}

run_checks() {
  log 'Checks'
  "${SCRIPTS}/checks/${STAGE}.sh" 9>&- || die 3 'a check failed' 'each failed check says what to do'
}

verify() {
  [[ -n ${MARKER} && ! -e ${ASSET_DIR}/${MARKER} && ! -e ${LOG} ]] ||
    exec "${SCRIPTS}/checks/${STAGE}.sh"
  printf 'TAP version 14\nnot ok 1 - done: not run yet; run %s first\n1..1\n' "${0##*/}"
  exit 4
}
