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
#   does it.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
SMOKE_NAMESPACE='bootlab-compact'
SMOKE_HOST='bootlab-smoke-test.apps.compact.bootlab.test'
SMOKE_GREETING='This is compact.bootlab.test.'
KUBECONFIG_FILE=install/auth/kubeconfig
STAGE=smoke-test RECORD=smoke-test
MARKER='' NEXT=''
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"
# shellcheck source=lib/ending.sh
source "${SCRIPTS}/lib/ending.sh"

needs curl jq flock
needs_input 'run get-tools.sh first' tools/oc
needs_input 'run make-ignition.sh first' install/auth/kubeconfig
needs_input 'run release-info.sh first' release-info/images
option '--keep' KEEP 'leave the application running, for you and for --verify'
option '--timeout=S' TIMEOUT 'give up after S seconds, all waits together'
begin "$@"

image="$(awk '$1 == "tools" { print $2; found = 1 } END { exit !found }' release-info/images)"
made=no

oc() {
  timeout 20 tools/oc --kubeconfig "${KUBECONFIG_FILE}" --request-timeout=15s "$@"
}

# It runs in the pod: it says what a name inside the cluster leads to, then answers
# every request with the greeting.
# shellcheck disable=SC2016 # the pod's shell expands it
server="export GREETING=\"${SMOKE_GREETING}\""'
echo "${GREETING} kubernetes: $(getent hosts kubernetes.default.svc.cluster.local)"
answer() {
  while read -r line && [[ -n ${line%?} ]]; do :; done
  printf "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n%s\n" "${GREETING}"
}
export -f answer
exec nc --listen --keep-open 8080 --exec "/usr/bin/bash -c answer"'

# Only a namespace with this script's label. It waits until the namespace is gone.
delete_namespace() {
  timeout 330 tools/oc --kubeconfig "${KUBECONFIG_FILE}" delete namespace --timeout=300s \
    --field-selector="metadata.name=${SMOKE_NAMESPACE}" --selector=app.kubernetes.io/managed-by=bootlab
}

remove_application() {
  [[ ${made} == yes ]] || return 0
  if [[ -n ${KEEP} ]]; then
    echo "the application stays, in namespace ${SMOKE_NAMESPACE}; the next run removes it"
  else
    delete_namespace
  fi
}

# For a Deployment only counts; what the pods say of themselves follows.
pod_is_ready() {
  local available
  available="$(oc get deployment smoke-test --namespace="${SMOKE_NAMESPACE}" \
    --output=jsonpath='{.status.availableReplicas}')" || return 1
  echo "${available:-0} available"
  [[ ! ${available} =~ ^[1-9][0-9]*$ ]] || return 0
  oc get pods --namespace="${SMOKE_NAMESPACE}" --output=json | jq --raw-output '.items[]
    | "\(.metadata.name): " + ([.status.phase // empty,
        (.status.conditions[]? | select(.status == "False").reason // empty),
        (.status.containerStatuses[]?.state.waiting.reason // empty)] | unique | join(", "))'
  return 1
}

route_answers() {
  curl --noproxy '*' --silent --show-error --fail --max-time 15 "http://${SMOKE_HOST}/" |
    grep -F -e "${SMOKE_GREETING}"
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

undo remove_application

if step 1 'Remove what an earlier run left'; then
  owner="$(oc get namespace "${SMOKE_NAMESPACE}" --ignore-not-found \
    --output=jsonpath='{.metadata.name} {.metadata.labels.app\.kubernetes\.io/managed-by}')"
  case ${owner} in
    '') ;;
    *' bootlab')
      echo "an earlier run left the namespace ${SMOKE_NAMESPACE}"
      delete_namespace
      ;;
    *) give_up "the namespace ${SMOKE_NAMESPACE} is not this script's" 'somebody else made it' ;;
  esac
fi 9>&-

if step 2 'Make a namespace and a route, and run a server'; then
  made=yes
  # The label says whose it is.
  oc create -f - << EOF
apiVersion: v1
kind: Namespace
metadata: {name: ${SMOKE_NAMESPACE}, labels: {app.kubernetes.io/managed-by: bootlab}}
---
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: smoke-test, namespace: ${SMOKE_NAMESPACE}}
spec: {host: ${SMOKE_HOST}, to: {kind: Service, name: smoke-test}}
EOF
  oc create deployment smoke-test --namespace="${SMOKE_NAMESPACE}" --image="${image}" -- \
    bash -c "${server}"
  oc expose deployment smoke-test --namespace="${SMOKE_NAMESPACE}" --port=8080
fi 9>&-

if step 3 'Wait until it answers'; then
  # The image is pulled first, some hundred megabytes.
  wait_for 600 'the server to be ready' pod_is_ready
  # Routers read new routes within seconds, one after the other.
  wait_for 180 'the router to know the route' route_answers
fi 9>&-

finish
