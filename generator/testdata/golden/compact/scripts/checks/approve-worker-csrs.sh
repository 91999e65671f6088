#!/usr/bin/env bash
# approve-worker-csrs: the checks of the stage
#
# approve-worker-csrs.sh --verify runs this file. A check passes when its
# command succeeds. It runs in the asset directory, in a subshell with set -euo
# pipefail and the settings below. To repeat one check:
# checks/approve-worker-csrs.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_DOMAIN='compact.bootlab.test'
WORKERS=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check refused 'no request is waiting that must not be approved' << 'COMMAND'
export MACHINES="${WORKERS}" CLUSTER_DOMAIN="${CLUSTER_DOMAIN}"
bash "${SCRIPTS}/lib/csr.sh" |
  awk -F '\t' '$2 == "refused" { print $1 ": " $9; bad = 1 } END { exit bad }'
COMMAND

end_of_checks
