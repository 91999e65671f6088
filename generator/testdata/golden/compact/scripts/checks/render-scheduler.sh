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
check pod-image 'the pod has an image to run' << 'COMMAND'
sed -n 's/^[- ]*"*image"*: *//p' bootstrap-manifests/kube-scheduler-pod.yaml |
  awk '!/[a-z]/ { print "empty: " $0; bad = 1 } END { exit bad || NR == 0 }'
COMMAND
check pod-image-of-release 'the pod'\''s images are this release'\''s' << 'COMMAND'
cat release-info/images release-info/digest |
  awk 'FNR == NR { known[$NF]; next }
    /^[- ]*"?image"?:/ { gsub(/["\047]/, "", $NF); if (!($NF in known)) { print $NF; bad = 1 } }
    END { exit bad }' - bootstrap-manifests/kube-scheduler-pod.yaml
COMMAND
check pod-copied 'the pod waits for cluster-bootstrap' << 'COMMAND'
(cd kube-scheduler-bootstrap/bootstrap-manifests && find * -type f -exec sha256sum {} +) |
  (cd bootstrap-manifests && sha256sum --check --quiet)
COMMAND
check config-copied 'the configuration is next to the others' << 'COMMAND'
cmp kube-scheduler-bootstrap/config \
  "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml"
COMMAND
check namespace-copied 'the namespace is in manifests/' << 'COMMAND'
(cd kube-scheduler-bootstrap/manifests && find * -type f -exec sha256sum {} +) |
  (cd manifests && sha256sum --check --quiet)
COMMAND

end_of_checks
