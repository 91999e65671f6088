#!/usr/bin/env bash
# render-kcm: Render the controller manager of the bootstrap node
#
# An API server stores objects and acts on none. The controller manager turns
# deployments into pods, signs the certificates that kubelets ask for and makes
# service account tokens, so without it no master could join. One static pod
# runs it together with the cluster-policy-controller, OpenShift's part, which
# gives every namespace its UID range.
#
# In bootkube.sh: stage kube-controller-manager-bootstrap,
#         "Rendering Kubernetes Controller Manager core manifests..."
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
STAGE=render-kcm RECORD=kube-controller-manager-bootstrap
MARKER=kube-controller-manager-bootstrap.done CONTAINER=kube-controller-render
NEXT='render-scheduler.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq openssl flock
needs_input 'run release-info.sh first' release-info/images release-info/digest \
  release-info/version
needs_input 'run make-manifests.sh first' manifests/ manifests/cluster-network-02-config.yml
needs_input 'run render-api.sh first' manifests/99_feature-gate.yaml
needs_input 'run make-kubeconfigs.sh first' auth/kubeconfig
needs_input 'run make-pki.sh first' tls/service-account.key tls/kubelet-signer.crt \
  tls/kubelet-signer.key tls/kubelet-client-ca-bundle.crt
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE="$(image cluster-kube-controller-manager-operator)"
OPENSHIFT_HYPERKUBE_IMAGE="$(image hyperkube)"
OPENSHIFT_CLUSTER_POLICY_IMAGE="$(image cluster-policy-controller)"
VERSION="$(cat release-info/version)"

if step 1 'Pull the image'; then
  podman image exists "${KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${KUBE_CONTROLLER_MANAGER_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty kube-controller-manager-bootstrap/'; then
  rm -rf kube-controller-manager-bootstrap
  # --cluster-policy-controller-image: the image of the pod's second container
  # --manifest-image: the image with the controller manager in it
  # --asset-input-dir: the signer and the service account key; auth/kubeconfig
  # is looked for beside it
  # --asset-output-dir: where bootstrap-manifests/ and manifests/ are made
  # --config-output-file: the controller manager's configuration
  # --cpc-config-output-file: the configuration of the cluster-policy-controller
  # --cluster-config-file: despite the name it is the Network object, for the
  # networks
  # --rendered-manifest-files: searched for the FeatureGate; files that
  # contradict each other are refused
  # --payload-version: the version whose status is looked up in the FeatureGate
  podman run --quiet --net=host --rm --log-driver=k8s-file \
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
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # The pod mounts /etc/kubernetes/bootstrap-configs.
  cp kube-controller-manager-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml"
  # The second container reads it from the same mount.
  cp kube-controller-manager-bootstrap/cpc-config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml"
  # cluster-bootstrap hands it to the kubelet when all of the control plane is
  # rendered.
  cp kube-controller-manager-bootstrap/bootstrap-manifests/* .new/
  mv -f .new/* bootstrap-manifests/
  # cluster-bootstrap creates them, and the operator in the cluster finds its
  # signer.
  cp kube-controller-manager-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  # Kept for an operator that would make the service account keys itself; none
  # of the releases here does.
  if [[ -d kube-controller-manager-bootstrap/tls ]]; then
    cp kube-controller-manager-bootstrap/tls/* .new/
    mv -f .new/* tls/
  fi
  rmdir .new
fi 9>&-

finish
