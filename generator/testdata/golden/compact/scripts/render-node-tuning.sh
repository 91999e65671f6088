#!/usr/bin/env bash
# render-node-tuning: Render node tuning, if any was asked for
#
# CPU partitioning and performance profiles change kernel arguments and kubelet
# settings. If nodes got them only from the running cluster, each would boot
# once without and then again; rendered here, they are part of the first
# configuration that a master fetches. Without such a wish the output is empty,
# and that is the usual case.
#
# In bootkube.sh: stage node-tuning-bootstrap, "Rendering Node Tuning core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/
# Writes: node-tuning-bootstrap/
#         manifests/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly STAGE='render-node-tuning' CALL='render-node-tuning.sh' RECORD='node-tuning-bootstrap' MARKER='node-tuning-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-mco.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input manifests/ 'run make-manifests.sh first'
  need_input manifests/cluster-infrastructure-02-config.yml 'run make-manifests.sh first'
}

invalidates() {
  invalidated mco-bootstrap.done render-mco.sh \
    'it copied the MachineConfigs of the run before to /etc/mcc/bootstrap'
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  NODE_TUNING_OPERATOR_IMAGE="$(image_for cluster-node-tuning-operator)"
  pull_image "${NODE_TUNING_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container node-tuning-render; then
    run rm --recursive --force node-tuning-bootstrap
    # --asset-input-dir: where profiles, pools and the Infrastructure are looked
    # for
    # --asset-output-dir: made in any case, filled only when there is something
    # to tune
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name node-tuning-render \
      --volume "${PWD}:/assets:z" \
      "${NODE_TUNING_OPERATOR_IMAGE}" \
      render \
      --asset-input-dir=/assets/manifests \
      --asset-output-dir=/assets/node-tuning-bootstrap
  fi

  # mco-bootstrap takes manifests/ along, and so they reach the first
  # configuration of a node.
  if [[ -n "$(ls -A node-tuning-bootstrap 2> /dev/null)" ]]; then
    copy_files 'node-tuning-bootstrap/*' manifests/
  fi
}

node_tuning_directory_is_there() {
  [[ -d node-tuning-bootstrap ]] || { echo 'there is no directory node-tuning-bootstrap'; return 1; }
}

verify() {
  check ran 'the operator ran' \
    'a directory node-tuning-bootstrap/' \
    'Run render-node-tuning.sh --force.' \
    node_tuning_directory_is_there
  [[ -z "$(ls -A node-tuning-bootstrap 2> /dev/null)" ]] || check copied 'what was rendered waits among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-node-tuning.sh --force, then render-mco.sh.' \
    same node-tuning-bootstrap/* manifests/
}

usual_failures() {
  usual_failure 'no MCP found that matches performance profile node selector' \
    'A PerformanceProfile in manifests/ selects nodes of a pool that does not exist.' \
    'Correct spec.nodeSelector of the profile, or add the MachineConfigPool to manifests/.'
  usual_failure 'more than one MCP found that matches performance profile node selector' \
    'A PerformanceProfile in manifests/ fits more than one pool.' \
    'Make spec.nodeSelector of the profile fit one pool.'
}

stage_main "$@"
