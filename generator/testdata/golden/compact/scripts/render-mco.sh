#!/usr/bin/env bash
# render-mco: Render the machine configuration and start its server
#
# A master boots with an Ignition file that says little more than where to fetch
# the real one. This stage prepares the answer. The machine-config-operator
# renders pools and a ControllerConfig; everything that may hold a MachineConfig
# is laid beside them; and a static pod turns it all into one configuration per
# pool and serves it on port 22623. From here on masters can be started.
#
# In bootkube.sh: stage mco-bootstrap,
#         "Rendering MCO manifests..."
# Reads:  release-info/images
#         release-info/digest
#         release-info/version
#         manifests/cluster-config.yaml
#         manifests/cluster-infrastructure-02-config.yml
#         manifests/cluster-network-02-config.yml
#         manifests/cluster-dns-02-config.yml
#         manifests/cluster-proxy-01-config.yaml
#         manifests/openshift-config-secret-pull-secret.yaml
#         manifests/user-ca-bundle-config.yaml
#         manifests/99_feature-gate.yaml
#         openshift/
#         tls/root-ca.crt
#         tls/kube-apiserver-complete-client-ca-bundle.crt
#         tls/machine-config-server.crt
#         tls/machine-config-server.key
#         auth/kubeconfig-kubelet
#         tls/cloud-ca-cert.pem
#         manifests/cloud-provider-config.yaml
# Writes: image-references
#         mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
#         mco-bootstrap/bootstrap/manifests/
#         mco-bootstrap/manifests/
#         /etc/mcc/bootstrap/
#         /etc/mcc/bootstrap/image-references
#         /etc/mcs/kubeconfig
#         /etc/kubernetes/manifests/
#         manifests/
#         /etc/ssl/mcs/tls.crt
#         /etc/ssl/mcs/tls.key
# Differs from bootkube.sh:
# - The copies for platforms with a load balancer or names of their own are left
#   out.
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is waited for and removed,
#   and the stage renders again.
# - Each file is copied under a temporary name and renamed, static pod manifests
#   last.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
STAGE=render-mco RECORD=mco-bootstrap
MARKER=mco-bootstrap.done CONTAINER=mco-render NEXT='render-cco.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq openssl flock
needs_input 'run release-info.sh first' release-info/images release-info/digest \
  release-info/version
needs_input 'run make-manifests.sh first' manifests/cluster-config.yaml \
  manifests/cluster-infrastructure-02-config.yml manifests/cluster-network-02-config.yml \
  manifests/cluster-dns-02-config.yml manifests/cluster-proxy-01-config.yaml \
  manifests/openshift-config-secret-pull-secret.yaml openshift/
needs_input 'run render-api.sh first' manifests/99_feature-gate.yaml
needs_input 'run make-pki.sh first' tls/root-ca.crt \
  tls/kube-apiserver-complete-client-ca-bundle.crt tls/machine-config-server.crt \
  tls/machine-config-server.key
needs_input 'run make-kubeconfigs.sh first' auth/kubeconfig-kubelet
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
MACHINE_CONFIG_OPERATOR_IMAGE="$(image machine-config-operator)"
RELEASE_IMAGE_DIGEST="$(cat release-info/digest)"
VERSION="$(cat release-info/version)"

# Flags that bootkube.sh adds only where the file is there.
additional_flags=()
[[ ! -f tls/cloud-ca-cert.pem ]] ||
  additional_flags+=(--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem)
[[ ! -f manifests/cloud-provider-config.yaml ]] ||
  additional_flags+=(--cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml)
[[ ! -f manifests/openshift-lbconfig-custom-dns.yaml ]] ||
  additional_flags+=(--cloud-lb-config-file=/assets/manifests/openshift-lb-config.yaml)

if step 1 'Pull the image, and write the list of the images of the release to a file'; then
  podman image exists "${MACHINE_CONFIG_OPERATOR_IMAGE}" ||
    timeout 1800 podman pull "${MACHINE_CONFIG_OPERATOR_IMAGE}"
  # The operator reads every image that nodes and pods need from this file.
  # podman 4.3 sometimes loses the output of a short container: ask again.
  rm -f image-references
  until [[ -s image-references ]]; do
    podman run --quiet --rm --net=none --entrypoint=cat \
      "${RELEASE_IMAGE_DIGEST}" /release-manifests/image-references > image-references
  done
fi 9>&-

if step 2 'Render into an empty mco-bootstrap/'; then
  rm -rf mco-bootstrap
  # --root-ca: goes to nodes, which verify the Machine Config Server by it; not
  # looked at, so anything is taken
  # --kube-ca: the CAs of clients, which kubelets on the nodes will accept
  # --config-file: the install-config
  # --dest-dir: where everything goes; without it the files stay in the
  # container and are lost
  # --pull-secret: laid beside the ControllerConfig, for the controller to read
  # --release-image: written into the ControllerConfig
  # --image-references: all images that nodes and the pod need, in one file; the
  # path lacks its leading slash and is found because the container starts in /
  # --payload-version: the version that the rendered objects carry
  # --cloud-provider-ca-file: the cloud's CA, if it has its own
  # --cloud-config-file: the configuration that render-config generated, on
  # clouds
  # --cloud-lb-config-file: meant for custom DNS and never given, for nothing
  # writes the file that is tested; it is not the file that is passed, and no
  # operator read here knows the flag
  podman run --quiet --net=host --rm --log-driver=k8s-file \
    --name mco-render \
    --user 0 \
    --volume "${PWD}:/assets:z" \
    "${MACHINE_CONFIG_OPERATOR_IMAGE}" \
    bootstrap \
    --root-ca=/assets/tls/root-ca.crt \
    --kube-ca=/assets/tls/kube-apiserver-complete-client-ca-bundle.crt \
    --config-file=/assets/manifests/cluster-config.yaml \
    --dest-dir=/assets/mco-bootstrap \
    --pull-secret=/assets/manifests/openshift-config-secret-pull-secret.yaml \
    --release-image="${RELEASE_IMAGE_DIGEST}" \
    --image-references=assets/image-references \
    --payload-version="${VERSION}" \
    "${additional_flags[@]}"
fi 9>&-

if step 3 'Copy the results to where they are read'; then
  # A copy goes to .new/ first and is then renamed: a file that another program
  # reads is whole.
  mkdir -p .new "${HOST_ROOT}"/etc/{mcc/bootstrap,mcs/bootstrap,kubernetes/manifests} \
    "${HOST_ROOT}"/etc/{kubernetes/static-pod-resources,ssl/mcs}
  # What the bootstrap controller starts from.
  cp mco-bootstrap/bootstrap/manifests/* "${HOST_ROOT}/etc/mcc/bootstrap/"
  # The installer's MachineConfigs.
  cp openshift/* "${HOST_ROOT}/etc/mcc/bootstrap/"
  # Mirrors, kubelet and tuning settings, and the FeatureGate with its status,
  # over the one of the copy before.
  cp manifests/* "${HOST_ROOT}/etc/mcc/bootstrap/"
  # A rerun finds more in manifests/: what came after this copy the first time.
  for file in mco-bootstrap/manifests/* cco-bootstrap/manifests/*; do
    rm -f "${HOST_ROOT}/etc/mcc/bootstrap/${file##*/}"
  done
  # The controller reads the release's list of images there.
  cp image-references "${HOST_ROOT}/etc/mcc/bootstrap/image-references"
  # The server adds it to each configuration it hands out.
  cp auth/kubeconfig-kubelet "${HOST_ROOT}/etc/mcs/kubeconfig"
  # cluster-bootstrap creates them with the rest.
  cp mco-bootstrap/manifests/* .new/
  mv -f .new/* manifests/
  # The server looks for its certificate here.
  cp tls/machine-config-server.crt "${HOST_ROOT}/etc/ssl/mcs/tls.crt"
  # And for its key here.
  cp tls/machine-config-server.key "${HOST_ROOT}/etc/ssl/mcs/tls.key"
  # The kubelet starts the controller, then the server, at this moment;
  # cluster-bootstrap has no part in it.
  cp mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml \
    "${HOST_ROOT}/etc/kubernetes/manifests/.machineconfigoperator-bootstrap-pod.yaml"
  mv -f "${HOST_ROOT}/etc/kubernetes/manifests/"{.,}machineconfigoperator-bootstrap-pod.yaml
  rmdir .new
fi 9>&-

finish
