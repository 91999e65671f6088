#!/usr/bin/env bash
# part.sh: a stage of several parts, each with a record and a marker of its own
#
# Sourced after stage.sh. As in bootkube.sh a part that fails is recorded, and the
# stage goes on. A script calls part before a step, and end_part after it. The step
# sets FAILURE when it fails.
BAD=0

part() { # CHECK RECORD MARKER
  # shellcheck disable=SC2034 # record.sh reads it
  SKIPPED_BEFORE=${SKIPPED} FAILURE='' RECORD=$2 MARKER=$3
  if [[ ${FORCE} == no && -e $3 ]] &&
    "${SCRIPTS}/checks/${STAGE}.sh" --only "$1" > /dev/null 9>&-; then
    log "$1 was asked before, and its answer is still good"
    return 1
  fi
  rm -f ${MARKER:+"${MARKER}"}
  record 'stage start'
}

end_part() {
  [[ ${PHASE} == 'stage start' ]] || return 0
  [[ ${SKIPPED} == "${SKIPPED_BEFORE}" ]] || FAILURE='skipped'
  if [[ -z ${FAILURE} ]]; then mark && return; fi
  BAD=$((BAD + 1))
  echo "${FAILURE}"
  record 'stage end' failure '' "${FAILURE}"
}

finish_parts() { # WHY-THE-NEXT-STAGE-MAY-RUN
  [[ -z ${SKIPPED} ]] || die 1 "skipped:${SKIPPED}; the stage is not done" "${0##*/} runs it whole"
  if ((BAD == 0)); then
    log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
    return
  fi
  printf '  log: %s\n' "${LOG}"
  likely_causes
  log "${BAD} failed, which is recorded and stops nothing: $1"
  log "${0##*/} asks again for what failed${NEXT:+; next: ${NEXT}}"
}
