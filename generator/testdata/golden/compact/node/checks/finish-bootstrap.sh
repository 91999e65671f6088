#!/usr/bin/env bash
# finish-bootstrap: the checks of the stage
#
# finish-bootstrap.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/finish-bootstrap.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check ended 'bootkube.sh is marked as complete' <<< \
  '(($(ls .bootkube.done | wc -l) >= 1))'
check record 'the record says that bootkube.sh succeeded' << 'COMMAND'
jq --exit-status --compact-output '.[-1] | {phase, result}' \
  "${HOST_ROOT}/var/log/openshift/bootkube.json" |
  tee /dev/stderr | grep -x '{"phase":"service end","result":"success"}' > /dev/null
COMMAND
check config-map 'the cluster knows that the bootstrap is complete' << 'COMMAND'
timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s \
  get configmap bootstrap --namespace=kube-system --output=jsonpath='{.data.status}{"\n"}' |
  tee /dev/stderr | grep -x complete > /dev/null
COMMAND
check member-removed 'etcd runs without the bootstrap member' << 'COMMAND'
timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s \
  get etcds cluster --output=json |
  jq --raw-output '.status.conditions[]? | select(.type | test("^EtcdBoot?strapMemberRemoved$"))
    | "\(.type) \(.status) \(.message)"' | tee /dev/stderr | grep ' True ' > /dev/null
COMMAND

end_of_checks
