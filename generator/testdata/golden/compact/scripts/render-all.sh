#!/usr/bin/env bash
# render-all: every stage up to the last render, in the order of bootkube.sh
#
# Runs the other scripts of this directory in turn, and stops at the first that
# fails. A stage that is done is checked and left alone, so the same call continues
# where an interrupted one ended. Calling the scripts one by one does the same.
#
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
NEXT=''
# As in the scripts that it calls.
export LC_ALL=C
RECORDS="${HOST_ROOT}/var/log/openshift/bootkube.json"
MODE=run FROM='' UNTIL='' INSIDE=yes FLAGS=() ALL=()
EXPECTED=0 NUMBER=0 COUNT=0 FAILED=0 NEVER_RUN=0
declare -A CHOSEN=() LEFT=() TOOK=()

# The order, a stage a line: its name, the seconds it usually takes when its
# image is there, its name in the records, its marker, and how its script is called
# where that is not its name.
chain() { # DO
  if [[ ! -e ${ASSET_DIR}/unpack-bootstrap-ignition.done ]]; then
    "$1" make-pki 8 make-pki make-pki.done
    "$1" make-kubeconfigs 1 make-kubeconfigs make-kubeconfigs.done
    "$1" make-manifests 2 make-manifests make-manifests.done
  fi
  "$1" release-info 2 release-info release-info.done
  "$1" copy-manifests 1 openshift-manifests openshift-manifests.done
  "$1" render-api 1 api-bootstrap api-bootstrap.done
  "$1" render-auth-api 1 auth-api-bootstrap auth-api-bootstrap.done
  "$1" render-config 2 config-bootstrap config-bootstrap.done
  "$1" render-cvo 2 cvo-bootstrap cvo-bootstrap.done
  "$1" render-etcd 2 etcd-bootstrap etcd-bootstrap.done
  "$1" render-kube-apiserver 3 kube-apiserver-bootstrap kube-apiserver-bootstrap.done
  "$1" render-kcm 4 kube-controller-manager-bootstrap kube-controller-manager-bootstrap.done
  "$1" render-scheduler 4 kube-scheduler-bootstrap kube-scheduler-bootstrap.done
  "$1" render-ingress 1 ingress-operator-bootstrap ingress-operator-bootstrap.done
  "$1" render-node-tuning 1 node-tuning-bootstrap node-tuning-bootstrap.done
  "$1" render-mco 2 mco-bootstrap mco-bootstrap.done
  "$1" render-cco 1 cco-bootstrap cco-bootstrap.done
}

log() { printf '==> %s\n' "$*"; }

die() { # STATUS MESSAGE HINT
  printf 'error: %s\n  hint: %s\n' "$2" "$3" >&2
  exit "$1"
}

usage() {
  printf 'Usage: render-all.sh [--from STAGE] [--until STAGE] [MODE]\n\n'
  printf '  %-15s %s\n' '' 'run the scripts in turn; what is done is checked and left alone' \
    '--from STAGE' 'begin there' '--until STAGE' 'end there, that stage included' \
    --list 'the stages, and how long each usually takes' \
    --explain 'what the stages do and why' \
    --dry-run 'print the commands of all scripts, change nothing' --step 'ask before each step' \
    --verify 'run only the checks (TAP 14)' --force 'run all again although it is done' \
    --help 'this text'
}

options() { # ARGUMENT...
  while (($# > 0)); do
    case $1 in
      --from=* | --until=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
      --from | --until)
        [[ -n ${2:-} ]] || die 2 "$1 needs the name of a stage" 'render-all.sh --list names them'
        if [[ $1 == --from ]]; then FROM=${2%.sh} INSIDE=no; else UNTIL=${2%.sh}; fi
        shift 2
        ;;
      --list | --verify) MODE=${1#--} && shift ;;
      --explain | --dry-run | --step | --force) FLAGS+=("$1") && shift ;;
      -h | --help) usage && exit ;;
      *) die 2 "unknown option ${1@Q}" 'render-all.sh --help lists the modes' ;;
    esac
  done
}

# How long each stage took on this host the last time it went well.
read_records() {
  local record seconds
  [[ -s ${RECORDS} ]] || return 0
  while read -r record seconds; do
    # Arithmetic would take any other word for a program.
    if [[ ${seconds} =~ ^[1-9][0-9]{0,6}$ && -n ${record} ]]; then TOOK[${record}]=${seconds}; fi
  done < <(jq --raw-output '
    reduce .[] as $entry ({}; $entry.stage as $stage | ($entry.timestamp | fromdate) as $at
      | if $entry.phase == "stage start" then .began[$stage] = $at
        elif $entry.phase == "stage end" and $entry.result == "success" and .began[$stage]
        then .took[$stage] = $at - .began[$stage] else . end)
    | .took // {} | to_entries[] | select(.value >= 0)
    | "\(.key) \([.value, 1] | max)"' "${RECORDS}" 2> /dev/null)
}

choose() { # ID SECONDS RECORD MARKER [SCRIPT ARGUMENT...]
  ALL+=("$1")
  [[ $1 != "${FROM}" ]] || INSIDE=yes
  if [[ ${INSIDE} == yes ]]; then
    CHOSEN[$1]=${TOOK[$3]:-$2} LEFT[$1]=${TOOK[$3]:-$2} COUNT=$((COUNT + 1))
    # What is done is only checked.
    [[ ! -e ${ASSET_DIR}/$4 || " ${FLAGS[*]} " == *' --force '* ]] || LEFT[$1]=0
    EXPECTED=$((EXPECTED + LEFT[$1]))
  fi
  [[ $1 != "${UNTIL}" ]] || INSIDE=over
}

check_choice() {
  local name
  for name in "${FROM:-${ALL[0]}}" "${UNTIL:-${ALL[0]}}"; do
    [[ ${name} != *' '* && " ${ALL[*]} " == *" ${name} "* ]] ||
      die 2 "${name@Q} is no stage of this chain" "there are ${ALL[*]}"
  done
  [[ -v CHOSEN[${UNTIL:-${ALL[-1]}}] ]] ||
    die 2 "${UNTIL} comes before ${FROM}" "the order is ${ALL[*]}"
}

list() { # ID SECONDS RECORD MARKER [SCRIPT ARGUMENT...]
  [[ ! -v CHOSEN[$1] ]] || printf '%-22s %4d s  %s\n' "$1" "${CHOSEN[$1]}" "${5:-$1.sh}"
}

only_told() { [[ " ${FLAGS[*]} " == *' --explain '* || " ${FLAGS[*]} " == *' --dry-run '* ]]; }

# A stage that fails ends the chain: what follows would build on it.
run() { # ID SECONDS RECORD MARKER [SCRIPT ARGUMENT...]
  local status=0 script=${5:-$1.sh} again="render-all.sh --from $1${UNTIL:+ --until ${UNTIL}}"
  [[ -v CHOSEN[$1] ]] || return 0
  NUMBER=$((NUMBER + 1))
  if only_told; then
    printf '\n# %d/%d %s\n' "${NUMBER}" "${COUNT}" "$1"
  else
    log "${NUMBER}/${COUNT} $1: ${SECONDS} s elapsed, usually ${CHOSEN[$1]} s," \
      "about ${EXPECTED} s to go"
  fi
  EXPECTED=$((EXPECTED - LEFT[$1]))
  "${SCRIPTS}/${script}" "${@:6}" "${FLAGS[@]}" || status=$?
  ((status <= 4)) || status=1
  ((status == 0)) ||
    die "${status}" "${script} ended with status ${status}, ${NUMBER} of ${COUNT} stages" \
      "do what it says above; it goes on with: ${again}${FLAGS[*]:+ ${FLAGS[*]}}"
}

# Every script's own TAP, as a subtest.
verify() { # ID SECONDS RECORD MARKER [SCRIPT ARGUMENT...]
  local status=0
  [[ -v CHOSEN[$1] ]] || return 0
  NUMBER=$((NUMBER + 1))
  printf '# Subtest: %s\n' "$1"
  "${SCRIPTS}/${5:-$1.sh}" "${@:6}" --verify | sed '/^TAP version/d; s/^/    /' || status=$?
  case ${status} in
    0) printf 'ok %d - %s\n' "${NUMBER}" "$1" && return ;;
    4) NEVER_RUN=$((NEVER_RUN + 1)) ;;
    *) FAILED=$((FAILED + 1)) ;;
  esac
  printf 'not ok %d - %s\n' "${NUMBER}" "$1"
}

options "$@"
read_records
chain choose
check_choice
case ${MODE} in
  list) chain list ;;
  verify)
    echo 'TAP version 14'
    if [[ ! -d ${ASSET_DIR} ]]; then
      printf 'not ok 1 - done: not run yet; run render-all.sh first\n1..1\n'
      exit 4
    fi
    chain verify
    echo "1..${COUNT}"
    ((FAILED == 0)) || exit 3
    ((NEVER_RUN == 0)) || exit 4
    ;;
  run)
    chain run
    only_told || log "${COUNT} stages in ${SECONDS} s${NEXT:+; next: ${NEXT}}"
    ;;
esac
