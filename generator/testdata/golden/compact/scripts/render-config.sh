#!/usr/bin/env bash
# render-config: Render the cloud provider configuration
#
# Components that talk to a cloud read one generated ConfigMap; the
# cluster-config-operator makes it from the Infrastructure and from what the
# installer knows of the cloud. On platform none it is empty, and the stage runs
# all the same, because bootkube.sh knows no platforms here. In 4.14 this stage
# was a bigger one: it also rendered the CRDs of config.openshift.io and wrote
# the FeatureGate's status, which is the work of api-bootstrap since 4.15.
#
# In bootkube.sh: stage config-bootstrap, "Rendering cluster config manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         manifests/
#         tls/
# Writes: config-bootstrap/cloud-provider-config-generated.yaml
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly STAGE='render-config' CALL='render-config.sh' RECORD='config-bootstrap' MARKER='config-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-cvo.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input release-info/version 'run release-info.sh first'
  need_input manifests/cluster-infrastructure-02-config.yml 'run make-manifests.sh first'
  need_input manifests/ 'run make-manifests.sh first'
  need_input tls/ 'run make-pki.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  CONFIG_OPERATOR_IMAGE="$(image_for cluster-config-operator)"
  VERSION="$(release_info version)"
  pull_image "${CONFIG_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container config-render; then
    run rm --recursive --force config-bootstrap
    # --skip-api-rendering: the CRDs come from api-bootstrap now; without it
    # both would have rendered them while the work moved over
    # --cluster-infrastructure-input-file: the Infrastructure object, for the
    # platform
    # --cloud-provider-config-output-file: where the generated ConfigMap goes;
    # mco-bootstrap reads it on clouds
    # --config-output-file: demanded by the options that all these renders
    # share; since 4.15 nothing is written there
    # --asset-input-dir: demanded by the same options; the files are loaded and
    # not used
    # --asset-output-dir: where manifests/ is made; since 4.15 it stays empty
    # --rendered-manifest-files: read in full and checked for contradictions; in
    # 4.14 also searched for FeatureGates
    # --payload-version: in 4.14 the version that the FeatureGate's status is
    # written for
    # --cloud-provider-config-input-file: what the installer knows of the cloud,
    # on platforms that have one
    local additional_flags=()
    [[ ! -f manifests/cloud-provider-config.yaml ]] || additional_flags+=(--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml)
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name config-render \
      --volume "${PWD}:/assets:z" \
      "${CONFIG_OPERATOR_IMAGE}" \
      /usr/bin/cluster-config-operator render \
      --skip-api-rendering \
      --cluster-infrastructure-input-file=/assets/manifests/cluster-infrastructure-02-config.yml \
      --cloud-provider-config-output-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml \
      --config-output-file=/assets/config-bootstrap/config \
      --asset-input-dir=/assets/tls \
      --asset-output-dir=/assets/config-bootstrap \
      --rendered-manifest-files=/assets/manifests \
      --payload-version="${VERSION}" \
      "${additional_flags[@]}"
  fi

}

verify() {
  check infrastructure 'the Infrastructure is one' \
    'kind Infrastructure in manifests/cluster-infrastructure-02-config.yml' \
    'Run make-manifests.sh --force, or unpack the bootstrap.ign again; then render-config.sh --force.' \
    value .kind Infrastructure manifests/cluster-infrastructure-02-config.yml
  check cloud-config 'the cloud configuration was generated' \
    'metadata.name kube-cloud-config' \
    'Run render-config.sh --force.' \
    value .metadata.name kube-cloud-config config-bootstrap/cloud-provider-config-generated.yaml
}

usual_failures() {
  usual_failure 'failed to stat /assets/manifests/cluster-infrastructure-02-config.yml' \
    'The Infrastructure manifest is missing.' \
    'Run make-manifests.sh, or unpack a bootstrap.ign.'
  usual_failure 'failed loading assets from "/assets/tls": lstat /assets/tls: no such file or directory' \
    'The asset directory has no tls/.' \
    'Run make-pki.sh, or unpack a bootstrap.ign.'
  usual_failure '--rendered-manifest-files, are not consistent so results would be unpredictable depending on apply order:' \
    'Two files in manifests/ set the same object to different values; the message goes on with both names and the object.' \
    'Keep one of the two files.'
}

stage_main "$@"
