#!/usr/bin/env bash
# make-kubeconfigs: Create the three kubeconfigs
#
# A kubeconfig says where the API is, which CA to trust there, and who the
# client is. A bootstrap needs three: the administrator's, the administrator's
# over localhost, which works before DNS and load balancer do, and the one that
# a new node uses to ask for a certificate of its own. Two renders read the
# first and stop without it.
#
# Reads:  tls/kube-apiserver-complete-server-ca-bundle.crt
#         tls/kube-apiserver-localhost-ca-bundle.crt
#         tls/admin-kubeconfig-client.crt
#         tls/admin-kubeconfig-client.key
#         tls/kubelet-client.crt
#         tls/kubelet-client.key
# Writes: auth/
# Differs from openshift-install:
# - The files are written here from tls/; openshift-install writes them from
#   certificates in its memory.
# - The kubeconfig that openshift-install leaves on the workstation, with api in
#   place of api-int, is not made.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_NAME='compact'
CLUSTER_DOMAIN='compact.bootlab.test'
STAGE=make-kubeconfigs RECORD=make-kubeconfigs
MARKER=make-kubeconfigs.done NEXT='make-manifests.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs openssl jq flock
needs_input 'run make-pki.sh first' tls/kube-apiserver-complete-server-ca-bundle.crt \
  tls/kube-apiserver-localhost-ca-bundle.crt tls/admin-kubeconfig-client.crt \
  tls/admin-kubeconfig-client.key tls/kubelet-client.crt tls/kubelet-client.key
invalidates unpack-bootstrap-ignition.done unpack-bootstrap-ignition.sh \
  'openshift-install made other kubeconfigs'
invalidates cvo-bootstrap.done render-cvo.sh \
  'the cluster version operator'\''s static pod was given the old kubeconfig-loopback'
invalidates kube-controller-manager-bootstrap.done render-kcm.sh \
  'the controller manager'\''s render read the old auth/kubeconfig'
invalidates kube-scheduler-bootstrap.done render-scheduler.sh \
  'the scheduler'\''s render read the old auth/kubeconfig'
invalidates mco-bootstrap.done render-mco.sh \
  'the Machine Config Server was given the old kubeconfig-kubelet for new nodes'
begin "$@"

# A kubeconfig answers three questions: where is the API, which CA do I trust
# there, and who am I? The certificates are in the file itself, as base64, so
# that it works wherever it is copied to.
kubeconfig() { # FILE USER SERVER CA CLIENT
  # Who reads the file owns the cluster: mode 0600. It is renamed when it is whole.
  (umask 077 && cat > .new) << END
clusters:
- cluster:
    certificate-authority-data: $(base64 --wrap=0 "tls/$4.crt")
    server: $3
  name: "${CLUSTER_NAME}"
contexts:
- context:
    cluster: "${CLUSTER_NAME}"
    user: $2
  name: $2
current-context: $2
users:
- name: $2
  user:
    client-certificate-data: $(base64 --wrap=0 "tls/$5.crt")
    client-key-data: $(base64 --wrap=0 "tls/$5.key")
END
  mkdir -p auth
  mv -f .new "auth/$1"
}

if step 1 'Write the kubeconfig of the administrator'; then
  # Through api-int: on the node the outer name need not resolve. The kubeconfig
  # that openshift-install leaves beside bootstrap.ign differs in the server
  # only: api.
  kubeconfig kubeconfig admin "https://api-int.${CLUSTER_DOMAIN}:6443" \
    kube-apiserver-complete-server-ca-bundle admin-kubeconfig-client
fi 9>&-

if step 2 'Write the same for the API server of this node'; then
  # It works before there is DNS or a load balancer: cluster-bootstrap and the
  # static pods of the bootstrap node use it.
  kubeconfig kubeconfig-loopback loopback https://localhost:6443 \
    kube-apiserver-localhost-ca-bundle admin-kubeconfig-client
fi 9>&-

if step 3 'Write the kubeconfig that every new node gets'; then
  # The Machine Config Server hands it out. A node may ask for a certificate with
  # it, and nothing else.
  kubeconfig kubeconfig-kubelet kubelet "https://api-int.${CLUSTER_DOMAIN}:6443" \
    kube-apiserver-complete-server-ca-bundle kubelet-client
fi 9>&-

finish
