#!/usr/bin/env bash
# render-api: the checks of the stage
#
# render-api.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-api.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
VERSION="$(cat "${ASSET_DIR}/release-info/version" 2> /dev/null)" ||
  VERSION='unknown: no release-info/version'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check crds 'the CRDs were rendered' <<< \
  '(($(ls api-bootstrap/manifests/*.yaml | wc -l) >= 10))'
check crds-copied 'the CRDs are in manifests/' <<< \
  '(cd api-bootstrap/manifests && sha256sum -- *) | (cd manifests && sha256sum --check --quiet)'
check gates-of-version 'the FeatureGate has a status for this payload version' << 'COMMAND'
jq --exit-status --arg want "${VERSION}" '.status.featureGates[0].version == $want' \
  manifests/99_feature-gate.yaml
COMMAND

end_of_checks
