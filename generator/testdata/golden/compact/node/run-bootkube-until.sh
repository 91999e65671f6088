#!/usr/bin/env bash
# run-bootkube-until: Let bootkube.sh work up to a stage, and stop it there
#
# The installer's own bootkube.sh does the work, and ends where you want to go
# on by hand. It marks each stage with a file when the stage is done. So the
# hold is released, the marker of the stage is watched, and the service is
# stopped as soon as the file is there. The next stage has then begun: it has no
# marker, so its script, or bootkube.sh the next time, renders it again.
#
# Reads:  /etc/systemd/system/bootkube.service.d/10-bootlab.conf
# Differs from the installer:
# - The service is held again as soon as it runs. If bootkube.sh fails, systemd
#   does not start it a second time.
# - Its record stands in bootlab/run-bootkube-until.json, not in bootkube.json.
# - The container of the stage that was cut off is removed.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'

# The stages of bootkube.sh: script, stage, marker, container, and whole where a
# stop in the middle cannot be repaired.
BOOTKUBE_STAGES='
copy-manifests openshift-manifests openshift-manifests.done -
render-api api-bootstrap api-bootstrap.done api-render
render-auth-api auth-api-bootstrap auth-api-bootstrap.done auth-api-render
render-config config-bootstrap config-bootstrap.done config-render
render-cvo cvo-bootstrap cvo-bootstrap.done cvo-render
render-etcd etcd-bootstrap etcd-bootstrap.done etcd-render whole
render-kube-apiserver kube-apiserver-bootstrap kube-apiserver-bootstrap.done kube-apiserver-render
render-kcm kube-controller-manager-bootstrap kube-controller-manager-bootstrap.done kube-controller-render
render-scheduler kube-scheduler-bootstrap kube-scheduler-bootstrap.done kube-scheduler-render
render-ingress ingress-operator-bootstrap ingress-operator-bootstrap.done ingress-render
render-node-tuning node-tuning-bootstrap node-tuning-bootstrap.done node-tuning-render
render-mco mco-bootstrap mco-bootstrap.done mco-render
render-cco cco-bootstrap cco-bootstrap.done cco-render
wait-for-etcd wait-for-etcd - etcdctl
start-bootstrap cb-bootstrap cb-bootstrap.done cluster-bootstrap whole
restore-cvo-overrides cvo-overrides cvo-overrides.done - whole
wait-for-ceo wait-for-ceo - wait-for-ceo
'
STAGE=run-bootkube-until RECORD=run-bootkube-until
MARKER=''
NEXT='the script of the stage behind it'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"
# shellcheck source=lib/ending.sh
source "${SCRIPTS}/lib/ending.sh"

needs systemctl podman jq flock
needs_input 'it comes from overlay.ign, which is merged into bootstrap.ign' \
  "${HOST_ROOT}/etc/systemd/system/bootkube.service.d/10-bootlab.conf"
option --timeout=S TIMEOUT 'stop it after S seconds although the stage is not done; 3600 otherwise'
takes_words UNTIL "$(awk 'BEGIN { print "UNTIL is one of these stages, by either name:" }
  $5 != "whole" && line { print line }
  { line = $3 ~ /done/ ? sprintf("  %-22s %s", $1, $2) : "" }' <<< "${BOOTKUBE_STAGES}")
"
read_options "$@"

# Is it a stage behind which bootkube.sh can be stopped?
hint="${0##*/} --help lists the stages"
[[ -n ${UNTIL} ]] || die 2 'up to which stage may bootkube.sh run?' "${hint}"
row="$(awk -v stage="${UNTIL%.sh}" '$1 == stage || $2 == stage' <<< "${BOOTKUBE_STAGES}")"
[[ -n ${row} ]] || die 2 "unknown stage ${UNTIL@Q}" "${hint}"
read -r UNTIL _ UNTIL_MARKER _ <<< "${row}"
export UNTIL_MARKER # the checks read it
[[ ${UNTIL_MARKER} != - ]] ||
  die 2 "${UNTIL} is not offered: no marker says that it is done" "${hint}"
if [[ ${MODE} != verify ]]; then
  # The stop lands in the first stage after it that is not done.
  after=no
  while read -r id name marker _ whole; do
    if [[ ${after} == yes && ! -e ${ASSET_DIR}/${marker} ]]; then
      [[ -z ${whole} ]] || die 2 "${UNTIL} is not offered: the stop would land in ${name}" \
        'half of that stage cannot be run again'
      break
    fi
    [[ ${id} != "${UNTIL}" ]] || after=yes
  done <<< "${BOOTKUBE_STAGES}"
  [[ ! -e ${ASSET_DIR}/.bootkube.done ]] ||
    die 1 'bootkube.sh is done with everything' 'there is nothing left to stop it at'
  if [[ -e ${ASSET_DIR}/${UNTIL_MARKER} ]]; then
    log "${UNTIL} is done already, and bootkube.sh would skip it: nothing is started" && exit
  fi
fi
runs_in_parallel
begin "$@"

marker="$(awk -v stage="${UNTIL}" '$1 == stage { print $3 }' <<< "${BOOTKUBE_STAGES}")"
hold="${HOST_ROOT}/etc/bootlab/automatic/bootkube" started=no

give_up() { # WHY HINT [STATUS]
  ERROR=$1 && printf 'error: %s\n  hint: %s\n' "$1" "$2" && exit "${3:-1}"
}

# Under the lock, so that no script starts before all of bootkube.sh is gone.
# systemd ends bootkube.sh and the podman that it called; the container has a scope
# of its own and goes on. The name alone does not make it bootkube's.
stop_bootkube() {
  local container mounts
  [[ ${started} == yes ]] || return 0
  rm -f "${hold}"
  flock --timeout 10 8 || echo 'another script holds the lock'
  systemctl stop bootkube.service || return 1
  while read -r _ _ _ container _; do
    mounts="$(podman container inspect --format '{{range .Mounts}}{{.Source}}:{{end}}' \
      "${container:--}" 2> /dev/null < /dev/null)" || continue
    if [[ ":${mounts}" == *":${ASSET_DIR}"[:/]* ]]; then
      podman rm --force "${container}" < /dev/null
    else
      echo "a container named ${container} belongs elsewhere: ${mounts%:}; it stays"
    fi
  done <<< "${BOOTKUBE_STAGES}"
} 8> .bootlab.lock
undo stop_bootkube

if step 1 'Make sure that neither a script nor bootkube.sh is running'; then
  flock --nonblock .bootlab.lock true ||
    give_up 'a stage script is running' 'let it end, or interrupt it'
  state="$(systemctl show --property=ActiveState --value bootkube.service)"
  [[ ${state} == inactive || ${state} == failed ]] ||
    give_up "bootkube.service is running on this node: it is ${state}" 'let it end'
fi 9>&-

if step 2 'Release the hold, start bootkube.service, and hold it again'; then
  started=yes
  mkdir -p "${hold%/*}"
  touch "${hold}"
  systemctl start bootkube.service
  # systemd has looked at it: a script that is killed from here on leaves nothing
  # that starts by itself.
  rm -f "${hold}"
fi 9>&-

if step 3 'Wait for the marker of the stage'; then
  # Ten times a second: the next stage must not come far.
  echo "bootkube.sh is running; waiting for ${marker}, at most ${TIMEOUT:-3600} s"
  end=$((SECONDS + ${TIMEOUT:-3600})) next_look=${SECONDS}
  until [[ -e ${marker} ]]; do
    ((SECONDS < end)) ||
      give_up "${UNTIL} was not done within ${TIMEOUT:-3600} s" \
        'see journalctl -u bootkube.service'
    if ((SECONDS >= next_look)); then
      next_look=$((SECONDS + 2))
      state="$(systemctl show --property=ActiveState --value bootkube.service)"
      [[ ! ${state} =~ ^(inactive|failed)$ || -e ${marker} ]] ||
        give_up "bootkube.service ended before ${UNTIL} was done" \
          'see journalctl -u bootkube.service; if it never began, run this again'
    fi
    sleep 0.1
  done
fi 9>&-

if step 4 'Stop bootkube.service, and remove the container that it leaves'; then
  stop_bootkube
  started=no
fi 9>&-

if step 5 'Close the record of the stage that was cut off'; then
  # bootkube.sh records an end also when it is stopped in the middle; one that was
  # killed leaves its stage open. Nothing else writes this file now.
  records="${HOST_ROOT}/var/log/openshift/bootkube.json" result=success
  last="$(jq --raw-output 'map(.stage // empty) | last // empty' "${records}" 2> /dev/null)" ||
    last=''
  echo "bootkube.sh is stopped; the last stage in its records is ${last:-none}"
  read -r last_marker last_whole < <(awk -v name="${last}" \
    '$2 == name { print $3, $5 }' <<< "${BOOTKUBE_STAGES}") || last_marker=''
  if [[ -n ${last_marker} ]]; then
    [[ -e ${last_marker} ]] || result=failure
    # shellcheck disable=SC2016 # the names are those of jq
    jq --arg stage "${last}" --arg result "${result}" --arg timestamp "$(date --utc +%FT%TZ)" '
      if last.phase != "stage start" then . else
        . + [{$timestamp, $stage, phase: "stage end", $result} + if $result == "success" then {}
          else {errorMessage: "stopped by run-bootkube-until.sh"} end]
      end' "${records}" > "${records}.tmp"
    mv -f "${records}.tmp" "${records}"
    if [[ ${result} == failure && -n ${last_whole} ]]; then
      give_up "the stop came too late: it landed in ${last}" \
        'release-hold.sh bootkube lets it continue; if that fails, start with a new bootstrap node'
    elif [[ ${result} == failure ]]; then
      echo "${last} has no marker and is rendered again, although its record may say success"
    fi
  fi
fi 9>&-

finish
