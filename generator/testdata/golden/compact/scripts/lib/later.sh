#!/usr/bin/env bash
# later.sh: what a rerun of this stage does to later stages
#
# Sourced after stage.sh by the scripts whose files a later stage uses.

# What a later stage made from this one's files is no longer valid after a rerun.
invalidates() { LATER+=("$@"); } # MARKER SCRIPT WHY

# A step removes the markers, including its own, once it knows that it will succeed.
# shellcheck disable=SC2034 # stage.sh reads it
invalidates_by_step() { BY_STEP=yes; }

check_later_stages() {
  local i invalid=()
  for ((i = 0; i < ${#LATER[@]}; i += 3)); do
    [[ -e ${LATER[i]} ]] || continue
    log "running ${STAGE} again invalidates ${LATER[i + 1]}: ${LATER[i + 2]}"
    invalid+=("${LATER[i]}")
  done
  ((${#invalid[@]} > 0)) || return 0
  [[ ${FORCE} == yes ]] ||
    die 1 "${STAGE} would invalidate the results named above" \
      "${0##*/} --force runs it and removes their markers; run those scripts after it"
  [[ ${BY_STEP} == yes ]] || rm -f "${invalid[@]}"
}
