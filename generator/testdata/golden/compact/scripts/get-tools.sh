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

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_NAME='compact'
STAGE=get-tools RECORD=get-tools
MARKER=get-tools.done NEXT='copy-manifests.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images
begin "$@"

# How podman reaches the registries, and which images hold the tools.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { # NAME
  awk -v name="$1" '$1 == name { print $2; found = 1 }
    END { if (!found) print "the release names no image " name > "/dev/stderr"; exit !found }' \
    release-info/images
}
cli="$(image cli)"
installer="$(image installer-artifacts)"
# The image cli is built for this machine, installer-artifacts has a build for
# each system.
machine="linux_$(uname --machine | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/')"

# A container that is created but never started gives access to the files of an
# image, as root and as an ordinary user; podman needs a command for it.
take() { # IMAGE PATH NAME
  podman rm --force --ignore "get-tools-${CLUSTER_NAME}"
  podman create --quiet --net=none --name "get-tools-${CLUSTER_NAME}" "$1" "$2"
  mkdir -p tools
  podman cp "get-tools-${CLUSTER_NAME}:$2" .new
  podman rm --force "get-tools-${CLUSTER_NAME}"
  chmod 0755 .new
  mv -f .new "tools/$3"
}

if step 1 'Pull the two images'; then
  podman image exists "${cli}" || timeout 1800 podman pull "${cli}"
  podman image exists "${installer}" || timeout 1800 podman pull "${installer}"
fi 9>&-

if step 2 'Take oc'; then
  take "${cli}" /usr/bin/oc oc
fi 9>&-

if step 3 'Take openshift-install'; then
  take "${installer}" "/usr/share/openshift/${machine}/openshift-install" openshift-install
fi 9>&-

finish
