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
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
RELEASE_IMAGE='quay.io/okd/scos-release:4.21.0-okd-scos.8'
IMAGE_OVERRIDES=''
STAGE=release-info RECORD=release-info
MARKER=release-info.done NEXT='copy-manifests.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
begin "$@"

# How podman reaches the registries.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"

if step 1 'Pull the release image'; then
  # A digest never names another image, but a tag may have moved: --force pulls a
  # tag again.
  if [[ ${FORCE:-no} == yes && ${RELEASE_IMAGE} != *@sha256:* ]] ||
    ! podman image exists "${RELEASE_IMAGE}"; then
    timeout 1800 podman pull "${RELEASE_IMAGE}"
  fi
fi 9>&-

if step 2 'Look up its digest'; then
  mkdir -p .new
  podman inspect "${RELEASE_IMAGE}" --format json > .new/inspect.json
  # The digest, not the tag, is what everything rendered will name. Where podman
  # knows none, bootkube.sh continues with the name it was given, and so does this.
  jq --raw-output --arg configured "${RELEASE_IMAGE}" '.[0] | .Digest as $digest
    | first((.RepoDigests // [])[] | select(contains($digest // "@none"))) // $configured' \
    .new/inspect.json > .new/digest
fi 9>&-

if step 3 'Read the list of images and the version in it'; then
  # image-references is an ImageStream with a tag for each image of the release.
  # podman 4.3 sometimes loses the output of a short container: ask again.
  for file in image-references release-metadata; do
    for try in 1 2 3; do
      podman run --quiet --rm --net=none --entrypoint=cat \
        "$(cat .new/digest)" "/release-manifests/${file}" > ".new/${file}"
      [[ ! -s .new/${file} ]] || break
      echo "no output of podman run, attempt ${try} of 3"
    done
  done
  # Operators refuse a FeatureGate that has no status for exactly this version.
  jq --raw-output .version .new/release-metadata > .new/version
  # Images say in an annotation which versions they were built with; oc reads the
  # Kubernetes version from the same place.
  jq --raw-output '[.spec.tags[].annotations["io.openshift.build.versions"] // empty
    | split(",")[] | select(startswith("kubernetes=")) | ltrimstr("kubernetes=")]
    | unique | join(" ")' .new/image-references > .new/kubernetes-version
  # One line for each image: its name in the release, and where to pull it. Images
  # of lab.yaml replace those of the release.
  jq --raw-output --arg overrides "${IMAGE_OVERRIDES}" '
    ([$overrides | split("\n")[] | split(" ") | {(.[0]): .[1]}] | add // {}) as $mine
    | .spec.tags[] | "\(.name) \($mine[.name] // .from.name)"' \
    .new/image-references > .new/images
fi 9>&-

if step 4 'Put the answers into release-info/'; then
  mkdir -p release-info
  mv -f .new/* release-info/
  rmdir .new
  # What was rendered with other answers is no longer valid. Without sums these
  # scripts rendered nothing, and what is there stays.
  if [[ -e release-info/sums ]] && ! sha256sum --check --status release-info/sums; then
    while read -r marker script; do
      [[ ! -e ${marker} ]] || echo "run ${script} again: images or version are other ones now"
      rm -f "${marker}"
    done << 'END'
api-bootstrap.done render-api.sh
auth-api-bootstrap.done render-auth-api.sh
config-bootstrap.done render-config.sh
cvo-bootstrap.done render-cvo.sh
etcd-bootstrap.done render-etcd.sh
kube-apiserver-bootstrap.done render-kube-apiserver.sh
kube-controller-manager-bootstrap.done render-kcm.sh
kube-scheduler-bootstrap.done render-scheduler.sh
ingress-operator-bootstrap.done render-ingress.sh
node-tuning-bootstrap.done render-node-tuning.sh
mco-bootstrap.done render-mco.sh
cco-bootstrap.done render-cco.sh
END
  fi
  sha256sum release-info/{digest,version,kubernetes-version,images} > .new
  mv -f .new release-info/sums
fi 9>&-

finish
