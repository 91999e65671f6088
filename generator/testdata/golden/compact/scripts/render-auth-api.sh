#!/usr/bin/env bash
# render-auth-api: Render the type that role bindings are checked against
#
# An admission plugin of OpenShift's API server asks for RoleBindingRestriction
# objects before it lets a RoleBinding in. While that type is missing, the
# system's own role bindings would be refused. The authentication operator owns
# the CRD since 4.19 and renders this one file. The OAuth server has nothing to
# do with it: that one starts much later, in the cluster.
#
# In bootkube.sh: stage auth-api-bootstrap,
#         "Rendering auth api manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         manifests/
# Writes: auth-api-bootstrap/manifests/authorization.openshift.io_rolebindingrestrictions.yaml
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
STAGE=render-auth-api RECORD=auth-api-bootstrap
MARKER=auth-api-bootstrap.done CONTAINER=auth-api-render NEXT='render-config.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest \
  release-info/version
needs_input 'run make-manifests.sh first' manifests/
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
AUTH_OPERATOR_IMAGE="$(image cluster-authentication-operator)"
VERSION="$(cat release-info/version)"

if step 1 'Pull the image'; then
  podman image exists "${AUTH_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${AUTH_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty auth-api-bootstrap/'; then
  rm -rf auth-api-bootstrap
  # --asset-output-dir: the command adds no manifests/ of its own, unlike its
  # neighbours, so the path already ends in it
  # --rendered-manifest-dir: taken and not used; it is there for the day when
  # the render depends on feature gates
  # --cluster-profile: taken and not used, as above
  # --payload-version: taken and not used, as above
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name auth-api-render \
    --volume "${PWD}:/assets:z" \
    "${AUTH_OPERATOR_IMAGE}" \
    render \
    --asset-output-dir=/assets/auth-api-bootstrap/manifests \
    --rendered-manifest-dir=/assets/manifests \
    --cluster-profile="${CLUSTER_PROFILE_ANNOTATION}" \
    --payload-version="${VERSION}"
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # cluster-bootstrap creates it with the rest.
  cp auth-api-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  rmdir .new
fi 9>&-

finish
