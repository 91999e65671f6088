#!/usr/bin/env bash
# render-scheduler: Render the scheduler of the bootstrap node
#
# Static pods need no scheduler, everything after them does: the operators'
# deployments stay Pending until something picks a master for them. The operator
# renders the third static pod of the control plane, a configuration and the
# namespace in which it will work later.
#
# In bootkube.sh: stage kube-scheduler-bootstrap,
#         "Rendering Kubernetes Scheduler core manifests..."
# Reads:  release-info/images
#         release-info/digest
#         auth/kubeconfig
#         tls/
#         manifests/
#         bootstrap-manifests/
# Writes: kube-scheduler-bootstrap/bootstrap-manifests/kube-scheduler-pod.yaml
#         kube-scheduler-bootstrap/config
#         kube-scheduler-bootstrap/manifests/00_openshift-kube-scheduler-ns.yaml
#         /etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml
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
STAGE=render-scheduler RECORD=kube-scheduler-bootstrap
MARKER=kube-scheduler-bootstrap.done CONTAINER=kube-scheduler-render NEXT='render-ingress.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'run make-kubeconfigs.sh first' auth/kubeconfig
needs_input 'run make-pki.sh first' tls/
needs_input 'run make-manifests.sh first' manifests/
needs_input 'run copy-manifests.sh first' bootstrap-manifests/
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
KUBE_SCHEDULER_OPERATOR_IMAGE="$(image cluster-kube-scheduler-operator)"
OPENSHIFT_HYPERKUBE_IMAGE="$(image hyperkube)"

if step 1 'Pull the image'; then
  podman image exists "${KUBE_SCHEDULER_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${KUBE_SCHEDULER_OPERATOR_IMAGE}"
fi 9>&-

if step 2 'Render into an empty kube-scheduler-bootstrap/'; then
  rm -rf kube-scheduler-bootstrap
  # --manifest-image: the image with the scheduler in it
  # --asset-input-dir: demanded by the options that these renders share;
  # auth/kubeconfig is looked for beside it
  # --asset-output-dir: where bootstrap-manifests/ and manifests/ are made
  # --config-output-file: the scheduler's configuration; its directory is made
  # by the flag before
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name kube-scheduler-render \
    --volume "${PWD}:/assets:z" \
    "${KUBE_SCHEDULER_OPERATOR_IMAGE}" \
    /usr/bin/cluster-kube-scheduler-operator render \
    --manifest-image="${OPENSHIFT_HYPERKUBE_IMAGE}" \
    --asset-input-dir=/assets/tls \
    --asset-output-dir=/assets/kube-scheduler-bootstrap \
    --config-output-file=/assets/kube-scheduler-bootstrap/config
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new
  # Kept beside its neighbours, though the static pod does not mount it and runs
  # with arguments alone.
  cp kube-scheduler-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-scheduler-config.yaml"
  # cluster-bootstrap hands it to the kubelet when all of the control plane is
  # rendered.
  cp kube-scheduler-bootstrap/bootstrap-manifests/* .new/
  mv -f .new/* bootstrap-manifests/
  # cluster-bootstrap creates the namespace.
  cp kube-scheduler-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  rmdir .new
fi 9>&-

finish
