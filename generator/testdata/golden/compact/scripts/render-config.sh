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
# In bootkube.sh: stage config-bootstrap,
#         "Rendering cluster config manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         manifests/
#         tls/
# Writes: config-bootstrap/cloud-provider-config-generated.yaml
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is waited for and removed,
#   and the stage renders again.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=render-config RECORD=config-bootstrap
MARKER=config-bootstrap.done CONTAINER=config-render NEXT='render-cvo.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest \
  release-info/version
needs_input 'run make-manifests.sh first' manifests/cluster-infrastructure-02-config.yml \
  manifests/
needs_input 'run make-pki.sh first' tls/
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
CONFIG_OPERATOR_IMAGE="$(image cluster-config-operator)"
VERSION="$(cat release-info/version)"

# Flags that bootkube.sh adds only where the file is there.
additional_flags=()
[[ ! -f manifests/cloud-provider-config.yaml ]] ||
  additional_flags+=(--cloud-provider-config-input-file=/assets/manifests/cloud-provider-config.yaml)

if step 1 'Pull the image'; then
  podman image exists "${CONFIG_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${CONFIG_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty config-bootstrap/'; then
  rm -rf config-bootstrap
  # --skip-api-rendering: the CRDs come from api-bootstrap now; without it both
  # would have rendered them while the work moved over
  # --cluster-infrastructure-input-file: the Infrastructure object, for the
  # platform
  # --cloud-provider-config-output-file: where the generated ConfigMap goes;
  # mco-bootstrap reads it on clouds
  # --config-output-file: demanded by the options that all these renders share;
  # since 4.15 nothing is written there
  # --asset-input-dir: demanded by the same options; the files are loaded and
  # not used
  # --asset-output-dir: where manifests/ is made; since 4.15 it stays empty
  # --rendered-manifest-files: read in full and checked for contradictions; in
  # 4.14 also searched for FeatureGates
  # --payload-version: in 4.14 the version that the FeatureGate's status is
  # written for
  # --cloud-provider-config-input-file: what the installer knows of the cloud,
  # on platforms that have one
  podman run --quiet --net=host --rm --log-driver=k8s-file \
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
fi 9>&-

finish
