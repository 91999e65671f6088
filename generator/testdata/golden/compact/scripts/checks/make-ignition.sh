#!/usr/bin/env bash
# make-ignition: the checks of the stage
#
# make-ignition.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/make-ignition.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
OUT_DIR="${SCRIPTS%/*}"
OVERLAY_FILE="${OUT_DIR}/ignition/overlay.ign"
CLUSTER_DOMAIN='compact.bootlab.test'
# openssl x509 would read all CAs of the system at every start.
SSL_CERT_FILE=/dev/null
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check version 'the configs have the Ignition version of the installer' << 'COMMAND'
for file in install/bootstrap.ign ignition/{bootstrap,overlay,master,worker}.ign; do
  jq --exit-status '.ignition.version | select(. == "3.2.0")' "${file}" ||
    { echo "${file}: $(jq --compact-output .ignition.version "${file}")" && false; }
done
COMMAND
check merged 'the bootstrap node gets the installer'\''s config and the overlay' << 'COMMAND'
number=0
for file in install/bootstrap.ign ignition/overlay.ign; do
  jq --raw-output ".ignition.config.merge[${number}].source" ignition/bootstrap.ign |
    cut -d , -f 2 | base64 --decode | gzip --decompress | cmp - "${file}"
  jq --raw-output ".ignition.config.merge[${number}].verification.hash" ignition/bootstrap.ign |
    diff - <(echo "sha512-$(sha512sum < "${file}" | cut -c -128)")
  number=$((number + 1))
done
jq --exit-status '.ignition.config.merge | length == 2' ignition/bootstrap.ign
COMMAND
check overlay 'the overlay is the one that was generated last' <<< \
  'cmp "${OVERLAY_FILE}" ignition/overlay.ign'
check understood 'openshift-install understood every key' << 'COMMAND'
[[ -s install/.openshift_install.log ]]
! grep 'unknown field' install/.openshift_install.log
COMMAND
check release 'it installs the lab'\''s release' << 'COMMAND'
jq --raw-output '.storage.files[]
  | select(.path == "/usr/local/bin/release-image-download.sh").contents.source' \
  install/bootstrap.ign | cut -d , -f 2 | base64 --decode | grep '^RELEASE_IMAGE=' |
  diff - <(sed 's/^/RELEASE_IMAGE=/' release-info/digest)
COMMAND
check api-name 'the administrator'\''s kubeconfig is for the lab'\''s cluster' <<< \
  'grep -E -e "server: https://api[.]${CLUSTER_DOMAIN}:6443" install/auth/kubeconfig'
check master-pointer 'masters use the lab'\''s Machine Config Server' << 'COMMAND'
jq --exit-status --arg want "https://api-int.${CLUSTER_DOMAIN}:22623/config/master" \
  '.ignition.config.merge[0].source == $want' ignition/master.ign
COMMAND
check worker-pointer 'workers use it too' << 'COMMAND'
jq --exit-status --arg want "https://api-int.${CLUSTER_DOMAIN}:22623/config/worker" \
  '.ignition.config.merge[0].source == $want' ignition/worker.ign
COMMAND
check root-ca 'they trust the server of this bootstrap node' << 'COMMAND'
ca=$(jq --raw-output '.storage.files[]
  | select(.path == "/opt/openshift/tls/root-ca.crt").contents.source' install/bootstrap.ign |
  cut -d , -f 2 | base64 --decode)
[[ -n ${ca} ]]
for role in master worker; do
  jq --raw-output '.ignition.security.tls.certificateAuthorities[0].source' "ignition/${role}.ign" |
    cut -d , -f 2 | base64 --decode | diff - <(echo "${ca}")
done
COMMAND
check fresh 'the 24-hour certificates have not expired' << 'COMMAND'
jq --raw-output '.storage.files[] | select(.path | test("/tls/.*[.]crt$"))
  | "\(.path) \(.contents.source)"' install/bootstrap.ign | while read -r file source; do
    end=$(base64 --decode <<< "${source#*,}" | openssl x509 -noout -enddate)
    echo "$(date --date="${end#*=}" +%s) ${file##*/}"
  done | sort --numeric-sort | sed -n 1p | {
    read -r end name
    echo "${name} ends first, in $(((end - EPOCHSECONDS) / 3600)) hours"
    ((end > EPOCHSECONDS + 3600))
  }
COMMAND
check size 'the machine can read the file quickly' << 'COMMAND'
stat --format='%s bytes' ignition/bootstrap.ign
(($(stat --format=%s ignition/bootstrap.ign) < 400000))
COMMAND
check private 'no one else can read keys' << 'COMMAND'
stat --format='%04a %n' ignition/*.ign install/*.ign install/auth/* \
  install/install-config.kept.yaml install/.openshift_install_state.json |
  awk '$1 != "0600" { print; bad = 1 } END { exit bad }'
COMMAND
check closed 'no one else can list the directories' << 'COMMAND'
stat --format='%04a %n' install install/auth ignition |
  awk '$1 != "0700" { print; bad = 1 } END { exit bad }'
COMMAND

end_of_checks
