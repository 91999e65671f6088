#!/usr/bin/env bash
# release-hold: Let services of the node go on by themselves
#
# On a node of the installer bootkube.service, approve-csr.service and
# progress.service start at boot. On this node each has a drop-in with one more
# condition: a file in /etc/bootlab/automatic. This makes the file and starts
# the service. bootkube.sh then does what bears no marker yet, and skips the
# rest, so it goes on where the scripts stopped. The two others want
# bootkube.service, and it wants neither: released alone, CSRs stay unapproved
# and nothing tells openshift-install that the bootstrap is complete.
#
# Reads:  /etc/systemd/system/bootkube.service.d/10-bootlab.conf
# Writes: /etc/bootlab/automatic/bootkube
#         /etc/bootlab/automatic/approve-csr
#         /etc/bootlab/automatic/progress
# Differs from the installer:
# - The services start when somebody says so.
# - Its record stands in bootlab/release-hold.json, not in bootkube.json.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='release-hold' CALL='release-hold.sh UNIT' RECORD='release-hold' MARKER=''
readonly NEEDS=(systemctl jq flock) NEXT='wait-for-masters.sh and approve-csrs.sh --watch, while bootkube.sh works'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

readonly AUTOMATIC="${HOST_ROOT}/etc/bootlab/automatic"
UNITS=()
# From now on bootkube.sh writes bootkube.json, and it takes no lock for it.
RECORDS="${HOST_ROOT}/var/log/openshift/bootlab/${STAGE}.json"

own_option() {
  case $1 in
    bootkube | approve-csr | progress) UNITS+=("$1") ;;
    all) UNITS=(bootkube approve-csr progress) ;;
    *) return 1 ;;
  esac
}
own_usage() {
  printf '  %-11s %s\n' bootkube 'bootkube.sh alone; CSRs and the word of completion stay with you'
  printf '  %-11s %s\n' approve-csr 'approves whatever CSR is pending, every 20 s, until bootkube.sh is done'
  printf '  %-11s %s\n' progress 'writes the ConfigMap that openshift-install waits for, once bootkube.sh is done'
  printf '  %-11s %s\n' all 'all three, as on a node that holds nothing back'
}

check_inputs() {
  need_input "${HOST_ROOT}/etc/systemd/system/bootkube.service.d/10-bootlab.conf" 'it comes from overlay.ign, which is merged into bootstrap.ign'
}

own_words() {
  named > /dev/null || die 2 'which service is to go on by itself?' "${CALL}: UNIT is bootkube, approve-csr, progress or all"
}

# bootkube.service must not start beside a script. The two others may: they do
# what a person does in a second terminal.
lock() {
  exec 9> "${ASSET_DIR}/.bootlab.lock"
  [[ " ${UNITS[*]} " == *' bootkube '* ]] || return 0
  flock --nonblock 9 || die 1 'a stage script is running, and bootkube.sh would not wait for it' \
    'let it end, or interrupt it; then release the hold'
}

invalidates() { :; }

do_stage() {
  local unit start=()
  run mkdir --parents "${AUTOMATIC}"
  for unit in "${UNITS[@]}"; do
    run touch "${AUTOMATIC}/${unit}"
    # The other two pull it in.
    [[ ${unit} == bootkube && ${#UNITS[@]} -gt 1 ]] || start+=("${unit}.service")
  done
  # bootkube.service looks whether the lock is free.
  [[ ${MODE} == dry-run ]] || flock --unlock 9
  run systemctl start "${start[@]}"
  tell_what_follows
}

tell_what_follows() {
  local unit
  for unit in "${UNITS[@]}"; do log "to watch it: journalctl --follow --unit=${unit}.service"; done
  [[ " ${UNITS[*]} " == *' bootkube '* ]] || return 0
  log 'bootkube.sh skips what bears a marker; no script of a stage runs until it ends'
  [[ " ${UNITS[*]} " == *' approve-csr '* ]] || log 'CSRs are for you to approve: approve-csrs.sh'
  [[ " ${UNITS[*]} " == *' progress '* ]] || log 'nothing tells openshift-install of the end but finish-bootstrap.sh, or the hold on progress'
}

named() { ((${#UNITS[@]} > 0)) || { echo "no service is named: ${CALL} --verify"; false; }; }

holds_are_released() {
  local unit bad=0
  named || return 1
  for unit in "${UNITS[@]}"; do
    [[ -e ${AUTOMATIC}/${unit} ]] || { echo "there is no ${AUTOMATIC}/${unit}"; bad=1; }
  done
  return "${bad}"
}

# A service that failed waits five seconds to start again, and calls that
# activating.
units_are_at_work() {
  local unit state bad=0
  named || return 1
  for unit in "${UNITS[@]}"; do
    state="$(systemctl show --property=ActiveState,Result,SubState "${unit}.service" | sort | xargs)"
    echo "${unit}.service: ${state}"
    case ${state} in
      *SubState=auto-restart) bad=1 ;;
      'ActiveState=active '* | 'ActiveState=activating '*) ;;
      'ActiveState=inactive Result=success '*) [[ -e .bootkube.done ]] || bad=1 ;;
      *) bad=1 ;;
    esac
  done
  return "${bad}"
}

verify() {
  check released 'the hold is released' \
    'a file in /etc/bootlab/automatic for each service' \
    'Run release-hold.sh with the name of the service.' \
    holds_are_released
  check running 'the service is running, or has done its work' \
    'active; or inactive behind .bootkube.done' \
    'Look at the journal of the service. If it never began, a script took the lock in between; let that end and run this again.' \
    units_are_at_work
}

usual_failures() {
  usual_failure 'not found' \
    'systemd knows no such service.' \
    'This is no bootstrap node, or bootstrap.ign came from a release that names its services otherwise.'
  usual_failure 'Job for' \
    'The service could not be started.' \
    'systemctl status tells what it waits for; kubelet.service and crio-configure.service come first.'
}

stage_main "$@"
