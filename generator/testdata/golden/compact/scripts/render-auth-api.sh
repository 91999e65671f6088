#!/usr/bin/env bash
# render-auth-api: Render the type that role bindings are checked against
#
# An admission plugin of OpenShift's API server asks for RoleBindingRestriction
# objects before it lets a RoleBinding in. While that type is missing, the
# system's own role bindings would be refused. The authentication operator owns
# the CRD since 4.19 and renders this one file. The OAuth server has nothing to
# do with it: that one starts much later, in the cluster.
#
# In bootkube.sh: stage auth-api-bootstrap, "Rendering auth api manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
# Writes: auth-api-bootstrap/manifests/authorization.openshift.io_rolebindingrestrictions.yaml
#         manifests/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly CLUSTER_PROFILE_ANNOTATION='self-managed-high-availability'
readonly STAGE='render-auth-api' CALL='render-auth-api.sh' RECORD='auth-api-bootstrap' MARKER='auth-api-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-config.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input release-info/version 'run release-info.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  AUTH_OPERATOR_IMAGE="$(image_for cluster-authentication-operator)"
  VERSION="$(release_info version)"
  pull_image "${AUTH_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container auth-api-render; then
    run rm --recursive --force auth-api-bootstrap
    # --asset-output-dir: the command adds no manifests/ of its own, unlike its
    # neighbours, so the path already ends in it
    # --rendered-manifest-dir: taken and not used; it is there for the day when
    # the render depends on feature gates
    # --cluster-profile: taken and not used, as above
    # --payload-version: taken and not used, as above
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name auth-api-render \
      --volume "${PWD}:/assets:z" \
      "${AUTH_OPERATOR_IMAGE}" \
      render \
      --asset-output-dir=/assets/auth-api-bootstrap/manifests \
      --rendered-manifest-dir=/assets/manifests \
      --cluster-profile="${CLUSTER_PROFILE_ANNOTATION}" \
      --payload-version="${VERSION}"
  fi

  # cluster-bootstrap creates it with the rest.
  copy_files 'auth-api-bootstrap/manifests/*' manifests/
}

verify() {
  check crd 'the CRD was rendered' \
    'metadata.name rolebindingrestrictions.authorization.openshift.io' \
    'Run render-auth-api.sh --force; another image than the payload'\''s writes other files.' \
    value .metadata.name rolebindingrestrictions.authorization.openshift.io \
      auth-api-bootstrap/manifests/authorization.openshift.io_rolebindingrestrictions.yaml
  check crd-copied 'the CRD waits among the manifests' \
    'the same file in manifests/' \
    'Run render-auth-api.sh again.' \
    same auth-api-bootstrap/manifests/* manifests/
}

usual_failures() {
  usual_failure 'unknown command "/usr/bin/authentication-operator" for "authentication-operator"' \
    'The image has an entrypoint; a path in front of the subcommand is taken for a subcommand.' \
    'Call it as bootkube.sh does, with render alone behind the image.'
}

stage_main "$@"
