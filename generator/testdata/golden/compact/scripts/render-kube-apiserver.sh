#!/usr/bin/env bash
# render-kube-apiserver: Render the API server of the bootstrap node
#
# This is the API that masters join and operators are installed through. Its
# operator renders a static pod and the configuration that the pod reads, and it
# puts the signers that the installer made into Secrets, so that in the cluster
# the operator goes on signing with the same CAs. Nothing runs yet: the pod
# waits in bootstrap-manifests/ until cluster-bootstrap starts it.
#
# In bootkube.sh: stage kube-apiserver-bootstrap,
#         "Rendering Kubernetes API server core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         release-info/kubernetes-version
#         manifests/99_feature-gate.yaml
#         manifests/cluster-network-02-config.yml
#         manifests/cluster-infrastructure-02-config.yml
#         manifests/cluster-authentication-02-config.yaml
#         tls/etcd-ca-bundle.crt
#         tls/etcd-client.crt
#         tls/etcd-client.key
#         tls/aggregator-signer.crt
#         tls/kube-control-plane-signer.crt
#         tls/kube-apiserver-to-kubelet-signer.crt
#         tls/kube-apiserver-lb-signer.crt
#         tls/kube-apiserver-localhost-signer.crt
#         tls/kube-apiserver-service-network-signer.crt
#         tls/service-account.pub
#         tls/bound-service-account-signing-key.key
# Writes: kube-apiserver-bootstrap/bootstrap-manifests/kube-apiserver-pod.yaml
#         kube-apiserver-bootstrap/config
#         kube-apiserver-bootstrap/manifests/
#         tls/bound-service-account-signing-key.key
#         tls/bound-service-account-signing-key.pub
#         /etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml
#         bootstrap-manifests/
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
ETCD_ENDPOINTS='https://localhost:2379'
STAGE=render-kube-apiserver RECORD=kube-apiserver-bootstrap
MARKER=kube-apiserver-bootstrap.done CONTAINER=kube-apiserver-render NEXT='render-kcm.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq openssl flock
needs_input 'run release-info.sh first' release-info/images release-info/digest \
  release-info/version release-info/kubernetes-version
needs_input 'run render-api.sh first' manifests/99_feature-gate.yaml
needs_input 'run make-manifests.sh first' manifests/cluster-network-02-config.yml \
  manifests/cluster-infrastructure-02-config.yml
needs_input 'run render-etcd.sh first' tls/etcd-ca-bundle.crt tls/etcd-client.crt \
  tls/etcd-client.key
needs_input 'run make-pki.sh first' tls/aggregator-signer.crt tls/kube-control-plane-signer.crt \
  tls/kube-apiserver-to-kubelet-signer.crt tls/kube-apiserver-lb-signer.crt \
  tls/kube-apiserver-localhost-signer.crt tls/kube-apiserver-service-network-signer.crt \
  tls/service-account.pub
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
KUBE_APISERVER_OPERATOR_IMAGE="$(image cluster-kube-apiserver-operator)"
OPENSHIFT_HYPERKUBE_IMAGE="$(image hyperkube)"
VERSION="$(cat release-info/version)"
KUBERNETES_VERSION="$(cat release-info/kubernetes-version)"

if step 1 'Pull the image'; then
  podman image exists "${KUBE_APISERVER_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${KUBE_APISERVER_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty kube-apiserver-bootstrap/'; then
  rm -rf kube-apiserver-bootstrap
  # --manifest-etcd-serving-ca: a name only; the configuration looks for it in
  # the pod's secrets, which cluster-bootstrap fills from tls/
  # --manifest-etcd-server-urls: the member on this node, the only one there is
  # --manifest-image: the image with the API server in it
  # --manifest-operator-image: runs the pod's second container, which answers
  # /readyz without TLS on port 6080 for load balancers
  # --asset-input-dir: the certificates and keys that go into Secrets and
  # ConfigMaps
  # --asset-output-dir: where bootstrap-manifests/ and manifests/ are made
  # --config-output-file: the API server's configuration, a file of its own
  # --cluster-config-file: despite the name it is the Network object, for the
  # networks
  # --cluster-auth-file: the issuer of service account tokens; the file may be
  # missing
  # --infra-config-file: a single replica gets a short termination time
  # --rendered-manifest-files: searched for the FeatureGate; files that
  # contradict each other are refused
  # --payload-version: the version whose status is looked up in the FeatureGate
  # --operand-kubernetes-version: a gate may switch on API groups, and which
  # ones depends on the Kubernetes version; x.y.z without a leading v
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name kube-apiserver-render \
    --volume "${PWD}:/assets:z" \
    "${KUBE_APISERVER_OPERATOR_IMAGE}" \
    /usr/bin/cluster-kube-apiserver-operator render \
    --manifest-etcd-serving-ca=etcd-ca-bundle.crt \
    --manifest-etcd-server-urls="${ETCD_ENDPOINTS}" \
    --manifest-image="${OPENSHIFT_HYPERKUBE_IMAGE}" \
    --manifest-operator-image="${KUBE_APISERVER_OPERATOR_IMAGE}" \
    --asset-input-dir=/assets/tls \
    --asset-output-dir=/assets/kube-apiserver-bootstrap \
    --config-output-file=/assets/kube-apiserver-bootstrap/config \
    --cluster-config-file=/assets/manifests/cluster-network-02-config.yml \
    --cluster-auth-file=/assets/manifests/cluster-authentication-02-config.yaml \
    --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \
    --rendered-manifest-files=/assets/manifests \
    --payload-version="${VERSION}" \
    --operand-kubernetes-version="${KUBERNETES_VERSION}"
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # The pod mounts /etc/kubernetes/bootstrap-configs.
  cp kube-apiserver-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"
  # cluster-bootstrap hands it to the kubelet when all of the control plane is
  # rendered.
  cp kube-apiserver-bootstrap/bootstrap-manifests/* .new/
  mv -f .new/* bootstrap-manifests/
  # cluster-bootstrap creates them, and the operator in the cluster finds its
  # signers.
  cp kube-apiserver-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  rmdir .new
fi 9>&-

finish
