#!/usr/bin/env bash
# restore-cvo-overrides: Give the cluster version operator back what it was told to leave alone
#
# While cluster-bootstrap creates manifests, the cluster version operator works
# on the same cluster, and both would write some of the same objects. So the
# installer marks each object it ships as unmanaged, in the overrides of the
# ClusterVersion. Now these are taken back, and only overrides that the user
# wanted stay. As the masters' control plane stands by now, the machine config
# server of the bootstrap node goes too.
#
# In bootkube.sh: stage cvo-overrides, "Restoring CVO overrides"
# Reads:  auth/kubeconfig
#         original_cvo_overrides.patch
# Differs from bootkube.sh:
# - The wait has a limit, each try ends after 20 s, and its end says what was
# waited for.
# - The wait ends early when the API's certificate is expired or of another CA
# three times in a row.
# - The pod of the Machine Config Server is removed inside the stage, before its
# checks, its marker and the end in the record.
# - The line "Trying again to restore CVO overrides" comes at once, and the
# pause of ten seconds behind it.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='restore-cvo-overrides' CALL='restore-cvo-overrides.sh' RECORD='cvo-overrides' MARKER='cvo-overrides.done'
readonly NEEDS=(oc jq flock) NEXT='wait-for-ceo.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

KUBECONFIG_FILE=/opt/openshift/auth/kubeconfig POLL=10
AGAIN="the patch may be there or not; ${CALL} tries again"

# --kubeconfig: the cluster's administrator, through api-int
# --type: a list in a merge patch replaces the whole list
# --patch-file: spec.overrides and nothing else
readonly PATCH=(oc patch clusterversion.config.openshift.io version
  --kubeconfig=/opt/openshift/auth/kubeconfig
  --type=merge
  --patch-file=/opt/openshift/original_cvo_overrides.patch)
readonly MCS_POD="${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"

check_inputs() {
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input original_cvo_overrides.patch 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

do_stage() {
  log 'Restoring CVO overrides'
  show '' "${PATCH[@]}" || true
  wait_for 1200 'the patch to be taken' patched
  stop_machine_config_server
}

# Each try is bounded, so that Ctrl-C and the limit are.
patched() {
  attempt timeout --foreground 20 "${PATCH[@]}" --request-timeout=15s && return
  echo 'Trying again to restore CVO overrides'
  return 1
}

# Masters that come later ask the Machine Config Server in the cluster.
# bootkube.sh removes this one at every start, marker or not.
stop_machine_config_server() { run rm --force "${MCS_POD}"; }

marked() {
  [[ -e ${MARKER} ]] || return 1
  [[ ! -e ${MCS_POD} ]] || stop_machine_config_server
}

# No overrides at all may be written as null, as an empty list, or not at all.
overrides_are_restored() {
  local live wanted
  live="$(cluster get clusterversion version --output=json)" || return 1
  live="$(overrides <<< "${live}")" && wanted="$(overrides < original_cvo_overrides.patch)" || return 1
  echo "spec.overrides is ${live}"
  [[ ${live} == "${wanted}" ]]
}

overrides() { jq --compact-output --sort-keys '.spec.overrides // [] | sort_by(.kind, .group, .namespace, .name)'; }

verify() {
  check overrides 'the overrides are the user'\''s own again' \
    'spec.overrides of the ClusterVersion as in original_cvo_overrides.patch' \
    'Run restore-cvo-overrides.sh --force; if oc cannot reach the API, verify-api.sh says by which name.' \
    overrides_are_restored
  check mcs-gone 'the bootstrap node serves no machine configuration any more' \
    'no machineconfigoperator-bootstrap-pod.yaml in /etc/kubernetes/manifests' \
    'Run restore-cvo-overrides.sh, which removes it each time.' \
    absent "${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"
}

usual_failures() {
  usual_failure 'Trying again to restore CVO overrides' \
    'oc could not patch; the line before says why, most often DNS or a load balancer without a backend.' \
    'Run verify-api.sh on this node.'
  usual_failure 'original_cvo_overrides.patch' \
    'oc could not read the patch file, which openshift-install puts into bootstrap.ign.' \
    'Look at the file; it is one line of JSON. Without it, write {"spec":{"overrides":null}} into it if you had no overrides of your own.'
}

stage_main "$@"
