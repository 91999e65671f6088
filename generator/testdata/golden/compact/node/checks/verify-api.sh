#!/usr/bin/env bash
# verify-api: the checks of the stage
#
# verify-api.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/verify-api.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
API_METHOD='--get'
API_PATH='readyz'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check api 'api answers' << 'COMMAND'
curl --cacert tls/kube-apiserver-complete-server-ca-bundle.crt --silent --show-error --fail \
  --max-time 15 --write-out '%{http_code}\n' --output /dev/null \
  "${API_METHOD}" "https://api.${CLUSTER_DOMAIN}:6443/${API_PATH}" |
  tee /dev/stderr | grep -x 200 > /dev/null
COMMAND
check api-int 'api-int answers' << 'COMMAND'
curl --cacert tls/kube-apiserver-complete-server-ca-bundle.crt --silent --show-error --fail \
  --max-time 15 --write-out '%{http_code}\n' --output /dev/null \
  "${API_METHOD}" "https://api-int.${CLUSTER_DOMAIN}:6443/${API_PATH}" |
  tee /dev/stderr | grep -x 200 > /dev/null
COMMAND

end_of_checks
