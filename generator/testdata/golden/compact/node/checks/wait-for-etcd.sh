#!/usr/bin/env bash
# wait-for-etcd: the checks of the stage
#
# wait-for-etcd.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/wait-for-etcd.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check healthy 'etcd answers and has a quorum' << 'COMMAND'
# Without a name: the script, or bootkube.sh, may be asking under it now.
timeout --foreground 60 podman run --quiet --rm --pull=never --net=host --log-driver=k8s-file \
  --volume "${ASSET_DIR}/tls:/opt/openshift/tls:ro,z" --env ETCDCTL_API=3 --entrypoint etcdctl \
  "$(awk '$1 == "etcd" { print $2 }' release-info/images)" --command-timeout=5s \
  --cacert=/opt/openshift/tls/etcd-ca-bundle.crt --cert=/opt/openshift/tls/etcd-client.crt \
  --key=/opt/openshift/tls/etcd-client.key --endpoints=https://localhost:2379 endpoint health
COMMAND

end_of_checks
