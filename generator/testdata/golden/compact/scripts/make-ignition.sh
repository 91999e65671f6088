#!/usr/bin/env bash
# make-ignition: Have openshift-install make the Ignition configs, and add the overlay
#
# The machines of the lab boot with what openshift-install makes of one
# install-config.yaml: bootstrap.ign holds keys, manifests and scripts for the
# bootstrap node, master.ign and worker.ign only point to the Machine Config
# Server. None of the three is changed. What the bootstrap node boots with is a
# small config of its own that names two others, and Ignition merges them in
# this order: the installer's bootstrap.ign, and the overlay with the scripts
# and the drop-ins that hold services. Keys are made once. They are the
# cluster's, so nothing here ever removes them.
#
# Reads:  tools/openshift-install
#         release-info/digest
#         $OVERLAY_FILE
#         $PULL_SECRET_FILE
# Writes: install/
#         ignition/bootstrap.ign
#         ignition/overlay.ign
#         ignition/master.ign
#         ignition/worker.ign
# Differs from an administrator with openshift-install:
# - The release image is given with OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE.
# - Files get mode 0600 and directories 0700.
# - The bootstrap node boots with ignition/bootstrap.ign, not with
#   install/bootstrap.ign.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
OUT_DIR="${SCRIPTS%/*}"
OVERLAY_FILE="${OUT_DIR}/ignition/overlay.ign"
CLUSTER_NAME='compact'
BASE_DOMAIN='bootlab.test'
NETWORK_TYPE='OVNKubernetes'
MACHINE_NETWORK='192.168.126.0/24'
CLUSTER_NETWORKS='10.128.0.0/14 23'
SERVICE_NETWORK='172.30.0.0/16'
CONTROL_PLANE_REPLICAS='3'
COMPUTE_REPLICAS='0'
SSH_KEY=''
STAGE=make-ignition RECORD=make-ignition
MARKER=make-ignition.done NEXT=''
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs openssl gzip jq flock
needs_input 'run get-tools.sh first' tools/openshift-install
needs_input 'run release-info.sh first' release-info/digest
needs_input 'it comes from bootlab generate' "${OVERLAY_FILE}"
begin "$@"

# Files with keys and the pull secret are written below.
umask 077

install_config() { # PULL-SECRET, as a JSON string
  cat << END
additionalTrustBundlePolicy: Proxyonly
apiVersion: v1
baseDomain: "${BASE_DOMAIN}"
compute:
- architecture: $(architecture)
  hyperthreading: Enabled
  name: worker
  platform: {}
  replicas: ${COMPUTE_REPLICAS}
controlPlane:
  architecture: $(architecture)
  hyperthreading: Enabled
  name: master
  platform: {}
  replicas: ${CONTROL_PLANE_REPLICAS}
metadata:
  name: "${CLUSTER_NAME}"
networking:
  clusterNetwork:
$(cluster_networks '  ')
  machineNetwork:
  - cidr: ${MACHINE_NETWORK}
  networkType: ${NETWORK_TYPE}
  serviceNetwork:
  - ${SERVICE_NETWORK}
platform:
  none: {}
publish: External
pullSecret: $1
END
  [[ -z ${SSH_KEY} ]] || printf 'sshKey: %s\n' "$(json "${SSH_KEY}")"
}

architecture() { uname --machine | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/'; }

cluster_networks() { # INDENT
  local cidr prefix
  while read -r cidr prefix; do
    printf '%s- cidr: %s\n%s  hostPrefix: %s\n' "$1" "${cidr}" "$1" "${prefix}"
  done <<< "${CLUSTER_NETWORKS}"
}

# Any text as a JSON string, which is also a YAML one.
json() { printf '%s' "$1" | jq --raw-input --slurp .; } # TEXT

# OKD takes any pull secret of the right form; its images are public.
pull_secret() { echo '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}'; }

# The certificate of bootstrap.ign that ends first: seconds, and name.
first_to_end() {
  local file source end
  jq --raw-output '.storage.files[] | select(.path | test("/tls/.*[.]crt$"))
    | "\(.path) \(.contents.source)"' install/bootstrap.ign |
    while read -r file source; do
      # Without the CAs of the system, which openssl x509 would read each time.
      end="$(base64 --decode <<< "${source#*,}" |
        SSL_CERT_FILE=/dev/null openssl x509 -noout -enddate)"
      end="$(date --date="${end#*=}" +%s)"
      echo "${end:-0} ${file##*/}"
    done | sort --numeric-sort | sed -n 1p
}

hash_of() { # FILE
  sha512sum < "$1" | sed 's/^/sha512-/; s/ .*//'
}

if step 1 'Keep the keys that are there, or refuse'; then
  # A run was killed between the last two renames of the next step.
  [[ -e install || ! -e install.whole ]] || mv install.whole install
  # Keys of a second cluster are made only with --force.
  if [[ -e install && ${FORCE:-no} == no ]]; then
    install_config "$(json "$(pull_secret)")" | cmp -s - install/install-config.kept.yaml ||
      { echo 'install/ was made from another install-config.yaml' && false; }
    read -r end name < <(first_to_end)
    ((end > EPOCHSECONDS + 3600)) ||
      { echo "the certificates of install/ have expired: ${name}" && false; }
    echo 'install/ is there, and so are its keys: only ignition/ is made again'
  fi
fi 9>&-

if step 2 'Make keys and configs with openshift-install'; then
  if [[ ! -e install || ${FORCE:-no} == yes ]]; then
    # Under another name until it is whole: install/ never holds half of it.
    rm -rf install.making install.whole
    mkdir install.making
    install_config "$(json "$(pull_secret)")" > install.making/install-config.yaml
    # openshift-install deletes what it has read.
    cp install.making/install-config.yaml install.making/install-config.kept.yaml
    OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE="$(cat release-info/digest)" \
      tools/openshift-install create ignition-configs --dir install.making ||
      { echo 'openshift-install made no configs' && false; }
    chmod -R go= install.making
    if [[ -e install ]]; then
      # Without its keys a running cluster is lost. They stay in their place until
      # the new ones are whole, and then have a name of their own.
      number=1
      while [[ -e install.old-${number} ]]; do number=$((number + 1)); done
      mv install.making install.whole
      mv install "install.old-${number}"
      echo "only install.old-${number}/auth/kubeconfig reaches a cluster with the old keys"
      mv install.whole install
    else
      mv install.making install
    fi
  fi
fi 9>&-

if step 3 'Write what the bootstrap node boots with'; then
  mkdir -p .new ignition
  # A config that names two others. The later one wins, so the overlay is the second.
  # Both are compressed, for a machine reads its config slowly; the hash is that of
  # the uncompressed file.
  cp "${OVERLAY_FILE}" .new/overlay.ign
  gzip --best --no-name --stdout install/bootstrap.ign | base64 --wrap=0 > .new/installer.base64
  gzip --best --no-name --stdout .new/overlay.ign | base64 --wrap=0 > .new/overlay.base64
  jq --null-input --compact-output \
    --rawfile installer .new/installer.base64 \
    --arg installer_hash "$(hash_of install/bootstrap.ign)" \
    --rawfile overlay .new/overlay.base64 --arg overlay_hash "$(hash_of .new/overlay.ign)" '
    def merge($data; $hash):
      {compression: "gzip", source: "data:;base64,\($data)", verification: {$hash}};
    {ignition: {config: {merge: [merge($installer; $installer_hash),
      merge($overlay; $overlay_hash)]}, version: "3.2.0"}}' > .new/bootstrap.ign
  rm .new/*.base64
  mv -f .new/* ignition/
  rmdir .new
fi 9>&-

if step 4 'Copy what masters and workers boot with'; then
  # As openshift-install wrote it: the name of a server, and the CA to trust there.
  mkdir -p .new ignition
  cp install/master.ign install/worker.ign .new/
  mv -f .new/* ignition/
  rmdir .new
  read -r end name < <(first_to_end)
  echo "${name} ends first, in $(((end - EPOCHSECONDS) / 3600)) hours"
fi 9>&-

finish
