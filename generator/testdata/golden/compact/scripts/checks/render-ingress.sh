#!/usr/bin/env bash
# render-ingress: the checks of the stage
#
# render-ingress.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-ingress.sh --only
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
grep -E -e '\bname"?: *"?ingresscontrollers[.]operator[.]openshift[.]io"?(,|}| *$)' \
  ingress-operator-manifests/cluster-ingress-00-custom-resource-definition.yaml
COMMAND
check namespace 'the operator'\''s namespace was rendered' << 'COMMAND'
grep -E -e '\bname"?: *"?openshift-ingress-operator"?(,|}| *$)' \
  ingress-operator-manifests/cluster-ingress-00-namespace.yaml
COMMAND
check copied 'both are in manifests/' <<< \
  '(cd ingress-operator-manifests && sha256sum -- *) | (cd manifests && sha256sum --check --quiet)'

end_of_checks
