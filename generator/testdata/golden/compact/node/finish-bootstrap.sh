#!/usr/bin/env bash
# finish-bootstrap: Say that the bootstrap is complete
#
# bootkube.sh ends by making the file .bootkube.done. progress.service waits for
# that file and, with a highly available control plane, for signs that the
# masters carry the API; then it creates the ConfigMap kube-system/bootstrap.
# The etcd operator waits for that ConfigMap before it removes the bootstrap's
# member, and openshift-install before it says that this machine may go. So one
# small object ends the bootstrap. This script does what both do, one after the
# other, or watches progress.service where its hold is released.
#
# Reads:  cb-bootstrap.done
#         cvo-overrides.done
#         auth/kubeconfig
# Writes: .bootkube.done
#         /var/log/openshift/progress.json
# Differs from progress.service:
# - The ConfigMap is created by one line, which can be typed.
# - The script looks before it creates. What is there already and says complete
#   counts as done, anything else is an error.
# - Each wait has a limit.
# - The wait ends early at the third answer in a row that waiting does not
#   change, which is a certificate that is expired or of another CA, or a
#   kubeconfig that cannot be read.
# - The script also waits until the bootstrap's etcd member is removed.
# - The script ends the record of bootkube.sh and writes that of
#   progress.service.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
STAGE=finish-bootstrap RECORD=finish-bootstrap
MARKER=finish-bootstrap.done
NEXT='on the workstation, remove-bootstrap.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs oc jq flock
needs_input 'run start-bootstrap.sh first' cb-bootstrap.done
needs_input 'run restore-cvo-overrides.sh first' cvo-overrides.done
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' auth/kubeconfig
# shellcheck source=lib/service.sh
source "${SCRIPTS}/lib/service.sh"
RECORD='' # the records are those of two services, and not of this stage
option '--timeout=S' TIMEOUT 'give up after S seconds, all waits together'
begin "$@"

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

# The cluster through api-int. oc makes several requests: all together are limited.
cluster() { # ARGUMENT...
  timeout --foreground 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s "$@" && return
  [[ $? != 124 ]] || echo 'no answer within 20 s'
  return 1
}

conditions() { # TYPE-PATTERN, reads an object: each condition on a line
  jq --raw-output --arg type "^($1)$" '.status.conditions[]? | select(.type | test($type))
    | [.type, .status, .reason // "", .message // ""] | join(" ") | gsub("[^ -~]"; " ")'
}

condition_is_true() { # TYPE-PATTERN
  local found
  found="$(cluster get etcds cluster --output=json)" || { echo "${found}" && return 1; }
  found="$(conditions "$1" <<< "${found}")"
  echo "${found:-no condition $1}"
  [[ ${found} == *' True '* ]]
}
bootstrap_is_complete() {
  local found
  found="$(cluster get configmap bootstrap --namespace=kube-system \
    --output=jsonpath='{.data.status}')" || { echo "${found}" && return 1; }
  echo "ConfigMap kube-system/bootstrap has status ${found}"
  [[ ${found} == complete ]]
}
topology_is_known() {
  topology="$(cluster get infrastructures cluster \
    --output=jsonpath='{.status.controlPlaneTopology}')" || { echo "${topology}" && return 1; }
  echo "${topology:-status.infrastructureTopology of the infrastructures/cluster object is empty}"
  [[ -n ${topology} ]]
}
# Each word of the answer counts.
enough_revisions() {
  local found words
  local path='{range @.status.nodeStatuses[?(@.currentRevision>0)]}{.nodeName}{" "}{end}'
  found="$(cluster get kubeapiservers cluster --output=jsonpath="${path}")" ||
    { echo "${found}" && return 1; }
  read -r -a words <<< "${found}"
  echo "${#words[@]} of 2: ${found:-none}"
  ((${#words[@]} >= 2))
}

# Who creates the ConfigMap: this script, progress.service, or an earlier run.
by=script
state="$(systemctl show --property=ActiveState --value progress.service 2> /dev/null)" || true
if [[ ${state} =~ ^(active|activating|reloading)$ ]]; then
  by=progress.service
elif bootstrap_is_complete > /dev/null 2>&1; then
  by='an earlier run'
fi

service_has_no_open_stage bootkube

if step 1 'Look whether etcd can do without this node'; then
  # wait-for-ceo.sh leaves no marker, so the condition is asked for again.
  condition_is_true EtcdRunningInCluster ||
    give_up 'etcd still needs the member on this node' 'run wait-for-ceo.sh to its end'
fi 9>&-

if step 2 'bootkube.service complete'; then
  touch .bootkube.done
fi 9>&-
service_ends bootkube

service_begins progress wait-for-bootstrap-complete "${by}"

if step 3 'Wait as progress.service does'; then
  if [[ ${by} == script ]]; then
    wait_for 600 'the topology of the control plane' topology_is_known
    topology_is_known > /dev/null
    if [[ ${topology} == HighlyAvailable ]]; then
      echo 'progress.service says:' \
        'Waiting for at least 3 available IP addresses for the default/kubernetes service'
      # The text is older than the test. It counts nodes whose API server has a
      # revision, and two are enough; the bootstrap node is never among them.
      wait_for 2700 'two nodes that run a revision of the API server' enough_revisions
    else
      echo 'topology is not HighlyAvailable, no need to wait for API availability'
    fi
  fi
fi 9>&-

service_stage report-bootstrap-complete "${by}"
if step 4 'Reporting install progress...'; then
  if [[ ${by} == progress.service ]]; then
    echo 'progress.service is running on this node, and creates the ConfigMap itself'
    wait_for 2700 'progress.service to say that the bootstrap is complete' \
      bootstrap_is_complete
  elif [[ ${by} == 'an earlier run' ]]; then
    echo 'the ConfigMap is there already and says complete'
  else
    cluster create configmap bootstrap --namespace=kube-system --from-literal=status=complete
  fi
fi 9>&-
service_ends progress report-bootstrap-complete "${by}"

if step 5 'Wait until the bootstrap member is removed'; then
  # The operator looks at its members one by one and does nothing while one of
  # them is unhealthy, so this takes a minute or more.
  # 4.14 spells the condition without its first t.
  wait_for 1200 'the etcd operator to remove the bootstrap'\''s member' \
    condition_is_true 'EtcdBoot?strapMemberRemoved'
  cat << 'NEXT'
The watcher on the workstation, openshift-install wait-for bootstrap-complete,
gives the API 20 minutes, then this ConfigMap 45, from its own start.
After that it waits for EtcdBootstrapMemberRemoved, without a limit.
If it gave up while you read, nothing is lost. It only watches. Run it again
and it sees what is there.
Next, on the workstation, remove-bootstrap.sh.
NEXT
fi 9>&-

finish
