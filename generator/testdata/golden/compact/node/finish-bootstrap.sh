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
# counts as done, anything else is an error.
# - Each wait has a limit.
# - The wait ends early when the API's certificate is expired or of another CA
# three times in a row.
# - The script also waits until the bootstrap's etcd member is removed.
# - The script ends the record of bootkube.sh and writes that of
# progress.service.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='finish-bootstrap' CALL='finish-bootstrap.sh' MARKER='finish-bootstrap.done'
readonly NEEDS=(oc jq flock) NEXT='on the workstation, remove-bootstrap.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

KUBECONFIG_FILE=/opt/openshift/auth/kubeconfig
AGAIN="what is done stays done; ${CALL} goes on where it ended"
readonly BOOTKUBE_RECORD="${HOST_ROOT}/var/log/openshift/bootkube.json" PROGRESS_RECORD="${HOST_ROOT}/var/log/openshift/progress.json"

check_inputs() {
  need_input cb-bootstrap.done 'run start-bootstrap.sh first'
  need_input cvo-overrides.done 'run restore-cvo-overrides.sh first'
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

do_stage() {
  [[ ${MODE} == dry-run ]] || etcd_can_do_without || die 1 'etcd still needs the member on this node' 'run wait-for-ceo.sh to its end'
  end_bootkube
  if progress_at_work; then
    log 'progress.service is running on this node, and creates the ConfigMap itself'
    wait_for 2700 'progress.service to say that the bootstrap is complete' bootstrap_is_complete
  elif [[ ${MODE} != dry-run ]] && bootstrap_is_complete > /dev/null 2>&1; then
    log 'the ConfigMap is there already and says complete'
    [[ ! -e ${PROGRESS_RECORD} ]] || ended_well "${PROGRESS_RECORD}" > /dev/null || end_progress
  else
    report_progress
  fi
  # The operator looks at its members one by one and does nothing while one of
  # them is unhealthy, so this takes a minute or more.
  wait_for 1200 'the etcd operator to remove the bootstrap'\''s member' member_is_removed
  log 'The watcher on the workstation, openshift-install wait-for bootstrap-complete, gives the API 20 minutes, then this ConfigMap 45, from its own start.'
  log 'After that it waits for EtcdBootstrapMemberRemoved, without a limit.'
  log 'If it gave up while you read, nothing is lost. It only watches. Run it again and it sees what is there.'
  log 'Next, on the workstation, remove-bootstrap.sh.'
}

# wait-for-ceo.sh leaves no marker, so the condition is asked for again.
etcd_can_do_without() {
  local found
  found="$(cluster get etcds cluster --output=json | condition EtcdRunningInCluster)" || return 1
  echo "${found:-no condition EtcdRunningInCluster}"
  [[ ${found} == 'EtcdRunningInCluster True '* ]]
}

# What bootkube.sh does at its end. A stage that was killed has no end in the
# record, and must not be taken for one that succeeded. A record that is missing
# or torn tells of none; the new one begins with this end.
end_bootkube() {
  local open=''
  [[ ${MODE} == dry-run ]] || open="$(jq --raw-output 'last(.[] | select(.stage)) | select(.phase == "stage start").stage' "${BOOTKUBE_RECORD}" 2> /dev/null)" || open=''
  [[ -z ${open} ]] || die 1 "stage ${open} began and did not end" 'run its script once more; it ends the record'
  run touch .bootkube.done
  log 'bootkube.service complete'
  [[ ${MODE} == dry-run ]] || bootkube_ended_well > /dev/null 2>&1 || told_of "${BOOTKUBE_RECORD}" '' 'service end' success
}

# In the installer's format, each service has a file of its own.
told_of() { # FILE STAGE PHASE [RESULT]
  [[ ${MODE} != dry-run ]] || return 0
  RECORDS=$1 RECORD=$2
  record "${@:3}"
}

progress_at_work() {
  [[ ${MODE} != dry-run && "$(systemctl show --property=ActiveState --value progress.service 2> /dev/null || true)" =~ ^(active|activating|reloading)$ ]]
}

# What report-progress.sh does; .bootkube.done, which it waits for first, is there.
report_progress() {
  told_of "${PROGRESS_RECORD}" wait-for-bootstrap-complete 'stage start'
  told_of "${PROGRESS_RECORD}" wait-for-bootstrap-complete 'stage end' success
  wait_for 600 'the topology of the control plane' topology_is_known
  if [[ ${MODE} == dry-run || "$(topology)" == HighlyAvailable ]]; then
    log 'progress.service says: Waiting for at least 3 available IP addresses for the default/kubernetes service'
    # The text is older than the test. It counts nodes whose API server has a
    # revision, and two are enough; the bootstrap node is never among them.
    wait_for 2700 'two nodes that run a revision of the API server' enough_revisions
  else
    log 'topology is not HighlyAvailable, no need to wait for API availability'
  fi
  told_of "${PROGRESS_RECORD}" report-bootstrap-complete 'stage start'
  log 'Reporting install progress...'
  run cluster create configmap bootstrap --namespace=kube-system --from-literal=status=complete
  end_progress
}

end_progress() {
  told_of "${PROGRESS_RECORD}" report-bootstrap-complete 'stage end' success
  told_of "${PROGRESS_RECORD}" '' 'service end' success
}

topology() { cluster get infrastructures cluster --output=jsonpath='{.status.controlPlaneTopology}'; }

topology_is_known() {
  local found
  found="$(topology)" || return 1
  echo "${found:-status.infrastructureTopology of the infrastructures/cluster object is empty}"
  [[ -n ${found} ]]
}

# Each word of the answer counts.
enough_revisions() {
  local found words
  found="$(cluster get kubeapiservers cluster --output=jsonpath='{range @.status.nodeStatuses[?(@.currentRevision>0)]}{.nodeName}{" "}{end}')" || return 1
  read -r -a words <<< "${found}"
  echo "${#words[@]} of 2: ${found:-none}"
  ((${#words[@]} >= 2))
}

bootkube_ended_well() { ended_well "${BOOTKUBE_RECORD}"; }

ended_well() { # RECORD-FILE
  local found
  found="$(jq --compact-output '.[-1] | {phase, result}' "$1")" || return 1
  echo "the last entry is ${found}"
  [[ ${found} == '{"phase":"service end","result":"success"}' ]]
}

# The record of bootkube.sh must end with its end, so this stage, which
# bootkube.sh does not have, stands in no record of its own.
whole_stage() {
  begin
  do_stage
  CHECKS=0 FAILED=0 && verify
  ((FAILED == 0)) || die 3 "${FAILED} of ${CHECKS} checks fail" 'each says above what it expected and what to do'
  touch "${MARKER}"
  log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
}

verify() {
  check ended 'bootkube.sh counts as ended' \
    'the file .bootkube.done' \
    'Run finish-bootstrap.sh; without the file bootkube.service starts again at the next boot.' \
    count 1 .bootkube.done
  check record 'the record says that bootkube.sh succeeded' \
    'service end with success as the last entry of bootkube.json' \
    'A script that ran later wrote behind it; run finish-bootstrap.sh again.' \
    bootkube_ended_well
  check config-map 'the cluster knows that the bootstrap is complete' \
    'ConfigMap bootstrap in kube-system with status complete' \
    'Run finish-bootstrap.sh again; if another text stands there, look who wrote it, with oc get configmap bootstrap -n kube-system -o yaml --show-managed-fields.' \
    bootstrap_is_complete
  check member-removed 'etcd goes on without the bootstrap'\''s member' \
    'condition EtcdBootstrapMemberRemoved is True on etcds.operator.openshift.io/cluster' \
    'Look at oc get etcd cluster -o yaml for an unhealthy member, and run finish-bootstrap.sh again, which waits for it.' \
    member_is_removed
}

usual_failures() {
  usual_failure 'already exists' \
    'A ConfigMap of that name is there and did not say complete when the script looked. progress.service may have created it a moment later, or somebody else wrote it.' \
    'Run finish-bootstrap.sh again, which looks first. If the same comes again, read the ConfigMap, and delete it if it is not needed.'
  usual_failure 'status.infrastructureTopology of the infrastructures/cluster object is empty' \
    'The Infrastructure object has no status yet. Its controlPlaneTopology is asked for; the text names another field.' \
    'Look at oc get infrastructure cluster -o yaml; the config operator renders it, and cluster-bootstrap creates it.'
  usual_failure 'no sign of two nodes that run a revision of the API server' \
    'Fewer than two masters have an API server of their own that is ready.' \
    'Look at oc get kubeapiserver cluster -o yaml under nodeStatuses, and at the installer pods in openshift-kube-apiserver.'
  usual_failure 'no sign of the etcd operator to remove the bootstrap'\''s member' \
    'One member is unhealthy, or the operator cannot reach one.' \
    'Look at oc get etcd cluster -o yaml, conditions BootstrapTeardownDegraded and EtcdMembersDegraded, and at watch-etcd-members.sh.'
}

stage_main "$@"
