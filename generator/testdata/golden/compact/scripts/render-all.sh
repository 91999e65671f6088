#!/usr/bin/env bash
# render-all: every stage up to the last render, in the order of bootkube.sh
#
# Runs the scripts beside it, one after the other, and stops at the first that
# fails. A stage that is done is checked and left alone, so the same call goes on
# where an interrupted one ended. There is nothing here that the scripts do not
# do when they are called one by one.
#
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly NEXT=''
# As in the scripts that it calls.
export LC_ALL=C
readonly RECORDS="${HOST_ROOT}/var/log/openshift/bootkube.json"
MODE=run FROM='' UNTIL='' INSIDE=yes FLAGS=() ALL=() EXPECTED=0 NUMBER=0 COUNT=0 FAILED=0
declare -A CHOSEN=() LEFT=() TOOK=()

# The order, a stage a line: its name, the seconds it usually takes when its
# image is there, its name in the records, its marker, and the script with its
# arguments.
chain() { # DO
  [[ -e "${ASSET_DIR}/unpack-bootstrap-ignition.done" ]] ||
  "$1" make-pki 8 make-pki make-pki.done make-pki.sh
  [[ -e "${ASSET_DIR}/unpack-bootstrap-ignition.done" ]] ||
  "$1" make-kubeconfigs 1 make-kubeconfigs make-kubeconfigs.done make-kubeconfigs.sh
  [[ -e "${ASSET_DIR}/unpack-bootstrap-ignition.done" ]] ||
  "$1" make-manifests 2 make-manifests make-manifests.done make-manifests.sh
  "$1" release-info 2 release-info release-info.done release-info.sh
  "$1" copy-manifests 1 openshift-manifests openshift-manifests.done copy-manifests.sh
  "$1" render-api 1 api-bootstrap api-bootstrap.done render-api.sh
  "$1" render-auth-api 1 auth-api-bootstrap auth-api-bootstrap.done render-auth-api.sh
  "$1" render-config 2 config-bootstrap config-bootstrap.done render-config.sh
  "$1" render-cvo 2 cvo-bootstrap cvo-bootstrap.done render-cvo.sh
  "$1" render-etcd 2 etcd-bootstrap etcd-bootstrap.done render-etcd.sh
  "$1" render-kube-apiserver 3 kube-apiserver-bootstrap kube-apiserver-bootstrap.done render-kube-apiserver.sh
  "$1" render-kcm 4 kube-controller-manager-bootstrap kube-controller-manager-bootstrap.done render-kcm.sh
  "$1" render-scheduler 4 kube-scheduler-bootstrap kube-scheduler-bootstrap.done render-scheduler.sh
  "$1" render-ingress 1 ingress-operator-bootstrap ingress-operator-bootstrap.done render-ingress.sh
  "$1" render-node-tuning 1 node-tuning-bootstrap node-tuning-bootstrap.done render-node-tuning.sh
  "$1" render-mco 2 mco-bootstrap mco-bootstrap.done render-mco.sh
  "$1" render-cco 1 cco-bootstrap cco-bootstrap.done render-cco.sh
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
    --explain 'the explanations of all scripts' --dry-run 'show the exact commands, change nothing' \
    --step 'show each command and wait for Enter' --verify 'only the checks, as TAP 14' \
    --force 'do it all again although it is done' --help 'this text'
}

options() { # ARGUMENT...
  while (($# > 0)); do
    case $1 in
      --from=* | --until=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
      --from | --until)
        [[ -n ${2:-} ]] || die 2 "$1 wants the name of a stage" 'render-all.sh --list names them'
        if [[ $1 == --from ]]; then FROM=${2%.sh} INSIDE=no; else UNTIL=${2%.sh}; fi
        shift 2 ;;
      --list | --verify) MODE=${1#--}; shift ;;
      --explain | --dry-run | --step | --force) FLAGS+=("$1"); shift ;;
      --help) usage; exit ;;
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
    | .took // {} | to_entries[] | select(.value >= 0) | "\(.key) \([.value, 1] | max)"' "${RECORDS}" 2> /dev/null)
}

choose() { # ID SECONDS RECORD MARKER SCRIPT...
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
  [[ -v CHOSEN[${UNTIL:-${ALL[-1]}}] ]] || die 2 "${UNTIL} comes before ${FROM}" "the order is ${ALL[*]}"
}

list() { # ID SECONDS RECORD MARKER SCRIPT...
  [[ ! -v CHOSEN[$1] ]] || printf '%-22s %4d s  %s\n' "$1" "${CHOSEN[$1]}" "${*:5}"
}

# A stage that fails ends the chain: what follows would build on it.
run() { # ID SECONDS RECORD MARKER SCRIPT...
  local status=0
  [[ -v CHOSEN[$1] ]] || return 0
  NUMBER=$((NUMBER + 1))
  log "${NUMBER}/${COUNT} $1: ${SECONDS} s elapsed, usually ${CHOSEN[$1]} s, about ${EXPECTED} s to go"
  EXPECTED=$((EXPECTED - LEFT[$1]))
  "${SCRIPT_DIR}/$5" "${@:6}" "${FLAGS[@]}" || status=$?
  ((status <= 4)) || status=1
  ((status == 0)) || die "${status}" "$5 ended with status ${status}, ${NUMBER} of ${COUNT} stages" \
    "do what it says above; it goes on with: render-all.sh --from $1${UNTIL:+ --until ${UNTIL}}${FLAGS[*]:+ ${FLAGS[*]}}"
}

# Every script's own TAP, as a subtest.
verify() { # ID SECONDS RECORD MARKER SCRIPT...
  local status=0
  [[ -v CHOSEN[$1] ]] || return 0
  NUMBER=$((NUMBER + 1))
  printf '# Subtest: %s\n' "$1"
  "${SCRIPT_DIR}/$5" "${@:6}" --verify | sed '/^TAP version/d; s/^/    /' || status=$?
  if ((status == 0)); then printf 'ok %d - %s\n' "${NUMBER}" "$1"; return; fi
  FAILED=$((FAILED + 1))
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
    [[ -d ${ASSET_DIR} ]] || { echo "Bail out! there is no ${ASSET_DIR}"; exit 3; }
    chain verify
    echo "1..${COUNT}"
    ((FAILED == 0)) || exit 3 ;;
  run)
    chain run
    [[ " ${FLAGS[*]} " =~ ' --explain '|' --dry-run ' ]] || log "${COUNT} stages in ${SECONDS} s${NEXT:+; next: ${NEXT}}" ;;
esac
