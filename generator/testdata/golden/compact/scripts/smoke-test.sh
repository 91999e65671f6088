#!/usr/bin/env bash
# smoke-test: Run a small application, and ask it through every way in
#
# "Available" is what operators say of themselves. A user wants more: a pod that
# is scheduled, pulled and started, a name that resolves inside it, an answer
# through the service and through the route, and a log that can be read. Each of
# these goes another way and proves other parts. So this script makes a
# namespace of its own with one small server, asks, and takes all of it away
# again.
#
# Reads:  tools/oc
#         install/auth/kubeconfig
#         release-info/images
# Differs from oc new-app:
# - Everything is taken away again, after Ctrl-C too. After kill -9 the next run
# does it.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly CLUSTER_NAME='compact'
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly KUBERNETES_SERVICE_ADDRESS='172.30.0.1'
readonly STAGE='smoke-test' CALL='smoke-test.sh' RECORD='smoke-test' MARKER=''
readonly NEEDS=(curl jq flock) NEXT=''

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

KUBECONFIG_FILE=install/auth/kubeconfig KEEP=no MADE=no
AGAIN="the application is taken away; ${CALL} begins again"
readonly NAMESPACE="bootlab-${CLUSTER_NAME}" GREETING="This is ${CLUSTER_DOMAIN}."
readonly HOST="bootlab-smoke-test.apps.${CLUSTER_DOMAIN}"

own_usage() {
  printf '  %-10s %s\n' '--keep' 'leave the application running, so that --verify can look at it, and you'
  timeout_usage
}
own_option() { if [[ $1 == --keep ]]; then KEEP=yes; else timeout_option "$1"; fi; }

check_inputs() {
  need_input tools/oc 'run get-tools.sh first'
  need_input install/auth/kubeconfig 'run make-ignition.sh first'
  need_input release-info/images 'run release-info.sh first'
}

invalidates() {
  :
}

# It runs in the pod: says what a name inside the cluster leads to, then answers
# each request, whatever it asks for.
# shellcheck disable=SC2016 # the pod's shell expands it
readonly SERVER="export GREETING=\"${GREETING}\""'
echo "${GREETING} kubernetes: $(getent hosts kubernetes.default.svc.cluster.local)"
answer() {
  while read -r line && [[ -n ${line%?} ]]; do :; done
  printf "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n%s\n" "${GREETING}"
}
export -f answer
exec nc --listen --keep-open 8080 --exec "/usr/bin/bash -c answer"'

do_stage() {
  local image
  image="$(image_for tools)"
  clear_the_place
  MADE=yes
  if show " << 'EOF'"$'\n'"$(place_and_route)"$'\nEOF' cluster create -f -; then place_and_route | attempt cluster create -f -; fi
  run cluster create deployment smoke-test --namespace="${NAMESPACE}" --image="${image}" -- bash -c "${SERVER}"
  run cluster expose deployment smoke-test --namespace="${NAMESPACE}" --port=8080
  # The image is pulled first, some hundred megabytes.
  wait_for 600 'the server to be ready' pod_is_ready
  # Routers read new routes within seconds, one after the other.
  wait_for 180 'the router to know the route' route_answers
}

# The label says that the namespace is this script's; a foreign one is left alone.
clear_the_place() {
  local found
  [[ ${MODE} != dry-run ]] || return 0
  found="$(cluster get namespace "${NAMESPACE}" --ignore-not-found --output=json)"
  [[ -n ${found} ]] || return 0
  jq --exit-status '.metadata.labels["app.kubernetes.io/managed-by"] == "bootlab"' <<< "${found}" > /dev/null ||
    die 1 "the namespace ${NAMESPACE} is not this script's" 'somebody else made it: look at it'
  log "an earlier run left the namespace ${NAMESPACE}"
  take_away
}

take_away() {
  run cluster delete namespace "${NAMESPACE}" --ignore-not-found --wait=false
  # --timeout is about the application; what takes it away has its own limit.
  TIMEOUT='' wait_for 300 "the namespace ${NAMESPACE} to be gone" namespace_is_gone
  MADE=no
}

namespace_is_gone() {
  local found
  found="$(cluster get namespace "${NAMESPACE}" --ignore-not-found --output=jsonpath='{.status.phase}')" || return 1
  echo "${found:-gone}"
  [[ -z ${found} ]]
}

# No question is asked again on the way out.
tidy_up() {
  [[ ${MADE} == yes && ${KEEP} == no ]] || return 0
  MODE=run
  run cluster delete namespace "${NAMESPACE}" --ignore-not-found --wait=false
}

# The label says whose it is.
place_and_route() {
  cat << EOF
apiVersion: v1
kind: Namespace
metadata: {name: ${NAMESPACE}, labels: {app.kubernetes.io/managed-by: bootlab}}
---
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: smoke-test, namespace: ${NAMESPACE}}
spec: {host: ${HOST}, to: {kind: Service, name: smoke-test}}
EOF
}

# What the pods say of themselves stands below, for a Deployment only counts.
pod_is_ready() {
  local ready
  ready="$(cluster get deployment smoke-test --namespace="${NAMESPACE}" --output=jsonpath='{.status.availableReplicas}')" || return 1
  echo "${ready:-0} available"
  [[ ! ${ready} =~ ^[1-9][0-9]*$ ]] || return 0
  cluster get pods --namespace="${NAMESPACE}" --output=json | jq --raw-output '.items[] | .metadata.name + ": " + ([.status.phase,
    (.status.conditions[]? | select(.status == "False").reason // empty), (.status.containerStatuses[]?.state.waiting.reason // empty)]
    | map(select(. != null)) | unique | join(", "))'
  return 1
}

said() { cluster logs deployment/smoke-test --namespace="${NAMESPACE}" --tail=5; }

log_is_read() { contains_greeting said; }

names_resolve() {
  local found
  found="$(said)" || return 1
  echo "${found}"
  grep --quiet --extended-regexp --regexp="kubernetes: ${KUBERNETES_SERVICE_ADDRESS//./\\.} " <<< "${found}"
}

service_answers() { contains_greeting cluster get --raw "/api/v1/namespaces/${NAMESPACE}/services/smoke-test:8080/proxy/"; }

route_answers() { contains_greeting attempt curl --noproxy '*' --silent --show-error --fail --max-time 15 "http://${HOST}/"; }

contains_greeting() { # COMMAND...
  local found
  found="$("$@")" || return 1
  echo "${found}"
  grep --quiet --fixed-strings --regexp="${GREETING}" <<< "${found}"
}

# The checks need the application, so it goes after them, not before.
whole_stage() {
  local failed
  begin
  begin_record
  do_stage
  CHECKS=0 FAILED=0
  verify
  failed=${FAILED}
  if [[ ${KEEP} == yes ]]; then log "the application stays, in namespace ${NAMESPACE}; ${CALL} takes it away"; else take_away; fi
  ((failed == 0)) || die 3 "${failed} of ${CHECKS} checks fail" 'each says above what it expected and what to do'
  record 'stage end' success
  log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
}

verify() {
  check pod 'a pod was scheduled, pulled and started' \
    'one available replica of the Deployment' \
    'Look at oc describe pods in the namespace: Pending wants a node, ImagePullBackOff a registry. --verify alone needs smoke-test.sh --keep before it.' \
    pod_is_ready
  check log 'its log can be read' \
    'the greeting of the server in oc logs' \
    'Look at oc get csr for a request of signer kubernetes.io/kubelet-serving that is pending.' \
    log_is_read
  check names 'names resolve inside the pod' \
    'the address of kubernetes.default.svc.cluster.local is the first of the service network' \
    'Look at oc get clusteroperator dns, and at the pods in openshift-dns.' \
    names_resolve
  check service 'the service answers inside the cluster' \
    'the greeting of the server through the API server'\''s proxy' \
    'Look at oc get clusteroperator network, and at the endpoints of the service.' \
    service_answers
  check route 'the route answers from outside' \
    'the greeting of the server at its name below *.apps' \
    'Ask for the name with dig; then look at port 80 of the load balancer, and at the router'\''s pods in openshift-ingress.' \
    route_answers
}

usual_failures() {
  usual_failure 'ImagePullBackOff' \
    'The node cannot pull the image.' \
    'Look at oc describe pod for the registry'\''s answer, and at mirrors and pull secret.'
  usual_failure 'Unschedulable' \
    'No node takes the pod; masters without workers must be schedulable.' \
    'Look at oc get nodes and at oc get scheduler cluster -o yaml, mastersSchedulable.'
  usual_failure 'Could not resolve host' \
    'The name below *.apps does not resolve on this machine.' \
    'Look at the wildcard record of the lab'\''s name server, and at /etc/resolv.conf here.'
  usual_failure 'The requested URL returned error: 503' \
    'The router answers and knows no such route, or no pod behind it.' \
    'Look at oc get route -n with the namespace, whether a router has admitted it, and at the endpoints.'
  usual_failure 'tls: internal error' \
    'The kubelet has no serving certificate.' \
    'Approve the pending request of its node; its client certificate came first and is another one.'
}

stage_main "$@"
