#!/usr/bin/env bash
# render-ingress: Render the type of ingress controllers
#
# On some platforms the installer brings an IngressController of its own, and an
# object needs its type first. So the ingress operator renders the CRD and its
# namespace, two files that depend on nothing, on every platform. Routers are
# not started here; the operator does that in the cluster.
#
# In bootkube.sh: stage ingress-operator-bootstrap, "Rendering Ingress Operator core manifests..."
# Reads:  release-info/images
#         release-info/digest
# Writes: ingress-operator-manifests/cluster-ingress-00-custom-resource-definition.yaml
#         ingress-operator-manifests/cluster-ingress-00-namespace.yaml
#         manifests/
# Differs from bootkube.sh:
# - The operator's image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - A container that an interrupted run left behind is adopted while it runs and
# removed when it is dead.
# - Each file is copied under a temporary name and renamed.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly STAGE='render-ingress' CALL='render-ingress.sh' RECORD='ingress-operator-bootstrap' MARKER='ingress-operator-bootstrap.done'
readonly NEEDS=(podman jq flock) NEXT='render-node-tuning.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
}

invalidates() {
  :
}

do_stage() {
  # podman logs in to the registry with the lab's pull secret, if it has one.
  [[ -z ${PULL_SECRET_FILE} ]] || run export REGISTRY_AUTH_FILE="${PULL_SECRET_FILE}"

  # The release names every image; release-info.sh wrote its answers down.
  INGRESS_OPERATOR_IMAGE="$(image_for cluster-ingress-operator)"
  pull_image "${INGRESS_OPERATOR_IMAGE}"

  # What an earlier try left half done would pass for a result: it goes first.
  if ! adopt_container ingress-render; then
    run rm --recursive --force ingress-operator-bootstrap
    # --prefix: put before the names of the files, which would be too plain
    # among a hundred others
    # --output-dir: where the two files go; made when it is missing
    run podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name ingress-render \
      --volume "${PWD}:/assets:z" \
      "${INGRESS_OPERATOR_IMAGE}" \
      render \
      --prefix=cluster-ingress- \
      --output-dir=/assets/ingress-operator-manifests
  fi

  # cluster-bootstrap creates them with the rest.
  copy_files 'ingress-operator-manifests/*' manifests/
}

verify() {
  check crd 'the CRD was rendered' \
    'metadata.name ingresscontrollers.operator.openshift.io' \
    'Run render-ingress.sh --force.' \
    value .metadata.name ingresscontrollers.operator.openshift.io \
      ingress-operator-manifests/cluster-ingress-00-custom-resource-definition.yaml
  check namespace 'the operator'\''s namespace was rendered' \
    'metadata.name openshift-ingress-operator' \
    'Run render-ingress.sh --force.' \
    value .metadata.name openshift-ingress-operator \
      ingress-operator-manifests/cluster-ingress-00-namespace.yaml
  check copied 'both wait among the manifests' \
    'the rendered files in manifests/, unchanged' \
    'Run render-ingress.sh again.' \
    same ingress-operator-manifests/* manifests/
}

usual_failures() {
  usual_failure 'unknown command "/usr/bin/ingress-operator" for "ingress-operator"' \
    'The image has an entrypoint; a path in front of the subcommand is taken for a subcommand.' \
    'Call it as bootkube.sh does, with render alone behind the image.'
  usual_failure 'required flag(s) "output-dir" not set' \
    'The command line is incomplete.' \
    'Generate the scripts again.'
}

stage_main "$@"
