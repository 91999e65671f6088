#!/usr/bin/env bash
# render-mco: Render the machine configuration and start its server
#
# A master boots with an Ignition file that says little more than where to fetch
# the real one. This stage prepares the answer. The machine-config-operator
# renders pools and a ControllerConfig; everything that may hold a MachineConfig
# is laid beside them; and a static pod turns it all into one configuration per
# pool and serves it on port 22623. From here on masters can be started.
#
# In bootkube.sh: stage mco-bootstrap, "Rendering MCO manifests..."
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
# out.
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed, static pod manifests
# last.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly STAGE='render-mco' CALL='render-mco.sh' RECORD='mco-bootstrap' MARKER='mco-bootstrap.done'
readonly NEEDS=(podman jq openssl flock) NEXT='render-cco.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input release-info/version 'run release-info.sh first'
  need_input manifests/cluster-config.yaml 'run make-manifests.sh first'
  need_input manifests/cluster-infrastructure-02-config.yml 'run make-manifests.sh first'
  need_input manifests/cluster-network-02-config.yml 'run make-manifests.sh first'
  need_input manifests/cluster-dns-02-config.yml 'run make-manifests.sh first'
  need_input manifests/cluster-proxy-01-config.yaml 'run make-manifests.sh first'
  need_input manifests/openshift-config-secret-pull-secret.yaml 'run make-manifests.sh first'
  need_input manifests/99_feature-gate.yaml 'run render-api.sh first'
  need_input openshift/ 'run make-manifests.sh first'
  need_input tls/root-ca.crt 'run make-pki.sh first'
  need_input tls/kube-apiserver-complete-client-ca-bundle.crt 'run make-pki.sh first'
  need_input tls/machine-config-server.crt 'run make-pki.sh first'
  need_input tls/machine-config-server.key 'run make-pki.sh first'
  need_input auth/kubeconfig-kubelet 'run make-kubeconfigs.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  MACHINE_CONFIG_OPERATOR_IMAGE="$(image_for machine-config-operator)"
  RELEASE_IMAGE_DIGEST="$(release_info digest)"
  VERSION="$(release_info version)"
  pull_image "${MACHINE_CONFIG_OPERATOR_IMAGE}"

  # The operator gets the payload's table of contents as a file: it names every
  # image that the nodes and the pod of this stage will need.
  run_to image-references podman run --quiet --rm --net=none --entrypoint=cat \
    "${RELEASE_IMAGE_DIGEST}" /release-manifests/image-references

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container mco-render; then
    run rm --recursive --force mco-bootstrap
    # --root-ca: goes to nodes, which verify the Machine Config Server by it;
    # not looked at, so anything is taken
    # --kube-ca: the CAs of clients, which kubelets on the nodes will accept
    # --config-file: the install-config
    # --dest-dir: where everything goes; without it the files stay in the
    # container and are lost
    # --pull-secret: laid beside the ControllerConfig, for the controller to
    # read
    # --release-image: written into the ControllerConfig
    # --image-references: all images that nodes and the pod need, in one file;
    # the path lacks its leading slash and is found because the container starts
    # in /
    # --payload-version: the version that the rendered objects carry
    # --cloud-provider-ca-file: the cloud's CA, if it has its own
    # --cloud-config-file: the configuration that render-config generated, on
    # clouds
    # --cloud-lb-config-file: meant for custom DNS and never given, for nothing
    # writes the file that is tested; it is not the file that is passed, and no
    # operator read here knows the flag
    local additional_flags=()
    [[ ! -f tls/cloud-ca-cert.pem ]] || additional_flags+=(--cloud-provider-ca-file=/assets/tls/cloud-ca-cert.pem)
    [[ ! -f manifests/cloud-provider-config.yaml ]] || additional_flags+=(--cloud-config-file=/assets/config-bootstrap/cloud-provider-config-generated.yaml)
    [[ ! -f manifests/openshift-lbconfig-custom-dns.yaml ]] || additional_flags+=(--cloud-lb-config-file=/assets/manifests/openshift-lb-config.yaml)
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
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
  fi

  run mkdir --parents "${HOST_ROOT}/etc/mcc/bootstrap" "${HOST_ROOT}/etc/mcs/bootstrap" \
    "${HOST_ROOT}/etc/kubernetes/manifests" "${HOST_ROOT}/etc/kubernetes/static-pod-resources" \
    "${HOST_ROOT}/etc/ssl/mcs"
  # What the bootstrap controller starts from.
  copy_files 'mco-bootstrap/bootstrap/manifests/*' "${HOST_ROOT}/etc/mcc/bootstrap/"
  # The installer's MachineConfigs.
  copy_files 'openshift/*' "${HOST_ROOT}/etc/mcc/bootstrap/"
  # Mirrors, kubelet and tuning settings, and the FeatureGate with its status,
  # over the one of the copy before.
  copy_files 'manifests/*' "${HOST_ROOT}/etc/mcc/bootstrap/"
  # The controller reads the release's list of images there.
  copy_files image-references "${HOST_ROOT}/etc/mcc/bootstrap/image-references"
  # The server adds it to each configuration it hands out.
  copy_files auth/kubeconfig-kubelet "${HOST_ROOT}/etc/mcs/kubeconfig"
  # cluster-bootstrap creates them with the rest.
  copy_files 'mco-bootstrap/manifests/*' manifests/
  # The server looks for its certificate here.
  copy_files tls/machine-config-server.crt "${HOST_ROOT}/etc/ssl/mcs/tls.crt"
  # And for its key here.
  copy_files tls/machine-config-server.key "${HOST_ROOT}/etc/ssl/mcs/tls.key"
  # The kubelet starts the controller, then the server, at this moment;
  # cluster-bootstrap has no part in it.
  copy_files mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml \
    "${HOST_ROOT}/etc/kubernetes/manifests/"
}

# The kubelet's copy goes when the masters' own servers take over.
mcs_pod_is_placed() {
  local placed="${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"
  [[ ! -e cvo-overrides.done ]] || { absent "${placed}"; return; }
  same mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml "${placed}"
}

verify() {
  check pod-image 'every container of the pod has an image' \
    'no empty image reference' \
    'Look at image-references in the asset directory, then run render-mco.sh --force.' \
    images mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
  check pod-image-of-release 'the pod'\''s images are this release'\''s' \
    'no image that the release does not name' \
    'The release or an image in lab.yaml changed since; run release-info.sh --force, then render-mco.sh --force.' \
    payload image-references mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
  check pod-name 'the pod is the bootstrap machine-config-operator' \
    'metadata.name bootstrap-machine-config-operator' \
    'Run render-mco.sh --force.' \
    value .metadata.name bootstrap-machine-config-operator \
      mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
  check pod-placed 'the kubelet has the pod manifest' \
    'the rendered file in /etc/kubernetes/manifests, until restore-cvo-overrides has taken it away' \
    'Run render-mco.sh again; it copies the manifest last.' \
    mcs_pod_is_placed
  check controller-files 'the operator rendered the controller'\''s input' \
    'ControllerConfig, both pools and the pull secret in mco-bootstrap/bootstrap/manifests/' \
    'Look at manifests/openshift-config-secret-pull-secret.yaml, then run render-mco.sh --force.' \
    present mco-bootstrap/bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml \
      mco-bootstrap/bootstrap/manifests/machineconfigcontroller-pull-secret \
      mco-bootstrap/bootstrap/manifests/master.machineconfigpool.yaml \
      mco-bootstrap/bootstrap/manifests/worker.machineconfigpool.yaml
  check node-ca 'nodes get a root CA' \
    'in the ControllerConfig a rootCAData that begins as PEM does' \
    'Look at tls/root-ca.crt, run make-pki.sh or unpack the bootstrap.ign again, then render-mco.sh --force.' \
    line "^ *rootCAData: \"?LS0tLS1CRUdJTi" \
      mco-bootstrap/bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml
  check client-cas 'kubelets get the CAs of those who may ask them' \
    'a certificate in kube-apiserver-serving-ca-configmap.yaml' \
    'Look at tls/kube-apiserver-complete-client-ca-bundle.crt, run make-pki.sh or unpack the bootstrap.ign again, then render-mco.sh --force.' \
    line "-----BEGIN CERTIFICATE-----" \
      mco-bootstrap/manifests/kube-apiserver-serving-ca-configmap.yaml
  check controller-input 'the controller has its input' \
    'ControllerConfig, pools and pull secret in /etc/mcc/bootstrap, as rendered' \
    'Run render-mco.sh again.' \
    same mco-bootstrap/bootstrap/manifests/* "${HOST_ROOT}/etc/mcc/bootstrap/"
  check controller-gates 'the controller has the FeatureGate with a status' \
    'manifests/99_feature-gate.yaml, unchanged, in /etc/mcc/bootstrap' \
    'A stage before changed it; run render-mco.sh --force.' \
    same manifests/99_feature-gate.yaml "${HOST_ROOT}/etc/mcc/bootstrap/"
  check image-references 'the controller has the list of images' \
    'image-references, unchanged, in /etc/mcc/bootstrap' \
    'Run render-mco.sh --force.' \
    same image-references "${HOST_ROOT}/etc/mcc/bootstrap/image-references"
  check kubeconfig 'the server has a kubeconfig to hand out' \
    'auth/kubeconfig-kubelet, unchanged, as /etc/mcs/kubeconfig' \
    'Run render-mco.sh again.' \
    same auth/kubeconfig-kubelet "${HOST_ROOT}/etc/mcs/kubeconfig"
  check server-chain 'nodes will trust the server' \
    'a chain from /etc/ssl/mcs/tls.crt to tls/root-ca.crt' \
    'Run make-pki.sh --force and the renders again, or unpack the bootstrap.ign again.' \
    chain tls/root-ca.crt "${HOST_ROOT}/etc/ssl/mcs/tls.crt"
  check server-key 'the server'\''s certificate and key belong together' \
    'the same public key in both' \
    'Run render-mco.sh again; it copies both.' \
    key_pair "${HOST_ROOT}/etc/ssl/mcs/tls.crt"
  check manifests-copied 'the operator'\''s objects wait among the manifests' \
    'every rendered file in manifests/, unchanged' \
    'Run render-mco.sh again.' \
    same mco-bootstrap/manifests/* manifests/
}

usual_failures() {
  usual_failure 'error rendering bootstrap manifests: open' \
    'A CA, the DNS or Proxy object, or the pull secret is missing; the message goes on with the path.' \
    'Run make-pki.sh or make-manifests.sh, or unpack a bootstrap.ign.'
  usual_failure 'Failed to find haproxy-router in image references' \
    'The release names no such image; any other name the operator asks for fails in the same way.' \
    'Look for the name in image-references; the image is not a whole release, or one of another distribution.'
}

stage_main "$@"
