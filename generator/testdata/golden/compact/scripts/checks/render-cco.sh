#!/usr/bin/env bash
# render-cco: the checks of the stage
#
# render-cco.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-cco.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check manifests 'the operator rendered its objects' << 'COMMAND'
wc --bytes cco-bootstrap/manifests/cco-namespace.yaml \
  cco-bootstrap/manifests/cco-operator-config.yaml | (! grep '^ *0 ')
COMMAND
check types 'both types are among them' <<< \
  '(($(ls cco-bootstrap/manifests/cco-cloudcredential_v1_*.yaml | wc -l) >= 2))'
check manifests-copied 'they are in manifests/' <<< \
  '(cd cco-bootstrap/manifests && sha256sum -- *) | (cd manifests && sha256sum --check --quiet)'
check pod 'the static pod exists, unless credentials are managed by hand' << 'COMMAND'
[[ -s cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] ||
  grep -E '^ *credentialsMode: "?Manual' cco-bootstrap/manifests/cco-operator-config.yaml
COMMAND
[[ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] ||
  check pod-image 'the static pod has an image to run' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/cloud-credential-operator-pod.yaml |
    (! grep -vE "image.?: *.?[a-z0-9]")'
[[ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] ||
  check pod-image-of-release 'the pod'\''s images are this release'\''s' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/cloud-credential-operator-pod.yaml |
    (! grep -vwFf <(grep -ho "[^ ]*$" release-info/images release-info/digest))'
[[ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] ||
  check pod-copied 'the pod waits for cluster-bootstrap' <<< \
  '(cd cco-bootstrap/bootstrap-manifests && sha256sum -- *) |
    (cd bootstrap-manifests && sha256sum --check --quiet)'

end_of_checks
