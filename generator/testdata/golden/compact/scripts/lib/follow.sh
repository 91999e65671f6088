#!/usr/bin/env bash
# follow.sh: prints the log of cluster-bootstrap and explains its steps
#
#   podman logs --follow --timestamps cluster-bootstrap |& lib/follow.sh STEPS PODS
#
# STEPS is checks/start-bootstrap.json: each step is explained once, when its line
# comes, with the time at which its limit ends. PODS are the required pods; those
# that are not ready are listed every 30 seconds.
set -euo pipefail
export LC_ALL=C
trap '' INT HUP # Ctrl-C and a lost terminal are for the script that reads from here
AT=now TEXT='' ENDS=0 NEXT_LOOK=0
declare -A TOLD=() REFUSED=() STATE=() WAITING=()

# What cluster-bootstrap repeats of a manifest that is refused, up to five times a
# second, is printed once in each pass.
line_came() { # LINE
  local line=${1//[^[:print:]$'\t']/} number
  if [[ ${line} =~ ^([0-9]{4}-[0-9-]+T[0-9:.]+[^\ ]*)\ (.*)$ ]]; then
    AT=${BASH_REMATCH[1]} line=${BASH_REMATCH[2]}
  fi
  case ${line} in
    '[#'* | '"'* | 'Failed to '*)
      [[ -z ${REFUSED["line ${line#\[#*\]}"]:-} ]] || return 0
      REFUSED["line ${line#\[#*\]}"]=yes ;;
  esac
  printf '%s\n' "${line}"
  remember "${line}"
  for ((number = 0; number < ${#IDS[@]}; number++)); do
    [[ -z ${LINES_OF[number]} || ${line} != *"${LINES_OF[number]}"* ]] || explain_step "${number}"
  done
}

# What the list of what is not ready is made of.
remember() { # LINE
  local pod state file=${1#*\"}
  case $1 in
    *'Pod Status:'*)
      read -r pod state <<< "${1#*Pod Status:}"
      STATE["${pod}"]=${state} ;;
    # The second pass: what is refused still is worth printing again.
    *'Waiting for remaining assets'*) REFUSED=() ;;
    '"'*) WAITING["${file%%\"*}"]=yes ;;
    'Created "'* | 'Skipped "'*) WAITING["${file%%\"*}"]=no ;;
  esac
}

explain_step() { # NUMBER
  [[ -z ${TOLD["${IDS[$1]}"]:-} ]] || return 0
  TOLD["${IDS[$1]}"]=yes
  fold --spaces --width=96 <<< "${TEXTS[$1]}" | sed 's/ *$//; s/^/    | /'
  ((MINUTES[$1] > 0)) || return 0
  # The limit begins when the line was printed, whenever it is read.
  ENDS=$(($(date --date="${AT}" +%s) + 60 * MINUTES[$1]))
  printf '    | The limit of %s minutes ends at %(%H:%M:%S %Z)T.\n' "${MINUTES[$1]}" "${ENDS}"
}

list_what_is_not_ready() {
  local item list=''
  ((SECONDS >= NEXT_LOOK)) && [[ -n ${TOLD[api-up]:-} && -z ${TOLD[finished]:-} ]] || return 0
  if [[ -z ${TOLD[pods-ready]:-} ]]; then
    for item in ${PODS}; do
      [[ ${STATE["${item}"]:-} == Ready ]] || list+=", ${item#*/}: ${STATE["${item}"]:-not seen}"
    done
  elif [[ -n ${TOLD[remaining]:-} ]]; then
    for item in "${!WAITING[@]}"; do [[ ${WAITING["${item}"]} == no ]] || list+=", ${item}"; done
  fi
  NEXT_LOOK=$((SECONDS + 30))
  [[ -z ${list} ]] || echo "$(((ENDS - EPOCHSECONDS) / 60)) min left; not ready: ${list#, }"
}

steps() { jq --raw-output ".steps[] | .$1" "${STEPS}"; } # KEY
STEPS=$1 PODS=$2
mapfile -t IDS < <(steps id)
mapfile -t LINES_OF < <(steps line)
mapfile -t MINUTES < <(steps minutes)
mapfile -t TEXTS < <(steps text)
for ((i = 0; i < ${#IDS[@]}; i++)); do
  [[ -n ${LINES_OF[i]} ]] || explain_step "${i}"
done

while true; do
  status=0
  IFS= read -r -t 1 piece || status=$?
  TEXT+=${piece}
  if ((status == 0)); then
    line_came "${TEXT}"
    TEXT=''
  elif ((status <= 128)); then
    break
  fi
  list_what_is_not_ready
done
[[ -z ${TEXT} ]] || line_came "${TEXT}"
