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

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
GATEWAY='192.168.126.1'
MASTERS=$'master-0 192.168.126.20\n'
MASTERS+=$'master-1 192.168.126.21\n'
MASTERS+='master-2 192.168.126.22'
STAGE=wait-for-masters RECORD=wait-for-masters
MARKER=''
NEXT='back to the terminal of start-bootstrap.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"
# shellcheck source=lib/ending.sh
source "${SCRIPTS}/lib/ending.sh"

needs oc jq flock
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' auth/kubeconfig-loopback \
  auth/kubeconfig
runs_in_parallel
option '--timeout=S' TIMEOUT 'give up after S seconds instead of 2400'
begin "$@"

export CLUSTER_DOMAIN MACHINES="${MASTERS}" # for lib/machines.sh
ssh=no

# While the bootstrap API server lives it answers at localhost, even where DNS or
# the load balancer do not; after it there is api-int.
ask() {
  local kubeconfig=auth/kubeconfig
  ! (: <> /dev/tcp/localhost/6443) 2> /dev/null || kubeconfig=auth/kubeconfig-loopback
  timeout 20 oc --kubeconfig "${kubeconfig}" --request-timeout=15s "$@"
}

# A load balancer on layer 4 asks in the place of the masters behind it.
show_configurations() {
  local id
  id="$(timeout 10 crictl ps --all --quiet --name '^machine-config-server$' 2> /dev/null |
    head --lines=1)" || return 0
  [[ -n ${id} ]] || { echo 'no Machine Config Server runs on this node' && return; }
  timeout 10 crictl logs "${id}" 2>&1 |
    sed -n --regexp-extended 's/.*Pool "?master"? requested by address:"([0-9.]+):[0-9]+".*/\1/p' |
    sort | uniq --count | awk -v balancer="${GATEWAY}" '{
      print "the configuration of pool master was asked for " $1 " times from " $2 \
        ($2 == balancer ? ", the load balancer" : "") }'
}

# They all come from one user; only their content tells for which node.
show_client_requests() {
  ask get csr --output=json | jq --raw-output '[.items[]
      | select(.spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet"
          and (.spec.username | endswith(":node-bootstrapper")))
      | ([.status.conditions[]?.type] | join(",") | if . == "" then "Pending" else . end)
        + (if .status.certificate then ",Issued" else "" end)]
    | group_by(.) | map("\(length) \(.[0])") | select(. != [])
    | "client certificates asked for: " + join(", ")
      + (if any(endswith(" Pending")) then "; next: approve-csrs.sh shows for which node"
         else "" end)'
}

# Before there is a Node, only the machine itself knows how far it is. The machine
# config daemon removes the file at the end of the first boot.
look_inside() { # NAME ADDRESS
  local state=unseen
  if ! timeout 2 bash -c ": <> /dev/tcp/$2/22" 2> /dev/null; then
    echo "$1: nothing on port 22; it is off, boots, or asks for its configuration: see its console"
    return
  fi
  [[ ${ssh} == no ]] || state="$(timeout 10 ssh -F none -o BatchMode=yes -o ConnectTimeout=3 \
    -o StrictHostKeyChecking=accept-new -o LogLevel=ERROR \
    -o UserKnownHostsFile=.bootlab.known_hosts "core@$2" \
    'test -e /etc/ignition-machine-config-encapsulated.json && echo -n first-boot-;' \
    'systemctl is-active kubelet.service' < /dev/null 2>&1)" || true
  state="${state##*$'\n'}" # ssh says more where a host key has changed
  case ${state} in
    unseen)
      echo "$1: port 22 is open, so its configuration has arrived; next: it pulls the OS image,"
      echo '  boots again, and its kubelet asks'
      ;;
    first-boot-*) echo "$1: first boot; next: it pulls the OS image and boots again" ;;
    active) echo "$1: second boot, its kubelet runs; next: it asks for its client certificate" ;;
    inactive | activating | failed)
      echo "$1: second boot, its kubelet is ${state}; next: it waits for its host name and starts"
      ;;
    *'Permission denied'* | *'verification failed'*) echo "$1: ssh login fails: ${state:0:100}" ;;
    *) echo "$1: ssh says ${state:0:100}" ;;
  esac
}

# A line for each master; good when nothing is missing.
masters_are_ready() {
  local machines line missing=no
  machines="$(bash "${SCRIPTS}/lib/machines.sh")" ||
    machines="$(awk '{ print $1 ": no answer of the API, no Node" }' <<< "${MASTERS}")"
  show_configurations
  show_client_requests
  while read -r -u 8 line; do
    case ${line} in
      *', Ready, serving certificate Approved,Issued' | *', Ready, serving certificate in use')
        echo "${line}"
        continue
        ;;
      *', no Node' | *': no Node')
        look_inside "${line%%:*}" \
          "$(awk -v name="${line%%:*}" '$1 == name { print $2 }' <<< "${MASTERS}")"
        ;;
      *' Pending') echo "${line}; next: approve-csrs.sh approves it" ;;
      *', not Ready, '*) echo "${line}; next: its network pods start, see oc get pods -A" ;;
      *) echo "${line}" ;;
    esac
    missing=yes
  done 8<<< "${machines}"
  [[ ${missing} == no ]]
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

[[ -n ${MASTERS} ]] || finish_part 'wait-for-masters is done: this lab has no masters'

# crictl and ssh show more; neither is needed.
command -v crictl > /dev/null ||
  echo 'without crictl it is not seen who asks the Machine Config Server'
if command -v ssh > /dev/null && [[ -S ${SSH_AUTH_SOCK:-} ]]; then
  ssh=yes
else
  echo 'without an SSH agent this script cannot see what a master does before its kubelet asks:' \
    'log in with ssh -A, and run this with sudo --preserve-env=SSH_AUTH_SOCK'
fi

if step 1 'Watch each master until it is a Node that is Ready'; then
  # Twenty minutes after the API answers, masters must run the control plane, or
  # everything is torn down. A second start of it may bring them in as well.
  wait_for 2400 'every master to be a Node that is Ready and has its serving certificate' \
    masters_are_ready
fi 9>&-

finish
