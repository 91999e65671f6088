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
# install/bootstrap.ign.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly OVERLAY_FILE="${OUT_DIR}/ignition/overlay.ign"
readonly CLUSTER_NAME='compact'
readonly BASE_DOMAIN='bootlab.test'
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly DISTRIBUTION='okd'
readonly NETWORK_TYPE='OVNKubernetes'
readonly MACHINE_NETWORK='192.168.126.0/24'
readonly CLUSTER_NETWORKS='10.128.0.0/14 23'
readonly SERVICE_NETWORK='172.30.0.0/16'
readonly CONTROL_PLANE_REPLICAS='3'
readonly COMPUTE_REPLICAS='0'
readonly SSH_KEY=''
readonly STAGE='make-ignition' CALL='make-ignition.sh' RECORD='make-ignition' MARKER='make-ignition.done'
readonly NEEDS=(openssl gzip jq flock) NEXT=''

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input tools/openshift-install 'run get-tools.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input "${OVERLAY_FILE}" 'it comes from bootlab generate'
}

invalidates() {
  :
}

readonly MOST_BYTES=400000

do_stage() {
  local config=''
  # Keys come out of what follows, and pass through files on their way.
  umask 077
  if [[ ${MODE} != dry-run ]]; then
    need_pull_secret
    config="$(install_config "$(json "$(pull_secret_text)")")"
  fi
  # Killed between the last two renames of make_install.
  [[ -e install || ! -e install.whole ]] || run mv install.whole install
  if [[ -e install && ${FORCE} == no ]]; then keep_install; else make_install; fi

  # Masters and workers get theirs as openshift-install wrote it: a name and a CA.
  run mkdir --parents ignition
  run install --mode=0600 install/master.ign install/worker.ign "${OVERLAY_FILE}" ignition/

  # The bootstrap node gets a config that names two others. Later wins, so the
  # overlay is the second. Each is compressed, for the machine reads all of it
  # through a narrow door; the hash is that of what comes out.
  pack install/bootstrap.ign ignition/installer
  pack ignition/overlay.ign ignition/overlay
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  run_to ignition/bootstrap.ign jq --null-input --compact-output \
    --rawfile installer ignition/installer.base64 --arg installer_hash "$(hash_of install/bootstrap.ign)" \
    --rawfile overlay ignition/overlay.base64 --arg overlay_hash "$(hash_of ignition/overlay.ign)" \
    'def merge($data; $hash): {compression: "gzip", source: "data:;base64,\($data)", verification: {$hash}};
    {ignition: {config: {merge: [merge($installer; $installer_hash), merge($overlay; $overlay_hash)]}, version: "3.2.0"}}'
  run rm ignition/installer.gz ignition/installer.base64 ignition/overlay.gz ignition/overlay.base64
  [[ ${MODE} == dry-run ]] || log "the day of the certificates: $(day_is_not_over || true)"
}

# Nothing is more lost than the keys of a cluster that runs. So they stay in their
# place until new ones are whole, and these have a name of their own meanwhile.
keep_old() {
  local number=1
  while [[ -e install.old-${number} ]]; do number=$((number + 1)); done
  run mv install "install.old-${number}"
  log "a cluster that was made with the old keys is reached with install.old-${number}/auth/kubeconfig, and with nothing else"
}

# A second cluster's keys are made only when somebody says so.
keep_install() {
  [[ ${MODE} != dry-run ]] || return 0
  cmp --silent install/install-config.kept.yaml - <<< "${config}" ||
    die 1 'install/ was made from another install-config.yaml' 'undo the change in lab.yaml, or make new keys with --force: the old directory is kept'
  day_is_not_over > /dev/null || die 1 'the certificates of install/ have run out' \
    'all is well if a cluster runs with them; otherwise --force makes new ones and keeps the old directory'
  log 'install/ is there, and so are its keys: only ignition/ is made again'
}

# Under another name until it is whole: so install/ never holds half of it.
make_install() {
  local made=install.making
  run rm --recursive --force install.making install.whole
  run mkdir install.making
  write_file 0600 install.making/install-config.yaml <<< "${config}"
  # openshift-install takes away what it has read.
  run cp install.making/install-config.yaml install.making/install-config.kept.yaml
  run env OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE="$(release_info digest)" \
    tools/openshift-install create ignition-configs --dir install.making ||
    die 1 'openshift-install made no configs' 'it says above what it does not like'
  run chmod --recursive go= install.making
  if [[ -e install ]]; then
    made=install.whole
    run mv install.making "${made}"
    keep_old
  fi
  run mv "${made}" install
}

pack() { # FILE NAME
  run_to "$2.gz" gzip --best --no-name --stdout "$1"
  run_to "$2.base64" base64 --wrap=0 "$2.gz"
}

hash_of() { # FILE
  if [[ ${MODE} == dry-run && ! -e $1 ]]; then echo "SHA512:$1"; return; fi
  sha512sum < "$1" | sed 's/^/sha512-/; s/ .*//'
}

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

need_pull_secret() {
  [[ -n ${PULL_SECRET_FILE} || ${DISTRIBUTION} != okd ]] || return 0
  [[ -r ${PULL_SECRET_FILE} ]] || die 4 "the pull secret ${PULL_SECRET_FILE:-of OCP} cannot be read" \
    'name it as pullSecret in lab.yaml, and save it there; for OCP it comes from the cloud console'
  is_pull_secret < "${PULL_SECRET_FILE}" || die 4 "${PULL_SECRET_FILE} is not a pull secret" \
    'it must be JSON with auths, and in it an auth for each registry'
}

# OKD takes any pull secret that has the right form; its images are public.
pull_secret_text() {
  if [[ -n ${PULL_SECRET_FILE} ]]; then cat "${PULL_SECRET_FILE}"; else echo '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}'; fi
}

is_pull_secret() {
  jq --exit-status '.auths | length > 0 and all(.[]; (.auth // .credsStore // "") != "")' > /dev/null 2>&1
}

# A file that the installer's config puts on the bootstrap node.
on_the_node() { # PATH
  jq --raw-output --arg path "$1" '.storage.files[] | select(.path == $path) | .contents.source' install/bootstrap.ign |
    cut --delimiter=, --fields=2 | base64 --decode
}

all_are_of_one_version() {
  local file found bad=0
  for file in install/bootstrap.ign ignition/{bootstrap,overlay,master,worker}.ign; do
    found="$(jq --raw-output .ignition.version "${file}" 2>&1)" || true
    [[ ${found} == 3.2.0 ]] || { echo "${file}: ${found}"; bad=1; }
  done
  return "${bad}"
}

both_are_merged() {
  local file number=0 source
  for file in install/bootstrap.ign ignition/overlay.ign; do
    source=".ignition.config.merge[${number}]" number=$((number + 1))
    jq --raw-output "${source}.source" ignition/bootstrap.ign | cut --delimiter=, --fields=2 | base64 --decode |
      gzip --decompress | cmp - "${file}" || return 1
    value "${source}.verification.hash" "$(hash_of "${file}")" ignition/bootstrap.ign || return 1
  done
  [[ $(jq '.ignition.config.merge | length' ignition/bootstrap.ign) == 2 ]] || { echo 'something else is merged too'; return 1; }
}

every_key_was_understood() {
  present install/.openshift_install.log || return 1
  ! grep 'unknown field' install/.openshift_install.log
}

release_is_the_labs() {
  on_the_node /usr/local/bin/release-image-download.sh | grep '^RELEASE_IMAGE=' | tee /dev/stderr |
    grep --quiet --line-regexp --fixed-strings "RELEASE_IMAGE=$(cat release-info/digest)"
}

root_ca_is_one() {
  local role at='.ignition.security.tls.certificateAuthorities[0].source'
  present install/bootstrap.ign || return 1
  for role in master worker; do
    cmp <(on_the_node /opt/openshift/tls/root-ca.crt) \
      <(jq --raw-output "${at}" "ignition/${role}.ign" | cut --delimiter=, --fields=2 | base64 --decode) || return 1
  done
}

# The certificate that ends first, and when.
day_is_not_over() {
  local file text end first='' name='' left
  present install/bootstrap.ign || return 1
  while read -r file; do
    text="$(on_the_node "${file}" | openssl x509 -noout -enddate)" || return 1
    end="$(date --date="${text#*=}" +%s)" || return 1
    ((${first:-end} < end)) || first=${end} name=${file##*/}
  done < <(jq --raw-output '.storage.files[].path | select(test("/tls/.*[.]crt$"))' install/bootstrap.ign)
  left=$((${first:-0} - $(date +%s)))
  echo "${name:-no certificate} ends first, in $((left / 3600)) hours"
  ((left > 3600))
}

is_small_enough() {
  present ignition/bootstrap.ign || return 1
  stat --format='%s bytes' ignition/bootstrap.ign
  (($(stat --format=%s ignition/bootstrap.ign) < MOST_BYTES))
}

verify() {
  check version 'the configs are Ignition'\''s, of the installer'\''s version' \
    'ignition.version 3.2.0 in each' \
    'Run make-ignition.sh again; if it stays, openshift-install is of a release that bootlab does not know.' \
    all_are_of_one_version
  check merged 'the bootstrap node gets the installer'\''s config and the overlay' \
    'both, in this order, unpacked byte for byte what their hashes say' \
    'Run make-ignition.sh again.' \
    both_are_merged
  check overlay 'the overlay is the one that was generated last' \
    'ignition/overlay.ign as in out/ignition' \
    'bootlab generate has written other scripts since. Run make-ignition.sh again; a node that has booted keeps those it has.' \
    same "${OVERLAY_FILE}" ignition/overlay.ign
  check understood 'openshift-install understood every key' \
    'no unknown field in install/.openshift_install.log' \
    'The release has no such key in install-config.yaml and left it out; remove it from lab.yaml and run make-ignition.sh --force.' \
    every_key_was_understood
  check release 'it installs the lab'\''s release' \
    'the digest of release-info in release-image-download.sh' \
    'release-info.sh found another digest since. Run make-ignition.sh --force, if no cluster was made with this one.' \
    release_is_the_labs
  check api-name 'the administrator reaches the lab'\''s cluster' \
    'https://api.NAME.DOMAIN:6443 in install/auth/kubeconfig' \
    'lab.yaml names another cluster now. Run make-ignition.sh --force, if no cluster was made with this one.' \
    line "server: https://api[.]${CLUSTER_DOMAIN}:6443" install/auth/kubeconfig
  check master-pointer 'masters ask the lab'\''s Machine Config Server' \
    'https://api-int.NAME.DOMAIN:22623/config/master' \
    'lab.yaml names another cluster now. Run make-ignition.sh --force, if no cluster was made with this one.' \
    value ".ignition.config.merge[0].source" \
      "https://api-int.${CLUSTER_DOMAIN}:22623/config/master" ignition/master.ign
  check worker-pointer 'workers ask it too' \
    'https://api-int.NAME.DOMAIN:22623/config/worker' \
    'lab.yaml names another cluster now. Run make-ignition.sh --force, if no cluster was made with this one.' \
    value ".ignition.config.merge[0].source" \
      "https://api-int.${CLUSTER_DOMAIN}:22623/config/worker" ignition/worker.ign
  check root-ca 'they trust the server of this bootstrap node' \
    'one root CA in master.ign, worker.ign and bootstrap.ign' \
    'The files are of two runs. Run make-ignition.sh again.' \
    root_ca_is_one
  check fresh 'the day of the certificates is not over' \
    '60 minutes left at least, of the 24 hours since they were made' \
    'If a cluster runs with these, all is well, for it has renewed them. Otherwise run make-ignition.sh --force.' \
    day_is_not_over
  check size 'the machine can read it quickly' \
    'less than 400000 bytes in ignition/bootstrap.ign' \
    'A large additionalTrustBundle or many mirrors make it grow; reading it through fw_cfg takes the longer, the larger it is.' \
    is_small_enough
  check private 'no one else can read keys' \
    'mode 0600 on the files' \
    'Run chmod 600 on the files named; who could read one until now has the cluster.' \
    mode 0600 ignition/*.ign install/*.ign install/auth/* install/install-config.kept.yaml \
      install/.openshift_install_state.json
  check closed 'no one else can look into the directories' \
    'mode 0700' \
    'Run chmod 700 on the directories named.' \
    mode 0700 install install/auth ignition
}

usual_failures() {
  usual_failure 'failed to load asset "Install Config"' \
    'openshift-install refuses what install-config.yaml says.' \
    'It names the key; change it in lab.yaml, run bootlab generate, and this again.'
  usual_failure 'was made from another install-config.yaml' \
    'lab.yaml, the pull secret or the additional CA changed after install/ was made.' \
    'Undo the change, or give up the cluster of install/ and run make-ignition.sh --force.'
  usual_failure 'the certificates of install/ have run out' \
    'A day has gone by since they were made.' \
    'Run make-ignition.sh --force, unless a cluster runs with these.'
}

stage_main "$@"
