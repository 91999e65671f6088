#!/usr/bin/env bash
# render-scheduler: the checks of the stage
#
# render-scheduler.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-scheduler.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod-name 'the static pod is the bootstrap scheduler' << 'COMMAND'
grep -E -e '\bname"?: *"?bootstrap-kube-scheduler"?(,|}| *$)' \
  bootstrap-manifests/kube-scheduler-pod.yaml
COMMAND
check pod-image 'the pod has an image to run' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/kube-scheduler-pod.yaml |
    (! grep -vE "image.?: *.?[a-z0-9]")'
check pod-image-of-release 'the pod'\''s images are this release'\''s' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/kube-scheduler-pod.yaml |
    (! grep -vwFf <(grep -ho "[^ ]*$" release-info/images release-info/digest))'
check pod-copied 'the pod waits for cluster-bootstrap' <<< \
  '(cd kube-scheduler-bootstrap/bootstrap-manifests && sha256sum -- *) |
    (cd bootstrap-manifests && sha256sum --check --quiet)'
check config-copied 'the configuration is next to the others' <<< \
  'cmp kube-scheduler-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml"'
check namespace-copied 'the namespace is in manifests/' <<< \
  '(cd kube-scheduler-bootstrap/manifests && sha256sum -- *) |
    (cd manifests && sha256sum --check --quiet)'

end_of_checks
