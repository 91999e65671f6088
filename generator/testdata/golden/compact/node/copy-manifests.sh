#!/usr/bin/env bash
# copy-manifests: Put the installer's two manifest directories together
#
# The installer keeps what every cluster needs in manifests/ and what OpenShift
# adds in openshift/. The operators that render next read one directory only,
# and one file they cannot do without comes from openshift/: the FeatureGate.
#
# In bootkube.sh: stage openshift-manifests, "Moving OpenShift manifests in with the rest of them"
# Reads:  openshift/
# Writes: manifests/99_feature-gate.yaml
#         manifests/
# Differs from bootkube.sh:
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='copy-manifests' CALL='copy-manifests.sh' RECORD='openshift-manifests' MARKER='openshift-manifests.done'
readonly NEEDS=(jq flock) NEXT='render-api.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input openshift/99_feature-gate.yaml 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input openshift/ 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  invalidated api-bootstrap.done render-api.sh \
    'render-api wrote the FeatureGate'\''s status into manifests/99_feature-gate.yaml, and this puts the bare one back'
}

do_stage() {
  # The directories that bootkube.sh makes before its first stage.
  run mkdir --parents "${HOST_ROOT}"/etc/kubernetes/{manifests,bootstrap-configs,bootstrap-manifests} \
    ./{bootstrap-manifests,manifests}

  # Everything in manifests/ is created by cluster-bootstrap once the API
  # answers.
  copy_files 'openshift/*' manifests/
}

all_arrived() {
  local file bad=0
  present openshift/* || return 1
  for file in openshift/*; do
    present "manifests/${file##*/}" || bad=1
  done
  return "${bad}"
}

all_the_same() {
  local file bad=0
  for file in openshift/*; do
    [[ ${file} == */99_feature-gate.yaml ]] || same "${file}" manifests/ || bad=1
  done
  return "${bad}"
}

verify() {
  check arrived 'every file of openshift/ is in manifests/' \
    'a file of the same name for each' \
    'Run copy-manifests.sh --force.' \
    all_arrived
  check unchanged 'what arrived is what was sent' \
    'the same bytes, but for the FeatureGate, to which render-api adds a status' \
    'A file of manifests/ was changed afterwards; change it in openshift/ and run copy-manifests.sh --force.' \
    all_the_same
  check feature-gate 'there is a FeatureGate for the API'\''s render' \
    'kind FeatureGate' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    value .kind FeatureGate manifests/99_feature-gate.yaml
}

usual_failures() {
  usual_failure 'there is no file openshift/* to copy' \
    'The directory openshift/ is empty.' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.'
}

stage_main "$@"
