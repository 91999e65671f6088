#!/usr/bin/env bash
# etcd-lib.sh: how scripts ask etcd, with etcdctl in a container
#
# Sourced behind cluster-lib.sh by the scripts that watch etcd. The command line
# stands in the script; CONTAINER is the container's name. list_members and
# ask_each call the script's own etcdctl, and know the masters from its settings.
CONTAINER='' LIST='' URLS='' STATUS=''

shown() { show '' "$@" || true; }

# What a killed run left asks once more and nothing hears it: it goes.
remove_left() {
  local mounts
  mounts="$(podman container inspect --format '{{range .Mounts}}{{.Source}}:{{end}}' "${CONTAINER}" 2> /dev/null)" || return 0
  [[ ":${mounts}" == *":${ASSET_DIR}/tls:"* ]] ||
    die 1 "a container named ${CONTAINER} belongs elsewhere: ${mounts%:}" "let it end, or remove it: podman rm --force ${CONTAINER}"
  run podman rm --force "${CONTAINER}"
}

# etcd's answer in words that stay the same while nothing changes: of etcdctl's
# JSON lines the reason alone, and neither times nor ports of the moment.
plainly() {
  sed --regexp-extended '/^\[\{/b; /^Error: unhealthy cluster$/d
    s/^\{.*"error":"(.*)"\}$/\1/; s/\\"/"/g; s/^.*desc = "?//; s/"$//
    s/: took = .*//; s/: current time [^ ]+ is/: now is/; s/dial tcp [^ ]+ /dial tcp: /; s/(read|write) tcp [^ ]+ /\1 tcp: /' |
    awk '!seen[$0]++'
}

# The status is etcdctl's. Ctrl-C ends podman, and takes away what podman may
# have left.
answer() { # COMMAND...
  local text status=0
  trap 'podman rm --force --ignore --time=0 "${CONTAINER}" > /dev/null 2>&1' INT TERM HUP
  text="$(attempt "$@" 2>&1)" || status=$?
  # podman 4.3 now and then loses what a short container printed: ask again.
  [[ -n ${text} || ${status} != 0 ]] || text="$(attempt "$@" 2>&1)" || status=$?
  plainly <<< "${text}"
  return "${status}"
}

listens() { timeout 2 bash -c "exec 3<> /dev/tcp/$1/2379" 2> /dev/null; }

# Whoever of the voting members answers tells of all: the bootstrap member while
# it is there, then the masters'. LIST is etcdctl's, a member a line: id, started
# or not, name, peer URL, client URL, learner or not.
list_members() {
  local address text said=''
  for address in localhost $(awk '{ print $2 }' <<< "${MASTERS}"); do
    listens "${address}" || { said+="${address}: nothing listens on port 2379"$'\n'; continue; }
    if text="$(etcdctl answer "https://${address}:2379" member list)"; then
      LIST="$(grep --extended-regexp '^[0-9a-f]+, ' <<< "${text}" | sort --field-separator=, --key=4)"
      URLS="$(awk -F ', ' '$5 != "" { print $5 }' <<< "${LIST}" | paste --serial --delimiters=,)"
      return
    fi
    said+="${address}: ${text}"$'\n'
  done
  printf '%s' "${said}"
  return 1
}

# STATUS is what each member that answers says of itself, behind its client URL.
# etcd promotes a learner that has nine tenths of what the leader has.
# shellcheck disable=SC2016,SC2034 # what begins with $ here is jq's, not the shell's; the script reads STATUS
ask_each() {
  STATUS="$(etcdctl answer "${URLS}" endpoint status --write-out=json | grep '^\[{' | jq --raw-output '
    (map(.Status.raftIndex) | max) as $last | .[] | .Status as $s | .Endpoint + " " +
      if $s.errors then $s.errors | join(", ")
      elif $s.isLearner and $s.raftAppliedIndex * 10 < $last * 9 then "catching up"
      elif $s.isLearner then "in sync"
      elif $s.leader == $s.header.member_id then "leads" else "follows" end')" || true
}
