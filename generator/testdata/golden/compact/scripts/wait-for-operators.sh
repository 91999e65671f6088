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
# install/auth/kubeconfig.
# - The wait ends early when the API's certificate is expired or of another CA
# three times in a row.
# - The route of the console is asked for once, and no file of a password is
# read.
# - The path of the password of kubeadmin is shown, not the password.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly STAGE='wait-for-operators' CALL='wait-for-operators.sh' RECORD='wait-for-operators' MARKER=''
readonly NEEDS=(jq flock) NEXT='smoke-test.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

# shellcheck disable=SC2034 # cluster-lib.sh reads both
KUBECONFIG_FILE=install/auth/kubeconfig POLL=10

check_inputs() {
  need_input tools/oc 'run get-tools.sh first'
  need_input install/auth/kubeconfig 'run make-ignition.sh first'
}

invalidates() {
  :
}

do_stage() {
  # That is how the version operator says that every part of the release is
  # applied.
  wait_for 2400 'the ClusterVersion to be Available, not Failing, not Progressing' version_is_reached
  # An operator may have one more thing to roll out right after the version
  # operator looked at it.
  wait_for 1800 'every operator to be without Progressing for 30 seconds' stable_is_reached
  tell_the_way_in
}

# Both in one question, so that they are of one moment.
all() { cluster get clusterversions,clusteroperators --output=json; }

# A condition of an object, and since when it is so.
# shellcheck disable=SC2016 # the names are those of jq
readonly CONDITIONS='
  def condition($type): first(.status.conditions[]? | select(.type == $type)) // {status: "Unknown"};
  def is($type; $status): condition($type).status == $status;
  def short: (. // "") | gsub("[[:space:]]+"; " ") | .[0:150];
  def version: .items[] | select(.kind == "ClusterVersion");
  def operators: [.items[] | select(.kind == "ClusterOperator")] | sort_by(.metadata.name);'

ask() { jq --raw-output "${CONDITIONS} $1"; } # JQ-EXPRESSION, reads JSON

# The table that is told: the ClusterVersion, and below it the operators that
# are not at rest, with the condition that matters most.
# shellcheck disable=SC2016 # the names are those of jq
readonly TABLE='
  (version | "version: " + ([("Available", "Failing", "Progressing") as $type | $type + " " + condition($type).status] | join(", "))
    + "; " + (condition("Progressing").message | short)),
  (operators[] | . as $operator
    | (if is("Available"; "True") | not then "Available" elif is("Degraded"; "True") then "Degraded"
       elif is("Progressing"; "True") then "Progressing" else empty end) as $type
    | "operator \(.metadata.name): \($type) \(condition($type).status): \(condition($type).message | short)"),
  ([operators[] | select(is("Available"; "True") | not)] | sort_by(condition("Available").lastTransitionTime // "") | first // empty
    | "longest: \(.metadata.name), since \(condition("Available").lastTransitionTime // "its creation")")'

version_is_reached() {
  local answer
  answer="$(all)" || return 1
  ask "${TABLE}" <<< "${answer}"
  is_installed <<< "${answer}"
}

is_installed() {
  jq --exit-status "${CONDITIONS}"' [version | is("Available"; "True") and is("Failing"; "False") and is("Progressing"; "False")]
    | length > 0 and all' > /dev/null
}

stable_is_reached() { operators_are_stable; }

# By this machine's clock, and the cluster's times.
operators_are_stable() {
  local answer restless
  answer="$(all)" || return 1
  restless="$(ask 'operators | if length == 0 then "there is no ClusterOperator" else .[] end
    | if type == "string" then . else
        select((is("Progressing"; "False") and (now - (condition("Progressing").lastTransitionTime | fromdate) >= 30)) | not)
        | "\(.metadata.name) is Progressing \(condition("Progressing").status) since \(condition("Progressing").lastTransitionTime)" end' <<< "${answer}")" || return 1
  echo "${restless:-all are at rest}"
  [[ -z ${restless} ]]
}

version_is_installed() {
  local answer
  answer="$(all)" || return 1
  ask '[version] | if length == 0 then "there is no ClusterVersion" else .[] | (.status.conditions // [])[]
    | select(.type | test("^(Available|Failing|Progressing)$")) | "\(.type) \(.status) \(.message // "" | short)" end' <<< "${answer}"
  is_installed <<< "${answer}"
}

operators_are_available() {
  local answer missing
  answer="$(all)" || return 1
  missing="$(ask 'operators | if length == 0 then "there is no ClusterOperator" else .[] end
    | if type == "string" then . else select(is("Available"; "True") | not)
        | "\(.metadata.name)  Available \(condition("Available").status): \(condition("Available").message | short)" end' <<< "${answer}")" || return 1
  echo "${missing:-all are available}"
  [[ -z ${missing} ]]
}

# A missing console is no failure: it is a component that may be left out.
tell_the_way_in() {
  local host=''
  [[ ${MODE} != dry-run ]] || return 0
  host="$(cluster get route console --namespace=openshift-console --output=jsonpath='https://{.spec.host}')" || true
  [[ -z ${host} ]] || host="$(plain <<< "${host}")"
  log "console: ${host:-there is no route openshift-console/console}"
  log "administrator: oc --kubeconfig ${ASSET_DIR}/${KUBECONFIG_FILE}"
  log "user kubeadmin, password in ${ASSET_DIR}/install/auth/kubeadmin-password"
}

verify() {
  check version 'the ClusterVersion says that the release is installed' \
    'Available True, Failing False, Progressing False' \
    'Read the message of Progressing; it names the operators that are waited for. Then run wait-for-operators.sh.' \
    version_is_installed
  check available 'every operator is available' \
    'no ClusterOperator with Available other than True' \
    'Begin with the one that waits longest, which wait-for-operators.sh names; what it waits for is often another operator.' \
    operators_are_available
  check stable 'no operator is rolling out a change' \
    'Progressing False for 30 seconds, for each ClusterOperator' \
    'Wait some minutes. After a change of MachineConfig it takes as long as all nodes need, one by one.' \
    operators_are_stable
}

usual_failures() {
  usual_failure 'operator ingress:' \
    'Routers need a node that takes ordinary pods. Without workers these are the masters, if they are schedulable.' \
    'Look at oc get pods -n openshift-ingress -o wide. Workers join only after approve-worker-csrs.sh; without any, masters must be schedulable.'
  usual_failure 'operator image-registry:' \
    'On platform none the registry has no storage.' \
    'Leave it Removed, or set managementState Managed and storage emptyDir in oc edit configs.imageregistry.operator.openshift.io cluster.'
  usual_failure 'operator authentication:' \
    'It asks its own route through the name below *.apps, from inside the cluster.' \
    'Look at ingress first; then ask for oauth-openshift.apps with dig on a master, and at ports 80 and 443 of the load balancer.'
  usual_failure 'operator machine-config:' \
    'A pool of nodes is not at the configuration it should have, or a node is NotReady.' \
    'Look at oc get machineconfigpools and oc get nodes.'
  usual_failure 'no sign of the ClusterVersion to be Available' \
    'Forty minutes were not enough. On slow machines that says little.' \
    'Run wait-for-operators.sh again; it only watches. If the last table stays the same for long, fix the operator at its top.'
}

stage_main "$@"
