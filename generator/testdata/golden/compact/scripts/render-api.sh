#!/usr/bin/env bash
# render-api: Render the API types and settle the feature gates
#
# An object can only be created once its type is known, so the CRDs of the
# config and operator APIs go among the manifests first. The same run settles
# the feature gates: it writes into the FeatureGate, as status, which gates are
# on for exactly this payload version. The operators that render the API server
# and the controller manager read that status and refuse to work without it.
#
# In bootkube.sh: stage api-bootstrap,
#         "Rendering api manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         manifests/99_feature-gate.yaml
# Writes: api-bootstrap/manifests/
#         manifests/99_feature-gate.yaml
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
CLUSTER_PROFILE_ANNOTATION='self-managed-high-availability'
STAGE=render-api RECORD=api-bootstrap
MARKER=api-bootstrap.done CONTAINER=api-render NEXT='render-auth-api.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest \
  release-info/version
needs_input 'run copy-manifests.sh first' manifests/99_feature-gate.yaml
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
API_IMAGE="$(image cluster-config-api)"
VERSION="$(cat release-info/version)"

if step 1 'Pull the image'; then
  podman image exists "${API_IMAGE}" ||
    timeout 1800 podman pull "${API_IMAGE}"
fi 9>&-

if step 2 'Render into an empty api-bootstrap/'; then
  rm -rf api-bootstrap
  # --asset-output-dir: the CRDs go into a manifests/ directory below it
  # --rendered-manifest-dir: searched for FeatureGates, which are rewritten
  # where they are found
  # --cluster-profile: picks the CRDs and gates of that profile; the name is not
  # checked, and a wrong one picks no CRD at all
  # --payload-version: the version that the status is for; later operators look
  # for exactly this one
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name api-render \
    --volume "${PWD}:/assets:z" \
    "${API_IMAGE}" \
    /usr/bin/render \
    --asset-output-dir=/assets/api-bootstrap \
    --rendered-manifest-dir=/assets/manifests \
    --cluster-profile="${CLUSTER_PROFILE_ANNOTATION}" \
    --payload-version="${VERSION}"
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # cluster-bootstrap creates every file in manifests/, and what needs these
  # types stands beside them.
  cp api-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  rmdir .new
fi 9>&-

finish
