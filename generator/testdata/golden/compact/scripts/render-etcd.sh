#!/usr/bin/env bash
# render-etcd: Render the etcd member of the bootstrap node
#
# The API server keeps every object in etcd, so etcd must run before anything
# that has an API. The cluster-etcd-operator renders the first member: a static
# pod for the kubelet of the bootstrap node, and certificates that no other
# component could have made. On a node the kubelet starts etcd the moment the
# pod manifest arrives, long before cluster-bootstrap begins.
#
# In bootkube.sh: stage etcd-bootstrap,
#         "Rendering CEO Manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/cluster-config.yaml
#         manifests/cluster-infrastructure-02-config.yml
#         manifests/cluster-network-02-config.yml
#         tls/
# Writes: etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml
#         etcd-bootstrap/etc-kubernetes/static-pod-resources/etcd-member/
#         etcd-bootstrap/manifests/
#         etcd-bootstrap/tls/
#         /etc/kubernetes/
#         manifests/
#         tls/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is waited for and removed,
#   and the stage renders again.
# - Each file is copied under a temporary name and renamed, static pod manifests
#   last.
# - An etcd pod manifest that is already in place is taken away, and its
#   container waited for, before new certificates are copied.
# - Name and address of the member are the workstation's.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=render-etcd RECORD=etcd-bootstrap
MARKER=etcd-bootstrap.done CONTAINER=etcd-render
NEXT='render-kube-apiserver.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq openssl flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'run make-manifests.sh first' manifests/cluster-config.yaml \
  manifests/cluster-infrastructure-02-config.yml manifests/cluster-network-02-config.yml
needs_input 'run make-pki.sh first' tls/
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
MACHINE_CONFIG_ETCD_IMAGE="$(image etcd)"
CLUSTER_ETCD_OPERATOR_IMAGE="$(image cluster-etcd-operator)"

if step 1 'Pull the image'; then
  podman image exists "${CLUSTER_ETCD_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${CLUSTER_ETCD_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty etcd-bootstrap/'; then
  rm -rf etcd-bootstrap
  # --asset-output-dir: where the operator writes; /assets is the asset
  # directory seen from inside
  # --cluster-configmap-file: the install-config, for the machine network that
  # the node's address must be in
  # --etcd-image: the image that the static pod will run; the operator only
  # writes it down
  # --infra-config-file: the topology decides how many members etcd will wait
  # for
  # --network-config-file: the service network's IP family decides which address
  # etcd listens on
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name etcd-render \
    --volume "${PWD}:/assets:z" \
    "${CLUSTER_ETCD_OPERATOR_IMAGE}" \
    /usr/bin/cluster-etcd-operator render \
    --asset-output-dir=/assets/etcd-bootstrap \
    --cluster-configmap-file=/assets/manifests/cluster-config.yaml \
    --etcd-image="${MACHINE_CONFIG_ETCD_IMAGE}" \
    --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \
    --network-config-file=/assets/manifests/cluster-network-02-config.yml
fi 9>&-

if step 3 'Stop the etcd of an earlier render'; then
  # Two renders give the same pod manifest but other CAs, so the kubelet would
  # not restart etcd: the manifest goes now, and the new one comes last.
  rm -f "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
  # A first render finds no resources of a pod, and maybe no crictl that answers.
  if [[ -z ${HOST_ROOT} && -e /etc/kubernetes/static-pod-resources/etcd-member ]]; then
    echo 'waiting for the etcd of an earlier render to end, at most 120 s'
    # shellcheck disable=SC2016 # the inner bash expands it
    timeout 120 bash -c \
      'until running=$(crictl ps --quiet --name "^etcd$") && [[ -z ${running} ]]; do sleep 2; done'
  fi
  rm -rf "${HOST_ROOT}/etc/kubernetes/static-pod-resources/etcd-member"
fi 9>&-

if step 4 'Copy the results to where they are read'; then
  mkdir -p .new "${HOST_ROOT}/etc/kubernetes/manifests"
  # What the pod mounts: its CA, and its peer, serving and client certificates.
  cp -r etcd-bootstrap/etc-kubernetes/static-pod-resources "${HOST_ROOT}/etc/kubernetes/"
  # cluster-bootstrap will create every file in manifests/ once the API answers.
  cp etcd-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  # kube-apiserver's render reads etcd-client.* and etcd-ca-bundle.crt from
  # tls/, and so does wait-for-etcd.
  cp etcd-bootstrap/tls/* .new/
  mv -f .new/* tls/
  rmdir .new
  # The kubelet starts etcd at this moment, and starts half a manifest as readily
  # as a whole one: a name that begins with a dot is ignored until the rename.
  cp etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml \
    "${HOST_ROOT}/etc/kubernetes/manifests/.etcd-member-pod.yaml"
  mv -f "${HOST_ROOT}/etc/kubernetes/manifests/"{.,}etcd-member-pod.yaml
fi 9>&-

finish
