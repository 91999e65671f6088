#!/usr/bin/env bash
# ending.sh: other ways for a stage to end than with its checks
#
# Sourced after stage.sh by the scripts that need one of them.

# What a stage must not leave behind, also when it is interrupted.
undo() { # COMMAND
  UNDO=$1
  trap undo_and_end EXIT
}

# A stage that is done, but could not undo what it had to, has failed.
undo_and_end() {
  local status=$?
  end_programs "${status}" || true
  if ! (eval "${UNDO}") && ((status == 0)); then
    status=1 PHASE='stage start' ERROR="${UNDO} failed"
    printf 'error: %s\n' "${ERROR}"
  fi
  ended "${status}"
}

# For a part of the stage that the checks do not describe.
finish_part() { # MESSAGE
  [[ -z ${SKIPPED} ]] || die 1 "skipped:${SKIPPED}; the stage is not done" "${0##*/} runs it whole"
  record 'stage end' success
  log "$1"
  exit
}

# A stage that cannot succeed in this lab: the record says failure, as that of
# bootkube.sh would, and there is no marker.
finish_by_design() { # WHY
  run_checks
  record 'stage end' failure '' "ended by design: $1"
  log "${STAGE} ends here by design: $1"
}
