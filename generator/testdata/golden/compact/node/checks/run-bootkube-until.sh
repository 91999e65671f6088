#!/usr/bin/env bash
# run-bootkube-until: the checks of the stage
#
# run-bootkube-until.sh STAGE --verify runs this file. A check passes when its
# command succeeds. It runs in the asset directory, in a subshell with set -euo
# pipefail and the settings below. To repeat one check:
# checks/run-bootkube-until.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check reached 'the stage is done' <<< \
  '[[ -e ${UNTIL_MARKER:?name the stage: run-bootkube-until.sh STAGE --verify} ]] ||
    { echo "${UNTIL_MARKER} is missing" && false; }'
check stopped 'bootkube.service does not run' << 'COMMAND'
systemctl show --property=ActiveState bootkube.service | grep -E '=(inactive|failed)$' ||
  { echo 'it is running' && false; }
COMMAND
check hold 'the service is held again' <<< \
  '[[ ! -e "${HOST_ROOT}/etc/bootlab/automatic/bootkube" ]]'

end_of_checks
