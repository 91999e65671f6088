#!/usr/bin/env bash
# render-cco: Render the cloud credential operator
#
# Operators that work with a cloud ask for their credentials with an object, and
# somebody must answer early. The cloud credential operator renders its types,
# its configuration and a static pod for the bootstrap node. On platform none
# there is nothing to hand out, but objects of these types come with the
# payload, so the types are needed all the same.
#
# In bootkube.sh: stage cco-bootstrap, "Rendering CCO manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/cluster-config.yaml
# Writes: cco-bootstrap/manifests/
#         cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml
#         manifests/
#         bootstrap-manifests/
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
readonly STAGE='render-cco' CALL='render-cco.sh' RECORD='cco-bootstrap' MARKER='cco-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-all.sh --verify'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input manifests/cluster-config.yaml 'run make-manifests.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  CLOUD_CREDENTIAL_OPERATOR_IMAGE="$(image_for cloud-credential-operator)"
  pull_image "${CLOUD_CREDENTIAL_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container cco-render; then
    run rm --recursive --force cco-bootstrap
    # --dest-dir: where manifests/ and bootstrap-manifests/ are made; the second
    # must not be there yet
    # --manifests-dir: scanned for the ConfigMap cluster-config-v1 in
    # kube-system
    # --cloud-credential-operator-image: the image that the static pod will run
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name cco-render \
      --quiet \
      --user 0 \
      --volume "${PWD}:/assets:z" \
      "${CLOUD_CREDENTIAL_OPERATOR_IMAGE}" \
      render \
      --dest-dir=/assets/cco-bootstrap \
      --manifests-dir=/assets/manifests \
      --cloud-credential-operator-image="${CLOUD_CREDENTIAL_OPERATOR_IMAGE}"
  fi

  # cluster-bootstrap creates them with the rest; the directory is missing when
  # the capability is off.
  if [[ -d cco-bootstrap/manifests ]]; then
    copy_files 'cco-bootstrap/manifests/*' manifests/
  fi
  # cluster-bootstrap hands the pod to the kubelet; in mode Manual there is
  # none.
  if [[ -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]]; then
    copy_files 'cco-bootstrap/bootstrap-manifests/*' bootstrap-manifests/
  fi
}

pod_or_manual_mode() {
  line '^ *credentialsMode: "?Manual' cco-bootstrap/manifests/cco-operator-config.yaml > /dev/null ||
    present cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml
}

verify() {
  check manifests 'the operator rendered its objects' \
    'the namespace and the configuration in cco-bootstrap/manifests/' \
    'Run render-cco.sh --force; it stays so only with the capability CloudCredential off, which no lab.yaml asks for.' \
    present cco-bootstrap/manifests/cco-namespace.yaml \
      cco-bootstrap/manifests/cco-operator-config.yaml
  check types 'both types are among them' \
    'two files cco-cloudcredential_v1_*.yaml in cco-bootstrap/manifests/' \
    'Run render-cco.sh --force.' \
    count 2 cco-bootstrap/manifests/cco-cloudcredential_v1_*.yaml
  check manifests-copied 'they wait among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-cco.sh again.' \
    same cco-bootstrap/manifests/* manifests/
  check pod 'the static pod is there, unless credentials are handed out by hand' \
    'cloud-credential-operator-pod.yaml, or credentialsMode Manual in cco-operator-config.yaml' \
    'Run render-cco.sh --force.' \
    pod_or_manual_mode
  [[ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] || check pod-image 'the static pod has an image to run' \
    'no empty image reference' \
    'Run release-info.sh --force, then render-cco.sh --force.' \
    images bootstrap-manifests/cloud-credential-operator-pod.yaml
  [[ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] || check pod-image-of-release 'the pod'\''s images are this release'\''s' \
    'no image that the release does not name' \
    'The release or an image in lab.yaml changed since; run release-info.sh --force, then render-cco.sh --force.' \
    payload release-info/images bootstrap-manifests/cloud-credential-operator-pod.yaml
  [[ ! -f cco-bootstrap/bootstrap-manifests/cloud-credential-operator-pod.yaml ]] || check pod-copied 'the pod waits for cluster-bootstrap' \
    'the rendered file in bootstrap-manifests/, unchanged' \
    'Run render-cco.sh again.' \
    same cco-bootstrap/bootstrap-manifests/* bootstrap-manifests/
  check agree 'no two manifests set one object differently' \
    'each object in one file of manifests/, or the same in all' \
    'Keep one of the files named here; then repeat the stage that reads it.' \
    agree manifests/*
}

usual_failures() {
  usual_failure 'failed to find configmap kube-system/cluster-config-v1 in manifests' \
    'The install-config is not in manifests/.' \
    'Run make-manifests.sh, or unpack a bootstrap.ign.'
  usual_failure 'bootstrap-manifests: file exists' \
    'The operator makes this directory and does not expect to find it.' \
    'Remove cco-bootstrap/ and run the stage again; render-cco.sh --force does both.'
}

stage_main "$@"
