#!/usr/bin/env bash
# render-cvo: Render the cluster version operator
#
# Somebody has to install all the other operators. That is the cluster version
# operator, and as it is part of the release image itself, this stage runs the
# release image. It renders a static pod for the bootstrap node and the
# operator's own namespace, types, rights and deployment: not the manifests of
# the other operators, which it will apply from the payload once it runs.
#
# In bootkube.sh: stage cvo-bootstrap, "Rendering Cluster Version Operator Manifests..."
# Reads:  release-info/digest
#         manifests/99_feature-gate.yaml
#         auth/kubeconfig-loopback
# Writes: cvo-bootstrap/bootstrap/bootstrap-pod.yaml
#         cvo-bootstrap/manifests/
#         bootstrap-manifests/
#         manifests/
#         /etc/kubernetes/kubeconfig
# Differs from bootkube.sh:
# - The release image is pulled in a step of its own, if it is not there yet.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed.
# - The output directories are opened, read and removed under podman unshare.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly STAGE='render-cvo' CALL='render-cvo.sh' RECORD='cvo-bootstrap' MARKER='cvo-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-etcd.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/digest 'run release-info.sh first'
  need_input manifests/99_feature-gate.yaml 'run render-api.sh first'
  need_input auth/kubeconfig-loopback 'run make-kubeconfigs.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  RELEASE_IMAGE_DIGEST="$(release_info digest)"
  pull_image "${RELEASE_IMAGE_DIGEST}"

  # The operator makes its directories with mode 0666. Without the execute bit
  # only root can look inside; podman unshare makes a user root of what
  # the user's own containers wrote.
  local inside=()
  ((EUID == 0)) || inside=(podman unshare)

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container cvo-render; then
    run "${inside[@]}" rm --recursive --force cvo-bootstrap
    # --output-dir: where bootstrap/ and manifests/ are made, with a mode that
    # only root can enter
    # --release-image: the image that pod and deployment will run; the command
    # does not know which image it came in
    # --feature-gate-manifest-path: the feature set and, where render-api has
    # written a status, the gates that are on
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name cvo-render \
      --volume "${PWD}:/assets:z" \
      "${RELEASE_IMAGE_DIGEST}" \
      render \
      --output-dir=/assets/cvo-bootstrap \
      --release-image="${RELEASE_IMAGE_DIGEST}" \
      --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml
  fi
  ((EUID == 0)) || run podman unshare chmod --recursive a+rX cvo-bootstrap

  # cluster-bootstrap hands bootstrap-manifests/ to the kubelet, and not before.
  copy_files 'cvo-bootstrap/bootstrap/*' bootstrap-manifests/
  # The ClusterVersion that the installer wrote can only be created after its
  # type.
  copy_files 'cvo-bootstrap/manifests/*' manifests/
  # The static pod mounts this path, not the secrets that its neighbours use,
  # and must reach the API server beside it.
  copy_files auth/kubeconfig-loopback "${HOST_ROOT}/etc/kubernetes/kubeconfig"
}

verify() {
  local RELEASE_IMAGE_DIGEST
  RELEASE_IMAGE_DIGEST="$(release_info digest 2> /dev/null)" || RELEASE_IMAGE_DIGEST='unknown: no release-info/digest'
  check pod-name 'the static pod is the operator'\''s' \
    'metadata.name bootstrap-cluster-version-operator' \
    'Run render-cvo.sh --force.' \
    value .metadata.name bootstrap-cluster-version-operator bootstrap-manifests/bootstrap-pod.yaml
  check pod-image 'the static pod runs this release' \
    'the release image by digest' \
    'The release changed since; run release-info.sh --force and render-cvo.sh --force.' \
    value ".spec.containers[0].image" "${RELEASE_IMAGE_DIGEST}" \
      bootstrap-manifests/bootstrap-pod.yaml
  check operator-manifests 'the operator'\''s own objects wait among the manifests' \
    'its namespace, the CRD of ClusterVersion and its deployment in manifests/' \
    'Run render-cvo.sh again.' \
    present manifests/0000_00_cluster-version-operator_00_namespace.yaml \
      manifests/0000_00_cluster-version-operator_01_clusterversion* \
      manifests/0000_00_cluster-version-operator_*_deployment.yaml
  check deployment-image 'the deployment runs this release too' \
    'the release image by digest' \
    'The release changed since; run release-info.sh --force and render-cvo.sh --force.' \
    value ".spec.template.spec.containers[0].image" "${RELEASE_IMAGE_DIGEST}" \
      manifests/0000_00_cluster-version-operator_*_deployment.yaml
  check kubeconfig 'the pod'\''s kubeconfig leads to this node' \
    '/etc/kubernetes/kubeconfig, the same file as auth/kubeconfig-loopback' \
    'Run render-cvo.sh again.' \
    same auth/kubeconfig-loopback "${HOST_ROOT}/etc/kubernetes/kubeconfig"
}

usual_failures() {
  usual_failure 'error loading image references for manifest rendering: open /release-manifests/image-references' \
    'The image is the operator'\''s, but no release image; only a release image carries the payload'\''s list.' \
    'Look at release.image in lab.yaml, then run release-info.sh --force.'
  usual_failure 'panic: runtime error: invalid memory address or nil pointer dereference' \
    'A manifest that the command line names is not there; the operator asks a file that it could not open for its name.' \
    'Run copy-manifests.sh and make-manifests.sh, or unpack a bootstrap.ign; then render-cvo.sh.'
  usual_failure 'cvo-bootstrap/manifests: Permission denied' \
    'The operator makes its directories with mode 0666, so only root can enter them.' \
    'Off root put podman unshare in front of the command, as the script does.'
}

stage_main "$@"
