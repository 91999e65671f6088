#!/usr/bin/env bash
# wait-for-ceo: Wait until etcd can do without the bootstrap member
#
# The data of the cluster began on this node, so the node may only go when the
# masters' members carry them. The etcd operator adds the masters one by one and
# says in a condition of its object when removing the bootstrap member is safe:
# with three masters, when there are four members. This stage waits for that
# condition. The member itself is removed later, once bootkube.sh is done.
#
# In bootkube.sh: stage wait-for-ceo, "Waiting for CEO to finish..."
# Reads:  release-info/images
#         release-info/digest
#         auth/kubeconfig
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own, if it is not there yet.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is waited for while it runs
# and removed when it is dead.
# - The operator's command works in the background, and the script asks the API
# for the same condition with oc every 5 s.
# - The wait ends after 45 minutes, and at once when the API's certificate is
# expired or of another CA; then the container is removed.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='wait-for-ceo' CALL='wait-for-ceo.sh' RECORD='wait-for-ceo' MARKER=''
readonly NEEDS=(podman jq oc flock) NEXT='verify-api.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

WAITING='' KUBECONFIG_FILE=auth/kubeconfig

do_stage() {

  # The release names every image; release-info.sh wrote its answers down.
  CLUSTER_ETCD_OPERATOR_IMAGE="$(image_for cluster-etcd-operator)"
  pull_image "${CLUSTER_ETCD_OPERATOR_IMAGE}"
  log 'Waiting for CEO to finish...'
  start_operator
  # bootkube.sh waits for ever, since openshift-install looks at the clock: that
  # one gives the whole bootstrap 45 minutes.
  wait_for 2700 'members on the masters that can do without the bootstrap member' operator_is_content
  [[ ${MODE} != dry-run ]] || return 0
  local status=0
  wait "${WAITING}" || status=$?
  ((status == 0)) || die 1 "cluster-etcd-operator ended with status ${status}" 'its own words stand above'
}

# The operator's command says little, so it works in the background, and what it
# waits for is told beside it.
start_operator() {
  local state mounts
  state="$(podman container inspect --format '{{.State.Status}}' wait-for-ceo 2> /dev/null)" || state=''
  if [[ -n ${state} ]]; then
    mounts="$(podman container inspect --format '{{range .Mounts}}{{.Source}}:{{end}}' wait-for-ceo)"
    [[ ":${mounts}" == *":${ASSET_DIR}:"* ]] ||
      die 1 "a container named wait-for-ceo belongs elsewhere: ${mounts%:}" 'let it end, or remove it: podman rm --force wait-for-ceo'
  fi
  if [[ ${state} == running && ${MODE} != dry-run ]]; then
    log 'container wait-for-ceo of an interrupted run is still running: waiting for its end'
    ended_well &
    WAITING=$!
    return
  fi
  [[ -z ${state} ]] || run podman rm --force wait-for-ceo
  # --kubeconfig: the cluster's administrator, through api-int
  operator show '' || return 0
  operator attempt &
  WAITING=$!
}

# podman wait ends well however the container did; what that ended with it prints.
ended_well() {
  local status
  status="$(attempt podman wait wait-for-ceo)" || status=1
  [[ ${status} =~ ^[0-9]+$ ]] || status=1
  return "${status}"
}

# In the words of bootkube.sh; HOW shows it or runs it.
operator() { # HOW...
  "$@" podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name wait-for-ceo \
    --volume "${PWD}:/assets:z" \
    "${CLUSTER_ETCD_OPERATOR_IMAGE}" \
    /usr/bin/cluster-etcd-operator wait-for-ceo \
    --kubeconfig /assets/auth/kubeconfig
}

operator_is_content() {
  etcd_runs_in_cluster || true
  ! kill -0 "${WAITING}" 2> /dev/null
}

# The condition that the operator's command waits for, and behind it the
# operator's count of members, which that command does not tell.
etcd_runs_in_cluster() {
  local answer
  answer="$(cluster get etcds.operator.openshift.io cluster --output=json)" || return 1
  answer="$(condition 'EtcdRunningInCluster|EtcdMembersAvailable' <<< "${answer}")" || return 1
  echo "${answer:-etcds.operator.openshift.io/cluster has no such condition yet}"
  grep --quiet '^EtcdRunningInCluster True ' <<< "${answer}"
}

# Ctrl-C does not reach what works in the background.
tidy_up() { [[ -z ${WAITING} ]] || podman rm --force --ignore --time=0 wait-for-ceo > /dev/null 2>&1; }

verify() {
  check running-in-cluster 'etcd runs in the cluster' \
    'condition EtcdRunningInCluster is True on etcds.operator.openshift.io/cluster' \
    'Look at oc get etcd cluster -o yaml and at oc get pods -n openshift-etcd; one unhealthy member stops all progress.' \
    etcd_runs_in_cluster
}

usual_failures() {
  usual_failure 'EtcdRunningInCluster False' \
    'Members are missing, or one is unhealthy, and then the operator changes nothing. The text speaks of three members; with three masters four are meant.' \
    'Run watch-etcd-members.sh beside this; then look at oc get pods -n openshift-etcd and at the log of the operator in openshift-etcd-operator.'
  usual_failure 'has no such condition yet' \
    'The etcd operator has not begun, for it runs on a master and none has room for it.' \
    'Look at oc get nodes, and at oc get pods -n openshift-etcd-operator.'
  usual_failure 'etcds.operator.openshift.io "cluster" not found' \
    'The object is created by cluster-bootstrap and the version operator; it is gone, or this is another cluster.' \
    'Run start-bootstrap.sh --verify, and look which cluster auth/kubeconfig leads to.'
  usual_failure 'error loading kubeconfig' \
    'auth/kubeconfig is missing or unreadable. This alone ends the operator'\''s command by itself, with status 255.' \
    'Look for what changed or removed the file; it came with bootstrap.ign, and what make-ignition.sh keeps has it still.'
  usual_failure 'failed to list' \
    'The operator'\''s command cannot read the object, and tries again for ever. Where nothing listens, and where the object is missing, it says nothing at all.' \
    'The line ends with the reason; run verify-api.sh on this node.'
}

stage_main "$@"
