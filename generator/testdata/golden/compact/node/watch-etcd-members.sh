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

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly CONTROL_PLANE_REPLICAS='3'
readonly BOOTSTRAP='bootstrap 192.168.126.10'
readonly MASTERS='master-0 192.168.126.20
master-1 192.168.126.21
master-2 192.168.126.22'
readonly STAGE='watch-etcd-members' CALL='watch-etcd-members.sh' RECORD='watch-etcd-members' MARKER=''
readonly NEEDS=(podman jq flock) NEXT='back to the terminal of the stage that is running'
readonly PARALLEL=yes

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input tls/etcd-ca-bundle.crt 'run render-etcd.sh first'
  need_input tls/etcd-client.crt 'run render-etcd.sh first'
  need_input tls/etcd-client.key 'run render-etcd.sh first'
}

invalidates() {
  :
}

# shellcheck source-path=SCRIPTDIR source=etcd-lib.sh
source "${SCRIPT_DIR}/etcd-lib.sh"
CONTAINER=etcd-members UNTIL=''

own_option() { # OPTION
  [[ $1 =~ ^--until=([1-9])$ ]] || { timeout_option "$1"; return; }
  UNTIL=${BASH_REMATCH[1]}
}
own_usage() {
  timeout_usage
  printf '  %-10s %s\n' --until=N 'end well as soon as N members vote'
}

do_stage() {
  local goal="etcd on the ${CONTROL_PLANE_REPLICAS} masters alone"
  pull_image "$(image_for etcd)"
  remove_left
  etcdctl shown https://localhost:2379 member list
  etcdctl shown https://MEMBER:2379,... endpoint status --write-out=json
  [[ -n ${MASTERS} ]] || { UNTIL=1
    log 'this lab has no masters, so one member is all; with three the list would grow to 2, 3 and 4, and end with 3'; }
  [[ -z ${UNTIL} ]] || goal="${UNTIL} voting members"
  # openshift-install gives the whole bootstrap 45 minutes; the removal of the
  # bootstrap member follows it.
  wait_for 3600 "${goal}" enough_members
}

# The certificate is the API server's, the way in a container is wait-for-etcd's.
# --verify may come beside this script, and takes no name.
etcdctl() { # HOW ENDPOINTS ARGUMENT...
  local image name=(--name "${CONTAINER}")
  image="$(image_for etcd)" || return 1
  [[ ${MODE} != verify ]] || name=()
  "$1" podman run --quiet --net=host --rm --log-driver=k8s-file "${name[@]}" \
    --env ETCDCTL_API=3 --entrypoint etcdctl \
    --volume "${ASSET_DIR}/tls:${ASSET_DIR}/tls:ro,z" "${image}" \
    --cacert="${ASSET_DIR}/tls/etcd-ca-bundle.crt" --cert="${ASSET_DIR}/tls/etcd-client.crt" \
    --key="${ASSET_DIR}/tls/etcd-client.key" --command-timeout=3s --endpoints="$2" "${@:3}"
}

# A line a member, and what that means.
enough_members() {
  local state name peer client learner said voters=0 bad=0 first=no meaning=''
  list_members || return 1
  ask_each
  while IFS=', ' read -r _ state name peer client learner; do
    said="$(awk -v url="${client}" '$1 == url { sub(/^[^ ]+ /, ""); print }' <<< "${STATUS}")"
    [[ ${name} != etcd-bootstrap ]] || first=yes
    if [[ ${state} == unstarted ]]; then
      said='added, and not started yet' bad=$((bad + 1))
      meaning='the operator has added a master; its etcd, which has waited for that, starts now'
    elif [[ ${learner} == true ]]; then
      said="learner, ${said:-does not answer}" bad=$((bad + 1))
      meaning='a learner gets all data and has no vote, so a slow one endangers nothing; in sync it is promoted'
    else
      [[ ${said} == leads || ${said} == follows ]] || bad=$((bad + 1))
      said="votes, ${said:-does not answer}" voters=$((voters + 1))
    fi
    printf '%-20s %-22s %s\n' "${name:-(no name yet)}" "${peer#https://}" "${said}"
  done <<< "${LIST}"
  echo "= ${meaning:-$(meaning_of "${voters}" "${bad}" "${first}")}"
  if [[ -n ${UNTIL} ]]; then ((voters >= UNTIL && bad == 0)); else
    [[ ${first} == no ]] && ((voters == CONTROL_PLANE_REPLICAS && bad == 0))
  fi
}

meaning_of() { # VOTERS BAD BOOTSTRAP-MEMBER-IS-THERE
  if (($2 > 0)); then echo 'a member is not well: the operator adds and removes no member until it is'
  elif [[ $3 == no ]]; then
    echo 'the bootstrap member is gone: bootkube.sh had ended, kube-system/bootstrap said complete, and the operator removed it'
  elif (($1 > CONTROL_PLANE_REPLICAS)); then
    echo "EtcdRunningInCluster can turn True: $((${1} - 1)) remain without the bootstrap member, which stays until bootkube.sh has ended"
  elif (($1 == 1)); then echo 'a list of one has a quorum of one; masters are added one at a time, once the operator runs on one'
  elif (($1 == 2)); then echo 'both are needed for a quorum: do not switch the bootstrap node off'
  else echo "$1 vote, and one of them may fail; the next master is added when all are well"; fi
}

# Every member stands on a machine of the lab, with both its addresses, and no
# machine has two.
members_are_of_the_lab() {
  list_members || return 1
  awk -F ', ' '
    NR == FNR { split($0, m, " "); at[m[2]] = m[1]; next }
    { address = $4; gsub(/^https:\/\/|:2380$/, "", address)
      if (!(address in at)) { print $3 " at " $4 " is on no machine of the lab"; bad = 1; next }
      if ($5 != "" && $5 != "https://" address ":2379") { print $3 " tells clients to come to " $5; bad = 1 }
      if ((at[address] == "etcd-bootstrap") != ($3 == "etcd-bootstrap") && $3 != "") { print $3 " is at " $4; bad = 1 }
      if (address in seen) { print address " has two members"; bad = 1 }
      seen[address] = 1 }
    END { exit bad }' <(printf '%s\n' "etcd-bootstrap ${BOOTSTRAP#* }" "${MASTERS}") <(echo "${LIST}")
}

one_joins_at_a_time() {
  list_members || return 1
  awk -F ', ' '$2 != "started" || $6 == "true" { print; n++ } END { if (!n) print "no member"; exit n > 1 }' <<< "${LIST}"
}

# Each voting member is asked for a key, and asks a quorum before it answers.
voters_are_healthy() {
  list_members || return 1
  etcdctl answer "$(awk -F ', ' '$6 == "false" && $5 != "" { print $5 }' <<< "${LIST}" | paste --serial --delimiters=,)" endpoint health
}

verify() {
  check lab-machines 'every member stands on a machine of the lab' \
    'etcd-bootstrap at the bootstrap node'\''s address, all others at masters'\'' addresses, none twice, each with port 2379 for clients' \
    'Compare the addresses of the machines with lab.yaml. A member that is on none of them was added by somebody else; look into the log of openshift-etcd-operator.' \
    members_are_of_the_lab
  check one-at-a-time 'at most one member is joining' \
    'not more than one member that is a learner or has not started' \
    'Two at once were not added by the operator. Look at oc get events -n openshift-etcd-operator, and remove what is not started with etcdctl member remove.' \
    one_joins_at_a_time
  check healthy 'every voting member is healthy' \
    'is healthy from endpoint health, of each' \
    'Look at the machine that is named, and there at crictl ps -a --name etcd and its log; a disk that is too slow looks like this too.' \
    voters_are_healthy
}

usual_failures() {
  usual_failure 'nothing listens on port 2379' \
    'No etcd runs at that address. On a master that is normal until it is taken in; at localhost it is not, until the bootstrap member is removed.' \
    'Run wait-for-etcd.sh on this node; on masters look at oc get pods -n openshift-etcd.'
  usual_failure 'context deadline exceeded' \
    'A member listens and cannot answer. Too many voting members are gone for a quorum, or its disk does not keep up.' \
    'Bring back the machine that went away last. With two members both are needed.'
  usual_failure 'certificate signed by unknown authority' \
    'The certificates in tls/ are of another render than those that etcd runs with.' \
    'Put the tls/etcd-* back that belong to the running etcd; before start-bootstrap.sh, run render-etcd.sh --force.'
  usual_failure 'certificate has expired or is not yet valid' \
    'A member shows a certificate whose time is over or has not begun; etcd'\''s live for years, so a clock is wrong.' \
    'Compare date on this node and on the masters.'
  usual_failure 'does not answer' \
    'A member of the list is not to be reached, and so the operator adds no member and removes none.' \
    'Look at that machine, and at the firewall between it and this node, ports 2379 and 2380.'
}

stage_main "$@"
