#!/usr/bin/env bash
# wait-for-ceo: the checks of the stage
#
# wait-for-ceo.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/wait-for-ceo.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check running-in-cluster 'etcd runs in the cluster' << 'COMMAND'
timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s \
  get etcds.operator.openshift.io cluster --output=json |
  jq --raw-output '.status.conditions[]? | select(.type == "EtcdRunningInCluster")
    | [.type, .status, .reason, .message] | join(" ")' |
  grep -e '' | tee /dev/stderr | grep '^EtcdRunningInCluster True' > /dev/null
COMMAND

end_of_checks
