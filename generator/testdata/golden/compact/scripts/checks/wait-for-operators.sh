#!/usr/bin/env bash
# wait-for-operators: the checks of the stage
#
# wait-for-operators.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/wait-for-operators.sh
# --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check version 'the ClusterVersion says that the release is installed' << 'COMMAND'
timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
  get clusterversion version --output=json | jq --raw-output '
    def is($type; $status): any(.status.conditions[]?; .type == $type and .status == $status);
    (.status.conditions[]? | select(.type | IN("Available", "Failing", "Progressing"))
      | "\(.type) \(.status) \(.message // "")" | gsub("[[:space:]]+"; " ") | .[0:150]),
    (select(is("Available"; "True") and is("Failing"; "False") and is("Progressing"; "False") | not)
      | "" | halt_error(1))' | grep .
COMMAND
check available 'every operator is available' << 'COMMAND'
timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
  get clusteroperators --output=json | jq --raw-output '
    [.items[] | select(any(.status.conditions[]?; .type == "Available" and .status == "True") | not)
      | ([.status.conditions[]? | select(.type == "Available").message // ""] | join(" ")) as $why
      | "\(.metadata.name) is not available: \($why | gsub("[[:space:]]+"; " ") | .[0:150])"
      ] as $missing
    | if .items == [] then "there is no ClusterOperator", ("" | halt_error(1))
      elif $missing == [] then "all are available"
      else $missing[], ("" | halt_error(1)) end' | grep .
COMMAND
check stable 'no operator is rolling out a change' << 'COMMAND'
timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s \
  get clusteroperators --output=json | jq --raw-output '
    def progressing: first(.status.conditions[]? | select(.type == "Progressing"))
      // {status: "Unknown"};
    def rests: .status == "False" and now - (.lastTransitionTime | fromdate) >= 30;
    [.items[] | select(progressing | rests | not) | "\(.metadata.name) is Progressing "
      + (progressing | "\(.status) since \(.lastTransitionTime)")] as $restless
    | if .items == [] then "there is no ClusterOperator", ("" | halt_error(1))
      elif $restless == [] then "all are at rest"
      else $restless[], ("" | halt_error(1)) end' | grep .
COMMAND

end_of_checks
