#!/usr/bin/env bash
# etcdctl.sh: etcdctl of the release's image, asked of the members of the lab
#
# A program: watch-etcd-members.sh and its checks call it in the asset directory with
# the arguments of etcdctl and the masters in MASTERS, a name and an address on each
# line. Without --endpoints it asks the first voting member that answers: on this
# node while it is there, then on a master. Any one of them tells of all.
set -euo pipefail
NAME=etcd-members-$$
trap 'podman rm --force --ignore --time=0 "${NAME}" > /dev/null 2>&1' EXIT
trap 'exit 1' INT TERM HUP

# The client certificate is the API server's. etcdctl is bounded twice: a container
# may hang where its program would not. podman 4.3 at times loses what a short
# container printed: it is asked again.
etcdctl() { # ARGUMENT...
  local image answer='' status=0 tries
  image="$(awk '$1 == "etcd" { print $2; found = 1 } END { exit !found }' release-info/images)"
  for ((tries = 0; tries < 3 && status == 0 && ${#answer} == 0; tries++)); do
    answer="$(timeout --kill-after=5 30 \
      podman run --quiet --net=host --rm --log-driver=k8s-file --name "${NAME}" \
      --env ETCDCTL_API=3 --entrypoint etcdctl \
      --volume "${PWD}/tls:${PWD}/tls:ro,z" "${image}" \
      --cacert="${PWD}/tls/etcd-ca-bundle.crt" --cert="${PWD}/tls/etcd-client.crt" \
      --key="${PWD}/tls/etcd-client.key" --command-timeout=3s "$@" 2>&1)" || status=$?
  done
  [[ -n ${answer} ]] || { echo 'etcdctl printed nothing' && return 1; }
  plain <<< "${answer}"
  return "${status}"
}

# etcd's answer in words that stay the same while nothing changes: of etcdctl's JSON
# lines the reason alone, and neither times nor ports of the moment.
plain() {
  sed --regexp-extended '/^\[\{/b; /^Error: unhealthy cluster$/d
    s/^\{.*"error":"(.*)"\}$/\1/; s/\\"/"/g; s/^.*desc = "?//; s/"$//
    s/: took = .*//; s/: current time [^ ]+ is/: now is/; s/dial tcp [^ ]+ /dial tcp: /
    s/(read|write) tcp [^ ]+ /\1 tcp: /' | awk '!seen[$0]++'
}

if [[ " $* " == *' --endpoints='* ]]; then
  etcdctl "$@"
  exit
fi
said=''
for address in localhost $(awk '{ print $2 }' <<< "${MASTERS}"); do
  if ! timeout 2 bash -c "exec 3<> /dev/tcp/${address}/2379" 2> /dev/null; then
    said+="${address}: nothing listens on port 2379"$'\n'
  elif answer="$(etcdctl "$@" --endpoints="https://${address}:2379")"; then
    echo "${answer}" && exit
  else
    said+="${address}: ${answer}"$'\n'
  fi
done
printf '%s' "${said}" >&2
exit 1
