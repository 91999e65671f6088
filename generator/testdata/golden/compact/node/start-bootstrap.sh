#!/usr/bin/env bash
# start-bootstrap: Start the bootstrap control plane and hand over to the masters
#
# Stages so far wrote files, and two of them gave the kubelet a pod. Now
# cluster-bootstrap copies the static pods to the kubelet, waits for the API,
# creates every file of manifests/ in it, and waits until masters have joined
# and run the same components. Then it takes its own control plane away. This is
# the longest stage, and the one with a clock: twenty minutes from an answering
# API to production pods on masters.
#
# In bootkube.sh: stage cb-bootstrap, "Starting cluster-bootstrap..."
# Reads:  release-info/images
#         release-info/digest
#         auth/kubeconfig-loopback
#         tls/
#         manifests/
#         bootstrap-manifests/bootstrap-pod.yaml
#         bootstrap-manifests/kube-apiserver-pod.yaml
#         bootstrap-manifests/kube-controller-manager-pod.yaml
#         bootstrap-manifests/kube-scheduler-pod.yaml
#         bootstrap-manifests/cloud-credential-operator-pod.yaml
#         /etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml
#         /etc/kubernetes/kubeconfig
#         auth/kubeconfig
# Writes: /etc/kubernetes/bootstrap-secrets/
#         /etc/kubernetes/manifests/
# Differs from bootkube.sh:
# - The image is pulled in a step of its own.
# - Images are looked up in release-info/images instead of asking the release
# image once for each.
# - podman runs in a session of its own, and what it prints comes to the script
# through tee.
# - A container that an interrupted run left running is followed to its end, and
# a dead one is removed.
# - When an earlier run did not see the end, the event
# kube-system/bootstrap-finished is looked for before another start. What is
# left of the bootstrap control plane is then removed.
# - A static pod that an earlier start left is refused before the start, and
# --force removes it. Pods that the kubelet still stops are waited for.
# - Ctrl-C and SIGTERM end podman. After them, and after a cluster-bootstrap
# that was killed, its container, its secrets and the static pods that it copied
# are removed.
# - What is said of a manifest that is refused is shown once in each pass, and
# its name every 30 s in the last.
# - After a failure nothing is gathered.
# - After a failure the script ends, and nothing starts it again.
# - Watching ends after 131 minutes.
# - The stage is marked and recorded as done before its checks, as in
# bootkube.sh, and a check that fails does not start it again.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly STAGE='start-bootstrap' CALL='start-bootstrap.sh' RECORD='cb-bootstrap' MARKER='cb-bootstrap.done'
readonly NEEDS=(podman oc crictl setsid jq flock) NEXT='restore-cvo-overrides.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"
# shellcheck source-path=SCRIPTDIR source=follow-lib.sh
source "${SCRIPT_DIR}/follow-lib.sh"

check_inputs() {
  need_input release-info/images 'run release-info.sh first'
  need_input release-info/digest 'run release-info.sh first'
  need_input auth/kubeconfig-loopback 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input tls/ 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input manifests/ 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input manifests/cluster-config.yaml 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input bootstrap-manifests/bootstrap-pod.yaml 'run render-cvo.sh first'
  need_input bootstrap-manifests/kube-apiserver-pod.yaml 'run render-kube-apiserver.sh first'
  need_input bootstrap-manifests/kube-controller-manager-pod.yaml 'run render-kcm.sh first'
  need_input bootstrap-manifests/kube-scheduler-pod.yaml 'run render-scheduler.sh first'
  need_input "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml" 'run render-kube-apiserver.sh first'
  need_input "${HOST_ROOT}/etc/kubernetes/kubeconfig" 'run render-cvo.sh first'
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  never_after cvo-overrides.done restore-cvo-overrides.sh \
    'a second start would put a bootstrap control plane beside the one that the masters already run'
}

readonly PODS='openshift-kube-apiserver/kube-apiserver,'\
'openshift-kube-scheduler/openshift-kube-scheduler,'\
'openshift-kube-controller-manager/kube-controller-manager,'\
'openshift-cluster-version/cluster-version-operator'
STATUS=0 NEXT_LOOK=0
declare -A STATE=() WAITING=()

own_usage() {
  printf '  %-10s %s\n' --timeout=S 'stop watching after S seconds; cluster-bootstrap goes on'
}

do_stage() {

  # The release names every image; release-info.sh wrote its answers down.
  CLUSTER_BOOTSTRAP_IMAGE="$(image_for cluster-bootstrap)"
  pull_image "${CLUSTER_BOOTSTRAP_IMAGE}"

  # From here on a lost terminal stops nothing, and Ctrl-C takes back what
  # cluster-bootstrap began: killed, it takes back nothing itself.
  trap '' HUP
  trap take_back INT TERM
  if works_already cluster-bootstrap; then
    follow_again cluster-bootstrap
  elif [[ ${FORCE} == no ]] && ended_unseen; then
    return
  else
    make_room
    log 'From the line "API is up" there are 20 minutes. By then the masters must have booted, their CSRs be approved, and the production pods run on them.'
    log 'If the masters do not run yet, start them now. Each in a terminal of its own: wait-for-masters.sh, approve-csrs.sh --watch, watch-etcd-members.sh.'
    log 'Any error ends it, and it takes its control plane away. systemd would start it again after 5 s; here nothing does, so that you can read why.'
    # --tear-down-early: the bootstrap control plane stays until every manifest
    # is created, so that the rest goes through localhost too
    # --asset-dir: where auth/, tls/, manifests/ and bootstrap-manifests/ are
    # --required-pods: namespaces and beginnings of names of pods that must be
    # ready; the bootstrap pods' names begin otherwise, so only masters count
    begin_following podman run --quiet --net=host --rm --log-driver=k8s-file \
      --name cluster-bootstrap \
      --volume /etc/kubernetes:/etc/kubernetes:z \
      --volume "${PWD}:/assets:z" \
      "${CLUSTER_BOOTSTRAP_IMAGE}" \
      start \
      --tear-down-early=false \
      --asset-dir=/assets \
      --required-pods="${PODS}"
  fi
  [[ ${MODE} != dry-run ]] || return 0

  # The limits of cluster-bootstrap together are 130 minutes, 100 up to 4.17.
  follow "${TIMEOUT:-7860}" ||
    die 1 'cluster-bootstrap is still running, which is not waited for any longer' "${CALL} follows it again"
  followed_to
  [[ ${STATUS} != 0 ]] || return 0
  [[ ${STATUS} != unknown ]] || ! ended_unseen || return 0
  ! works_already cluster-bootstrap ||
    die 1 "podman ended with status ${STATUS}, and cluster-bootstrap goes on without it" "${CALL} follows it again"
  # After a tear-down there is nothing to take away; after a kill all of it is.
  take_away
  die 1 "cluster-bootstrap ended with status ${STATUS}" 'its last lines say why; what it started is gone, and the next start has its full time again'
}

# An earlier run may have been killed while cluster-bootstrap went on to a good
# end. That stands in the cluster as an event, for three hours.
ended_unseen() {
  [[ ${MODE} != dry-run ]] || return 1
  grep --quiet '^Starting temporary bootstrap control plane' "${LOG}" || return 1
  KUBECONFIG_FILE=auth/kubeconfig
  cluster get event bootstrap-finished --namespace kube-system --output name > /dev/null 2>&1 || return 1
  log 'an earlier cluster-bootstrap came to its good end unseen: the event kube-system/bootstrap-finished says so'
  # Since 4.18 the event comes before the tear-down, which may not have happened.
  take_away
  wait_for_the_end
}

# What stands in bootstrap-manifests/ it copies, and nothing else. Not its own
# are the two pods that earlier stages gave to the kubelet.
copied_pods() {
  local name
  for name in bootstrap-manifests/*; do
    name=${name#*/}
    [[ ${name} != etcd-member-pod.yaml && ${name} != machineconfigoperator-bootstrap-pod.yaml ]] || continue
    [[ ! -f "${HOST_ROOT}/etc/kubernetes/manifests/${name}" ]] || echo "${HOST_ROOT}/etc/kubernetes/manifests/${name}"
  done
}

# Pods outlive their manifests, by up to some minutes.
pods_are_gone() {
  local manifest name left=''
  for manifest in bootstrap-manifests/*; do
    name="$(value_at .metadata.name "${manifest}")"
    [[ -z ${name} ]] || left+="$(crictl pods --quiet --state ready --name "^${name}")" || return 1
  done
  [[ -z ${left} ]]
}

wait_for_the_end() {
  [[ ${MODE} == dry-run ]] || pods_are_gone || wait_until 300 'the end of the static pods of an earlier start' pods_are_gone
}

make_room() {
  local there running=''
  there="$(copied_pods)"
  if [[ -n ${there} && ${FORCE} == yes ]]; then
    take_away
  elif [[ -n ${there} && ${MODE} != dry-run ]]; then
    pods_are_gone || running=', and runs such pods still'
    die 1 "the kubelet has ${there//$'\n'/, } already${running}: an earlier cluster-bootstrap was killed, and none overwrites a static pod" \
      "${CALL} --force removes them and waits for the end of the pods; by hand: rm ${there//$'\n'/ }"
  fi
  wait_for_the_end
}

take_away() {
  local there
  mapfile -t there < <(copied_pods)
  [[ ! -e "${HOST_ROOT}/etc/kubernetes/bootstrap-secrets" ]] || run rm --recursive --force "${HOST_ROOT}/etc/kubernetes/bootstrap-secrets"
  ((${#there[@]} == 0)) || run rm --force "${there[@]}"
}

take_back() {
  trap '' INT TERM
  MODE=run
  log 'taking back what cluster-bootstrap began'
  end_following
  run podman rm --force --ignore cluster-bootstrap
  take_away
  die 1 interrupted "the container, its static pods and their secrets are removed; ${CALL} begins again"
}

# What the lines of cluster-bootstrap announce.
explain_line() {
  local pod state file=${line#*\"}
  case ${line} in
    *'Pod Status:'*)
      read -r pod state <<< "${line#*Pod Status:}"
      STATE["${pod}"]=${state} ;;
    # The second pass: what is refused still is worth to be told again.
    *'Waiting for remaining assets'*) REFUSED=() ;;
    '"'*) WAITING["${file%%\"*}"]=yes ;;
    'Created "'* | 'Skipped "'*) WAITING["${file%%\"*}"]=no ;;
  esac
  when_said loopback 0 'rest.Config.Host=' \
    'It speaks to this node alone, through localhost; DNS and the load balancer are not needed yet.'
  when_said secrets 0 'Starting temporary bootstrap control plane...' \
    'It copies tls/ and auth/kubeconfig-loopback to /etc/kubernetes/bootstrap-secrets, which the static pods mount.'
  when_said pods 0 'Copying static manifests from:' \
    'The files of bootstrap-manifests/ go to the kubelet, which starts each as a static pod. A file that exists is an error.'
  when_said api 20 'Waiting up to 20m0s for the Kubernetes API' \
    'It asks https://localhost:6443/readyz every second. Any HTTP answer will do, so "up" does not mean ready. Until images are pulled nothing listens.'
  when_said api-up 20 'API is up' \
    'The clock runs. Every file of manifests/ is created now, again and again until its type is known, and the required pods are looked for every 5 s.'
  when_said pod-status 0 'Pod Status:' \
    'The required pods by namespace and beginning of the name: DoesNotExist, Pending, RunningNotReady, Ready. Only pods of masters have these names.'
  when_said pods-ready 0 'All self-hosted control plane components successfully started' \
    'Each of the four names has a pod that is ready. One master is enough for that.'
  when_said two-masters 30 'Waiting for self hosted control plane to be available' \
    'One master is no high availability. Now API server, scheduler and controller manager must each have a revision running on two masters.'
  when_said balancers 0 'to give load-balancers time' \
    'Load balancers look every few seconds. They must have seen the masters'\'' API servers before this node'\''s goes.'
  when_said success 0 'Sending bootstrap-success event.' \
    'The event kube-system/bootstrap-success says that the control plane on the masters carries the cluster.'
  when_said remaining 60 'Waiting for remaining assets to be created.' \
    'A second pass over manifests/ creates what the first left out, still through localhost. Most files are skipped, for their objects exist.'
  when_said finished 0 'Sending bootstrap-finished event.' \
    'The event kube-system/bootstrap-finished is the last thing it writes: everything is created.'
  when_said tear-down 0 'Tearing down temporary bootstrap control plane...' \
    'It removes bootstrap-secrets and the pod manifests that it copied; the kubelet stops the pods. etcd and the Machine Config Server are not its own and stay.'
}

# Every 30 s, by what cluster-bootstrap said last: the pods at first, the files
# that are refused at the end.
each_second() {
  local item list=''
  ((SECONDS >= NEXT_LOOK)) && [[ -n ${TOLD[api-up]:-} && -z ${TOLD[finished]:-} ]] || return 0
  if [[ -z ${TOLD[pods-ready]:-} ]]; then
    for item in ${PODS//,/ }; do
      [[ ${STATE["${item}"]:-} == Ready ]] || list+=", ${item#*/}: ${STATE["${item}"]:-not seen}"
    done
  elif [[ -n ${TOLD[remaining]:-} ]]; then
    for item in "${!WAITING[@]}"; do [[ ${WAITING["${item}"]} == no ]] || list+=", ${item}"; done
  fi
  NEXT_LOOK=$((SECONDS + 30))
  [[ -z ${list} ]] || log "$(((ENDS - EPOCHSECONDS) / 60)) min left; not ready: ${list#, }"
}

# As in bootkube.sh the good end of cluster-bootstrap is the end of the stage.
# Checks come behind it: another bootstrap control plane would fix none of them.
whole_stage() {
  begin
  invalidates
  refuse_to_invalidate
  begin_record
  rm --force "${MARKER}"
  sweep
  do_stage
  # There is nothing to take back any more.
  trap '' INT TERM
  touch "${MARKER}"
  record 'stage end' success
  trap 'die 1 interrupted "cluster-bootstrap ended well; ${CALL} looks at the checks again"' INT TERM
  CHECKS=0 FAILED=0
  verify
  ((FAILED == 0)) || die 3 "cluster-bootstrap ended well, but ${FAILED} of ${CHECKS} checks fail" 'each says above what to do; this stage is done'
  log "${STAGE} is done${NEXT:+; next: ${NEXT}}"
}

although_marked() {
  CHECKS=0 FAILED=0
  verify
  die 3 "cluster-bootstrap ended well before, but ${FAILED} of ${CHECKS} checks fail" \
    "each says above what to do; ${CALL} --force would start another bootstrap control plane"
}

# Guard pods, whose names begin alike, hold no control plane.
required_pods_are_ready() {
  local pod answer number bad=0
  KUBECONFIG_FILE=auth/kubeconfig
  for pod in ${PODS//,/ }; do
    # A load balancer may have sent the first question to the API server that went.
    answer="$(cluster get pods --namespace "${pod%%/*}" --output json)" ||
      { sleep "${POLL}"; answer="$(cluster get pods --namespace "${pod%%/*}" --output json)"; } || return 1
    number="$(jq --arg name "${pod#*/}" '[.items[]
      | select(.metadata.name | startswith($name) and (startswith($name + "-guard-") | not))
      | select(.status.phase == "Running" and any(.status.conditions[]?; .type == "Ready" and .status == "True"))]
      | length' <<< "${answer}")" || return 1
    echo "${pod}: ${number} ready"
    [[ ${number} =~ ^[1-9][0-9]*$ ]] || bad=1
  done
  return "${bad}"
}

verify() {
  check required-pods 'the masters run the control plane' \
    'a ready pod for each of the four required names' \
    'Look at oc get nodes and oc get csr first: masters that did not join run nothing; then at oc get pods of the namespace.' \
    required_pods_are_ready
  check torn-down 'the bootstrap control plane is gone' \
    'none of its pod manifests, and no secrets, in /etc/kubernetes' \
    'cluster-bootstrap was killed and could not tidy up. If the stage is done, remove what is named and bootstrap-secrets; if not, start-bootstrap.sh --force does so.' \
    absent "${HOST_ROOT}/etc/kubernetes/manifests/kube-apiserver-pod.yaml" \
      "${HOST_ROOT}/etc/kubernetes/manifests/kube-controller-manager-pod.yaml" \
      "${HOST_ROOT}/etc/kubernetes/manifests/kube-scheduler-pod.yaml" \
      "${HOST_ROOT}/etc/kubernetes/manifests/bootstrap-pod.yaml" \
      "${HOST_ROOT}/etc/kubernetes/manifests/cloud-credential-operator-pod.yaml" \
      "${HOST_ROOT}/etc/kubernetes/bootstrap-secrets/kubeconfig"
  check etcd-stays 'etcd is not torn down with it' \
    'etcd-member-pod.yaml in /etc/kubernetes/manifests' \
    'Put the manifest back from etcd-bootstrap/etc-kubernetes/manifests/; the data in /var/lib/etcd are still there.' \
    present "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
}

usual_failures() {
  usual_failure '-pod.yaml: file exists' \
    'An earlier cluster-bootstrap was killed; its static pods are still in /etc/kubernetes/manifests, and it never overwrites.' \
    'start-bootstrap.sh --force removes them, waits until their containers are gone, and starts again.'
  usual_failure 'time out waiting for Kubernetes API' \
    'The API server did not answer on localhost:6443 within twenty minutes.' \
    'Look at crictl ps -a --name kube-apiserver and its log, for an etcd of another render or a port that is taken.'
  usual_failure 'Assert creation failed:' \
    'A file of manifests/ cannot be read as one object: it is empty, no YAML, a list, or has no kind. That ends everything at once.' \
    'The line names the file. Take it out of manifests/, or put it right; cluster-bootstrap reads every file there, whatever its name.'
  usual_failure 'failed to create some manifests:' \
    'The API server refused the files that are named under it, or does not know their types yet. They are tried again until the time is over.' \
    'While it waits this is no fault; types come with the cluster version operator. What the API server says of a file in other words must be put right.'
  usual_failure 'error while checking pod status' \
    'After twenty minutes a required pod was not ready: masters did not boot, or CSRs were not approved. Behind "Assert creation failed" it follows from that.' \
    'Look at the masters'\'' consoles, then at oc get csr. "certificate has expired" in the log means that the 24 hours are over. Then start again.'
  usual_failure 'time out waiting for condition:' \
    'After thirty minutes no two masters ran API server, scheduler and controller manager of their own.' \
    'Look at oc get pods -n openshift-kube-apiserver for installer pods that hang, and at the nodes'\'' memory.'
  usual_failure 'timed out creating manifests' \
    'An hour was not enough to create every file.' \
    'Look above for the files that are named under "failed to create some manifests"; an operator that did not come up keeps its type away.'
}

stage_main "$@"
