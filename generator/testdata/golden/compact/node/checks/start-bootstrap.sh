#!/usr/bin/env bash
# start-bootstrap: the checks of the stage
#
# start-bootstrap.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/start-bootstrap.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
REQUIRED_PODS=$'openshift-kube-apiserver/kube-apiserver\n'
REQUIRED_PODS+=$'openshift-kube-scheduler/openshift-kube-scheduler\n'
REQUIRED_PODS+=$'openshift-kube-controller-manager/kube-controller-manager\n'
REQUIRED_PODS+='openshift-cluster-version/cluster-version-operator'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check required-pods 'the masters run the control plane' << 'COMMAND'
pods() {
  timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s \
    get pods --namespace="$1" --output=json
}
bad=0
for pod in ${REQUIRED_PODS}; do
  # A load balancer may still lead to the API server that is gone: ask twice.
  # Guard pods, whose names begin alike, hold no control plane.
  (pods "${pod%%/*}" || { sleep 5 && pods "${pod%%/*}"; }) |
    jq --exit-status --arg name "${pod#*/}" 'any(.items[];
      (.metadata.name | startswith($name) and (startswith($name + "-guard-") | not))
      and .status.phase == "Running"
      and any(.status.conditions[]?; .type == "Ready" and .status == "True"))' > /dev/null ||
    { echo "${pod}: none is ready" && bad=1; }
done
((bad == 0))
COMMAND
check torn-down 'the bootstrap control plane is removed' <<< \
  'for file in "${HOST_ROOT}/etc/kubernetes/manifests/kube-apiserver-pod.yaml" \
    "${HOST_ROOT}/etc/kubernetes/manifests/kube-controller-manager-pod.yaml" \
    "${HOST_ROOT}/etc/kubernetes/manifests/kube-scheduler-pod.yaml" \
    "${HOST_ROOT}/etc/kubernetes/manifests/bootstrap-pod.yaml" \
    "${HOST_ROOT}/etc/kubernetes/manifests/cloud-credential-operator-pod.yaml" \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-secrets/kubeconfig"; do
    [[ ! -e "${file}" ]] || { echo "${file}" && false; }
  done'
check etcd-stays 'etcd is not torn down with it' <<< \
  '[[ -s "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml" ]]'

end_of_checks
