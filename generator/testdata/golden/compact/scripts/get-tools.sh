#!/usr/bin/env bash
# get-tools: Take oc and openshift-install out of the release
#
# Both programs belong to a release: its images carry the builds that fit it. oc
# talks to the cluster, and openshift-install makes bootstrap.ign for real VMs.
# The render stages need neither.
#
# Reads:  release-info/images
# Writes: tools/oc
#         tools/openshift-install
# Differs from oc adm release extract:
# - openshift-install keeps its placeholder for the release image.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly CLUSTER_NAME='compact'
readonly STAGE='get-tools' CALL='get-tools.sh' RECORD='get-tools' MARKER='get-tools.done'
readonly NEEDS=(podman jq flock) NEXT='copy-manifests.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"
  # The client's image is built for the machine, the installer's artifacts image
  # carries one build per system.
  local machine
  case $(uname --machine) in
    x86_64) machine=linux_amd64 ;;
    aarch64) machine=linux_arm64 ;;
    *) die 4 "no tools for $(uname --machine)" 'run this on x86_64 or aarch64' ;;
  esac
  take cli /usr/bin/oc tools/oc
  take installer-artifacts "/usr/share/openshift/${machine}/openshift-install" tools/openshift-install
}

# A container that is made but never started gives access to the files of an
# image, as root and as an ordinary user alike; podman needs some command for it.
take() { # IMAGE PATH FILE
  local image container="get-tools-${CLUSTER_NAME}"
  image="$(image_for "$1")"
  pull_image "${image}"
  run podman rm --force --ignore "${container}"
  run podman create --quiet --net=none --name "${container}" "${image}" "$2"
  run mkdir --parents tools
  run podman cp "${container}:$2" "$3.tmp"
  run podman rm --force "${container}"
  run chmod 0755 "$3.tmp"
  run mv --force "$3.tmp" "$3"
}

oc_starts() { tools/oc version --client; }

openshift_install_starts() { tools/openshift-install version; }

verify() {
  check executable 'both programs can be executed' \
    'mode 0755' \
    'Run get-tools.sh --force.' \
    mode 0755 tools/oc tools/openshift-install
  check oc 'oc starts on this machine' \
    'an answer to oc version --client' \
    'A build for another system was taken, or its C library is newer than this machine'\''s; run get-tools.sh --force or use your own oc.' \
    oc_starts
  check openshift-install 'openshift-install starts on this machine' \
    'an answer to openshift-install version' \
    'A build for another system was taken; run get-tools.sh --force.' \
    openshift_install_starts
}

usual_failures() {
  usual_failure 'the release names no image' \
    'The release was built without its command line tools.' \
    'Use the oc and openshift-install that your organisation provides for this release.'
  usual_failure 'could not be found on container' \
    'The image keeps the program elsewhere.' \
    'Run oc adm release extract --tools with an oc you have, and put the programs into tools/.'
}

stage_main "$@"
