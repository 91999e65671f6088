#!/usr/bin/env bash
# render-ingress: Render the type of ingress controllers
#
# On some platforms the installer brings an IngressController of its own, and an
# object needs its type first. So the ingress operator renders the CRD and its
# namespace, two files that depend on nothing, on every platform. Routers are
# not started here; the operator does that in the cluster.
#
# In bootkube.sh: stage ingress-operator-bootstrap,
#         "Rendering Ingress Operator core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/
# Writes: ingress-operator-manifests/cluster-ingress-00-custom-resource-definition.yaml
#         ingress-operator-manifests/cluster-ingress-00-namespace.yaml
#         manifests/
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
STAGE=render-ingress RECORD=ingress-operator-bootstrap
MARKER=ingress-operator-bootstrap.done CONTAINER=ingress-render
NEXT='render-node-tuning.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'run make-manifests.sh first' manifests/
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
INGRESS_OPERATOR_IMAGE="$(image cluster-ingress-operator)"

if step 1 'Pull the image'; then
  podman image exists "${INGRESS_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${INGRESS_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty ingress-operator-bootstrap/'; then
  rm -rf ingress-operator-bootstrap
  # --prefix: put before the names of the files, which would be too plain among
  # a hundred others
  # --output-dir: where the two files go; made when it is missing
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name ingress-render \
    --volume "${PWD}:/assets:z" \
    "${INGRESS_OPERATOR_IMAGE}" \
    render \
    --prefix=cluster-ingress- \
    --output-dir=/assets/ingress-operator-manifests
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # cluster-bootstrap creates them with the rest.
  cp ingress-operator-manifests/* .new/
  mv -f .new/* manifests/
  rmdir .new
fi 9>&-

finish
