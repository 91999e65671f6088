#!/usr/bin/env bash
# copy-manifests: Put the installer's two manifest directories together
#
# The installer keeps what every cluster needs in manifests/ and what OpenShift
# adds in openshift/. The operators that render next read one directory only,
# and one file they cannot do without comes from openshift/: the FeatureGate.
#
# In bootkube.sh: stage openshift-manifests,
#         "Moving OpenShift manifests in with the rest of them"
# Reads:  openshift/
# Writes: manifests/99_feature-gate.yaml
#         manifests/
# Differs from bootkube.sh:
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=copy-manifests RECORD=openshift-manifests
MARKER=openshift-manifests.done NEXT='render-api.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs jq flock
needs_input 'run make-manifests.sh first' openshift/99_feature-gate.yaml openshift/
invalidates api-bootstrap.done render-api.sh \
  'render-api wrote the FeatureGate'\''s status, and this puts the bare file back'
begin "$@"

if step 1 'Make the directories that bootkube.sh makes first'; then
  mkdir -p "${HOST_ROOT}"/etc/kubernetes/{manifests,bootstrap-configs,bootstrap-manifests} \
    bootstrap-manifests manifests
fi 9>&-

if step 2 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # Everything in manifests/ is created by cluster-bootstrap once the API
  # answers.
  cp openshift/* .new/
  mv -f .new/* manifests/
  rmdir .new
fi 9>&-

finish
