#!/usr/bin/env bash
# unpack-bootstrap-ignition: Take the assets out of a bootstrap.ign
#
# openshift-install hands the bootstrap node everything in one file: keys,
# kubeconfigs, manifests, and the scripts that use them, bootkube.sh among them.
# Ignition writes them to the node's disk at its first boot. This does the same
# for what lies below /opt/openshift, so that a local run works on the
# installer's own assets: what the render stages make of them is what they would
# make on the node. It takes the place of make-pki.sh, make-kubeconfigs.sh and
# make-manifests.sh, and one cluster's files never mix with the other's.
#
# Reads:  $IGNITION_FILE
# Writes: auth/
#         manifests/
#         openshift/
#         tls/
#         original_cvo_overrides.patch
#         unpack-bootstrap-ignition/
# Differs from the bootstrap node's first boot:
# - Only what lies below /opt/openshift is unpacked.
# - What a config refers to elsewhere, over https or in a bucket, is refused,
#   and so are links and directories below /opt/openshift.
# - What speaks of a Secret, or is compressed or in pieces, has mode 0600,
#   directories have 0700, and everything belongs to who runs the script.
# - What was in auth/, manifests/, openshift/ and tls/ before goes.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
OUT_DIR="${SCRIPTS%/*}"
IGNITION_FILE="${OUT_DIR}"/'../bootstrap.ign'
STAGE=unpack-bootstrap-ignition RECORD=unpack-bootstrap-ignition
MARKER=unpack-bootstrap-ignition.done NEXT='release-info.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs jq gzip openssl flock
invalidates make-pki.done make-pki.sh \
  'openshift-install made other keys, and they take the place of its own'
invalidates make-kubeconfigs.done make-kubeconfigs.sh \
  'openshift-install made other kubeconfigs'
invalidates make-manifests.done make-manifests.sh \
  'openshift-install wrote other manifests'
invalidates openshift-manifests.done copy-manifests.sh \
  'manifests/ is another one now'
invalidates auth-api-bootstrap.done render-auth-api.sh \
  'what it copied into manifests/ is gone'
invalidates ingress-operator-bootstrap.done render-ingress.sh \
  'what it copied into manifests/ is gone'
invalidates kube-apiserver-bootstrap.done render-kube-apiserver.sh \
  'the API server'\''s operator was given the old signers, in Secrets'
invalidates kube-controller-manager-bootstrap.done render-kcm.sh \
  'the controller manager'\''s operator was given the old kubelet-signer and service account key'
invalidates mco-bootstrap.done render-mco.sh \
  'nodes were to be given the old root CA and the old CAs of the API'\''s clients'
invalidates cvo-bootstrap.done render-cvo.sh \
  'the cluster version operator'\''s static pod was given the old kubeconfig-loopback'
invalidates kube-scheduler-bootstrap.done render-scheduler.sh \
  'the scheduler'\''s render read the old auth/kubeconfig'
invalidates config-bootstrap.done render-config.sh \
  'it read the old Infrastructure'
invalidates etcd-bootstrap.done render-etcd.sh \
  'it read the old install-config, Infrastructure and Network'
invalidates node-tuning-bootstrap.done render-node-tuning.sh \
  'it read the old Infrastructure'
invalidates cco-bootstrap.done render-cco.sh \
  'it read the old install-config'
invalidates api-bootstrap.done render-api.sh \
  'render-api wrote the FeatureGate'\''s status, and this puts the bare file back'
# A file that is refused invalidates nothing: a step removes the markers.
invalidates_by_step
option '--ignition=FILE' IGNITION_OPTION 'unpack this file, not bootstrap.ign beside lab.yaml'
# A name is relative to the directory in which the script was called.
for argument in "$@"; do
  [[ ${argument} == --ignition=* ]] || continue
  [[ -n ${argument#*=} ]] || die 2 '--ignition names no file' 'write --ignition=FILE'
  IGNITION_FILE=${argument#*=}
done
IGNITION_FILE="$(readlink -m -- "${IGNITION_FILE}")"
# What is unpacked already needs no file.
if [[ ! -e ${ASSET_DIR}/${MARKER} || " $* " == *' --force '* ]]; then
  [[ -f ${IGNITION_FILE} && -r ${IGNITION_FILE} ]] ||
    needs_input 'openshift-install makes it; --ignition=FILE names another file' \
      "a file ${IGNITION_FILE}"
fi
begin "$@"

umask 077
# openshift-install writes some 300 kB and 110 files. A file that wants to grow
# beyond 32 MB is no bootstrap's: the shell stops it.
limit=$((32 << 20)) most_files=1000
ulimit -S -c 0 -f $((limit / 1024))
# The file is taken apart here. Other stages keep their results under the names in
# reserved.
room=.unpack-bootstrap-ignition
reserved='.bootkube.done api-bootstrap auth-api-bootstrap cco-bootstrap config-bootstrap
  cvo-bootstrap edited etcd-bootstrap ignition image-references
  ingress-operator-bootstrap ingress-operator-manifests install
  install-config.yaml kube-apiserver-bootstrap kube-controller-manager-bootstrap
  kube-scheduler-bootstrap make-manifests.written make-pki mco-bootstrap
  metadata.json node-tuning-bootstrap release-info tools unpack-bootstrap-ignition'
look() { # EXPRESSION of lib/ignition.jq
  jq -L "${SCRIPTS}/lib" --slurp --raw-output --arg reserved "${reserved}" \
    --argjson most "${most_files}" "include \"ignition\"; $1" "${room}/config.json" 2> /dev/null
}
refuse() { # REASON
  rm -rf "${room}"
  echo "${IGNITION_FILE} is not unpacked: $1"
  return 1
}

if step 1 'Decompress the file, and refuse what no installer writes'; then
  rm -rf "${room}"
  mkdir -p "${room}"/{assets,pieces,replaced}
  # gzip passes on what is not compressed, which is the usual case.
  gzip --decompress --stdout --force "${IGNITION_FILE}" > "${room}/config.json"
  # shellcheck disable=SC2016 # what begins with $ is jq's
  reasons="$(look 'refusals($reserved; $most)' | tr -cd '[:print:]\n')" ||
    refuse 'it is no Ignition config, or half of one'
  [[ -z ${reasons} ]] || refuse "${reasons%%$'\n'*} ($(wc -l <<< "${reasons}") in all)"
fi 9>&-

if step 2 'Write every file for /opt/openshift'; then
  # The data of every piece becomes a line and then a file: no command line and no
  # log ever holds a key.
  look data_of_pieces > "${room}/data"
  split --lines=1 --numeric-suffixes --suffix-length=4 "${room}/data" "${room}/pieces/"
  look table > "${room}/table"
  number=0 size=0
  while IFS=$'\t' read -r mode form compression hash name; do
    printf -v piece '%s/pieces/%04d' "${room}" "${number}"
    number=$((number + 1))
    # In a data URL without base64, %0A and its like stand for a byte.
    if [[ ${form} == base64 ]]; then
      base64 --decode "${piece}" > "${piece}.part"
    else
      printf %b "$(sed 's/\\/\\\\/g; s/%/\\x/g' "${piece}")" > "${piece}.part"
    fi
    if [[ ${compression} == gzip ]]; then
      gzip --decompress --stdout < "${piece}.part" > "${piece}.plain"
      mv "${piece}.plain" "${piece}.part"
    fi
    [[ ${hash} == none || $("${hash%-*}sum" < "${piece}.part") == "${hash#*-}  -" ]] ||
      refuse "${name} is not what its hash says"
    size=$((size + $(stat --format=%s "${piece}.part")))
    ((size <= limit)) || refuse "more than ${limit} bytes come out of it"
    [[ ${name} != */* ]] || mkdir -p "${room}/assets/${name%/*}"
    cat "${piece}.part" >> "${room}/assets/${name}"
    echo "${mode} ${name}" >> "${room}/modes"
  done < "${room}/table"
  while read -r mode name; do chmod "${mode}" "${room}/assets/${name}"; done < "${room}/modes"
fi 9>&-

if step 3 'Write down what was in the file'; then
  # sha256sum --check tells later what has changed since.
  (cd "${room}/assets" && find -- * -type f -exec sha256sum {} + | LC_ALL=C sort --key=2) \
    > "${room}/sha256sums"
  mkdir "${room}/assets/unpack-bootstrap-ignition"
  mv "${room}/sha256sums" "${room}/assets/unpack-bootstrap-ignition/"
  look left > "${room}/assets/unpack-bootstrap-ignition/left"
  echo "$(sort -u "${room}/modes" | wc -l) files are for /opt/openshift;" \
    "$(wc -l < "${room}/assets/unpack-bootstrap-ignition/left") others stay packed"
fi 9>&-

if step 4 'Check the files before they replace anything'; then
  found="$("${SCRIPTS}/checks/unpack-bootstrap-ignition.sh" "${PWD}/${room}/assets")" ||
    { sed '/^ok /d' <<< "${found}" && refuse 'the checks named above fail'; }
fi 9>&-

if step 5 'Replace the assets of another cluster'; then
  # Everything that was made from them is no longer valid.
  rm -f unpack-bootstrap-ignition.done \
    make-pki.done \
    make-kubeconfigs.done \
    make-manifests.done \
    openshift-manifests.done \
    auth-api-bootstrap.done \
    ingress-operator-bootstrap.done \
    kube-apiserver-bootstrap.done \
    kube-controller-manager-bootstrap.done \
    mco-bootstrap.done \
    cvo-bootstrap.done \
    kube-scheduler-bootstrap.done \
    config-bootstrap.done \
    etcd-bootstrap.done \
    node-tuning-bootstrap.done \
    cco-bootstrap.done \
    api-bootstrap.done
  # All that is there goes by renaming before anything comes: a run that is killed
  # leaves assets that are missing, never half a directory or a mixture.
  mapfile -t names < <(ls "${room}/assets" && printf '%s\n' auth manifests openshift tls \
    install-config.yaml metadata.json make-manifests.written)
  for name in "${names[@]}"; do
    [[ ! -e ${name} ]] || mv --target-directory="${room}/replaced" "${name}"
  done
  mv --target-directory=. "${room}"/assets/*
  rm -rf "${room}"
fi 9>&-

finish
