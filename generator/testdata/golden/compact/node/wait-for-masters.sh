#!/usr/bin/env bash
# wait-for-masters: Watch the masters boot, ask, and become Nodes
#
# While start-bootstrap.sh waits, the masters do most of the work, and say
# little of it. Each boots twice. At its first boot Ignition fetches the
# configuration from the Machine Config Server of this node, and the machine
# config daemon pulls the OS image of the release; at the second its kubelet
# starts and asks for a client certificate. Once that is approved and signed the
# Node is there, and the kubelet asks for its serving certificate. The Node is
# Ready when the network's pods run on it. This script tells each change, and
# what comes next.
#
# Reads:  auth/kubeconfig-loopback
#         auth/kubeconfig
# Differs from openshift-install wait-for bootstrap-complete:
# - It looks at each machine, its requests and its Node.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly GATEWAY='192.168.126.1'
readonly MASTERS='master-0 192.168.126.20
master-1 192.168.126.21
master-2 192.168.126.22'
readonly WORKERS=''
readonly STAGE='wait-for-masters' CALL='wait-for-masters.sh' RECORD='wait-for-masters' MARKER=''
readonly NEEDS=(oc jq flock) NEXT='back to the terminal of start-bootstrap.sh'
readonly PARALLEL=yes

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

MACHINES="${MASTERS}" KNOWN_HOSTS=.bootlab.known_hosts SSH=no
check_inputs() {
  need_input auth/kubeconfig-loopback 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

# While the bootstrap API server lives it answers at localhost, even where DNS or
# the load balancer do not; after it there is api-int.
way_in() {
  KUBECONFIG_FILE=auth/kubeconfig
  if (: <> /dev/tcp/localhost/6443) 2> /dev/null; then KUBECONFIG_FILE=auth/kubeconfig-loopback; fi
}
do_stage() {
  if [[ -z ${MACHINES} ]]; then
    log 'this lab has no masters, so there is nothing to wait for'
    [[ ${PHASE} != 'stage start' ]] || record 'stage end' success
    exit
  fi
  say_what_is_unseen
  wait_for 2400 'every master to be a Node that is Ready and has its serving certificate' masters_are_ready
}

# crictl and ssh show more; neither is needed.
say_what_is_unseen() {
  command -v crictl > /dev/null || log 'without crictl it is not seen who asks the Machine Config Server'
  if command -v ssh > /dev/null && [[ -S ${SSH_AUTH_SOCK:-} ]]; then SSH=yes; return; fi
  log 'without an SSH agent this script cannot see what a master does before its kubelet asks for a certificate'
  log 'log in with ssh -A, and run this with sudo --preserve-env=SSH_AUTH_SOCK'
}

look() {
  way_in
  NODES="$(cluster get nodes --output=json)" && CSRS="$(cluster get csr --output=json)"
}

# What is seen now, a line each; true when nothing is missing.
masters_are_ready() {
  local name address line machines
  look || NODES='{"items": []}' CSRS='{"items": []}'
  machines="$(standing)" || return 1
  configurations
  client_requests
  while read -r -u 8 name address; do
    line="$(grep "^${name}: " <<< "${machines}")"
    case ${line} in
      *': no Node') inside "${name}" "${address}" ;;
      *' Pending') echo "${line}; next: approve-csrs.sh approves it" ;;
      *', not Ready, '*) echo "${line}; next: its network pods start, see oc get pods -A" ;;
      *) echo "${line}" ;;
    esac
  done 8<<< "${MACHINES}"
  ! grep --quiet --invert-match ', Ready, ' <<< "${machines}" && complete "${machines}"
}

# A load balancer on layer 4 asks in the place of the masters behind it.
configurations() {
  local id
  id="$(timeout --foreground 10 crictl ps --all --quiet --name '^machine-config-server$' 2> /dev/null | head --lines=1)" || return 0
  [[ -n ${id} ]] || { echo 'no Machine Config Server runs on this node'; return; }
  timeout --foreground 10 crictl logs "${id}" 2>&1 | sed -n --regexp-extended 's/.*Pool "?master"? requested by address:"([0-9.]+):[0-9]+".*/\1/p' |
    sort | uniq --count | awk -v balancer="${GATEWAY}" '{ $3 = $2 == balancer ? ", the load balancer" : ""
      print "the configuration of pool master was asked for " $1 " times from " $2 $3 }'
}

# They all come from one user; only their content tells for which node.
client_requests() {
  jq --raw-output '[.items[] | select(.spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet" and (.spec.username | endswith(":node-bootstrapper")))
    | ([.status.conditions[]?.type] | join(",") | if . == "" then "Pending" else . end) + (if .status.certificate then ",Issued" else "" end)]
    | group_by(.) | map("\(length) \(.[0])") | select(. != []) | "client certificates asked for: " + join(", ")
    + (if any(endswith(" Pending")) then "; next: approve-csrs.sh shows for which node" else "" end)' <<< "${CSRS}"
}

# Before there is a Node, only the machine itself knows. The file is what the
# machine config daemon takes away at the end of the first boot.
inside() { # NAME ADDRESS
  local state=unseen
  if ! timeout --foreground 2 bash -c ": <> /dev/tcp/$2/22" 2> /dev/null; then
    echo "$1: nothing on port 22; it is off, or boots, or asks for its configuration: see its console"
    return
  fi
  [[ ${SSH} == no ]] || state="$(timeout --foreground 10 ssh -F none -o BatchMode=yes -o ConnectTimeout=3 -o StrictHostKeyChecking=accept-new -o LogLevel=ERROR \
    -o UserKnownHostsFile="${KNOWN_HOSTS}" "core@$2" \
    'test -e /etc/ignition-machine-config-encapsulated.json && echo -n first-boot-; systemctl is-active kubelet.service' < /dev/null 2>&1)" || true
  state="${state##*$'\n'}" # ssh is loud where a host key has changed
  case ${state} in
    unseen) echo "$1: port 22 is open, so its configuration has arrived; next: it pulls the OS image, boots again, and its kubelet asks" ;;
    first-boot-*) echo "$1: first boot; next: it pulls the OS image and boots again" ;;
    active) echo "$1: second boot, its kubelet runs; next: it asks for its client certificate" ;;
    inactive | activating | failed) echo "$1: second boot, its kubelet is ${state}; next: it waits for its host name and starts" ;;
    *'Permission denied'* | *'verification failed'*) echo "$1: ssh login fails: ${state:0:100}" ;;
    *) echo "$1: ssh says ${state:0:100}" ;;
  esac
}

# How far each machine has come, a line each: its Node, and what became of its
# newest request for a serving certificate. The API server forgets such requests,
# approved ones after an hour; then the kubelet is asked, through the API server.
standing() {
  local name node addresses ready serving
  while IFS=$'\t' read -r -u 7 name node addresses ready serving; do
    if [[ ${serving} == forgotten ]] && cluster get --raw "/api/v1/nodes/${node}/proxy/healthz" < /dev/null > /dev/null 2>&1; then
      serving='in use'
    fi
    if [[ ${node} == none ]]; then echo "${name}: no Node"
    else echo "${name}: Node ${node} at ${addresses}, ${ready}, serving certificate ${serving}"; fi
  done 7< <(jq --raw-output --arg machines "${MACHINES}" --arg domain "${CLUSTER_DOMAIN}" --slurpfile csrs <(cat <<< "${CSRS}") '
    .items as $nodes | $machines | split("\n")[] | select(. != "") | split(" ")[0] | . as $name | [., . + "." + $domain] as $names
    | ($nodes | map(select(.metadata.name | IN($names[]))) | .[0]) as $node
    | ($csrs[0].items | map(select(.spec.signerName == "kubernetes.io/kubelet-serving" and .spec.username == "system:node:\($node.metadata.name)"))
      | sort_by(.metadata.creationTimestamp, .metadata.name) | .[-1]) as $csr
    | [$name, $node.metadata.name // "none", ([$node.status.addresses[]? | select(.type == "InternalIP").address] | join(" ") | if . == "" then "none" else . end),
       (if any($node.status.conditions[]?; .type == "Ready" and .status == "True") then "Ready" else "not Ready" end),
       (if $csr == null then "forgotten" else ([$csr.status.conditions[]?.type] | join(",") | if . == "" then "Pending" else . end)
         + (if $csr.status.certificate then ",Issued" else "" end) end)] | @tsv' <<< "${NODES}")
}

# A client certificate makes a Node appear; the serving one lets logs be read.
complete() { ! grep --quiet --invert-match --extended-regexp ', serving certificate (Approved,Issued|in use)$' <<< "$1"; }

every_serving_certificate_is_there() {
  local machines
  look && machines="$(standing)" || return 1
  echo "${machines}"
  complete "${machines}"
}

every_node_has_its_address() {
  local name address machines bad=0
  look && machines="$(standing)" || return 1
  echo "${machines}"
  while read -r -u 8 name address; do
    grep --quiet --extended-regexp "^${name}: Node [^ ]+ at ([0-9.]+ )*${address//./\\.}[ ,]" <<< "${machines}" || bad=1
  done 8<<< "${MACHINES}"
  return "${bad}"
}

no_node_is_foreign() {
  local strangers
  look || return 1
  strangers="$(jq --raw-output --arg known "${MASTERS}"$'\n'"${WORKERS}" --arg domain "${CLUSTER_DOMAIN}" '[.items[].metadata.name]
    - [$known | split("\n")[] | select(. != "") | split(" ")[0] | ., . + "." + $domain] | .[] | "Node " + .' <<< "${NODES}")" || return 1
  echo "${strangers:-none}"
  [[ -z ${strangers} ]]
}

verify() {
  check nodes 'every master is a Node with its own address' \
    'a Node by the name of each master, with the domain or without, and the InternalIP of lab.yaml' \
    'A Node without its address took another interface or another lease; look at the machine'\''s MAC address in lab.yaml and at the DHCP server'\''s leases.' \
    every_node_has_its_address
  check serving 'every master has its serving certificate' \
    'the newest serving request of each is Approved,Issued, or its kubelet answers through the API' \
    'Run approve-csrs.sh --watch.' \
    every_serving_certificate_is_there
  check foreign 'no Node is foreign to this lab' \
    'only Nodes by the names of machines in lab.yaml' \
    'Find out what machine it is, by oc get node NAME -o yaml. If it belongs to no one, oc delete node NAME, and begin again with a network of your own.' \
    no_node_is_foreign
}

usual_failures() {
  usual_failure 'nothing on port 22' \
    'The machine is off, or its Ignition waits for the Machine Config Server. It tries again for ever and says so on its console.' \
    'Look at its console. Connection refused there: nothing listens on port 22623. A 500: it asks for another pool. Unknown authority: master.ign is of another run.'
  usual_failure 'ssh login fails' \
    'Your agent has no key that lab.yaml names as sshKey, or the machine was recreated and shows another host key.' \
    'Compare ssh-add -l with sshKey; remove /opt/openshift/.bootlab.known_hosts if you recreated the machine.'
  usual_failure 'first boot; next: it pulls the OS image' \
    'If it stays so for long, the registry is slow, or refuses the pull secret.' \
    'On the master, journalctl -u machine-config-daemon-pull -u machine-config-daemon-firstboot.'
  usual_failure 'not Ready, serving certificate Approved,Issued' \
    'The node has no network yet. Its pods come from operators that run on masters too, so the first master takes longest.' \
    'Look at oc get pods -n openshift-network-operator, and then at those of openshift-ovn-kubernetes.'
}

stage_main "$@"
