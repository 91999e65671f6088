#!/usr/bin/env bash
# render-cvo: Render the cluster version operator
#
# Somebody has to install all the other operators. That is the cluster version
# operator, and as it is part of the release image itself, this stage runs the
# release image. It renders a static pod for the bootstrap node and the
# operator's own namespace, types, rights and deployment: not the manifests of
# the other operators, which it will apply from the payload once it runs.
#
# In bootkube.sh: stage cvo-bootstrap,
#         "Rendering Cluster Version Operator Manifests..."
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
# - A container that an interrupted run left behind is waited for and removed,
#   and the stage renders again.
# - Each file is copied under a temporary name and renamed.
# - The output directories are opened, read and removed under podman unshare.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=render-cvo RECORD=cvo-bootstrap
MARKER=cvo-bootstrap.done CONTAINER=cvo-render NEXT='render-etcd.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/digest
needs_input 'run render-api.sh first' manifests/99_feature-gate.yaml
needs_input 'run make-kubeconfigs.sh first' auth/kubeconfig-loopback
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
RELEASE_IMAGE_DIGEST="$(cat release-info/digest)"
as_root=(env)
((EUID == 0)) || as_root=(podman unshare)

if step 1 'Pull the image'; then
  podman image exists "${RELEASE_IMAGE_DIGEST}" ||
    timeout 1800 podman pull "${RELEASE_IMAGE_DIGEST}"
fi 9>&-

if step 2 'Render into an empty cvo-bootstrap/'; then
  # The operator makes its directories with mode 0666, so only root can look
  # inside; podman unshare makes you root of what your own containers wrote.
  "${as_root[@]}" rm -rf cvo-bootstrap
  # --output-dir: where bootstrap/ and manifests/ are made, with a mode that
  # only root can enter
  # --release-image: the image that pod and deployment will run; the command
  # does not know which image it came in
  # --feature-gate-manifest-path: the feature set and, where render-api has
  # written a status, the gates that are on
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name cvo-render \
    --volume "${PWD}:/assets:z" \
    "${RELEASE_IMAGE_DIGEST}" \
    render \
    --output-dir=/assets/cvo-bootstrap \
    --release-image="${RELEASE_IMAGE_DIGEST}" \
    --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml
  "${as_root[@]}" chmod -R a+rX cvo-bootstrap
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # cluster-bootstrap hands bootstrap-manifests/ to the kubelet, and not before.
  cp cvo-bootstrap/bootstrap/* .new/
  mv -f .new/* bootstrap-manifests/
  # The ClusterVersion that the installer wrote can only be created after its
  # type.
  cp cvo-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  # The static pod mounts this path, not the secrets that its neighbours use,
  # and must reach the API server beside it.
  cp auth/kubeconfig-loopback "${HOST_ROOT}/etc/kubernetes/kubeconfig"
  rmdir .new
fi 9>&-

finish
