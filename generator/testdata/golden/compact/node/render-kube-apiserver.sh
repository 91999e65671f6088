#!/usr/bin/env bash
# render-kube-apiserver: Render the API server of the bootstrap node
#
# This is the API that masters join and operators are installed through. Its
# operator renders a static pod and the configuration that the pod reads, and it
# puts the signers that the installer made into Secrets, so that in the cluster
# the operator goes on signing with the same CAs. Nothing runs yet: the pod
# waits in bootstrap-manifests/ until cluster-bootstrap starts it.
#
# In bootkube.sh: stage kube-apiserver-bootstrap, "Rendering Kubernetes API server core manifests..."
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
readonly ETCD_ENDPOINTS='https://localhost:2379'
readonly STAGE='render-kube-apiserver' CALL='render-kube-apiserver.sh' RECORD='kube-apiserver-bootstrap' MARKER='kube-apiserver-bootstrap.done'
readonly NEEDS=(podman jq openssl flock) NEXT='render-kcm.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input release-info/version 'run release-info.sh first'
  need_input release-info/kubernetes-version 'run release-info.sh first'
  need_input manifests/99_feature-gate.yaml 'run render-api.sh first'
  need_input manifests/cluster-network-02-config.yml 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input manifests/cluster-infrastructure-02-config.yml 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/etcd-ca-bundle.crt 'run render-etcd.sh first'
  need_input tls/etcd-client.crt 'run render-etcd.sh first'
  need_input tls/etcd-client.key 'run render-etcd.sh first'
  need_input tls/aggregator-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kube-control-plane-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kube-apiserver-to-kubelet-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kube-apiserver-lb-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kube-apiserver-localhost-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/kube-apiserver-service-network-signer.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/service-account.pub 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

do_stage() {

  # The release names every image; release-info.sh wrote its answers down.
  KUBE_APISERVER_OPERATOR_IMAGE="$(image_for cluster-kube-apiserver-operator)"
  OPENSHIFT_HYPERKUBE_IMAGE="$(image_for hyperkube)"
  VERSION="$(release_info version)"
  KUBERNETES_VERSION="$(release_info kubernetes-version)"
  pull_image "${KUBE_APISERVER_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container kube-apiserver-render; then
    run rm --recursive --force kube-apiserver-bootstrap
    # --manifest-etcd-serving-ca: a name only; the configuration looks for it in
    # the pod's secrets, which cluster-bootstrap fills from tls/
    # --manifest-etcd-server-urls: the member on this node, the only one there
    # is
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
    # --payload-version: the version whose status is looked up in the
    # FeatureGate
    # --operand-kubernetes-version: a gate may switch on API groups, and which
    # ones depends on the Kubernetes version; x.y.z without a leading v
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
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
  fi

  # The pod mounts /etc/kubernetes/bootstrap-configs.
  copy_files kube-apiserver-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"
  # cluster-bootstrap hands it to the kubelet when all of the control plane is
  # rendered.
  copy_files 'kube-apiserver-bootstrap/bootstrap-manifests/*' bootstrap-manifests/
  # cluster-bootstrap creates them, and the operator in the cluster finds its
  # signers.
  copy_files 'kube-apiserver-bootstrap/manifests/*' manifests/
}

# The files' times tell which of the two renders came last.
etcd_was_rendered_first() {
  present tls/etcd-ca-bundle.crt kube-apiserver-bootstrap/config || return 1
  [[ ! tls/etcd-ca-bundle.crt -nt kube-apiserver-bootstrap/config ]] ||
    { echo 'tls/etcd-ca-bundle.crt is newer than kube-apiserver-bootstrap/config'; return 1; }
}

verify() {
  check pod-name 'the static pod is the bootstrap API server' \
    'metadata.name bootstrap-kube-apiserver' \
    'Run render-kube-apiserver.sh --force.' \
    value .metadata.name bootstrap-kube-apiserver bootstrap-manifests/kube-apiserver-pod.yaml
  check pod-image 'every container of the pod has an image' \
    'no empty image reference' \
    'Run release-info.sh --force, then render-kube-apiserver.sh --force.' \
    images bootstrap-manifests/kube-apiserver-pod.yaml
  check pod-image-of-release 'the pod'\''s images are this release'\''s' \
    'no image that the release does not name' \
    'The release or an image in lab.yaml changed since; run release-info.sh --force, then render-kube-apiserver.sh --force.' \
    payload release-info/images bootstrap-manifests/kube-apiserver-pod.yaml
  check pod-copied 'the pod waits for cluster-bootstrap' \
    'the rendered file in bootstrap-manifests/, unchanged' \
    'Run render-kube-apiserver.sh again.' \
    same kube-apiserver-bootstrap/bootstrap-manifests/* bootstrap-manifests/
  check config-copied 'the configuration is where the pod looks' \
    'the rendered file as kube-apiserver-config.yaml' \
    'Run render-kube-apiserver.sh again; without it the pod starts and dies.' \
    same kube-apiserver-bootstrap/config \
      "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"
  check manifests-copied 'the operator'\''s objects wait among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-kube-apiserver.sh again.' \
    same kube-apiserver-bootstrap/manifests/* manifests/
  check signer-certificates 'no signer'\''s Secret has an empty certificate' \
    'in each secret-*-signer.yaml a tls.crt that holds something' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "^ *tls\\.crt: [A-Za-z0-9+/=]{40}" \
      kube-apiserver-bootstrap/manifests/secret-*-signer.yaml
  check signer-keys 'no signer'\''s Secret has an empty key' \
    'in each secret-*-signer.yaml a tls.key that holds something' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "^ *tls\\.key: [A-Za-z0-9+/=]{40}" \
      kube-apiserver-bootstrap/manifests/secret-*-signer.yaml
  check client-cas 'no client CA is empty' \
    'a certificate in each configmap-*-ca.yaml' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "-----BEGIN CERTIFICATE-----" kube-apiserver-bootstrap/manifests/configmap-*-ca.yaml
  check token-public-key 'the service account'\''s public key is not empty' \
    'a public key in configmap-sa-token-signing-certs.yaml' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    line "-----BEGIN (RSA )?PUBLIC KEY-----" \
      kube-apiserver-bootstrap/manifests/configmap-sa-token-signing-certs.yaml
  check bound-key 'the bound token signing key and its public half belong together' \
    'the same public key in both' \
    'Remove both from tls/, so that the operator makes new ones, and run render-kube-apiserver.sh --force.' \
    key_pair tls/bound-service-account-signing-key.pub
  check etcd-client 'the API server will get into etcd' \
    'a chain from tls/etcd-client.crt to tls/etcd-ca-bundle.crt' \
    'Run render-etcd.sh, then render-kube-apiserver.sh --force.' \
    chain tls/etcd-ca-bundle.crt tls/etcd-client.crt
  check after-etcd 'etcd was not rendered again since' \
    'kube-apiserver-bootstrap/config is not older than tls/etcd-ca-bundle.crt' \
    'Run render-kube-apiserver.sh --force.' \
    etcd_was_rendered_first
  check serving-chain 'the serving certificates come from the CAs that clients trust' \
    'a chain from each of the four to kube-apiserver-complete-server-ca-bundle.crt' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    chain tls/kube-apiserver-complete-server-ca-bundle.crt tls/kube-apiserver-localhost-server.crt \
      tls/kube-apiserver-service-network-server.crt tls/kube-apiserver-lb-server.crt \
      tls/kube-apiserver-internal-lb-server.crt
  check serving-fresh 'the serving certificates live long enough to finish' \
    'not expired, and one more hour to go' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.' \
    fresh 60 tls/kube-apiserver-localhost-server.crt tls/kube-apiserver-service-network-server.crt \
      tls/kube-apiserver-lb-server.crt tls/kube-apiserver-internal-lb-server.crt
}

usual_failures() {
  usual_failure 'missing desired version' \
    'The FeatureGate has no status for this version; copy-manifests ran again after render-api, or the release was changed.' \
    'Run render-api.sh --force (in 4.14 render-config.sh --force), then render-kube-apiserver.sh.'
  usual_failure 'missing operand kubernetes version: --operand-kubernetes-version' \
    'The Kubernetes version arrived empty, or the command line is that of an older release.' \
    'Run release-info.sh --force; if the flag is missing, set release.version in lab.yaml to the release of the image.'
  usual_failure 'No Major.Minor.Patch elements found' \
    'The Kubernetes version was given as v1.33; it wants x.y.z.' \
    'Run release-info.sh --force, which takes it from the release'\''s annotation.'
  usual_failure 'cannot return FeatureGate without rendered manifests' \
    '--rendered-manifest-files is missing from the command line.' \
    'Generate the scripts again.'
  usual_failure '--rendered-manifest-files, are not consistent so results would be unpredictable depending on apply order:' \
    'Two files in manifests/ set the same object to different values; the message goes on with both names and the object.' \
    'Keep one of the two files.'
  usual_failure 'error calling notBefore: data does not contain any valid RSA or ECDSA certificates' \
    'A CA file in tls/ is not PEM; the message begins with the template that wanted it.' \
    'The file came with bootstrap.ign. Look for what changed or removed it; else begin with a new bootstrap node.'
  usual_failure 'was supplied, but the matching public key is missing' \
    'tls/ holds bound-service-account-signing-key.key without its .pub.' \
    'Bring the .pub back, or remove the key too and let the operator make both.'
}

stage_main "$@"
