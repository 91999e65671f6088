#!/usr/bin/env bash
# wait-for-masters: the checks of the stage
#
# wait-for-masters.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/wait-for-masters.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
MASTERS=$'master-0 192.168.126.20\n'
MASTERS+=$'master-1 192.168.126.21\n'
MASTERS+='master-2 192.168.126.22'
WORKERS=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check nodes 'every master is a Node with its own address' << 'COMMAND'
export MACHINES="${MASTERS}" CLUSTER_DOMAIN="${CLUSTER_DOMAIN}"
bash "${SCRIPTS}/lib/machines.sh" |
  awk 'BEGIN {
      n = split(ENVIRON["MACHINES"], word, /[ \n]+/)
      for (i = 1; i < n; i += 2) address[word[i] ":"] = word[i + 1]
    }
    { print; at = $0; sub(/^.* at /, "", at); sub(/,.*/, "", at) }
    !/: Node / || !index(" " at " ", " " address[$1] " ") { bad = 1 }
    END { exit bad || !NR }'
COMMAND
check serving 'every master has its serving certificate' << 'COMMAND'
export MACHINES="${MASTERS}" CLUSTER_DOMAIN="${CLUSTER_DOMAIN}"
bash "${SCRIPTS}/lib/machines.sh" |
  awk '{ print } !/, serving certificate (Approved,Issued|in use)$/ { bad = 1 }
    END { exit bad || !NR }'
COMMAND
check foreign 'no Node is unknown to this lab' << 'COMMAND'
kubeconfig=auth/kubeconfig
! (: <> /dev/tcp/localhost/6443) 2> /dev/null || kubeconfig=auth/kubeconfig-loopback
timeout 20 oc --kubeconfig "${kubeconfig}" --request-timeout=15s get nodes --output=json |
  jq --raw-output --arg known "${MASTERS}"$'\n'"${WORKERS}" --arg domain "${CLUSTER_DOMAIN}" '
    [.items[].metadata.name]
      - [$known | split("\n")[] | select(. != "") | split(" ")[0] | ., . + "." + $domain]
    | if . == [] then "none" else (.[] | "Node \(.)"), ("" | halt_error(1)) end' | grep .
COMMAND

end_of_checks
