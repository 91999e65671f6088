#!/usr/bin/env bash
# render-node-tuning: Render node tuning, if any was asked for
#
# CPU partitioning and performance profiles change kernel arguments and kubelet
# settings. If nodes got them only from the running cluster, each would boot
# once without and then again; rendered here, they are part of the first
# configuration that a master fetches. Without such a wish the output is empty,
# and that is the usual case.
#
# In bootkube.sh: stage node-tuning-bootstrap,
#         "Rendering Node Tuning core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/
# Writes: node-tuning-bootstrap/
#         manifests/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is waited for and removed,
#   and the stage renders again.
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=render-node-tuning RECORD=node-tuning-bootstrap
MARKER=node-tuning-bootstrap.done CONTAINER=node-tuning-render NEXT='render-mco.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'run make-manifests.sh first' manifests/ \
  manifests/cluster-infrastructure-02-config.yml
invalidates mco-bootstrap.done render-mco.sh \
  'it copied the MachineConfigs of the run before to /etc/mcc/bootstrap'
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
NODE_TUNING_OPERATOR_IMAGE="$(image cluster-node-tuning-operator)"

if step 1 'Pull the image'; then
  podman image exists "${NODE_TUNING_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${NODE_TUNING_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty node-tuning-bootstrap/'; then
  rm -rf node-tuning-bootstrap
  # --asset-input-dir: where profiles, pools and the Infrastructure are looked
  # for
  # --asset-output-dir: made in any case, filled only when there is something to
  # tune
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name node-tuning-render \
    --volume "${PWD}:/assets:z" \
    "${NODE_TUNING_OPERATOR_IMAGE}" \
    render \
    --asset-input-dir=/assets/manifests \
    --asset-output-dir=/assets/node-tuning-bootstrap
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # mco-bootstrap takes manifests/ along, and so they reach the first
  # configuration of a node.
  if [[ -n "$(ls -A node-tuning-bootstrap 2> /dev/null)" ]]; then
    cp node-tuning-bootstrap/* .new/
    mv -f .new/* manifests/
  fi
  rmdir .new
fi 9>&-

finish
