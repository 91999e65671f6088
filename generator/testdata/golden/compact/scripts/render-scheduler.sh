#!/usr/bin/env bash
# render-scheduler: Render the scheduler of the bootstrap node
#
# Static pods need no scheduler, everything after them does: the operators'
# deployments stay Pending until something picks a master for them. The operator
# renders the third static pod of the control plane, a configuration and the
# namespace in which it will work later.
#
# In bootkube.sh: stage kube-scheduler-bootstrap, "Rendering Kubernetes Scheduler core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         auth/kubeconfig
#         tls/
# Writes: kube-scheduler-bootstrap/bootstrap-manifests/kube-scheduler-pod.yaml
#         kube-scheduler-bootstrap/config
#         kube-scheduler-bootstrap/manifests/00_openshift-kube-scheduler-ns.yaml
#         /etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml
#         bootstrap-manifests/
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
readonly STAGE='render-scheduler' CALL='render-scheduler.sh' RECORD='kube-scheduler-bootstrap' MARKER='kube-scheduler-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-ingress.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input auth/kubeconfig 'run make-kubeconfigs.sh first'
  need_input tls/ 'run make-pki.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  KUBE_SCHEDULER_OPERATOR_IMAGE="$(image_for cluster-kube-scheduler-operator)"
  OPENSHIFT_HYPERKUBE_IMAGE="$(image_for hyperkube)"
  pull_image "${KUBE_SCHEDULER_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container kube-scheduler-render; then
    run rm --recursive --force kube-scheduler-bootstrap
    # --manifest-image: the image with the scheduler in it
    # --asset-input-dir: demanded by the options that these renders share;
    # auth/kubeconfig is looked for beside it
    # --asset-output-dir: where bootstrap-manifests/ and manifests/ are made
    # --config-output-file: the scheduler's configuration; its directory is made
    # by the flag before
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name kube-scheduler-render \
      --volume "${PWD}:/assets:z" \
      "${KUBE_SCHEDULER_OPERATOR_IMAGE}" \
      /usr/bin/cluster-kube-scheduler-operator render \
      --manifest-image="${OPENSHIFT_HYPERKUBE_IMAGE}" \
      --asset-input-dir=/assets/tls \
      --asset-output-dir=/assets/kube-scheduler-bootstrap \
      --config-output-file=/assets/kube-scheduler-bootstrap/config
  fi

  # Kept beside its neighbours, though the static pod does not mount it and runs
  # with arguments alone.
  copy_files kube-scheduler-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml"
  # cluster-bootstrap hands it to the kubelet when all of the control plane is
  # rendered.
  copy_files 'kube-scheduler-bootstrap/bootstrap-manifests/*' bootstrap-manifests/
  # cluster-bootstrap creates the namespace.
  copy_files 'kube-scheduler-bootstrap/manifests/*' manifests/
}

verify() {
  check pod-name 'the static pod is the bootstrap scheduler' \
    'metadata.name bootstrap-kube-scheduler' \
    'Run render-scheduler.sh --force.' \
    value .metadata.name bootstrap-kube-scheduler bootstrap-manifests/kube-scheduler-pod.yaml
  check pod-image 'the pod has an image to run' \
    'no empty image reference' \
    'Run release-info.sh --force, then render-scheduler.sh --force.' \
    images bootstrap-manifests/kube-scheduler-pod.yaml
  check pod-image-of-release 'the pod'\''s images are this release'\''s' \
    'no image that the release does not name' \
    'The release or an image in lab.yaml changed since; run release-info.sh --force, then render-scheduler.sh --force.' \
    payload release-info/images bootstrap-manifests/kube-scheduler-pod.yaml
  check pod-copied 'the pod waits for cluster-bootstrap' \
    'the rendered file in bootstrap-manifests/, unchanged' \
    'Run render-scheduler.sh again.' \
    same kube-scheduler-bootstrap/bootstrap-manifests/* bootstrap-manifests/
  check config-copied 'the configuration lies with those of its neighbours' \
    'the rendered file as kube-scheduler-config.yaml' \
    'Run render-scheduler.sh again.' \
    same kube-scheduler-bootstrap/config \
      "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml"
  check namespace-copied 'the namespace waits among the manifests' \
    'the rendered file in manifests/, unchanged' \
    'Run render-scheduler.sh again.' \
    same kube-scheduler-bootstrap/manifests/* manifests/
}

usual_failures() {
  usual_failure 'failed to read /etc/kubernetes/bootstrap-secrets/kubeconfig: open' \
    'auth/kubeconfig is missing. The message names the path inside the future pod, not the one that was read.' \
    'Run make-kubeconfigs.sh, or unpack a bootstrap.ign.'
  usual_failure 'failed to write merged config to' \
    'The configuration was to go into a directory that nothing makes.' \
    'Give --config-output-file a path inside --asset-output-dir, as bootkube.sh does.'
  usual_failure 'Failed to load "/usr/share/bootkube/manifests/config/bootstrap-config-overrides.yaml"' \
    'The image holds the command but none of its templates; it is not the payload'\''s operator image.' \
    'Look for an override under images in lab.yaml, then run release-info.sh --force.'
}

stage_main "$@"
