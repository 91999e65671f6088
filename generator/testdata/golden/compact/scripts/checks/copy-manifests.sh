#!/usr/bin/env bash
# copy-manifests: the checks of the stage
#
# copy-manifests.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/copy-manifests.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check arrived 'every file of openshift/ is in manifests/' <<< \
  'for file in openshift/*; do ls "manifests/${file##*/}" > /dev/null; done'
check unchanged 'the files in manifests/ are unchanged copies' <<< \
  'for file in openshift/*; do
    [[ ${file} == */99_feature-gate.yaml ]] || cmp "${file}" "manifests/${file##*/}"
  done'
check objects 'every file in manifests/ is a Kubernetes object' << 'COMMAND'
for file in manifests/*; do
  if [[ $(head -c 1 "${file}") == '{' ]]; then
    jq --exit-status '.kind and .apiVersion' "${file}" > /dev/null
  else
    grep '^"\?kind"\?:' "${file}" > /dev/null && grep '^"\?apiVersion"\?:' "${file}" > /dev/null
  fi || { echo "${file} is not an object" && false; }
done
COMMAND
check feature-gate 'there is a FeatureGate for the API'\''s render' << 'COMMAND'
grep -E -e '\bkind"?: *"?FeatureGate"?(,|}| *$)' manifests/99_feature-gate.yaml
COMMAND

end_of_checks
