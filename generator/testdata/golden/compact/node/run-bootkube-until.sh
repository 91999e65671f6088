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
# does not start it a second time.
# - Its record stands in bootlab/run-bootkube-until.json, not in bootkube.json.
# - The container of the stage that was cut off is removed.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='run-bootkube-until' CALL='run-bootkube-until.sh STAGE' RECORD='run-bootkube-until' MARKER=''
readonly NEEDS=(systemctl podman jq flock) NEXT='the script of the stage behind it'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

# The stages of bootkube.sh in their order: id, bootkube's name, marker, container,
# and whole where a stop in the middle cannot be made good.
readonly STAGES='
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
wait-for-ceo wait-for-ceo - wait-for-ceo'
readonly HOLD="${HOST_ROOT}/etc/bootlab/automatic/bootkube" BOOTKUBE_RECORDS="${RECORDS}"
LIMIT=3600 UNTIL='' UNTIL_MARKER='' RUNNING=no
# shellcheck disable=SC2034 # stage-lib.sh says it when the script is interrupted
AGAIN="bootkube.service is stopped; ${CALL} lets it go on"
# bootkube.sh writes bootkube.json meanwhile, and takes no lock for it.
RECORDS="${HOST_ROOT}/var/log/openshift/bootlab/${STAGE}.json"

own_option() {
  local id name marker
  if [[ $1 =~ ^--timeout=([1-9][0-9]{0,5})$ ]]; then LIMIT=${BASH_REMATCH[1]}; return; fi
  while read -r id name marker _; do
    [[ -n ${id} && ($1 == "${id}" || $1 == "${id}.sh" || $1 == "${name}") ]] || continue
    [[ ${marker} != - ]] || die 2 "${id} is not offered: no marker tells when it is done" "${CALL%% *} --help lists the stages"
    UNTIL=${id} UNTIL_MARKER=${marker} && return
  done <<< "${STAGES}"
  return 1
}
own_usage() {
  printf '  %s\n' '--timeout=S stop it after S seconds although the stage is not done; 3600 otherwise' '' 'STAGE is one of these, by either name:'
  awk '$5 != "whole" && line != "" { print line } { line = $3 ~ /done/ ? sprintf("  %-22s %s", $1, $2) : "" }' <<< "${STAGES}"
}

own_words() { [[ -n ${UNTIL} ]] || die 2 'up to which stage is bootkube.sh to work?' "${CALL%% *} --help lists the stages"; }

check_inputs() {
  may_stop_behind
  need_input "${HOST_ROOT}/etc/systemd/system/bootkube.service.d/10-bootlab.conf" 'it comes from overlay.ign, which is merged into bootstrap.ign'
  [[ ! -e .bootkube.done ]] || die 1 'bootkube.sh is done with everything' 'there is nothing left to stop it at'
  [[ ! -e ${UNTIL_MARKER} ]] || { log "${UNTIL} is done already, and bootkube.sh would skip it: nothing is started"; exit; }
}

# The stop lands in the first stage behind it that is not done.
may_stop_behind() {
  local id name marker whole behind=no
  while read -r id name marker _ whole; do
    if [[ ${behind} == yes && ! -e ${marker} ]]; then
      [[ -z ${whole} ]] || die 2 "${UNTIL} is not offered: the stop would land in ${name}" 'half of that cannot be done again'
      return
    fi
    [[ ${id} != "${UNTIL}" ]] || behind=yes
  done <<< "${STAGES}"
}

invalidates() { :; }

do_stage() {
  RUNNING=yes
  run mkdir --parents "${HOLD%/*}"
  run touch "${HOLD}"
  # bootkube.service looks whether the lock is free.
  [[ ${MODE} == dry-run ]] || flock --unlock 9
  run systemctl start bootkube.service
  # systemd has looked at it; what is killed from here on leaves nothing released.
  run rm --force "${HOLD}"
  if [[ ${MODE} == dry-run ]]; then log "here it watches for ${UNTIL_MARKER}, at most ${LIMIT} s"; else watch_marker; fi
  stop_bootkube
  [[ ${MODE} == dry-run ]] || tell_where_it_stopped
}

# Ten looks a second: the stage behind it must not come far. systemd is asked
# now and then.
watch_marker() {
  local looks=0 end=$((SECONDS + LIMIT))
  log "bootkube.sh is running; waiting for ${UNTIL_MARKER}, at most ${LIMIT} s"
  until [[ -e ${UNTIL_MARKER} ]]; do
    ((SECONDS < end)) || die 1 "${UNTIL} was not done within ${LIMIT} s" 'journalctl --unit=bootkube.service tells how far it came'
    looks=$((looks + 1))
    ((looks % 20 > 0)) || ! bootkube_is_stopped > /dev/null || [[ -e ${UNTIL_MARKER} ]] || die 1 "bootkube.service ended before ${UNTIL} was done" \
      'journalctl --unit=bootkube.service tells why; if it never began, a script took the lock in between: run this again'
    sleep 0.1
  done
}

# With the lock, so that no script begins before all of it is gone. systemd ends
# bootkube.sh and the podman that it called; the container goes on by itself.
stop_bootkube() {
  local container left
  mapfile -t left < <(awk '$4 ~ /[a-z]/ { print $4 }' <<< "${STAGES}")
  [[ ${MODE} == dry-run ]] || flock --timeout 10 9 || log 'another script holds the lock'
  run systemctl stop bootkube.service
  RUNNING=no
  [[ ${MODE} != dry-run ]] || log 'here it removes what is left of the stage that was cut off, one of these:'
  for container in "${left[@]}"; do remove_left "${container}"; done
}

# The name alone does not make it bootkube's: its assets do.
remove_left() { # CONTAINER
  local mounts
  if [[ ${MODE} != dry-run ]]; then
    mounts="$(podman container inspect --format '{{range .Mounts}}{{.Source}}:{{end}}' "$1" 2> /dev/null)" || return 0
    if [[ ":${mounts}" != *":${ASSET_DIR}"[:/]* ]]; then log "a container named $1 belongs elsewhere: ${mounts%:}; it stays"; return; fi
  fi
  run podman rm --force "$1"
}

# However the script ends, but for kill -9.
tidy_up() {
  [[ ${RUNNING} == yes ]] || return 0
  MODE=run
  run rm --force "${HOLD}"
  stop_bootkube
}

# bootkube.sh records the end of a stage even when it is ended in the middle. One
# that was killed leaves it open; nothing else writes there now.
tell_where_it_stopped() {
  local last marker whole result=success
  last="$(jq --raw-output 'map(.stage // empty) | last // empty' "${BOOTKUBE_RECORDS}" 2> /dev/null)" || last=''
  log "bootkube.sh is stopped; the last that it recorded is ${last:-nothing}"
  [[ -n ${last} ]] || return 0
  read -r marker whole < <(awk -v name="${last}" '$2 == name { print $3, $5 }' <<< "${STAGES}") || return 0
  [[ -e ${marker} ]] || result=failure
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  jq --arg stage "${last}" --arg result "${result}" --arg timestamp "$(date --utc +%Y-%m-%dT%H:%M:%SZ)" \
    'if last.phase != "stage start" then . else . + [{$timestamp, $stage, phase: "stage end", $result}
      + if $result == "failure" then {errorMessage: "stopped by run-bootkube-until.sh"} else {} end] end' \
    "${BOOTKUBE_RECORDS}" > "${BOOTKUBE_RECORDS}.tmp" && mv --force "${BOOTKUBE_RECORDS}.tmp" "${BOOTKUBE_RECORDS}"
  [[ ${result} == failure ]] || return 0
  [[ -z ${whole} ]] || die 1 "the stop came too late: it landed in ${last}" \
    'release-hold.sh bootkube lets bootkube.sh go on; if that fails, begin with a new bootstrap node'
  log "${last} has no marker and is rendered again, although its record may call it a success"
}

stage_is_marked() {
  [[ -e ${UNTIL_MARKER} ]] || { echo "${UNTIL_MARKER:-the name of a stage} is missing"; return 1; }
}

bootkube_is_stopped() {
  systemctl show --property=ActiveState bootkube.service | grep --extended-regexp '=(inactive|failed)$' || { echo 'it is running'; return 1; }
}

verify() {
  check reached 'the stage is done' \
    'its marker' \
    'Run run-bootkube-until.sh with the stage again, or the script of the stage that has no marker.' \
    stage_is_marked
  check stopped 'bootkube.service does not run' \
    'inactive' \
    'Run systemctl stop bootkube.service.' \
    bootkube_is_stopped
  check hold 'the service is held again' \
    'no /etc/bootlab/automatic/bootkube' \
    'Run rm /etc/bootlab/automatic/bootkube, or leave it if bootkube.sh is to go on at the next boot.' \
    absent "${HOST_ROOT}/etc/bootlab/automatic/bootkube"
}

usual_failures() {
  usual_failure 'A dependency job for bootkube.service failed' \
    'crio-configure.service or release-image.service failed, and bootkube.service requires them.' \
    'Look at systemctl --failed and at the journal of what it names; most often the release image cannot be pulled.'
}

stage_main "$@"
