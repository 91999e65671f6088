#!/usr/bin/env bash
# remove-bootstrap: Take the bootstrap node out of the load balancer and remove it
#
# The masters run everything by now, and the bootstrap node is one machine too
# many: the load balancer still sends to it, and its disk holds private keys
# that the cluster goes on using. It may go when two things are true. The
# ConfigMap kube-system/bootstrap says complete, and the etcd operator has
# removed the member that ran there. Both are asked here, first of all. Then the
# load balancer lets go of it, and only then does it disappear: the other way
# round every so many requests would run into a time-out.
#
# Reads:  tools/oc
#         install/auth/kubeconfig
# Differs from openshift-install destroy bootstrap:
# - The load balancer comes first, and is waited for.
# - The script refuses until the cluster itself says that the node may go.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly CLUSTER_NAME='compact'
readonly BOOTSTRAP='bootstrap 192.168.126.10'
readonly LIBVIRT_URI='qemu:///system'
readonly OWNER_NAMESPACE='urn:bootlab:lab:1'
readonly BOOTSTRAP_DOMAIN='bootlab-compact-bootstrap'
readonly LAB_POOL='bootlab-compact'
readonly BOOTSTRAP_DISK='bootlab-compact-bootstrap.qcow2'
readonly BOOTSTRAP_IGNITION='bootlab-compact-bootstrap.ign'
readonly BALANCER_SOCKET='../vms/haproxy.sock'
readonly STAGE='remove-bootstrap' CALL='remove-bootstrap.sh' RECORD='remove-bootstrap' MARKER='remove-bootstrap.done'
readonly NEEDS=(socat jq flock) NEXT='wait-for-operators.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

KUBECONFIG_FILE=install/auth/kubeconfig BALANCER_ONLY=no POLL=2
AGAIN="what is done stays done; ${CALL} goes on where it ended"
# As HAProxy names them: the lab's backends that the bootstrap node serves in.
readonly BACKENDS=('api' 'machine-config-server')

own_usage() {
  printf '  %-10s %s\n' '--balancer-only' 'only take the node out of the load balancer; the machine stays'
  timeout_usage
}
own_option() { if [[ $1 == --balancer-only ]]; then BALANCER_ONLY=yes; else timeout_option "$1"; fi; }

check_inputs() {
  need_input tools/oc 'run get-tools.sh first'
  need_input install/auth/kubeconfig 'run make-ignition.sh first'
}

invalidates() {
  :
}

do_stage() {
  it_may_go
  empty_balancer
  if [[ ${BALANCER_ONLY} == yes ]]; then
    log "the load balancer has let go of ${BOOTSTRAP}; ${CALL} removes the machine"
    [[ ${MODE} == dry-run ]] || record 'stage end' success
    exit
  fi
  remove_machine
}

# Without these two the cluster may lose the only copy of its data.
it_may_go() {
  [[ ${MODE} != dry-run ]] || return 0
  bootstrap_is_complete || die 1 'nothing says that the bootstrap is complete' 'run finish-bootstrap.sh on the bootstrap node'
  member_is_removed || die 1 'etcd has not removed its member on the bootstrap node' 'finish-bootstrap.sh waits for it, on the bootstrap node'
  [[ -S ${BALANCER_SOCKET} ]] || die 4 "no load balancer of this lab is here: there is no socket ${BALANCER_SOCKET}" \
    "if it is your own, take ${BOOTSTRAP#* } out of ports 6443 and 22623, wait until its connections have ended, and remove the machine yourself"
  [[ ${BALANCER_ONLY} == no ]] || return 0
  need virsh
  domains > /dev/null ||
    die 4 "libvirt does not answer at ${LIBVIRT_URI}" "start it; for a machine of your own: ${CALL} --balancer-only, and remove it yourself"
  machine_is_gone > /dev/null || belongs_to_lab
}

empty_balancer() {
  local backend answer order
  [[ ${MODE} == dry-run ]] || servers
  for backend in "${BACKENDS[@]}"; do
    [[ ${MODE} == dry-run ]] || servers | grep --quiet "^${backend} ${BOOTSTRAP% *} " || continue
    order="set server ${backend}/${BOOTSTRAP% *} state maint"
    show " <<< '${order}'" socat - "UNIX-CONNECT:${BALANCER_SOCKET}" || continue
    answer="$(balancer "${order}")"
    [[ -z ${answer} ]] || die 1 "HAProxy refuses: ${answer}" 'the line before says what it was told'
  done
  # In maintenance a server takes no new connections, and those that are open
  # may end by themselves. Clients come back through the masters.
  wait_for 300 'the last connection to the bootstrap node to end' no_session_is_left
}

# Asks or orders; HAProxy ends each answer with an empty line.
balancer() { # COMMAND
  attempt timeout 10 socat -t 5 - "UNIX-CONNECT:${BALANCER_SOCKET}" <<< "$1" | sed '/^$/d'
}

# BACKEND, SERVER, sessions and status of the lab's servers, from the first,
# second, fifth and eighteenth column of what HAProxy counts.
servers() {
  balancer 'show stat' | awk -F , -v backends=" ${BACKENDS[*]} " \
    'index(backends, " " $1 " ") && $2 !~ /^(FRONTEND|BACKEND)$/ { print $1, $2, "sessions", $5, $18 }'
}

no_session_is_left() {
  local found
  found="$(servers)" || return 1
  echo "${found:-HAProxy names no server of this lab}"
  awk -v name="${BOOTSTRAP% *}" '$2 == name && $4 > 0 { left = 1 } END { exit left }' <<< "${found}"
}

balancer_lets_go() {
  local found
  found="$(servers)" || return 1
  echo "${found:-HAProxy names no server of this lab}"
  [[ -n ${found} ]] && awk -v name="${BOOTSTRAP% *}" '$2 == name && $5 != "MAINT" { bad = 1 } END { exit bad }' <<< "${found}"
}

# Only what carries this lab's mark, and of its files only those that the lab made:
# a disk that you attached is yours. The domain goes last, for it says what
# belongs to it; while one of the two files cannot be deleted, it stays.
remove_machine() {
  local volume there='' xml='' libvirt=(virsh --connect "${LIBVIRT_URI}") flags=(--managed-save --snapshots-metadata)
  if [[ ${MODE} == dry-run ]]; then
    log "here it looks whose machine this is, and goes on only if the answer names ${CLUSTER_NAME}:"
    run "${libvirt[@]}" metadata "${BOOTSTRAP_DOMAIN}" --uri "${OWNER_NAMESPACE}"
    flags+=(--nvram)
  elif machine_is_gone > /dev/null; then log "there is no ${BOOTSTRAP_DOMAIN} any more" && return
  else xml="$("${libvirt[@]}" dumpxml "${BOOTSTRAP_DOMAIN}")"; fi
  [[ ${MODE} != dry-run && "$("${libvirt[@]}" domstate "${BOOTSTRAP_DOMAIN}")" == 'shut off'* ]] || run "${libvirt[@]}" destroy "${BOOTSTRAP_DOMAIN}"
  # A pool knows what was there when it was last looked through.
  run "${libvirt[@]}" pool-refresh "${LAB_POOL}" || die 1 "the pool ${LAB_POOL} cannot be read, and it holds the machine's disk and keys" \
    "virsh --connect ${LIBVIRT_URI} pool-start ${LAB_POOL}, and run ${CALL} again; until then the machine stays defined"
  [[ ${MODE} == dry-run ]] || there="$("${libvirt[@]}" vol-list "${LAB_POOL}")"
  for volume in "${BOOTSTRAP_DISK}" "${BOOTSTRAP_IGNITION}"; do
    if [[ ${MODE} == dry-run ]] || is_listed "${volume}" <<< "${there}"; then run "${libvirt[@]}" vol-delete --pool "${LAB_POOL}" "${volume}"
    else log "there is no ${volume} in the pool any more"; fi
  done
  while read -r volume; do log "this file stays, for it is not the machine's own: ${volume}"; done < <(other_files <<< "${xml}")
  [[ ${xml} != *'<nvram'* ]] || flags+=(--nvram)
  run "${libvirt[@]}" undefine "${BOOTSTRAP_DOMAIN}" "${flags[@]}"
}

is_listed() { awk -v name="$1" '$1 == name { found = 1 } END { exit !found }'; } # VOLUME, reads virsh's table

other_files() { # reads the domain's XML
  grep --only-matching --perl-regexp " file=['\"]\K[^'\"]*" |
    grep --invert-match --extended-regexp "/(${BOOTSTRAP_DISK}|${BOOTSTRAP_IGNITION})$" | sort --unique || true
}

# Without the pool there is nothing to be known; whoever took it away took the
# files first.
files_are_gone() {
  local volume there libvirt=(virsh --connect "${LIBVIRT_URI}") bad=0
  there="$("${libvirt[@]}" pool-list --all --name)" || return 1
  is_listed "${LAB_POOL}" <<< "${there}" || { echo "there is no pool ${LAB_POOL}"; return; }
  "${libvirt[@]}" pool-refresh "${LAB_POOL}" > /dev/null && there="$("${libvirt[@]}" vol-list "${LAB_POOL}")" || return 1
  for volume in "${BOOTSTRAP_DISK}" "${BOOTSTRAP_IGNITION}"; do
    ! is_listed "${volume}" <<< "${there}" || { echo "${volume} is there"; bad=1; }
  done
  return "${bad}"
}

belongs_to_lab() {
  local mark
  mark="$(virsh --connect "${LIBVIRT_URI}" metadata "${BOOTSTRAP_DOMAIN}" --uri "${OWNER_NAMESPACE}" 2> /dev/null)" || mark=''
  [[ ${mark} == *"name=\"${CLUSTER_NAME}\""* || ${mark} == *"name='${CLUSTER_NAME}'"* ]] ||
    die 1 "${BOOTSTRAP_DOMAIN} is not this lab's: its metadata say ${mark:-nothing}" 'somebody else made it; remove it by hand if it is yours'
}

domains() { virsh --connect "${LIBVIRT_URI}" list --all --name; }

machine_is_gone() {
  local found
  found="$(domains)" || return 1
  found="$(grep --line-regexp --fixed-strings --regexp="${BOOTSTRAP_DOMAIN}" <<< "${found}")" || return 0
  echo "${found} is defined"
  return 1
}

api_is_ready() { cluster get --raw /readyz; }

verify() {
  check balancer 'the load balancer sends nothing to the bootstrap node' \
    'state MAINT for its servers on 6443 and 22623, or no such server' \
    'Run remove-bootstrap.sh --balancer-only; HAProxy forgets the state when it is restarted.' \
    balancer_lets_go
  check machine 'the machine is gone' \
    'no libvirt domain of its name' \
    'Run remove-bootstrap.sh; it says whether the domain belongs to this lab.' \
    machine_is_gone
  check files 'its disk and its Ignition file are gone' \
    'no volume with its name in the lab'\''s libvirt pool, which is searched again' \
    'Run remove-bootstrap.sh. Where the machine is gone already, delete them with virsh vol-delete --pool and the names above.' \
    files_are_gone
  check api 'the API answers without it' \
    'status 200 of /readyz by the name api' \
    'Look at the masters in the load balancer; the servers of backend api must be UP.' \
    api_is_ready
}

usual_failures() {
  usual_failure 'configmaps "bootstrap" not found' \
    'Nothing has said yet that the bootstrap is complete.' \
    'Run finish-bootstrap.sh on the bootstrap node, or wait for progress.service.'
  usual_failure 'Permission denied' \
    'HAProxy'\''s socket takes questions, but no orders; or it belongs to somebody else.' \
    'Its line in the configuration must say level admin. Look at who may write to the file.'
  usual_failure 'failed to connect to the hypervisor' \
    'libvirt does not run, or you may not use it.' \
    'Look at systemctl status libvirtd; an ordinary user must be in the group libvirt.'
}

stage_main "$@"
