#!/usr/bin/env bash
# render-cco: Render the cloud credential operator
#
# Operators that work with a cloud ask for their credentials with an object, and
# somebody must answer early. The cloud credential operator renders its types,
# its configuration and a static pod for the bootstrap node. On platform none
# there is nothing to hand out, but objects of these types come with the
# payload, so the types are needed all the same.
#
# In bootkube.sh: stage cco-bootstrap,
#         "Rendering CCO manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/cluster-config.yaml
#         bootstrap-manifests/
# Writes: cco-bootstrap/manifests/
#         cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml
#         manifests/
#         bootstrap-manifests/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is waited for and removed,
#   and the stage renders again.
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=render-cco RECORD=cco-bootstrap
MARKER=cco-bootstrap.done CONTAINER=cco-render
NEXT='render-all.sh --verify'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'run make-manifests.sh first' manifests/cluster-config.yaml
needs_input 'run copy-manifests.sh first' bootstrap-manifests/
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
CLOUD_CREDENTIAL_OPERATOR_IMAGE="$(image cloud-credential-operator)"

if step 1 'Pull the image'; then
  podman image exists "${CLOUD_CREDENTIAL_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${CLOUD_CREDENTIAL_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty cco-bootstrap/'; then
  rm -rf cco-bootstrap
  # --dest-dir: where manifests/ and bootstrap-manifests/ are made; the second
  # must not be there yet
  # --manifests-dir: scanned for the ConfigMap cluster-config-v1 in kube-system
  # --cloud-credential-operator-image: the image that the static pod will run
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name cco-render \
    --quiet \
    --user 0 \
    --volume "${PWD}:/assets:z" \
    "${CLOUD_CREDENTIAL_OPERATOR_IMAGE}" \
    render \
    --dest-dir=/assets/cco-bootstrap \
    --manifests-dir=/assets/manifests \
    --cloud-credential-operator-image="${CLOUD_CREDENTIAL_OPERATOR_IMAGE}"
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # cluster-bootstrap creates them with the rest; the directory is missing when
  # the capability is off.
  if [[ -d cco-bootstrap/manifests ]]; then
    cp cco-bootstrap/manifests/* .new/
    mv -f .new/* manifests/
  fi
  # cluster-bootstrap hands the pod to the kubelet; in mode Manual there is
  # none.
  if [[ -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]]; then
    cp cco-bootstrap/bootstrap-manifests/* .new/
    mv -f .new/* bootstrap-manifests/
  fi
  rmdir .new
fi 9>&-

finish
