#!/usr/bin/env bash
# release-info: Find out what the release image holds
#
# A release is one image that names all the others. bootkube.sh asks it for
# every operator's image, and tells every operator the version that it read
# there. So this comes before any operator runs: the digest, which cannot move
# as a tag can, the version, the Kubernetes version, and the list of images.
#
# Writes: release-info/
# Differs from bootkube.sh:
# - Version and Kubernetes version are read from the payload's own files.
# - The images are listed once, and the list is kept in a file.
# - Images under images in lab.yaml take the place of the release's own.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly RELEASE='4.21'
readonly RELEASE_IMAGE='quay.io/okd/scos-release:4.21.0-okd-scos.8'
readonly IMAGE_OVERRIDES=''
readonly BOOTKUBE_IMAGES='machine-config-operator etcd pod cluster-etcd-operator cluster-config-operator
  cluster-kube-apiserver-operator cluster-kube-controller-manager-operator
  cluster-kube-scheduler-operator cluster-ingress-operator
  cluster-node-tuning-operator cloud-credential-operator hyperkube
  cluster-policy-controller cluster-bootstrap cluster-config-api
  cluster-authentication-operator'
readonly STAGE='release-info' CALL='release-info.sh' RECORD='release-info' MARKER='release-info.done'
readonly NEEDS=(podman jq flock) NEXT='copy-manifests.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  :
}

invalidates() {
  :
}

do_stage() {
  pull_image "${RELEASE_IMAGE}"

  # The digest, not the tag, is what everything rendered will name. Where podman
  # knows none, bootkube.sh goes on with what it was given, and so does this.
  run_to release-info/inspect.json podman inspect "${RELEASE_IMAGE}" --format json
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  run_to release-info/digest jq --raw-output --arg configured "${RELEASE_IMAGE}" \
    '.[0] | .Digest as $digest | first((.RepoDigests // [])[] | select(contains($digest // "@none"))) // $configured' \
    release-info/inspect.json
  RELEASE_IMAGE_DIGEST="$(release_info digest)"

  # The payload's table of contents: an ImageStream with a tag per image. cat
  # in the release image prints it; no network is needed for that.
  run_to release-info/image-references podman run --quiet --rm --net=none --entrypoint=cat \
    "${RELEASE_IMAGE_DIGEST}" /release-manifests/image-references
  run_to release-info/release-metadata podman run --quiet --rm --net=none --entrypoint=cat \
    "${RELEASE_IMAGE_DIGEST}" /release-manifests/release-metadata

  # Operators refuse a FeatureGate that has no status for exactly this version.
  run_to release-info/version jq --raw-output .version release-info/release-metadata

  # Images say in an annotation which versions of what they were built with; oc
  # reads the Kubernetes version from the same place.
  run_to release-info/kubernetes-version jq --raw-output \
    '[.spec.tags[].annotations["io.openshift.build.versions"] // empty | split(",")[]
      | select(startswith("kubernetes=")) | ltrimstr("kubernetes=")] | unique | join(" ")' \
    release-info/image-references

  # One line per image: its name in the payload, and where to pull it. Overrides
  # of lab.yaml replace the payload's answer.
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  run_to release-info/images jq --raw-output --arg overrides "${IMAGE_OVERRIDES}" \
    '([$overrides | split("\n")[] | split(" ") | {(.[0]): .[1]}] | add // {}) as $mine
      | .spec.tags[] | "\(.name) \($mine[.name] // .from.name)"' \
    release-info/image-references

  # What was rendered so far was rendered with the answers that these sums are
  # of. Without them it was not rendered by these scripts, and stays.
  [[ ${MODE} == dry-run || ! -e release-info/sums ]] || sha256sum --check --status release-info/sums || unmark_users
  run_to release-info/sums sha256sum release-info/{digest,version,kubernetes-version,images}
}

# Another image, or one that lab.yaml puts in the place of the release's, writes
# other files.
unmark_users() {
  made_from_old api-bootstrap.done render-api.sh 'the images or the version are not those it was made with'
  made_from_old auth-api-bootstrap.done render-auth-api.sh 'the images or the version are not those it was made with'
  made_from_old config-bootstrap.done render-config.sh 'the images or the version are not those it was made with'
  made_from_old cvo-bootstrap.done render-cvo.sh 'the images or the version are not those it was made with'
  made_from_old etcd-bootstrap.done render-etcd.sh 'the images or the version are not those it was made with'
  made_from_old kube-apiserver-bootstrap.done render-kube-apiserver.sh 'the images or the version are not those it was made with'
  made_from_old kube-controller-manager-bootstrap.done render-kcm.sh 'the images or the version are not those it was made with'
  made_from_old kube-scheduler-bootstrap.done render-scheduler.sh 'the images or the version are not those it was made with'
  made_from_old ingress-operator-bootstrap.done render-ingress.sh 'the images or the version are not those it was made with'
  made_from_old node-tuning-bootstrap.done render-node-tuning.sh 'the images or the version are not those it was made with'
  made_from_old mco-bootstrap.done render-mco.sh 'the images or the version are not those it was made with'
  made_from_old cco-bootstrap.done render-cco.sh 'the images or the version are not those it was made with'
}

architecture_matches() {
  local image machine
  machine="$(uname --machine)"
  image="$(jq --raw-output '.[0].Architecture' release-info/inspect.json)" || return 1
  echo "image ${image}, machine ${machine}"
  case ${machine} in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; esac
  [[ ${image} == "${machine}" ]]
}

version_is_of_release() {
  present release-info/version || return 1
  echo "version $(< release-info/version), release ${RELEASE}"
  [[ $(< release-info/version) =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]] &&
    [[ ${RELEASE} == main || $(< release-info/version) == "${RELEASE}".* ]]
}

every_image_is_named() {
  local name bad=0
  present release-info/images || return 1
  for name in ${BOOTKUBE_IMAGES}; do
    grep --quiet --extended-regexp "^${name} [^ ]+$" release-info/images || { echo "${name} is not there"; bad=1; }
  done
  return "${bad}"
}

overrides_are_known() {
  local name spec bad=0
  present release-info/images || return 1
  while read -r name spec; do
    [[ -z ${name} ]] || grep --quiet --fixed-strings --line-regexp "${name} ${spec}" release-info/images ||
      { echo "${name} is not in the release, or not replaced"; bad=1; }
  done <<< "${IMAGE_OVERRIDES}"
  return "${bad}"
}

release_image_agrees() {
  local answer='' listed tries
  listed="$(jq --raw-output '.spec.tags[] | select(.name == "etcd").from.name' release-info/image-references)" || return 1
  for ((tries = 0; tries < 3; tries++)); do # podman may lose a short answer
    [[ -n ${answer} ]] || answer="$(podman run --quiet --rm --net=none "$(< release-info/digest)" image etcd)" || return 1
  done
  echo "image etcd: ${answer}"
  [[ -n ${answer} && ${answer} == "${listed}" ]]
}

verify() {
  check digest 'the release image is known by digest' \
    'a pull spec that ends in @sha256 and 64 hex digits' \
    'podman knows no digest of an image that was built or loaded here; push it to a registry and name that in lab.yaml.' \
    line "@sha256:[0-9a-f]{64}\$" release-info/digest
  check architecture 'the release image is for this machine'\''s processor' \
    'the architecture of this machine' \
    'Choose a release image for this architecture; the operators in it could not start.' \
    architecture_matches
  check version 'it is the release that the lab was generated for' \
    'a version that begins with the lab'\''s release' \
    'Set release.version in lab.yaml to the image'\''s release and generate again; its operators refuse other flags.' \
    version_is_of_release
  check kubernetes-version 'the Kubernetes version is known' \
    'three numbers, as 1.34.2' \
    'The image references carry no single kubernetes= annotation; is this a release image?' \
    line "^[0-9]+\\.[0-9]+\\.[0-9]+" release-info/kubernetes-version
  check images 'the release names every image that bootkube.sh asks for' \
    'a line for each' \
    'The release does not fit release.version in lab.yaml, or it was built without these operators.' \
    every_image_is_named
  check overrides 'every image override replaces an image of the release' \
    'names that the release has' \
    'Correct the name under images in lab.yaml; release-info/images lists those that exist.' \
    overrides_are_known
  check agreement 'the release image itself gives the same answer' \
    'the pull spec that podman run RELEASE image etcd prints' \
    'Run release-info.sh --force; if it stays so, the list was made from another image.' \
    release_image_agrees
}

usual_failures() {
  usual_failure 'manifest unknown' \
    'The registry has no image of that name; tags of releases are removed in time.' \
    'Put a release image that exists into release.image of lab.yaml and generate again.'
  usual_failure 'unauthorized' \
    'The registry wants a login.' \
    'Give lab.yaml a pullSecret; for OCP it comes from the cloud console.'
  usual_failure 'no such host' \
    'The registry'\''s name cannot be resolved from here.' \
    'Look at the network of this machine; a proxy that it needs is named as proxy in lab.yaml.'
  usual_failure 'proxyconnect tcp' \
    'The proxy does not answer.' \
    'Correct proxy in lab.yaml and generate again; where lab.yaml names none, look at HTTPS_PROXY and HTTP_PROXY of your shell.'
  usual_failure 'x509: certificate signed by unknown authority' \
    'The registry, or a proxy before it, shows a certificate of a CA that this machine does not know.' \
    'Save that CA'\''s certificate beside lab.yaml, name the file as additionalTrustBundle there, and generate again.'
  usual_failure 'image-references: No such file or directory' \
    'The image is no release image.' \
    'Name a release image, not an operator'\''s, in release.image of lab.yaml.'
}

stage_main "$@"
