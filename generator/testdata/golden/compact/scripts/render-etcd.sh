#!/usr/bin/env bash
# render-etcd: Render the etcd member of the bootstrap node
#
# The API server keeps every object in etcd, so etcd must run before anything
# that has an API. The cluster-etcd-operator renders the first member: a static
# pod for the kubelet of the bootstrap node, and certificates that no other
# component could have made. On a node the kubelet starts etcd the moment the
# pod manifest arrives, long before cluster-bootstrap begins.
#
# In bootkube.sh: stage etcd-bootstrap, "Rendering CEO Manifests..."
# Reads:  release-info/images
#         release-info/digest
#         manifests/cluster-config.yaml
#         manifests/cluster-infrastructure-02-config.yml
#         manifests/cluster-network-02-config.yml
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
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed, static pod manifests
# last.
# - An etcd pod manifest that is already in place is taken away, and its
# container waited for, before new certificates are copied.
# - Name and address of the member are the workstation's.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly STAGE='render-etcd' CALL='render-etcd.sh' RECORD='etcd-bootstrap' MARKER='etcd-bootstrap.done'
readonly NEEDS=(podman jq openssl flock) NEXT='render-kube-apiserver.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input manifests/cluster-config.yaml 'run make-manifests.sh first'
  need_input manifests/cluster-infrastructure-02-config.yml 'run make-manifests.sh first'
  need_input manifests/cluster-network-02-config.yml 'run make-manifests.sh first'
}

invalidates() {
  invalidated kube-apiserver-bootstrap.done render-kube-apiserver.sh \
    'every render makes new CAs, and the API server was rendered to trust the old ones'
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  MACHINE_CONFIG_ETCD_IMAGE="$(image_for etcd)"
  CLUSTER_ETCD_OPERATOR_IMAGE="$(image_for cluster-etcd-operator)"
  pull_image "${CLUSTER_ETCD_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container etcd-render; then
    run rm --recursive --force etcd-bootstrap
    # --asset-output-dir: where the operator writes; /assets is the asset
    # directory seen from inside
    # --cluster-configmap-file: the install-config, for the machine network that
    # the node's address must be in
    # --etcd-image: the image that the static pod will run; the operator only
    # writes it down
    # --infra-config-file: the topology decides how many members etcd will wait
    # for
    # --network-config-file: the service network's IP family decides which
    # address etcd listens on
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name etcd-render \
      --volume "${PWD}:/assets:z" \
      "${CLUSTER_ETCD_OPERATOR_IMAGE}" \
      /usr/bin/cluster-etcd-operator render \
      --asset-output-dir=/assets/etcd-bootstrap \
      --cluster-configmap-file=/assets/manifests/cluster-config.yaml \
      --etcd-image="${MACHINE_CONFIG_ETCD_IMAGE}" \
      --infra-config-file=/assets/manifests/cluster-infrastructure-02-config.yml \
      --network-config-file=/assets/manifests/cluster-network-02-config.yml
  fi

  # Two renders give the same pod manifest but other CAs. The kubelet would not
  # restart etcd, and it would go on with certificates that no client trusts. So a
  # manifest from before goes, and its container with it.
  if [[ -e "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml" ]]; then
    [[ -n ${HOST_ROOT} ]] || need crictl
    run rm --force "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
    wait_until 120 'the end of the running etcd' etcd_is_gone
    run rm --recursive --force "${HOST_ROOT}/etc/kubernetes/static-pod-resources/etcd-member"
  fi

  # The kubelet watches /etc/kubernetes/manifests and starts etcd at this
  # moment; the certificates go first so that it finds them.
  copy_files --recursive 'etcd-bootstrap/etc-kubernetes/*' "${HOST_ROOT}/etc/kubernetes/"
  # cluster-bootstrap will create every file in manifests/ once the API answers.
  copy_files 'etcd-bootstrap/manifests/*' manifests/
  # kube-apiserver's render reads etcd-client.* and etcd-ca-bundle.crt from
  # tls/, and so does wait-for-etcd.
  copy_files 'etcd-bootstrap/tls/*' tls/
}

# Only a node has a kubelet, and so an etcd that runs.
etcd_is_gone() {
  local running
  [[ -z ${HOST_ROOT} ]] || return 0
  running="$(crictl ps --quiet --name '^etcd$')" || return 1
  [[ -z ${running} ]]
}

etcd_image_is_of_release() {
  local image
  image="$(image_for etcd)" || return 1
  line "image: *[\"']?${image//./\\.}[\"']?\$" "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml" > /dev/null ||
    { echo "no container runs ${image}"; return 1; }
}

verify() {
  check pod-manifest 'the etcd static pod manifest is where the kubelet looks' \
    'etcd-member-pod.yaml, the same file as rendered' \
    'Run render-etcd.sh --force, then render-kube-apiserver.sh; the manifest is copied last.' \
    same etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml \
      "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
  check pod-name 'the manifest is the bootstrap member'\''s' \
    'metadata.name etcd-bootstrap-member' \
    'Another file took its name; remove it and run render-etcd.sh --force.' \
    value .metadata.name etcd-bootstrap-member \
      "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
  check pod-image 'the static pod has an image to run' \
    'no empty image reference' \
    'Run release-info.sh --force, then render-etcd.sh --force; an empty image means that the payload named none.' \
    images "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
  check pod-image-of-release 'it is the etcd image of this release' \
    'a line with the pull spec that the release gives for etcd' \
    'The release or an image override changed since; run render-etcd.sh --force.' \
    etcd_image_is_of_release
  check member-files 'what the pod mounts is as it was rendered' \
    'every file below etc-kubernetes/ also below /etc/kubernetes/' \
    'A file was lost or comes from another render; run render-etcd.sh --force.' \
    same etcd-bootstrap/etc-kubernetes/* "${HOST_ROOT}/etc/kubernetes/"
  check tls 'the API server'\''s way to etcd is in tls/' \
    'tls/etcd-ca-bundle.crt, tls/etcd-client.crt and tls/etcd-client.key, as rendered' \
    'Run render-etcd.sh --force, then render-kube-apiserver.sh; without them kube-apiserver renders a Secret with nothing in it and reports success.' \
    same etcd-bootstrap/tls/* tls/
  check client-chain 'the client certificate is signed by the etcd signer' \
    'a chain from etcd-client.crt to etcd-ca-bundle.crt' \
    'Two renders are mixed; run render-etcd.sh --force and then render-kube-apiserver.sh --force.' \
    chain tls/etcd-ca-bundle.crt tls/etcd-client.crt
  check client-key 'the client certificate and its key belong together' \
    'the same public key in both' \
    'Two renders are mixed; run render-etcd.sh --force and then render-kube-apiserver.sh --force.' \
    key_pair tls/etcd-client.crt
  check peer-chain 'the member'\''s peer certificate is signed by the etcd signer' \
    'a chain from etcd-peer-HOST.crt to the member'\''s ca.crt' \
    'The operator names it after the host it runs on; if the host was renamed or two renders are mixed, run render-etcd.sh --force.' \
    chain "${HOST_ROOT}/etc/kubernetes/static-pod-resources/etcd-member/ca.crt" \
      "${HOST_ROOT}"/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-peer-*.crt
  check serving 'the member can serve the API server, its peers and the metrics port' \
    'etcd-serving-HOST.crt and etcd-serving-metrics-HOST.crt, for servers and for clients' \
    'etcd checks its peers'\'' certificates as clients too, so both usages are needed; run render-etcd.sh --force.' \
    usage_is "serverAuth clientAuth" \
      "${HOST_ROOT}"/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-serving-*.crt
  check api-manifests 'etcd'\''s objects wait among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-etcd.sh --force, then render-kube-apiserver.sh.' \
    same etcd-bootstrap/manifests/* manifests/
}

usual_failures() {
  usual_failure 'failed to get cluster configmap: open /assets/manifests/cluster-config.yaml: no such file or directory' \
    'The install-config is not in manifests/.' \
    'Run make-manifests.sh, or unpack a bootstrap.ign.'
  usual_failure 'missing required flag: --etcd-image' \
    'The release names no etcd image, so the flag arrived empty.' \
    'Run release-info.sh --force and look at release-info/images.'
  usual_failure 'interface conversion: interface {} is nil, not []interface {}' \
    'The install-config has no machineNetwork.' \
    'Run make-manifests.sh --force.'
  usual_failure 'unrecognized data structure in controlPlane field' \
    'The install-config has no controlPlane.' \
    'Run make-manifests.sh --force.'
  usual_failure 'panic: runtime error: invalid memory address or nil pointer dereference' \
    'The Infrastructure has no platformStatus.' \
    'Run make-manifests.sh --force.'
  usual_failure 'unknown flag: --etcd-ca' \
    'The command line is that of another release.' \
    'Set release.version in lab.yaml to the release of the image, and generate again.'
  usual_failure 'machineNetwork CIDR is reserved and unsupported' \
    'The operator refuses networks that are reserved for documentation.' \
    'Choose another machineNetwork in lab.yaml; bootlab check refuses it too.'
  usual_failure 'lstat /usr/share/bootkube/manifests/bootstrap-manifests: no such file or directory' \
    'The image holds the command but none of its templates; it is not the payload'\''s cluster-etcd-operator.' \
    'Look for an override under images in lab.yaml, then run release-info.sh --force.'
}

stage_main "$@"
