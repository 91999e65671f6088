#!/usr/bin/env bash
# release-hold: Let services of the node go on by themselves
#
# On a node of the installer bootkube.service, approve-csr.service and
# progress.service start at boot. On this node each has a drop-in with one more
# condition: a file in /etc/bootlab/automatic. This makes the file and starts
# the service. bootkube.sh then does what bears no marker yet, and skips the
# rest, so it goes on where the scripts stopped. The two others want
# bootkube.service, and it wants neither: released alone, CSRs stay unapproved
# and nothing tells openshift-install that the bootstrap is complete.
#
# Reads:  /etc/systemd/system/bootkube.service.d/10-bootlab.conf
# Writes: /etc/bootlab/automatic/bootkube
#         /etc/bootlab/automatic/approve-csr
#         /etc/bootlab/automatic/progress
# Differs from the installer:
# - The services start when somebody says so.
# - Its record stands in bootlab/release-hold.json, not in bootkube.json.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
STAGE=release-hold RECORD=release-hold
MARKER=''
NEXT='wait-for-masters.sh and approve-csrs.sh --watch, while bootkube.sh works'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs systemctl jq flock
needs_input 'it comes from overlay.ign, which is merged into bootstrap.ign' \
  "${HOST_ROOT}/etc/systemd/system/bootkube.service.d/10-bootlab.conf"
takes_words UNIT 'UNIT is one of these:
  bootkube     bootkube.sh alone; CSRs and the word of completion stay with you
  approve-csr  approves whatever CSR is pending, every 20 s, until bootkube.sh is done
  progress     writes the ConfigMap that openshift-install waits for, once bootkube.sh is done
  all          all three, as on a node that holds nothing back
'
read_options "$@"
case ${UNIT} in
  bootkube | approve-csr | progress | all) export UNIT ;; # the checks read it
  *) die 2 "which service may start: '${UNIT}' is none" "${0##*/} --help lists them" ;;
esac
runs_in_parallel
begin "$@"

units=${UNIT}
[[ ${UNIT} != all ]] || units='bootkube approve-csr progress'

if step 1 'Make sure that no other script is running'; then
  # bootkube.service must not start next to a script. The two others may: they do
  # what a person does in a second terminal.
  [[ " ${units} " != *' bootkube '* ]] || flock --nonblock .bootlab.lock true ||
    { echo 'a stage script is running: let it end, or interrupt it' && false; }
fi 9>&-

if step 2 'Release the hold'; then
  mkdir -p "${HOST_ROOT}/etc/bootlab/automatic"
  for unit in ${units}; do touch "${HOST_ROOT}/etc/bootlab/automatic/${unit}"; done
fi 9>&-

if step 3 'Start the services'; then
  # The other two want bootkube.service: systemd starts it with them.
  case ${UNIT} in
    all) systemctl start approve-csr.service progress.service ;;
    *) systemctl start "${UNIT}.service" ;;
  esac
  for unit in ${units}; do echo "to watch it: journalctl --follow --unit=${unit}.service"; done
  case " ${units} " in
    *' approve-csr '*) ;;
    *) echo 'approve-csr is held: approve CSRs with approve-csrs.sh' ;;
  esac
  case " ${units} " in
    *' progress '*) ;;
    *) echo 'progress is held: finish-bootstrap.sh tells openshift-install of the end' ;;
  esac
fi 9>&-

finish
