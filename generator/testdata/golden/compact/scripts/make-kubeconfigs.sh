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
# certificates in its memory.
# - The kubeconfig that openshift-install leaves on the workstation, with api in
# place of api-int, is not made.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly CLUSTER_NAME='compact'
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly STAGE='make-kubeconfigs' CALL='make-kubeconfigs.sh' RECORD='make-kubeconfigs' MARKER='make-kubeconfigs.done'
readonly NEEDS=(openssl jq flock) NEXT='make-manifests.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input tls/kube-apiserver-complete-server-ca-bundle.crt 'run make-pki.sh first'
  need_input tls/kube-apiserver-localhost-ca-bundle.crt 'run make-pki.sh first'
  need_input tls/admin-kubeconfig-client.crt 'run make-pki.sh first'
  need_input tls/admin-kubeconfig-client.key 'run make-pki.sh first'
  need_input tls/kubelet-client.crt 'run make-pki.sh first'
  need_input tls/kubelet-client.key 'run make-pki.sh first'
}

invalidates() {
  invalidated unpack-bootstrap-ignition.done unpack-bootstrap-ignition.sh \
    'openshift-install made other kubeconfigs'
  invalidated cvo-bootstrap.done render-cvo.sh \
    'the cluster version operator'\''s static pod was given the old kubeconfig-loopback'
  invalidated kube-controller-manager-bootstrap.done render-kcm.sh \
    'the controller manager'\''s render read the old auth/kubeconfig'
  invalidated kube-scheduler-bootstrap.done render-scheduler.sh \
    'the scheduler'\''s render read the old auth/kubeconfig'
  invalidated mco-bootstrap.done render-mco.sh \
    'the Machine Config Server was given the old kubeconfig-kubelet for new nodes'
}

do_stage() {
  # A kubeconfig is a question answered three times: where is the API, which CA do I
  # trust there, and who am I? All three answers are in the file
  # itself, as base64, so that it works wherever it is copied to.

  # The administrator's, as it lies on the bootstrap node: through api-int, for
  # in there the outer name need not resolve. openshift-install leaves another
  # beside bootstrap.ign, which differs in the server only: api.
  kubeconfig auth/kubeconfig admin "https://api-int.${CLUSTER_DOMAIN}:6443" \
    kube-apiserver-complete-server-ca-bundle admin-kubeconfig-client

  # The same administrator, straight to the API server of this node: it works
  # before there is DNS or a load balancer. cluster-bootstrap and the static
  # pods of the bootstrap node come with it.
  kubeconfig auth/kubeconfig-loopback loopback https://localhost:6443 \
    kube-apiserver-localhost-ca-bundle admin-kubeconfig-client

  # What the Machine Config Server hands to every new node, to ask for a
  # certificate with. It may do nothing else.
  kubeconfig auth/kubeconfig-kubelet kubelet "https://api-int.${CLUSTER_DOMAIN}:6443" \
    kube-apiserver-complete-server-ca-bundle kubelet-client
}

kubeconfig() { # FILE USER SERVER CA CLIENT
  # The file opens the cluster: 0600.
  write_file 0600 "$1" << END
clusters:
- cluster:
    certificate-authority-data: $(base64_of "tls/$4.crt")
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
    client-certificate-data: $(base64_of "tls/$5.crt")
    client-key-data: $(base64_of "tls/$5.key")
END
}

base64_of() { # FILE
  [[ ${MODE} == dry-run ]] || base64 --wrap=0 "$1"
}

# What is embedded must be what tls/ holds now.
embeds() { # KUBECONFIG CA CLIENT
  local at file bad=0
  present "$1" "tls/$2.crt" "tls/$3.crt" "tls/$3.key" || return 1
  while read -r at file; do
    [[ "$(value_at "${at}" "$1")" == "$(base64 --wrap=0 "${file}")" ]] ||
      { echo "${at} is not ${file}"; bad=1; }
  done << END
.clusters[0].cluster.certificate-authority-data tls/$2.crt
.users[0].user.client-certificate-data tls/$3.crt
.users[0].user.client-key-data tls/$3.key
END
  return "${bad}"
}
admin_embeds() {
  embeds auth/kubeconfig kube-apiserver-complete-server-ca-bundle admin-kubeconfig-client
}
loopback_embeds() {
  embeds auth/kubeconfig-loopback kube-apiserver-localhost-ca-bundle admin-kubeconfig-client
}
kubelet_embeds() {
  embeds auth/kubeconfig-kubelet kube-apiserver-complete-server-ca-bundle kubelet-client
}

verify() {
  check private 'no one else can read the kubeconfigs' \
    'mode 0600 on all three' \
    'Run chmod 600 on them; who reads auth/kubeconfig owns the cluster.' \
    mode 0600 auth/kubeconfig auth/kubeconfig-loopback auth/kubeconfig-kubelet
  check admin-server 'the administrator'\''s goes to api-int' \
    'https, api-int and the cluster'\''s domain, port 6443' \
    'Name or base domain of the lab changed; run make-kubeconfigs.sh.' \
    value ".clusters[0].cluster.server" "https://api-int.${CLUSTER_DOMAIN}:6443" auth/kubeconfig
  check admin-embeds 'the administrator'\''s holds what tls/ holds' \
    'the complete server bundle and admin-kubeconfig-client' \
    'The certificates were made again; run make-kubeconfigs.sh.' \
    admin_embeds
  check loopback-server 'the loopback one stays on the node' \
    'https://localhost:6443' \
    'Run make-kubeconfigs.sh.' \
    value ".clusters[0].cluster.server" https://localhost:6443 auth/kubeconfig-loopback
  check loopback-embeds 'the loopback one holds what tls/ holds' \
    'the localhost bundle and admin-kubeconfig-client' \
    'The certificates were made again; run make-kubeconfigs.sh.' \
    loopback_embeds
  check kubelet-server 'the nodes'\'' goes to api-int' \
    'https, api-int and the cluster'\''s domain, port 6443' \
    'Name or base domain of the lab changed; run make-kubeconfigs.sh.' \
    value ".clusters[0].cluster.server" "https://api-int.${CLUSTER_DOMAIN}:6443" \
      auth/kubeconfig-kubelet
  check kubelet-embeds 'the nodes'\'' holds what tls/ holds' \
    'the complete server bundle and kubelet-client' \
    'The certificates were made again; run make-kubeconfigs.sh.' \
    kubelet_embeds
  check admin-context 'the administrator'\''s knows which of its users to be' \
    'current-context admin' \
    'Run make-kubeconfigs.sh; without it oc asks localhost:8080.' \
    value .current-context admin auth/kubeconfig
  check loopback-context 'the loopback one knows which of its users to be' \
    'current-context loopback' \
    'Run make-kubeconfigs.sh.' \
    value .current-context loopback auth/kubeconfig-loopback
  check kubelet-context 'the nodes'\'' knows which of its users to be' \
    'current-context kubelet' \
    'Run make-kubeconfigs.sh.' \
    value .current-context kubelet auth/kubeconfig-kubelet
  check client-still-valid 'what they show to the API has not run out' \
    'valid now and for a day more' \
    'Run make-pki.sh, then make-kubeconfigs.sh.' \
    fresh 1440 tls/admin-kubeconfig-client.crt tls/kubelet-client.crt
}

usual_failures() {
  usual_failure 'Permission denied' \
    'An earlier run as root left files that you cannot change.' \
    'Give the lab'\''s directory back to yourself with chown, and run make-kubeconfigs.sh again.'
  usual_failure 'No space left on device' \
    'The disk is full.' \
    'Make room and run make-kubeconfigs.sh again.'
}

stage_main "$@"
