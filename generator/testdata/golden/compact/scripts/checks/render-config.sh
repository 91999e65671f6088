#!/usr/bin/env bash
# render-config: the checks of the stage
#
# render-config.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-config.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check infrastructure 'the Infrastructure manifest is an Infrastructure' << 'COMMAND'
grep -E -e '\bkind"?: *"?Infrastructure"?(,|}| *$)' manifests/cluster-infrastructure-02-config.yml
COMMAND
check cloud-config 'the cloud configuration was generated' << 'COMMAND'
grep -E -e '\bname"?: *"?kube-cloud-config"?(,|}| *$)' \
  config-bootstrap/cloud-provider-config-generated.yaml
COMMAND

end_of_checks
