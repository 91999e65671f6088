#!/usr/bin/env bash
# render-cvo: the checks of the stage
#
# render-cvo.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-cvo.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
RELEASE_IMAGE_DIGEST="$(cat "${ASSET_DIR}/release-info/digest" 2> /dev/null)" ||
  RELEASE_IMAGE_DIGEST='unknown: no release-info/digest'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod-name 'the static pod is the operator'\''s' << 'COMMAND'
grep -E -e '\bname"?: *"?bootstrap-cluster-version-operator"?(,|}| *$)' \
  bootstrap-manifests/bootstrap-pod.yaml
COMMAND
check pod-image 'the static pod runs this release' <<< \
  'grep -E -e "\\bimage\"?: *\\W?${RELEASE_IMAGE_DIGEST}\\W?(,|}| *$)" \
    bootstrap-manifests/bootstrap-pod.yaml'
check operator-manifests 'the operator'\''s own objects are in manifests/' << 'COMMAND'
wc --bytes manifests/0000_00_cluster-version-operator_00_namespace.yaml \
  manifests/0000_00_cluster-version-operator_01_clusterversion* \
  manifests/0000_00_cluster-version-operator_*_deployment.yaml | (! grep '^ *0 ')
COMMAND
check deployment-image 'the deployment runs this release too' <<< \
  'grep -l -E -e "\\bimage\"?: *\\W?${RELEASE_IMAGE_DIGEST}\\W?(,|}| *$)" \
    manifests/0000_00_cluster-version-operator_*_deployment.yaml |
    diff - <(ls manifests/0000_00_cluster-version-operator_*_deployment.yaml)'
check kubeconfig 'the pod'\''s kubeconfig uses this node' <<< \
  'cmp auth/kubeconfig-loopback "${HOST_ROOT}/etc/kubernetes/kubeconfig"'

end_of_checks
