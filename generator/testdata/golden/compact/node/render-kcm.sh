#!/usr/bin/env bash
# render-kcm: Render the controller manager of the bootstrap node
#
# An API server stores objects and acts on none. The controller manager turns
# deployments into pods, signs the certificates that kubelets ask for and makes
# service account tokens, so without it no master could join. One static pod
# runs it together with the cluster-policy-controller, OpenShift's part, which
# gives every namespace its UID range.
#
# In bootkube.sh: stage kube-controller-manager-bootstrap, "Rendering Kubernetes Controller Manager core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         manifests/
#         auth/kubeconfig
#         tls/service-account.key
#         tls/kubelet-signer.crt
#         tls/kubelet-signer.key
#         tls/kubelet-client-ca-bundle.crt
# Writes: kube-controller-manager-bootstrap/bootstrap-manifests/kube-controller-manager-pod.yaml
#         kube-controller-manager-bootstrap/config
#         kube-controller-manager-bootstrap/cpc-config
#         kube-controller-manager-bootstrap/manifests/
#         /etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml
#         /etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml
#         bootstrap-manifests/
#         manifests/
#         tls/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='render-kcm' CALL='render-kcm.sh' RECORD='kube-controller-manager-bootstrap' MARKER='kube-controller-manager-bootstrap.done'
readonly NEEDS=(podman jq openssl flock) NEXT='render-scheduler.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input release-info/version 'run release-info.sh first'
  need_input manifests/ 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input manifests/99_feature-gate.yaml 'run render-api.sh first'
  need_input manifests/cluster-network-02-config.yml 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/service-account.key 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kubelet-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kubelet-signer.key 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kubelet-client-ca-bundle.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

do_stage() {

  # The release names every image; release-info.sh wrote its answers down.
  KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE="$(image_for cluster-kube-controller-manager-operator)"
  OPENSHIFT_HYPERKUBE_IMAGE="$(image_for hyperkube)"
  OPENSHIFT_CLUSTER_POLICY_IMAGE="$(image_for cluster-policy-controller)"
  VERSION="$(release_info version)"
  pull_image "${KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container kube-controller-render; then
    run rm --recursive --force kube-controller-manager-bootstrap
    # --cluster-policy-controller-image: the image of the pod's second container
    # --manifest-image: the image with the controller manager in it
    # --asset-input-dir: the signer and the service account key; auth/kubeconfig
    # is looked for beside it
    # --asset-output-dir: where bootstrap-manifests/ and manifests/ are made
    # --config-output-file: the controller manager's configuration
    # --cpc-config-output-file: the configuration of the
    # cluster-policy-controller
    # --cluster-config-file: despite the name it is the Network object, for the
    # networks
    # --rendered-manifest-files: searched for the FeatureGate; files that
    # contradict each other are refused
    # --payload-version: the version whose status is looked up in the
    # FeatureGate
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name kube-controller-render \
      --volume "${PWD}:/assets:z" \
      "${KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE}" \
      /usr/bin/cluster-kube-controller-manager-operator render \
      --cluster-policy-controller-image="${OPENSHIFT_CLUSTER_POLICY_IMAGE}" \
      --manifest-image="${OPENSHIFT_HYPERKUBE_IMAGE}" \
      --asset-input-dir=/assets/tls \
      --asset-output-dir=/assets/kube-controller-manager-bootstrap \
      --config-output-file=/assets/kube-controller-manager-bootstrap/config \
      --cpc-config-output-file=/assets/kube-controller-manager-bootstrap/cpc-config \
      --cluster-config-file=/assets/manifests/cluster-network-02-config.yml \
      --rendered-manifest-files=/assets/manifests \
      --payload-version="${VERSION}"
  fi

  # The pod mounts /etc/kubernetes/bootstrap-configs.
  copy_files kube-controller-manager-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml"
  # The second container reads it from the same mount.
  copy_files kube-controller-manager-bootstrap/cpc-config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml"
  # cluster-bootstrap hands it to the kubelet when all of the control plane is
  # rendered.
  copy_files 'kube-controller-manager-bootstrap/bootstrap-manifests/*' bootstrap-manifests/
  # cluster-bootstrap creates them, and the operator in the cluster finds its
  # signer.
  copy_files 'kube-controller-manager-bootstrap/manifests/*' manifests/
  # Kept for an operator that would make the service account keys itself; none
  # of the releases here does.
  if [[ -d kube-controller-manager-bootstrap/tls ]]; then
    copy_files 'kube-controller-manager-bootstrap/tls/*' tls/
  fi
}

verify() {
  check pod-name 'the static pod is the bootstrap controller manager' \
    'metadata.name bootstrap-kube-controller-manager' \
    'Run render-kcm.sh --force.' \
    value .metadata.name bootstrap-kube-controller-manager \
      bootstrap-manifests/kube-controller-manager-pod.yaml
  check pod-image 'both containers have an image' \
    'no empty image reference' \
    'Run release-info.sh --force, then render-kcm.sh --force.' \
    images bootstrap-manifests/kube-controller-manager-pod.yaml
  check pod-image-of-release 'the pod'\''s images are this release'\''s' \
    'no image that the release does not name' \
    'The release or an image in lab.yaml changed since; run release-info.sh --force, then render-kcm.sh --force.' \
    payload release-info/images bootstrap-manifests/kube-controller-manager-pod.yaml
  check pod-copied 'the pod waits for cluster-bootstrap' \
    'the rendered file in bootstrap-manifests/, unchanged' \
    'Run render-kcm.sh again.' \
    same kube-controller-manager-bootstrap/bootstrap-manifests/* bootstrap-manifests/
  check config-copied 'the controller manager'\''s configuration is where the pod looks' \
    'the rendered file as kube-controller-manager-config.yaml' \
    'Run render-kcm.sh again.' \
    same kube-controller-manager-bootstrap/config \
      "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml"
  check cpc-config-copied 'the cluster-policy-controller'\''s configuration is where the pod looks' \
    'the rendered file as cluster-policy-controller-config.yaml' \
    'Run render-kcm.sh again.' \
    same kube-controller-manager-bootstrap/cpc-config \
      "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml"
  check manifests-copied 'the operator'\''s objects wait among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-kcm.sh again.' \
    same kube-controller-manager-bootstrap/manifests/* manifests/
  check csr-signer-certificate 'the signer of kubelets'\'' certificates is not empty' \
    'a tls.crt in secret-csr-signer-signer.yaml that holds something' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "^ *tls\\.crt: [A-Za-z0-9+/=]{40}" \
      kube-controller-manager-bootstrap/manifests/secret-csr-signer-signer.yaml
  check csr-signer-key 'that signer'\''s key is not empty' \
    'a tls.key in secret-csr-signer-signer.yaml that holds something' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "^ *tls\\.key: [A-Za-z0-9+/=]{40}" \
      kube-controller-manager-bootstrap/manifests/secret-csr-signer-signer.yaml
  check csr-ca 'the CA of kubelets'\'' certificates is not empty' \
    'a certificate in configmap-csr-controller-ca.yaml' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "-----BEGIN CERTIFICATE-----" \
      kube-controller-manager-bootstrap/manifests/configmap-csr-controller-ca.yaml
  check token-key 'the key of service account tokens is not empty' \
    'a service-account.key in secret-initial-kube-controller-manager-service-account-private-key.yaml that holds something' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "^ *service-account\\.key: [A-Za-z0-9+/=]{40}" \
      kube-controller-manager-bootstrap/manifests/secret-initial-kube-controller-manager-service-account-private-key.yaml
  check signer-fresh 'the signer of kubelets'\'' certificates lives long enough to finish' \
    'not expired, and one more hour to go' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    fresh 60 tls/kubelet-signer.crt
}

usual_failures() {
  usual_failure 'failed to read /etc/kubernetes/bootstrap-secrets/kubeconfig: open' \
    'auth/kubeconfig is missing. The message names the path inside the future pod, not the one that was read.' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.'
  usual_failure 'missing required flag: --cpc-config-output-file' \
    'The command line is incomplete.' \
    'Generate the scripts again.'
  usual_failure 'missing desired version' \
    'The FeatureGate has no status for this version; copy-manifests ran again after render-api, or the release was changed.' \
    'Run render-api.sh --force (in 4.14 render-config.sh --force), then render-kcm.sh.'
  usual_failure '--rendered-manifest-files, are not consistent so results would be unpredictable depending on apply order:' \
    'Two files in manifests/ set the same object to different values; the message goes on with both names and the object.' \
    'Keep one of the two files.'
}

stage_main "$@"
