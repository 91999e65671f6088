#!/usr/bin/env bash
# wait-for-ceo: Wait until etcd can do without the bootstrap member
#
# The data of the cluster began on this node, so the node may only go when the
# masters' members carry them. The etcd operator adds the masters one by one and
# says in a condition of its object when removing the bootstrap member is safe:
# with three masters, when there are four members. This stage waits for that
# condition. The member itself is removed later, once bootkube.sh is done.
#
# In bootkube.sh: stage wait-for-ceo,
#         "Waiting for CEO to finish..."
# Reads:  release-info/images
#         release-info/digest
#         auth/kubeconfig
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own, if it is not there yet.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is waited for while it runs,
#   and removed.
# - Before the operator's command runs, oc asks the API for the same condition
#   every 5 seconds.
# - The wait ends after 45 minutes, and at the third answer in a row that
#   waiting does not change, which is a certificate that is expired or of
#   another CA, or a kubeconfig that cannot be read. The operator's command then
#   has 10 minutes.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
STAGE=wait-for-ceo RECORD=wait-for-ceo
MARKER='' CONTAINER=wait-for-ceo NEXT='verify-api.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq oc flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' auth/kubeconfig
option '--timeout=S' TIMEOUT 'wait for the condition S seconds instead of 2700'
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
CLUSTER_ETCD_OPERATOR_IMAGE="$(image cluster-etcd-operator)"

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

# The cluster through api-int. oc makes several requests: all together are limited.
cluster() { # ARGUMENT...
  timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s "$@" && return
  [[ $? != 124 ]] || echo 'no answer within 20 s'
  return 1
}

conditions() { # TYPE-PATTERN, reads an object: each condition on a line
  jq --raw-output --arg type "^($1)$" '.status.conditions[]? | select(.type | test($type))
    | [.type, .status, .reason // "", .message // ""] | join(" ") | gsub("[^ -~]"; " ")'
}

# The condition that the operator's command waits for. EtcdMembersAvailable, the
# operator's count of members, is printed with it.
etcd_runs_in_cluster() {
  local found
  found="$(cluster get etcds.operator.openshift.io cluster --output=json)" ||
    { echo "${found}" && return 1; }
  found="$(conditions 'EtcdRunningInCluster|EtcdMembersAvailable' <<< "${found}")"
  echo "${found:-etcds.operator.openshift.io/cluster has no such condition yet}"
  grep --quiet '^EtcdRunningInCluster True ' <<< "${found}"
}

if step 1 'Pull the image'; then
  podman image exists "${CLUSTER_ETCD_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${CLUSTER_ETCD_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Waiting for CEO to finish...'; then
  # The command of the next step waits without limit and prints no reason, so oc
  # asks for the same condition first.
  wait_for 2700 'members on the masters that can do without the bootstrap member' \
    etcd_runs_in_cluster
fi 9>&-

if step 3 'Let the operator say the same'; then
  # --kubeconfig: the cluster's administrator, through api-int
  timeout --foreground --kill-after=10 600 \
    podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name wait-for-ceo \
    --volume "${PWD}:/assets:z" \
    "${CLUSTER_ETCD_OPERATOR_IMAGE}" \
    /usr/bin/cluster-etcd-operator wait-for-ceo \
    --kubeconfig /assets/auth/kubeconfig
fi 9>&-

finish
