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

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_NAME='compact'
BOOTSTRAP='bootstrap 192.168.126.10'
LIBVIRT_URI='qemu:///system'
OWNER_NAMESPACE='urn:bootlab:lab:1'
BOOTSTRAP_DOMAIN='bootlab-compact-bootstrap'
LAB_POOL='bootlab-compact'
BOOTSTRAP_DISK='bootlab-compact-bootstrap.qcow2'
BOOTSTRAP_IGNITION='bootlab-compact-bootstrap.ign'
BALANCER_SOCKET='../vms/haproxy.sock'
BOOTSTRAP_BACKENDS='api machine-config-server'
KUBECONFIG_FILE=install/auth/kubeconfig
STAGE=remove-bootstrap RECORD=remove-bootstrap
MARKER=remove-bootstrap.done
NEXT='wait-for-operators.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"
# shellcheck source=lib/ending.sh
source "${SCRIPTS}/lib/ending.sh"

needs socat jq flock
needs_input 'run get-tools.sh first' tools/oc
needs_input 'run make-ignition.sh first' install/auth/kubeconfig
option '--balancer-only' BALANCER_ONLY 'take the node out of the load balancer, keep the machine'
option '--timeout=S' TIMEOUT 'give up after S seconds instead of 300'
begin "$@"

name=${BOOTSTRAP% *}
virsh=(virsh --connect "${LIBVIRT_URI}")

oc() {
  timeout 20 tools/oc --kubeconfig "${KUBECONFIG_FILE}" --request-timeout=15s "$@"
}

# HAProxy ends each answer with an empty line.
balancer() { # COMMAND
  timeout 10 socat -t 5 - "UNIX-CONNECT:${BALANCER_SOCKET}" <<< "$1" | sed '/^$/d'
}

# Backend, server, sessions and status of the lab's servers: the first, second,
# fifth and eighteenth column of what HAProxy counts.
servers() {
  balancer 'show stat' | awk -F , -v backends=" ${BOOTSTRAP_BACKENDS} " '
    index(backends, " " $1 " ") && $2 !~ /^(FRONTEND|BACKEND)$/ {
      print $1, $2, "sessions", $5, $18 }'
}

no_session_is_left() {
  local found
  found="$(servers)" || return 1
  echo "${found:-HAProxy names no server of this lab}"
  awk -v name="${name}" '$2 == name && $4 > 0 { left = 1 } END { exit left }' <<< "${found}"
}

# True where there is no machine; ends the script where it is not the lab's.
machine_is_gone() {
  local domains mark
  domains="$("${virsh[@]}" list --all --name)" ||
    give_up "libvirt does not answer at ${LIBVIRT_URI}" \
      "systemctl status libvirtd says why; with --balancer-only the machine stays" 4
  grep -Fqx "${BOOTSTRAP_DOMAIN}" <<< "${domains}" || return 0
  mark="$("${virsh[@]}" metadata "${BOOTSTRAP_DOMAIN}" --uri "${OWNER_NAMESPACE}" 2> /dev/null)" ||
    mark=''
  [[ ${mark} != *name=[\"\']"${CLUSTER_NAME}"[\"\']* ]] || return 1
  give_up "${BOOTSTRAP_DOMAIN} is not this lab's: its metadata say ${mark:-nothing}" \
    'somebody else made it; remove it by hand if it is yours'
}

give_up() { # WHY HINT [STATUS]
  ERROR=$1 && printf 'error: %s\n  hint: %s\n' "$1" "$2" && exit "${3:-1}"
}

# Asks until the answer is good, and prints each new answer with the seconds so far.
wait_for() { # SECONDS WHAT COMMAND...
  local answer good last='' hopeless=0 began=${SECONDS} end=$((SECONDS + $1))
  [[ -z ${TIMEOUT} ]] || end=${TIMEOUT} # of all waits together, since the start
  echo "waiting for $2, at most ${TIMEOUT:-$1} s"
  while true; do
    good=yes
    answer="$("${@:3}" 2>&1)" || good=no
    # What changes with each answer says nothing: times, ports, control characters.
    answer="$(tr -cd '[:print:]\n' <<< "${answer}" | sed --regexp-extended \
      '/^[EWIF][0-9]{4} /d; s/:[0-9]+->/->/g; s/current time [^ ]+ is/now is/')"
    answer="${answer:-nothing}"
    [[ ${answer} == "${last}" ]] ||
      printf '%7d s  %s\n' $((SECONDS - began)) "${answer//$'\n'/$'\n           '}"
    last=${answer}
    [[ ${good} == no ]] || return 0
    # Waiting does not fix a certificate that expired or is of another cluster, nor a
    # torn kubeconfig.
    hopeless=$((hopeless + 1))
    grep --quiet --extended-regexp --regexp="${HOPELESS}" <<< "${answer}" || hopeless=0
    ((hopeless < 3)) || give_up "$2 cannot be seen, and waiting does not fix that" \
      'fix what the last answer says'
    ((SECONDS < end)) || give_up "no sign of $2 within ${TIMEOUT:-$1} s" \
      "the last answer is above; ${0##*/} waits again"
    sleep $((end - SECONDS < 5 ? end - SECONDS : 5))
  done
}
HOPELESS='certificate has expired.* is after|certificate signed by unknown authority'
HOPELESS+='|doesn.t contain any IP SANs|certificate is (valid for|not valid for any)'
HOPELESS+='|error loading config file'

if step 1 'Ask the cluster whether the bootstrap node may go'; then
  # Without these two the cluster may lose the only copy of its data.
  status="$(oc get configmap bootstrap --namespace=kube-system --output=jsonpath='{.data.status}' |
    tr -cd '[:print:]')" || true
  [[ ${status} == complete ]] ||
    give_up "ConfigMap kube-system/bootstrap has status ${status:-nothing}, not complete" \
      'nothing says that the bootstrap is complete: run finish-bootstrap.sh on the bootstrap node'
  # 4.14 spells the condition without its first t.
  removed="$(oc get etcds cluster --output=json | jq --raw-output '.status.conditions[]?
    | select(.type | test("^EtcdBoot?strapMemberRemoved$"))
    | "\(.type) \(.status) \(.message // "")" | gsub("[^ -~]"; " ")')"
  [[ ${removed} == *' True '* ]] ||
    give_up "${removed:-no condition EtcdBootstrapMemberRemoved}" \
      'etcd has not removed its member: finish-bootstrap.sh waits for it, on the bootstrap node'
fi 9>&-

if step 2 "Find the lab's load balancer and its machine"; then
  [[ -S ${BALANCER_SOCKET} ]] ||
    give_up "no load balancer of this lab is here: there is no socket ${BALANCER_SOCKET}" \
      "if it is your own, take ${BOOTSTRAP#* } out of ports 6443 and 22623, wait until its
    connections have ended, and remove the machine yourself" 4
  [[ -n ${BALANCER_ONLY} ]] || ! machine_is_gone || echo "there is no ${BOOTSTRAP_DOMAIN}"
fi 9>&-

if step 3 'Take it out of the load balancer'; then
  before="$(servers)"
  for backend in ${BOOTSTRAP_BACKENDS}; do
    grep -q "^${backend} ${name} " <<< "${before}" || continue
    echo "set server ${backend}/${name} state maint"
    answer="$(balancer "set server ${backend}/${name} state maint")"
    [[ -z ${answer} ]] ||
      give_up "HAProxy refuses: ${answer}" 'its configuration says why'
  done
fi 9>&-

if step 4 'Wait until its last connection has ended'; then
  # In maintenance a server takes no new connections, and those that are open
  # may end by themselves. Clients come back through the masters.
  wait_for 300 'the last connection to the bootstrap node to end' no_session_is_left
fi 9>&-

[[ -z ${BALANCER_ONLY} ]] || finish_part "the load balancer has let go of ${name}; it stays"

if step 5 'Remove the machine, its disk and its Ignition file'; then
  # Only files that the lab made: a disk that you attached is yours. The domain
  # goes last, because it says what belongs to it.
  if machine_is_gone; then
    echo "there is no ${BOOTSTRAP_DOMAIN} any more"
  else
    [[ "$("${virsh[@]}" domstate "${BOOTSTRAP_DOMAIN}")" == 'shut off'* ]] ||
      "${virsh[@]}" destroy "${BOOTSTRAP_DOMAIN}"
    # A pool knows what was there when it was last searched.
    "${virsh[@]}" pool-refresh "${LAB_POOL}" ||
      give_up "the pool ${LAB_POOL} cannot be read, and it holds the machine's disk and keys" \
        "start it: ${virsh[*]} pool-start ${LAB_POOL}, and run this again; until then the machine
    stays defined"
    volumes="$("${virsh[@]}" vol-list "${LAB_POOL}" | awk '{ print $1 }')"
    for volume in "${BOOTSTRAP_DISK}" "${BOOTSTRAP_IGNITION}"; do
      ! grep -Fqx "${volume}" <<< "${volumes}" ||
        "${virsh[@]}" vol-delete --pool "${LAB_POOL}" "${volume}"
    done
    xml="$("${virsh[@]}" dumpxml "${BOOTSTRAP_DOMAIN}")" nvram=()
    grep -oP " file=['\"]\K[^'\"]*" <<< "${xml}" | sort -u |
      awk -v disk="/${BOOTSTRAP_DISK}" -v ignition="/${BOOTSTRAP_IGNITION}" '
        substr($0, length($0) - length(disk) + 1) != disk &&
          substr($0, length($0) - length(ignition) + 1) != ignition {
            print "this file stays, because the lab did not make it: " $0 }' || true
    [[ ${xml} != *'<nvram'* ]] || nvram=(--nvram)
    "${virsh[@]}" undefine "${BOOTSTRAP_DOMAIN}" --managed-save --snapshots-metadata "${nvram[@]}"
  fi
fi 9>&-

finish
