#!/usr/bin/env bash
# wait-for-operators: Watch the operators until the installation is complete
#
# The bootstrap is over and the cluster is not finished. Its version operator
# works through the list of operators, and some of them wait for others: the
# console for a login, the login for a route, the route for a node that takes
# routers. This script shows what openshift-install wait-for install-complete
# keeps to itself while it waits: which operator is not available, since when,
# and what it says.
#
# Reads:  tools/oc
#         install/auth/kubeconfig
# Differs from openshift-install wait-for install-complete:
# - Every change of any operator is told.
# - The certificate authority of the router is not added to
#   install/auth/kubeconfig.
# - The wait ends early at the third answer in a row that waiting does not
#   change, which is a certificate that is expired or of another CA, or a
#   kubeconfig that cannot be read.
# - The route of the console is asked for once, and no file of a password is
#   read.
# - The path of the password of kubeadmin is shown, not the password.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
KUBECONFIG_FILE=install/auth/kubeconfig
STAGE=wait-for-operators RECORD=wait-for-operators
MARKER='' NEXT='smoke-test.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs jq flock
needs_input 'run get-tools.sh first' tools/oc
needs_input 'run make-ignition.sh first' install/auth/kubeconfig
option '--timeout=S' TIMEOUT 'give up after S seconds, all waits together'
begin "$@"

oc() {
  timeout 20 tools/oc --kubeconfig "${KUBECONFIG_FILE}" --request-timeout=15s "$@"
}

# The ClusterVersion, and below it the operators that are not at rest, each with
# the condition that matters most. It fails until the release is installed, and on an
# empty answer.
version_is_installed() {
  oc get clusterversions,clusteroperators --output=json |
    jq --raw-output '
    def condition($type): first(.status.conditions[]? | select(.type == $type))
      // {status: "Unknown"};
    def is($type; $status): condition($type).status == $status;
    def short: (. // "") | gsub("[[:space:]]+"; " ") | .[0:150];
    (.items[] | select(.kind == "ClusterVersion")) as $version
    | [.items[] | select(.kind == "ClusterOperator")] | sort_by(.metadata.name) as $operators
    | ($version | "version: Available \(condition("Available").status), Failing \(condition(
        "Failing").status), Progressing \(condition("Progressing").status); \(
        condition("Progressing").message | short)"),
      ($operators[]
        | (if is("Available"; "True") | not then "Available"
           elif is("Degraded"; "True") then "Degraded"
           elif is("Progressing"; "True") then "Progressing" else empty end) as $type
        | "operator \(.metadata.name): \($type) \(condition($type).status): \(
          condition($type).message | short)"),
      ([$operators[] | select(is("Available"; "True") | not)]
        | sort_by(condition("Available").lastTransitionTime // "") | first // empty
        | "longest: \(.metadata.name), since \(condition("Available").lastTransitionTime
          // "its creation")"),
      ($version | select(is("Available"; "True") and is("Failing"; "False")
        and is("Progressing"; "False") | not) | "" | halt_error(1))' | grep .
}

# Thirty seconds by this machine's clock, and the cluster's times.
operators_are_stable() {
  oc get clusteroperators --output=json |
    jq --raw-output '
    def progressing: first(.status.conditions[]? | select(.type == "Progressing"))
      // {status: "Unknown"};
    [.items[] | select(progressing | .status == "False"
        and now - (.lastTransitionTime | fromdate) >= 30 | not)
      | .metadata.name + (progressing | " is Progressing \(.status) since \(.lastTransitionTime)")]
      as $restless
    | if .items == [] then "there is no ClusterOperator", ("" | halt_error(1))
      elif $restless == [] then "all are at rest"
      else $restless[], ("" | halt_error(1)) end' | grep .
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

if step 1 'Wait for the ClusterVersion to be Available and to rest'; then
  # That is how the version operator says that every part of the release is
  # applied.
  wait_for 2400 'the ClusterVersion to be Available and to rest' version_is_installed
fi 9>&-

if step 2 'Wait for every operator to be without Progressing for 30 seconds'; then
  # An operator may have one more thing to roll out right after the version
  # operator looked at it.
  wait_for 1800 'every operator to be without Progressing for 30 seconds' operators_are_stable
fi 9>&-

if step 3 'Say how to log in'; then
  # A cluster without a console is whole: it is an optional component.
  host="$(oc get route console --namespace=openshift-console \
    --output=jsonpath='https://{.spec.host}' | tr -cd '[:print:]')" || host=''
  echo "console: ${host:-there is no route openshift-console/console}"
  echo "administrator: oc --kubeconfig ${PWD}/${KUBECONFIG_FILE}"
  echo "user kubeadmin, password in ${PWD}/install/auth/kubeadmin-password"
fi 9>&-

finish
