#!/usr/bin/env bash
# wait-for-etcd: Wait until the first etcd member answers
#
# The kubelet got etcd's pod manifest many stages ago and started it in the
# background, image pull included. Now it must answer: an API server without
# etcd dies and is restarted, and that looks like trouble of its own. So
# bootkube.sh asks with etcdctl, with the API server's client certificate, until
# the member says it is healthy.
#
# In bootkube.sh: stage wait-for-etcd
# Reads:  release-info/images
#         release-info/digest
#         tls/etcd-ca-bundle.crt
#         tls/etcd-client.crt
#         tls/etcd-client.key
#         /etc/kubernetes/manifests/etcd-member-pod.yaml
# Differs from bootkube.sh:
# - The etcd image is pulled in a step of its own, if it is not there yet.
# - Images are looked up in release-info/images instead of asking the release
#   image once for each.
# - A container that an interrupted run left behind is removed first.
# - The wait ends after 20 minutes.
# - An answer is told once, and again when it changes, in place of "etcdctl
#   failed. Retrying in 5 seconds..." at every turn.
# - With --verify the container has no name.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
ETCD_ENDPOINTS='https://localhost:2379'
STAGE=wait-for-etcd RECORD=wait-for-etcd
MARKER='' CONTAINER=etcdctl NEXT='start-bootstrap.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'run render-etcd.sh first' tls/etcd-ca-bundle.crt tls/etcd-client.crt \
  tls/etcd-client.key "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
left_out_if stop-etcd.done
option '--timeout=S' TIMEOUT 'give up after S seconds instead of 1200'
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
MACHINE_CONFIG_ETCD_IMAGE="$(image etcd)"

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

# etcdctl's answer without its log: of JSON lines only the error is printed.
etcd_is_healthy() {
  # --dial-timeout: how long a connection may take; the question itself ends
  # after 5 s, which is etcdctl's own limit, so a turn of the loop takes about
  # 10 s
  # --cacert: the CA that render-etcd made
  # --cert: the client certificate that the API server will use too
  # --key: its key
  # --endpoints: the member on this node
  timeout --foreground 60 \
    podman run --quiet --net=host --rm --log-driver=k8s-file --name etcdctl \
    --env ETCDCTL_API=3 \
    --entrypoint etcdctl \
    --volume /opt/openshift/tls:/opt/openshift/tls:ro,z \
    "${MACHINE_CONFIG_ETCD_IMAGE}" \
    --dial-timeout=10m \
    --cacert=/opt/openshift/tls/etcd-ca-bundle.crt \
    --cert=/opt/openshift/tls/etcd-client.crt \
    --key=/opt/openshift/tls/etcd-client.key \
    --endpoints="${ETCD_ENDPOINTS}" \
    endpoint health |&
    sed --regexp-extended '/^Error: unhealthy cluster$/d; s/^\{.*"error":"(.*)"\}$/\1/
      s/\\"/"/g; s/^.*desc = "?//; s/"$//; s/: took = .*//
      s/dial tcp [^ ]+ /dial tcp: /; s/(read|write) tcp [^ ]+ /\1 tcp: /' |
    awk '!seen[$0]++'
}

if step 1 'Pull the image'; then
  podman image exists "${MACHINE_CONFIG_ETCD_IMAGE}" ||
    timeout 1800 podman pull "${MACHINE_CONFIG_ETCD_IMAGE}"
fi 9>&-

if step 2 'Ask etcd until it is healthy'; then
  # bootkube.sh asks without limit, and openshift-install limits the whole: it
  # gives the API 20 minutes, and the API needs etcd.
  wait_for 1200 'a healthy etcd' etcd_is_healthy
fi 9>&-

finish
