#!/usr/bin/env bash
# render-auth-api: the checks of the stage
#
# render-auth-api.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-auth-api.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check crd 'the CRD was rendered' << 'COMMAND'
grep -E -e '\bname"?: *"?rolebindingrestrictions[.]authorization[.]openshift[.]io"?(,|}| *$)' \
  auth-api-bootstrap/manifests/authorization.openshift.io_rolebindingrestrictions.yaml
COMMAND
check crd-copied 'the CRD is in manifests/' <<< \
  '(cd auth-api-bootstrap/manifests && sha256sum -- *) |
    (cd manifests && sha256sum --check --quiet)'

end_of_checks
