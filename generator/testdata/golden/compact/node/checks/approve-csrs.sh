#!/usr/bin/env bash
# approve-csrs: the checks of the stage
#
# approve-csrs.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/approve-csrs.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
MASTERS=$'master-0 192.168.126.20\n'
MASTERS+=$'master-1 192.168.126.21\n'
MASTERS+='master-2 192.168.126.22'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check refused 'no request is waiting that must not be approved' << 'COMMAND'
export MACHINES="${MASTERS}" CLUSTER_DOMAIN="${CLUSTER_DOMAIN}"
bash "${SCRIPTS}/lib/csr.sh" |
  awk -F '\t' '$2 == "refused" { print $1 ": " $9; bad = 1 } END { exit bad }'
COMMAND
check nodes 'every master has a Node' << 'COMMAND'
export MACHINES="${MASTERS}" CLUSTER_DOMAIN="${CLUSTER_DOMAIN}"
bash "${SCRIPTS}/lib/machines.sh" |
  awk '{ print } !/: Node / { bad = 1 } END { exit bad || !NR }'
COMMAND
check serving 'every master has its serving certificate' << 'COMMAND'
export MACHINES="${MASTERS}" CLUSTER_DOMAIN="${CLUSTER_DOMAIN}"
bash "${SCRIPTS}/lib/machines.sh" |
  awk '{ print } !/, serving certificate (Approved,Issued|in use)$/ { bad = 1 }
    END { exit bad || !NR }'
COMMAND

end_of_checks
