#!/usr/bin/env bash
# remove-bootstrap: the checks of the stage
#
# remove-bootstrap.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/remove-bootstrap.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
BOOTSTRAP='bootstrap 192.168.126.10'
LIBVIRT_URI='qemu:///system'
BOOTSTRAP_DOMAIN='bootlab-compact-bootstrap'
LAB_POOL='bootlab-compact'
BOOTSTRAP_DISK='bootlab-compact-bootstrap.qcow2'
BOOTSTRAP_IGNITION='bootlab-compact-bootstrap.ign'
BALANCER_SOCKET='../vms/haproxy.sock'
BOOTSTRAP_BACKENDS='api machine-config-server'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check balancer 'the load balancer sends no requests to the bootstrap node' << 'COMMAND'
timeout 10 socat -t 5 - "UNIX-CONNECT:${BALANCER_SOCKET}" <<< 'show stat' |
  awk -F , -v backends=" ${BOOTSTRAP_BACKENDS} " -v name="${BOOTSTRAP% *}" '
    !index(backends, " " $1 " ") || $2 ~ /^(FRONTEND|BACKEND)$/ { next }
    { seen = 1; print $1, $2, $18 }
    $2 == name && $18 != "MAINT" { bad = 1 }
    END { exit bad || !seen }'
COMMAND
check machine 'the machine is deleted' <<< \
  'domains="$(virsh --connect "${LIBVIRT_URI}" list --all --name)"
  ! grep -Fx -e "${BOOTSTRAP_DOMAIN}" <<< "${domains}"'
check files 'its disk and its Ignition file are deleted' << 'COMMAND'
pools="$(virsh --connect "${LIBVIRT_URI}" pool-list --all --name | awk '{ print $1 }')"
# Who removed the pool removed the files first.
if grep -Fqx -e "${LAB_POOL}" <<< "${pools}"; then
  virsh --connect "${LIBVIRT_URI}" pool-refresh "${LAB_POOL}"
  volumes="$(virsh --connect "${LIBVIRT_URI}" vol-list "${LAB_POOL}" | awk '{ print $1 }')"
  (! grep -Fx -e "${BOOTSTRAP_DISK}" -e "${BOOTSTRAP_IGNITION}" <<< "${volumes}")
fi
COMMAND
check api 'the API answers without it' << 'COMMAND'
timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s get --raw /readyz
COMMAND

end_of_checks
