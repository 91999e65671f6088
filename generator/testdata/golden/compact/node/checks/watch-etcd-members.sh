#!/usr/bin/env bash
# watch-etcd-members: the checks of the stage
#
# watch-etcd-members.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/watch-etcd-members.sh
# --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
BOOTSTRAP='bootstrap 192.168.126.10'
MASTERS=$'master-0 192.168.126.20\n'
MASTERS+=$'master-1 192.168.126.21\n'
MASTERS+='master-2 192.168.126.22'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check lab-machines 'every member runs on a machine of the lab' << 'COMMAND'
export MASTERS="${MASTERS}" BOOTSTRAP_MEMBER="etcd-bootstrap ${BOOTSTRAP#* }"
bash "${SCRIPTS}/lib/etcdctl.sh" member list | grep -E '^[0-9a-f]+, ' | awk -F ', ' '
  BEGIN { n = split(ENVIRON["BOOTSTRAP_MEMBER"] " " ENVIRON["MASTERS"], word, /[ \n]+/)
    for (i = 1; i < n; i += 2) at[word[i + 1]] = word[i] }
  { address = $4; gsub(/^https:\/\/|:2380$/, "", address)
    if (!(address in at)) { print $3 " at " $4 " is on no machine of the lab"; bad = 1; next }
    if ($5 != "" && $5 != "https://" address ":2379") {
      print $3 " tells clients to come to " $5; bad = 1
    }
    if ((at[address] == "etcd-bootstrap") != ($3 == "etcd-bootstrap") && $3 != "") {
      print $3 " is at " $4; bad = 1
    }
    if (address in seen) { print address " has two members"; bad = 1 }
    seen[address] = 1 }
  END { exit bad || !NR }'
COMMAND
check one-at-a-time 'at most one member is joining' << 'COMMAND'
export MASTERS="${MASTERS}"
bash "${SCRIPTS}/lib/etcdctl.sh" member list | grep -E '^[0-9a-f]+, ' |
  awk -F ', ' '$2 != "started" || $6 == "true" { print; joining++ } END { exit joining > 1 || !NR }'
COMMAND
check healthy 'every voting member is healthy' << 'COMMAND'
export MASTERS="${MASTERS}"
# Each voting member is asked for a key, and asks a quorum before it answers.
voters="$(bash "${SCRIPTS}/lib/etcdctl.sh" member list |
  awk -F ', ' '$6 == "false" && $5 != "" { print $5 }' | paste -sd ,)"
bash "${SCRIPTS}/lib/etcdctl.sh" endpoint health --endpoints="${voters:?no voting member}"
COMMAND

end_of_checks
