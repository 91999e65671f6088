#!/usr/bin/env bash
# smoke-test: the checks of the stage
#
# smoke-test.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/smoke-test.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
KUBERNETES_SERVICE_ADDRESS='172.30.0.1'
SMOKE_NAMESPACE='bootlab-compact'
SMOKE_HOST='bootlab-smoke-test.apps.compact.bootlab.test'
SMOKE_GREETING='This is compact.bootlab.test.'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod 'a pod was scheduled, pulled and started' << 'COMMAND'
timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
  get deployment smoke-test --namespace="${SMOKE_NAMESPACE}" \
  --output=jsonpath='{.status.availableReplicas}' |
  grep -Ex '[1-9][0-9]*'
COMMAND
check log 'its log can be read' <<< \
  'timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
    logs deployment/smoke-test --namespace="${SMOKE_NAMESPACE}" --tail=5 |
    grep -F -e "${SMOKE_GREETING}"'
check names 'names resolve inside the pod' <<< \
  'timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
    logs deployment/smoke-test --namespace="${SMOKE_NAMESPACE}" --tail=5 |
    grep -F -e "kubernetes: ${KUBERNETES_SERVICE_ADDRESS} "'
check service 'the service answers inside the cluster' <<< \
  'timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
    get --raw "/api/v1/namespaces/${SMOKE_NAMESPACE}/services/smoke-test:8080/proxy/" |
    grep -F -e "${SMOKE_GREETING}"'
check route 'the route answers from outside' << 'COMMAND'
curl --noproxy '*' --silent --show-error --fail --max-time 15 "http://${SMOKE_HOST}/" |
  grep -F -e "${SMOKE_GREETING}"
COMMAND

end_of_checks
