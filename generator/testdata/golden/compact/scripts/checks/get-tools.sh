#!/usr/bin/env bash
# get-tools: the checks of the stage
#
# get-tools.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/get-tools.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check executable 'both programs can be executed' << 'COMMAND'
stat --format='%04a %n' tools/oc tools/openshift-install |
  awk '$1 != "0755" { print; bad = 1 } END { exit bad }'
COMMAND
check oc 'oc starts on this machine' <<< \
  'tools/oc version --client'
check openshift-install 'openshift-install starts on this machine' <<< \
  'tools/openshift-install version'

end_of_checks
