#!/usr/bin/env bash
# render-api: Render the API types and settle the feature gates
#
# An object can only be created once its type is known, so the CRDs of the
# config and operator APIs go among the manifests first. The same run settles
# the feature gates: it writes into the FeatureGate, as status, which gates are
# on for exactly this payload version. The operators that render the API server
# and the controller manager read that status and refuse to work without it.
#
# In bootkube.sh: stage api-bootstrap, "Rendering api manifests..."
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
readonly STAGE='render-api' CALL='render-api.sh' RECORD='api-bootstrap' MARKER='api-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-auth-api.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input release-info/version 'run release-info.sh first'
  need_input manifests/99_feature-gate.yaml 'run copy-manifests.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  API_IMAGE="$(image_for cluster-config-api)"
  VERSION="$(release_info version)"
  pull_image "${API_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container api-render; then
    run rm --recursive --force api-bootstrap
    # --asset-output-dir: the CRDs go into a manifests/ directory below it
    # --rendered-manifest-dir: searched for FeatureGates, which are rewritten
    # where they are found
    # --cluster-profile: picks the CRDs and gates of that profile; the name is
    # not checked, and a wrong one picks no CRD at all
    # --payload-version: the version that the status is for; later operators
    # look for exactly this one
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name api-render \
      --volume "${PWD}:/assets:z" \
      "${API_IMAGE}" \
      /usr/bin/render \
      --asset-output-dir=/assets/api-bootstrap \
      --rendered-manifest-dir=/assets/manifests \
      --cluster-profile="${CLUSTER_PROFILE_ANNOTATION}" \
      --payload-version="${VERSION}"
  fi

  # cluster-bootstrap creates every file in manifests/, and what needs these
  # types stands beside them.
  copy_files 'api-bootstrap/manifests/*' manifests/
}

verify() {
  local VERSION
  VERSION="$(release_info version 2> /dev/null)" || VERSION='unknown: no release-info/version'
  check crds 'the CRDs were rendered' \
    'at least ten files in api-bootstrap/manifests/' \
    'Look at --cluster-profile in render-api.sh --dry-run, then run render-api.sh --force.' \
    count 10 api-bootstrap/manifests/*.yaml
  check crds-copied 'the CRDs wait among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-api.sh again.' \
    same api-bootstrap/manifests/* manifests/
  check gates-of-version 'the FeatureGate has a status for this payload version' \
    'status.featureGates[0].version is the payload version' \
    'The file was replaced or the release changed since; run render-api.sh --force.' \
    value ".status.featureGates[0].version" "${VERSION}" manifests/99_feature-gate.yaml
}

usual_failures() {
  usual_failure 'no FeatureGates found in manfest dir: [/assets/manifests]' \
    'manifests/ holds no FeatureGate; the installer ships it in openshift/, and copy-manifests did not run.' \
    'Run copy-manifests.sh, then render-api.sh.'
  usual_failure 'problem parsing payload version: strconv.ParseUint: parsing "": invalid syntax' \
    'The payload version arrived empty.' \
    'Run release-info.sh --force and look at release-info/version.'
  usual_failure 'lstat /usr/share/bootkube/manifests/manifests: no such file or directory' \
    'The image holds the command but none of its templates; it is not the payload'\''s cluster-config-api.' \
    'Look for an override under images in lab.yaml, then run release-info.sh --force.'
  usual_failure 'that do not contain the configured clusterProfile' \
    'The FeatureGate in manifests/ carries the annotation of another cluster profile; a run with that profile wrote it.' \
    'Run copy-manifests.sh --force, which brings the file as it was, then render-api.sh.'
}

stage_main "$@"
