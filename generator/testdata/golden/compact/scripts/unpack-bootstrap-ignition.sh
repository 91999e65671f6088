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
# and so are links and directories below /opt/openshift.
# - What speaks of a Secret, or is compressed or in pieces, has mode 0600,
# directories have 0700, and everything belongs to who runs the script.
# - What was in auth/, manifests/, openshift/ and tls/ before goes.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly IGNITION_FILE="${OUT_DIR}"/'../bootstrap.ign'
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly SERVICE_NETWORK='172.30.0.0/16'
readonly STAGE='unpack-bootstrap-ignition' CALL='unpack-bootstrap-ignition.sh' RECORD='unpack-bootstrap-ignition' MARKER='unpack-bootstrap-ignition.done'
readonly NEEDS=(jq gzip openssl flock) NEXT='release-info.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

# Where the file is taken apart, and where hashes of what was in it stay.
readonly ROOM=.unpack-bootstrap-ignition KEPT=unpack-bootstrap-ignition
# openshift-install writes some 300 kB and 110 files; more than this is no
# bootstrap's, or a bomb that swells when it is decompressed.
readonly LIMIT=$((32 << 20)) MOST_FILES=1000
# Other stages keep their results under these names.
readonly RESERVED='.bootkube.done api-bootstrap auth-api-bootstrap cco-bootstrap config-bootstrap
  cvo-bootstrap edited etcd-bootstrap ignition image-references
  ingress-operator-bootstrap ingress-operator-manifests install
  install-config.yaml kube-apiserver-bootstrap kube-controller-manager-bootstrap
  kube-scheduler-bootstrap make-manifests.written make-pki mco-bootstrap
  metadata.json node-tuning-bootstrap release-info tools unpack-bootstrap-ignition'
IGNITION="$(readlink --canonicalize-missing -- "${IGNITION_FILE}")" SIZE=0 COUNT=0 TOPS=()

# How the jq programs below speak of an Ignition config. Every file has a path
# and pieces: its contents, then whatever is appended. A piece is a data URL,
#   data:text/plain;charset=utf-8;base64,YXBp...
# whose head says how the data behind the comma is written.
# shellcheck disable=SC2016 # the variables in them are jq's
readonly WORDS='
  def taken: .path | startswith("/opt/openshift/");
  def name: .path | ltrimstr("/opt/openshift/");
  def pieces: [.contents // {}, .append[]?];
  def url: .source // "" | if . == "" then "data:;base64," else . end;
  def head: url | split(",")[0] | ascii_downcase;
  def data: url | split(",")[1:] | join(",");
  def base64: head | endswith(";base64");'

# Why a config is not unpacked, a line each.
# shellcheck disable=SC2016
readonly REFUSED='
  def bad_path: if type != "string" or (startswith("/") | not) then "the path is not absolute"
    elif explode | any(. < 32 or (. > 126 and . < 160) or . == 92) then "there are control characters in the path"
    elif .[1:] | split("/") | any(IN("", ".", "..")) then "the path holds .., . or //" else empty end;
  def bad_name: if split("/")[0] | test("\\A[A-Za-z0-9][A-Za-z0-9._-]*\\z") | not then "the name is none of an installer"
    elif test("/\\.|\\.done\\z") or (split("/")[0] | IN($reserved | splits("[ \\n]+")))
    then "other stages keep their results under that name" else empty end;
  def bad_mode: select(. != null and (type != "number" or . != floor or . < 256 or . > 511)) | "the mode is none of 0400 to 0777";
  def bad_piece: if head | startswith("data:") | not then "the contents lie elsewhere and are not fetched"
    elif url | test("[^!-~]") or (contains(",") | not) then "the contents are no data URL"
    elif base64 and (data | length % 4 != 0 or (test("^[A-Za-z0-9+/]*={0,2}$") | not)) then "the contents are no base64"
    elif (base64 | not) and (data | test("%([^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)")) then "the contents hold a broken %"
    elif .compression // "" | IN("", "gzip") | not then "the contents are compressed, and not with gzip"
    elif .verification.hash // "" | test("\\A(|sha256-[0-9A-Fa-f]{64}|sha512-[0-9A-Fa-f]{128})\\z") | not
    then "the hash is neither sha512 nor sha256" else empty end;
  def bad_place($count): ($count[.path] | select(. > 1) | "the path is there \(.) times"),
    (.path | split("/") | .[:range(3; length)] | join("/") | select($count[.] != null) | "\(.) is a file itself");
  if length != 1 or (.[0].ignition.version | type) != "string" then "there is no ignition.version in it" else .[0]
  | (.storage.files // []) as $files | (reduce $files[].path as $path ({}; .[$path | tostring] += 1)) as $count
  | if .ignition.version | test("\\A3\\.[0-9]+\\.[0-9]+") | not then "it is of Ignition \(.ignition.version[:9] | tojson), and this reads 3"
    elif [.ignition.config // {} | .merge[]?, .replace | select(.source?)] != [] then
      "it only points at another config, as master.ign and worker.ign do: bootstrap.ign is wanted"
    elif [$files[] | pieces[]] | length > $most then "it holds more than \($most) files"
    elif any($files[].path | bad_path; true) then $files[] | (.path | tojson[:200]) + ": " + (.path | bad_path)
    elif $files | any(taken) | not then "nothing in it lies below /opt/openshift"
    else (.storage | .links[]?, .directories[]? | "\(.path)/" | select(startswith("/opt/openshift/"))
        | "\(tojson[:200]) is a link or a directory of its own, and installers write files only"),
      ($files[] | select(taken) | (.path | tojson[:200]) + ": " +
        ((name | bad_name), (.mode | bad_mode), (pieces[] | bad_piece), bad_place($count)))
    end
  end'

# A line for each piece of what is taken: mode of the file, number of its pieces,
# how this one is written and compressed, its hash, and the file. A Secret, and
# what cannot be seen whole here, is for no one else to read, whatever its mode.
# shellcheck disable=SC2016
readonly TABLE='
  def secret: .compression == "gzip" or (if base64 then data | @base64d else data end | test("kind[^a-z]{1,12}Secret"));
  def octal: [0, (. / 64 | floor), (. / 8 | floor) % 8, . % 8] | join("");
  .[0].storage.files[] | select(taken) | name as $name | pieces as $pieces
  | (if ($pieces | length) > 1 or any($pieces[]; secret) then 384 else .mode // 420 end | octal) as $mode
  | $pieces[] | [$mode, ($pieces | length), if base64 then "base64" else "escaped" end,
    if .compression == "gzip" then "gzip" else "plain" end,
    (.verification.hash // "" | if . == "" then "none" else ascii_downcase end), $name] | join("\t")'

check_inputs() {
  [[ ${MODE} == dry-run || -e ${MARKER} && ${FORCE} == no ]] || need_ignition
}

need_ignition() {
  [[ -f ${IGNITION} && -r ${IGNITION} ]] || die 4 "there is no file ${IGNITION} to read" \
    'openshift-install create ignition-configs makes bootstrap.ign: put it there, or name it with --ignition=FILE'
}

invalidates() {
  invalidated make-pki.done make-pki.sh 'openshift-install made other keys, and they take the place of its own'
  invalidated make-kubeconfigs.done make-kubeconfigs.sh 'openshift-install made other kubeconfigs'
  invalidated make-manifests.done make-manifests.sh 'openshift-install wrote other manifests'
  invalidated openshift-manifests.done copy-manifests.sh 'manifests/ is another one now'
  invalidated auth-api-bootstrap.done render-auth-api.sh 'what it copied into manifests/ is gone'
  invalidated ingress-operator-bootstrap.done render-ingress.sh 'what it copied into manifests/ is gone'
  invalidated kube-apiserver-bootstrap.done render-kube-apiserver.sh 'the API server'\''s operator was given the old signers, in Secrets'
  invalidated kube-controller-manager-bootstrap.done render-kcm.sh 'the controller manager'\''s operator was given the old kubelet-signer and service account key'
  invalidated mco-bootstrap.done render-mco.sh 'nodes were to be given the old root CA and the old CAs of the API'\''s clients'
  invalidated cvo-bootstrap.done render-cvo.sh 'the cluster version operator'\''s static pod was given the old kubeconfig-loopback'
  invalidated kube-scheduler-bootstrap.done render-scheduler.sh 'the scheduler'\''s render read the old auth/kubeconfig'
  invalidated config-bootstrap.done render-config.sh 'it read the old Infrastructure'
  invalidated etcd-bootstrap.done render-etcd.sh 'it read the old install-config, Infrastructure and Network'
  invalidated node-tuning-bootstrap.done render-node-tuning.sh 'it read the old Infrastructure'
  invalidated cco-bootstrap.done render-cco.sh 'it read the old install-config'
  invalidated api-bootstrap.done render-api.sh 'render-api wrote the FeatureGate'\''s status, and this puts the bare file back'
  # A file that is refused invalidates nothing. So all of it is laid out beside the
  # assets, and checked there, before anything is marked as not done.
  [[ ${FORCE} == no && ${#INVALIDATED[@]} -gt 0 ]] || { need_ignition; begin_record; lay_out; check_there; }
}

do_stage() {
  local name here=() fixed=(auth manifests openshift tls install-config.yaml metadata.json make-manifests.written)
  [[ ${MODE} != dry-run ]] || lay_out
  # What was made by hand belongs to another cluster. It goes by renaming, and
  # all of it before anything comes: a run that is killed here leaves assets that
  # are missing, never half a directory and never a mixture of two clusters.
  while read -r name; do
    [[ ! -e ${name} ]] || here+=("${name}")
  done < <(printf '%s\n' "${fixed[@]}" "${TOPS[@]}" | sort --unique)
  [[ ${#here[@]} == 0 ]] || run mv --target-directory="${ROOM}/replaced" "${here[@]}"
  run mv --target-directory=. "${TOPS[@]/#/${ROOM}/assets/}"
  run rm --recursive --force "${ROOM}"
}

# Out of the file, into ROOM/assets.
lay_out() {
  umask 077
  # No file may grow beyond this from now on, and a bomb ends here.
  ulimit -S -c 0 -f "$((LIMIT / 1024))"
  run rm --recursive --force "${ROOM}"
  run mkdir --parents "${ROOM}"/{assets,pieces,replaced}
  # gzip hands on what is not compressed, which is the usual case.
  run_to "${ROOM}/config.json" gzip --decompress --stdout --force "${IGNITION}"
  [[ ${MODE} != dry-run || -f ${IGNITION} ]] || { TOPS=(auth manifests openshift tls "${KEPT}"); return 0; }
  refuse_what_is_unsafe
  # The data of all pieces, a line each, and then a file each: so no command
  # line and no log ever holds a key.
  run_to "${ROOM}/data" jq --raw-output '.storage.files[] | select(.path | startswith("/opt/openshift/")) |
    .contents // {}, .append[]? | .source // "" | split(",")[1:] | join(",")' "${ROOM}/config.json"
  run split --lines=1 --numeric-suffixes --suffix-length=4 "${ROOM}/data" "${ROOM}/pieces/"
  unpack_pieces
  # By these, sha256sum --check tells what has changed since.
  run_to "${ROOM}/assets/${KEPT}/sha256sums" env --chdir="${ROOM}/assets" find "${TOPS[@]}" -type f -exec sha256sum '{}' +
  run env LC_ALL=C sort --key=2 --output="${ROOM}/assets/${KEPT}/sha256sums" "${ROOM}/assets/${KEPT}/sha256sums"
  run_to "${ROOM}/assets/${KEPT}/left" jq --raw-output \
    '.storage.files[].path | select(startswith("/opt/openshift/") | not)' "${ROOM}/config.json"
  TOPS+=("${KEPT}")
  [[ ${MODE} == dry-run ]] ||
    log "${COUNT} files are for /opt/openshift; $(wc -l < "${ROOM}/assets/${KEPT}/left") others stay packed, named in ${KEPT}/left"
}

unpack_pieces() {
  local mode count form compression hash name rows row piece command target number=0 parts=()
  local -A files=() tops=()
  rows="$(look "${TABLE}")"
  mapfile -t rows <<< "${rows}"
  for row in "${rows[@]}"; do
    IFS=$'\t' read -r mode count form compression hash name <<< "${row}"
    printf -v piece '%s/pieces/%04d' "${ROOM}" "${number}"
    target="${piece}.part" number=$((number + 1)) command=(base64 --decode "${piece}")
    [[ ${count} != 1 ]] || target="${ROOM}/assets/${name}"
    [[ ${form} == base64 ]] || command=(unescaped "${piece}")
    if [[ ${compression} == gzip ]]; then
      run_to "${piece}.gz" "${command[@]}"
      command=(gzip --decompress --stdout "${piece}.gz")
    fi
    run_to "${target}" "${command[@]}"
    if [[ ${MODE} != dry-run ]]; then is_as_promised "${target}" "${hash}" "${name}"; fi
    parts+=("${target}")
    [[ ${#parts[@]} == "${count}" ]] || continue
    [[ ${count} == 1 ]] || run_to "${ROOM}/assets/${name}" cat "${parts[@]}"
    COUNT=$((COUNT + 1)) parts=() files[${mode}]+="${ROOM}/assets/${name}"$'\n' tops[${name%%/*}]=yes
  done
  mapfile -t TOPS < <(printf '%s\n' "${!tops[@]}" | sort)
  for mode in "${!files[@]}"; do
    mapfile -t rows < <(printf %s "${files[${mode}]}")
    [[ ${mode} == 0600 ]] || run chmod "${mode}" "${rows[@]}"
  done
}

# %0A and its like become the bytes that they stand for.
unescaped() { # FILE
  printf %b "$(sed 's/\\/\\\\/g; s/%/\\x/g' "$1")"
}

is_as_promised() { # FILE HASH NAME
  [[ $2 == none || "$("${2%-*}sum" < "$1")" == "${2#*-}  -" ]] ||
    refuse "$3 is not what its hash says" 'the file was damaged or changed: make it again'
  SIZE=$((SIZE + $(stat --format=%s "$1")))
  ((SIZE <= LIMIT)) || refuse "more than ${LIMIT} bytes come out of it" 'that is a hundred times what a bootstrap needs'
}

# The config goes through a jq program. --dry-run, which writes nothing, takes
# it from the file itself.
look() { # PROGRAM
  if [[ ${MODE} != dry-run ]]; then cat "${ROOM}/config.json"
  else gzip --decompress --stdout --force "${IGNITION}" | head --bytes="${LIMIT}"; fi |
    jq --raw-output --slurp --argjson most "${MOST_FILES}" --arg reserved "${RESERVED}" "${WORDS}$1" 2> /dev/null
}

refuse_what_is_unsafe() {
  local complaints
  complaints="$(look "${REFUSED}" | tr --complement --delete '[:print:]\n')" ||
    refuse 'it is no Ignition config, or half of one' 'bootstrap.ign is what it should be'
  [[ -z ${complaints} ]] || refuse "${complaints%%$'\n'*}" \
    "complaints of this kind: $(wc -l <<< "${complaints}"); openshift-install create ignition-configs makes the file again"
}

# The stage's own checks, where the assets lie now.
check_there() {
  local found
  found="$(CHECKS=0 FAILED=0 && cd "${ROOM}/assets" && verify && ((FAILED == 0)))" || {
    sed '/^ok /d' <<< "${found}"
    refuse 'the checks named above fail' 'nothing was changed; each says what to do' 3
  }
}

refuse() { # MESSAGE HINT [STATUS]
  [[ ${MODE} == dry-run ]] || rm --recursive --force "${ROOM}"
  die "${3:-1}" "${IGNITION} is not unpacked: $1" "$2"
}

own_usage() {
  printf '  %-10s %s\n' '--ignition=FILE' 'the file to unpack, in place of bootstrap.ign beside lab.yaml'
}
own_option() {
  [[ $1 == --ignition=?* ]] || return 1
  IGNITION="$(readlink --canonicalize-missing -- "${1#*=}")"
}

all_laid_out() {
  local name bad=0
  present unpack-bootstrap-ignition/sha256sums || return 1
  while IFS= read -r name; do
    [[ -e ${name} ]] || { echo "${name} is missing"; bad=1; }
  done < <(cut --characters=67- unpack-bootstrap-ignition/sha256sums)
  return "${bad}"
}

verify() {
  check laid-out 'every file that was unpacked is still there' \
    'each name in unpack-bootstrap-ignition/sha256sums' \
    'Run unpack-bootstrap-ignition.sh --force.' \
    all_laid_out
  check present 'the file was a bootstrap node'\''s' \
    'what the render stages and cluster-bootstrap read' \
    'This is not the bootstrap.ign of openshift-install create ignition-configs; run it, and then unpack-bootstrap-ignition.sh --force.' \
    present auth/kubeconfig auth/kubeconfig-kubelet auth/kubeconfig-loopback \
      manifests/cluster-config.yaml manifests/cluster-dns-02-config.yml \
      manifests/cluster-infrastructure-02-config.yml manifests/cluster-ingress-02-config.yml \
      manifests/cluster-network-02-config.yml manifests/cluster-proxy-01-config.yaml \
      manifests/cluster-scheduler-02-config.yml manifests/cvo-overrides.yaml \
      manifests/openshift-config-secret-pull-secret.yaml openshift/99_feature-gate.yaml \
      tls/root-ca.crt tls/service-account.key tls/service-account.pub
  check private 'no one else can read keys and Secrets' \
    'mode 0600 on them' \
    'Run chmod 600 on the files named; who could read one until now has it.' \
    mode 0600 auth/kubeconfig* tls/*.key manifests/*-secret.yaml openshift/*-secret.yaml
  check key-pairs 'every certificate belongs to its key' \
    'the same public key in both' \
    'The file was put together from two; make it again, and run unpack-bootstrap-ignition.sh --force.' \
    key_pair tls/kube*-signer.crt tls/aggregator-signer.crt tls/aggregator-ca.crt \
      tls/kube*-server.crt tls/kube*-client.crt tls/machine-config-server.crt
  check server-chain 'clients of the API trust its certificates' \
    'a chain from each serving certificate to the bundle in the kubeconfigs' \
    'The file was put together from two; make it again, and run unpack-bootstrap-ignition.sh --force.' \
    chain tls/kube-apiserver-complete-server-ca-bundle.crt tls/kube-apiserver-*-server.crt
  check fresh 'the 24-hour certificates have not run out' \
    'all valid now and for 60 minutes more' \
    'Make bootstrap.ign again with openshift-install, in an empty directory, and run unpack-bootstrap-ignition.sh --force.' \
    fresh 60 tls/kubelet-signer.crt tls/aggregator-signer.crt tls/kube-apiserver-*-server.crt
  check domain 'the cluster is the lab'\''s' \
    'name and base domain of lab.yaml' \
    'Write metadata.name and baseDomain of the install-config into lab.yaml and run bootlab generate; later checks compare with them.' \
    value .spec.baseDomain "${CLUSTER_DOMAIN}" manifests/cluster-dns-02-config.yml
  check service-network 'its services get the lab'\''s network' \
    'networking.serviceNetwork of lab.yaml' \
    'Write the networks of the install-config into lab.yaml and run bootlab generate.' \
    value ".spec.serviceNetwork[0]" "${SERVICE_NETWORK}" manifests/cluster-network-02-config.yml
  check platform 'its platform is none, as the lab'\''s' \
    'status.platformStatus.type None' \
    'Make the file with platform none in install-config.yaml; renders for clouds ask for more than a lab has.' \
    value .status.platformStatus.type None manifests/cluster-infrastructure-02-config.yml
}

usual_failures() {
  usual_failure 'File size limit exceeded' \
    'Some hundred bytes in it would become more than 32 MB.' \
    'No installer writes that; find out where the file comes from.'
  usual_failure 'gzip: ' \
    'The compressed part ends too early, or was changed.' \
    'Copy or make the file again.'
  usual_failure 'No space left on device' \
    'The disk is full.' \
    'Make room and run unpack-bootstrap-ignition.sh again; until it succeeds, what was there stays.'
}

stage_main "$@"
