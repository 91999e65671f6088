#!/usr/bin/env bash
# resolve-api: the checks of the stage
#
# resolve-api.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/resolve-api.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check api 'api resolves' << 'COMMAND'
dig +short +time=3 +tries=2 "api.${CLUSTER_DOMAIN}" | tee /dev/stderr |
  grep -x -E '([0-9]+\.){3}[0-9]+' > /dev/null
COMMAND
check api-int 'api-int resolves' << 'COMMAND'
dig +short +time=3 +tries=2 "api-int.${CLUSTER_DOMAIN}" | tee /dev/stderr |
  grep -x -E '([0-9]+\.){3}[0-9]+' > /dev/null
COMMAND

end_of_checks
