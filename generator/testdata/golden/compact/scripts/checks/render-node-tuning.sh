#!/usr/bin/env bash
# render-node-tuning: the checks of the stage
#
# render-node-tuning.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-node-tuning.sh
# --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check ran 'the operator ran' <<< \
  'ls -d node-tuning-bootstrap'
[[ -z "$(ls -A node-tuning-bootstrap 2> /dev/null)" ]] ||
  check copied 'the rendered files are in manifests/' <<< \
  '(cd node-tuning-bootstrap && sha256sum -- *) | (cd manifests && sha256sum --check --quiet)'

end_of_checks
