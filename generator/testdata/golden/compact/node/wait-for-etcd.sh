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
# image once for each.
# - A container that an interrupted run left behind is removed first.
# - The wait ends after 20 minutes.
# - An answer is told once, and again when it changes, in place of "etcdctl
# failed. Retrying in 5 seconds..." at every turn.
# - With --verify the container has no name.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly ETCD_ENDPOINTS='https://localhost:2379'
readonly STAGE='wait-for-etcd' CALL='wait-for-etcd.sh' RECORD='wait-for-etcd' MARKER=''
readonly NEEDS=(podman jq flock) NEXT='start-bootstrap.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input tls/etcd-ca-bundle.crt 'run render-etcd.sh first'
  need_input tls/etcd-client.crt 'run render-etcd.sh first'
  need_input tls/etcd-client.key 'run render-etcd.sh first'
  need_input "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml" 'run render-etcd.sh first'
}

invalidates() {
  # bootkube.sh has no question then either: single node has stopped its etcd.
  if [[ -e stop-etcd.done ]]; then log 'stop-etcd.done is there: wait-for-etcd is left out'; exit; fi
  :
}

# shellcheck source-path=SCRIPTDIR source=etcd-lib.sh
source "${SCRIPT_DIR}/etcd-lib.sh"
CONTAINER=etcdctl

do_stage() {

  # The release names every image; release-info.sh wrote its answers down.
  MACHINE_CONFIG_ETCD_IMAGE="$(image_for etcd)"
  pull_image "${MACHINE_CONFIG_ETCD_IMAGE}"
  remove_left
  question show '' || true
  # bootkube.sh asks for ever, since openshift-install looks at the clock: that
  # one gives the API, which needs etcd, 20 minutes.
  wait_for 1200 'a healthy etcd' etcd_is_healthy
}

# In the words of bootkube.sh; HOW shows it or asks it. --verify may come beside
# a script or bootkube.sh that asks under this name, and so takes none.
question() { # HOW...
  local image name=(--name "${CONTAINER}")
  image="$(image_for etcd)" || return 1
  [[ ${MODE} != verify ]] || name=()
  # --dial-timeout: how long a connection may take; the question itself ends
  # after 5 s, which is etcdctl's own limit, so a turn of the loop takes about
  # 10 s
  # --cacert: the CA that render-etcd made
  # --cert: the client certificate that the API server will use too
  # --key: its key
  # --endpoints: the member on this node
  "$@" podman run --quiet --net=host --rm --log-driver=k8s-file "${name[@]}" \
    --env ETCDCTL_API=3 \
    --entrypoint etcdctl \
    --volume /opt/openshift/tls:/opt/openshift/tls:ro,z \
    "${image}" \
    --dial-timeout=10m \
    --cacert=/opt/openshift/tls/etcd-ca-bundle.crt \
    --cert=/opt/openshift/tls/etcd-client.crt \
    --key=/opt/openshift/tls/etcd-client.key \
    --endpoints="${ETCD_ENDPOINTS}" \
    endpoint health
}

etcd_is_healthy() { question answer; }

verify() {
  check healthy 'etcd answers and has a quorum' \
    'endpoint health says is healthy' \
    'On the node run crictl ps -a --name etcd, and crictl logs with its id; no container at all means no kubelet, or an image that is still pulled.' \
    etcd_is_healthy
}

usual_failures() {
  usual_failure 'connection refused' \
    'Nothing listens on port 2379. Soon after the start the image is still pulled; later the kubelet did not start the pod, or etcd crashes.' \
    'Look at systemctl status kubelet and journalctl -u kubelet, then at crictl ps -a --name etcd and at the logs of the container that is named there.'
  usual_failure 'certificate signed by unknown authority' \
    'The certificates in tls/ are of another render than etcd'\''s. A render makes new ones and the same pod manifest, so the kubelet lets the member run on.' \
    'Run render-etcd.sh --force, which restarts etcd, then render-kube-apiserver.sh --force. If etcd holds a cluster already, put the tls/ back that belongs to it.'
  usual_failure 'remote error: tls:' \
    'etcd does not accept the client certificate in tls/. Its signer is another, as after a new render while the old member runs on, or its day is over.' \
    'Compare openssl x509 -in tls/etcd-client.crt -noout -issuer -dates with the member'\''s CA, /etc/kubernetes/static-pod-resources/etcd-member/ca.crt.'
  usual_failure 'certificate has expired or is not yet valid' \
    'etcd shows a certificate whose time is over or has not begun. etcd'\''s live for years, so the clock is wrong, or was wrong when they were rendered.' \
    'Compare date with openssl x509 -dates of etcd-serving-*.crt below /etc/kubernetes/static-pod-resources. Put the clock right, then run render-etcd.sh --force.'
  usual_failure 'first record does not look like a TLS handshake' \
    'Something that is not etcd listens on port 2379.' \
    'Look who it is with ss --listening --tcp --processes '\''sport = 2379'\'', and end it; the kubelet starts etcd again.'
}

stage_main "$@"
