#!/usr/bin/env bash
# release-hold: the checks of the stage
#
# release-hold.sh UNIT --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/release-hold.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check released 'the hold is released' <<< \
  'units="$([[ ${UNIT:-all} == all ]] && echo bootkube approve-csr progress || echo "${UNIT}")"
  for unit in ${units}; do
    [[ -e ${HOST_ROOT}/etc/bootlab/automatic/${unit} ]] || { echo "${unit} is held" && false; }
  done'
check running 'the service is running, or has done its work' << 'COMMAND'
units="$([[ ${UNIT:-all} == all ]] && echo bootkube approve-csr progress || echo "${UNIT}")"
for unit in ${units}; do
  state="$(systemctl show --property=ActiveState,Result,SubState "${unit}.service" | sort | xargs)"
  # A service that failed waits five seconds to start again, and calls that
  # activating.
  case ${state} in
    *SubState=auto-restart) ;;
    'ActiveState=active '* | 'ActiveState=activating '*) continue ;;
    'ActiveState=inactive Result=success '*) [[ ! -e .bootkube.done ]] || continue ;;
  esac
  echo "${unit}.service: ${state}" && false
done
COMMAND

end_of_checks
