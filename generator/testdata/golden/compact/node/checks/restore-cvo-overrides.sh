#!/usr/bin/env bash
# restore-cvo-overrides: the checks of the stage
#
# restore-cvo-overrides.sh --verify runs this file. A check passes when its
# command succeeds. It runs in the asset directory, in a subshell with set -euo
# pipefail and the settings below. To repeat one check:
# checks/restore-cvo-overrides.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check overrides 'only the user'\''s own overrides are set' << 'COMMAND'
# No overrides at all may be written as null, as an empty list, or not at all.
overrides='.spec.overrides // [] | sort_by(.kind, .group, .namespace, .name)'
live="$(timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s \
  get clusterversion version --output=json)"
diff <(jq --sort-keys "${overrides}" original_cvo_overrides.patch || echo unreadable) \
  <(jq --sort-keys "${overrides}" <<< "${live}")
COMMAND
check mcs-gone 'the bootstrap node no longer serves machine configurations' <<< \
  '[[ ! -e "${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml" ]]'

end_of_checks
