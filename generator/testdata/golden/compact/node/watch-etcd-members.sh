#!/usr/bin/env bash
# watch-etcd-members: Watch etcd grow onto the masters
#
# etcd is not replaced but grows: masters become members of the etcd that began
# on this node, one at a time, and at the end the first member is taken out.
# bootkube.sh shows nothing of it. This lists the members, says of each whether
# it votes, learns or leads, and at every change what the change means. It
# changes nothing; run it in a second terminal from start-bootstrap.sh on, and
# let it run until the bootstrap member is gone.
#
# Reads:  release-info/images
#         tls/etcd-ca-bundle.crt
#         tls/etcd-client.crt
#         tls/etcd-client.key
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
CONTROL_PLANE_REPLICAS='3'
MASTERS=$'master-0 192.168.126.20\n'
MASTERS+=$'master-1 192.168.126.21\n'
MASTERS+='master-2 192.168.126.22'
STAGE=watch-etcd-members RECORD=watch-etcd-members
MARKER=''
NEXT='back to the terminal of the stage that is running'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images
needs_input 'run render-etcd.sh first' tls/etcd-ca-bundle.crt tls/etcd-client.crt \
  tls/etcd-client.key
runs_in_parallel
option '--until=N' UNTIL 'end as soon as N members vote and all are well'
option '--timeout=S' TIMEOUT 'gives up after S seconds instead of 3600'
begin "$@"

# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image="$(awk '$1 == "etcd" { print $2; found = 1 } END { exit !found }' release-info/images)"
export MASTERS # for lib/etcdctl.sh, which runs etcdctl in a container of that image

# What each member that answers says of itself, after its client URL. etcd promotes
# a learner that has nine tenths of what the leader has.
statuses() { # URLS
  bash "${SCRIPTS}/lib/etcdctl.sh" endpoint status --endpoints="$1" --write-out=json |
    grep '^\[{' | jq --raw-output '
      (map(.Status.raftIndex) | max) as $last | .[] | .Status as $status | .Endpoint + " " +
        if $status.errors then $status.errors | join(", ")
        elif $status.isLearner and $status.raftAppliedIndex * 10 < $last * 9 then "catching up"
        elif $status.isLearner then "in sync"
        elif $status.leader == $status.header.member_id then "leads" else "follows" end'
}

# A line for each member, and what that means.
enough_members() {
  local list urls statuses state name peer client learner said voters=0 bad=0 first=no meaning=''
  list="$(bash "${SCRIPTS}/lib/etcdctl.sh" member list)" || return 1
  list="$(grep -E '^[0-9a-f]+, ' <<< "${list}" | sort --field-separator=, --key=4)"
  urls="$(awk -F ', ' '$5 != "" { print $5 }' <<< "${list}" | paste -sd ,)"
  statuses="$(statuses "${urls}")" || true
  while IFS=', ' read -r -u 8 _ state name peer client learner; do
    said="$(awk -v url="${client}" '$1 == url { sub(/^[^ ]+ /, ""); print }' <<< "${statuses}")"
    [[ ${name} != etcd-bootstrap ]] || first=yes
    if [[ ${state} == unstarted ]]; then
      said='added, and not started yet' bad=$((bad + 1))
      meaning='the operator has added a master; its etcd, which has waited for that, starts now'
    elif [[ ${learner} == true ]]; then
      said="learner, ${said:-does not answer}" bad=$((bad + 1))
      meaning='a learner gets all data and has no vote, so a slow one endangers nothing;'
      meaning+=' in sync it is promoted'
    else
      [[ ${said} == leads || ${said} == follows ]] || bad=$((bad + 1))
      said="votes, ${said:-does not answer}" voters=$((voters + 1))
    fi
    printf '%-20s %-22s %s\n' "${name:-(no name yet)}" "${peer#https://}" "${said}"
  done 8<<< "${list}"
  echo "= ${meaning:-$(meaning_of "${voters}" "${bad}" "${first}")}"
  if [[ -n ${UNTIL} ]]; then
    ((voters >= UNTIL && bad == 0))
  else
    [[ ${first} == no ]] && ((voters == CONTROL_PLANE_REPLICAS && bad == 0))
  fi
}

meaning_of() { # VOTERS BAD BOOTSTRAP-MEMBER-IS-THERE
  if (($2 > 0)); then
    echo 'a member is not well: the operator adds and removes no member until it is'
  elif [[ $3 == no ]]; then
    echo 'the bootstrap member is gone: bootkube.sh had ended, kube-system/bootstrap said' \
      'complete, and the operator removed it'
  elif (($1 > CONTROL_PLANE_REPLICAS)); then
    echo "EtcdRunningInCluster can turn True: $(($1 - 1)) remain without the bootstrap member," \
      'which stays until bootkube.sh has ended'
  elif (($1 == 1)); then
    echo 'a list of one has a quorum of one; masters are added one at a time, once the operator' \
      'runs on one'
  elif (($1 == 2)); then
    echo 'both are needed for a quorum: do not switch the bootstrap node off'
  else
    echo "$1 vote, and one of them may fail; the next master is added when all are well"
  fi
}

give_up() { # WHY HINT [STATUS]
  ERROR=$1 && printf 'error: %s\n  hint: %s\n' "$1" "$2" && exit "${3:-1}"
}

# Asks until the answer is good, and prints each new answer with the seconds so far.
wait_for() { # SECONDS WHAT COMMAND...
  local answer good last='' hopeless=0 began=${SECONDS} end=$((SECONDS + $1))
  [[ -z ${TIMEOUT} ]] || end=${TIMEOUT} # of all waits together, since the start
  echo "waiting for $2, at most ${TIMEOUT:-$1} s"
  while true; do
    good=yes
    answer="$("${@:3}" 2>&1)" || good=no
    # What changes with each answer says nothing: times, ports, control characters.
    answer="$(tr -cd '[:print:]\n' <<< "${answer}" | sed --regexp-extended \
      '/^[EWIF][0-9]{4} /d; s/:[0-9]+->/->/g; s/current time [^ ]+ is/now is/')"
    answer="${answer:-nothing}"
    [[ ${answer} == "${last}" ]] ||
      printf '%7d s  %s\n' $((SECONDS - began)) "${answer//$'\n'/$'\n           '}"
    last=${answer}
    [[ ${good} == no ]] || return 0
    # Waiting does not fix a certificate that expired or is of another cluster, nor a
    # torn kubeconfig.
    hopeless=$((hopeless + 1))
    grep --quiet --extended-regexp --regexp="${HOPELESS}" <<< "${answer}" || hopeless=0
    ((hopeless < 3)) || give_up "$2 cannot be seen, and waiting does not fix that" \
      'fix what the last answer says'
    ((SECONDS < end)) || give_up "no sign of $2 within ${TIMEOUT:-$1} s" \
      "the last answer is above; ${0##*/} waits again"
    sleep $((end - SECONDS < 5 ? end - SECONDS : 5))
  done
}
HOPELESS='certificate has expired.* is after|certificate signed by unknown authority'
HOPELESS+='|doesn.t contain any IP SANs|certificate is (valid for|not valid for any)'
HOPELESS+='|error loading config file'

goal="etcd on the ${CONTROL_PLANE_REPLICAS} masters alone"
if [[ -z ${MASTERS} ]]; then
  UNTIL=1
  echo 'this lab has no masters, so one member is all; with three masters the list would grow to' \
    '2, 3 and 4, and end with 3'
fi
[[ -z ${UNTIL} ]] || goal="${UNTIL} voting members"

if step 1 'Pull the image of etcd'; then
  podman image exists "${image}" || timeout 1800 podman pull "${image}"
fi 9>&-

if step 2 'Watch the members'; then
  # openshift-install gives the whole bootstrap 45 minutes; the removal of the
  # bootstrap member follows it.
  wait_for 3600 "${goal}" enough_members
fi 9>&-

finish
