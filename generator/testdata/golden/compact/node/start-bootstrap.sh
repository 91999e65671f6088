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
# In bootkube.sh: stage cb-bootstrap,
#         "Starting cluster-bootstrap..."
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
#   image once for each.
# - The container runs detached, and the script follows its log.
# - A container that an interrupted run left is followed to its end while it
#   runs, taken for the end where it ended well, and removed where it failed.
# - When the stage's log has a start and no container is left, the event
#   kube-system/bootstrap-finished is looked for before another start. What is
#   left of the bootstrap control plane is then removed.
# - A static pod that an earlier start left is refused before the start, and
#   --force removes it. Pods that the kubelet still stops are waited for.
# - Ctrl-C and SIGTERM remove the container. After them, and after a
#   cluster-bootstrap that was killed, its container, its secrets and the static
#   pods that it copied are removed.
# - What is said of a manifest that is refused is shown once in each pass, and
#   its name every 30 s in the last.
# - After a failure nothing is gathered.
# - After a failure the script ends, and nothing starts it again.
# - Watching ends after 131 minutes.
# - The stage is marked and recorded as done before its checks, as in
#   bootkube.sh, and a check that fails does not start it again.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
REQUIRED_PODS=$'openshift-kube-apiserver/kube-apiserver\n'
REQUIRED_PODS+=$'openshift-kube-scheduler/openshift-kube-scheduler\n'
REQUIRED_PODS+=$'openshift-kube-controller-manager/kube-controller-manager\n'
REQUIRED_PODS+='openshift-cluster-version/cluster-version-operator'
STAGE=start-bootstrap RECORD=cb-bootstrap
MARKER=cb-bootstrap.done CONTAINER=cluster-bootstrap
NEXT='restore-cvo-overrides.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs podman oc crictl jq flock
needs_input 'run release-info.sh first' release-info/images release-info/digest
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' auth/kubeconfig-loopback \
  tls/ manifests/ manifests/cluster-config.yaml auth/kubeconfig
needs_input 'run render-cvo.sh first' bootstrap-manifests/bootstrap-pod.yaml \
  "${HOST_ROOT}/etc/kubernetes/kubeconfig"
needs_input 'run render-kube-apiserver.sh first' bootstrap-manifests/kube-apiserver-pod.yaml \
  "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"
needs_input 'run render-kcm.sh first' bootstrap-manifests/kube-controller-manager-pod.yaml
needs_input 'run render-scheduler.sh first' bootstrap-manifests/kube-scheduler-pod.yaml
never_after cvo-overrides.done restore-cvo-overrides.sh \
  'a second start would put a bootstrap control plane beside the one that the masters already run'
never_reruns 'each failed check says what to do; --force starts another bootstrap control plane'
FOLLOWED=yes # a container that is there is not removed
option '--timeout=S' TIMEOUT 'stop watching after S seconds; cluster-bootstrap goes on'
begin "$@"

# How podman reaches the registries, and which images the release has.
# shellcheck source=lib/registries.sh
source "${SCRIPTS}/lib/registries.sh"
image() { grep "^$1 " release-info/images | cut --delimiter=' ' --fields=2; }
CLUSTER_BOOTSTRAP_IMAGE="$(image cluster-bootstrap)"

give_up() { # WHY HINT [STATUS]
  ERROR=$1 && printf 'error: %s\n  hint: %s\n' "$1" "$2" && exit "${3:-1}"
}

# The static pods that cluster-bootstrap copied. It removes them at its end, and
# not when it is killed. Earlier stages put two others there.
manifests="${HOST_ROOT}/etc/kubernetes/manifests/" status=0
copied_pods() {
  comm -12 <(ls bootstrap-manifests) <(ls "${manifests}") | awk -v dir="${manifests}" \
    '!/^(etcd-member|machineconfigoperator-bootstrap)-pod.yaml$/ { print dir $0 }'
}
remove_copies() {
  rm -rf "${HOST_ROOT}/etc/kubernetes/bootstrap-secrets"
  copied_pods | xargs --delimiter='\n' --no-run-if-empty rm -f
}

# Ctrl-C takes back what cluster-bootstrap began; a lost terminal stops nothing.
take_back() {
  trap '' INT TERM
  echo 'taking back what cluster-bootstrap began'
  podman rm --force --ignore cluster-bootstrap
  jobs -p | sed 's/^/-/' | xargs --no-run-if-empty kill -- 2> /dev/null || true
  remove_copies
  give_up interrupted 'container, static pods and secrets are removed; a rerun starts again'
}
trap '' HUP
trap take_back INT TERM

# What an earlier run left: a container, or the event of a good end that nobody saw.
container() { podman container inspect --format "{{$1}}" cluster-bootstrap 2> /dev/null; }
earlier="$(container .State.Status)-$(container .State.ExitCode)" || earlier=none
[[ ${earlier} == running-* || ${earlier} == exited-0 ]] || earlier=none
if [[ ${earlier} == none && ${FORCE:-no} == no ]] &&
  grep --quiet '^Starting temporary bootstrap control plane' \
    "${HOST_ROOT}/var/log/openshift/bootlab/start-bootstrap.log" 2> /dev/null &&
  timeout 20 oc --kubeconfig=auth/kubeconfig --request-timeout=15s \
    get event bootstrap-finished --namespace=kube-system --output=name 2> /dev/null; then
  echo 'an earlier cluster-bootstrap ended well: the event bootstrap-finished says so'
  earlier=finished
fi

if step 1 'Pull the image'; then
  podman image exists "${CLUSTER_BOOTSTRAP_IMAGE}" ||
    timeout 1800 podman pull "${CLUSTER_BOOTSTRAP_IMAGE}"
fi 9>&-

if step 2 'Remove static pods of an earlier start, and wait for their end'; then
  if [[ ${earlier} != running-* ]]; then
    # cluster-bootstrap overwrites none.
    [[ -z $(copied_pods) || ${earlier} != none || ${FORCE:-no} == yes ]] ||
      give_up "the kubelet already has $(copied_pods | paste --serial --delimiters=' ')" \
        'an earlier cluster-bootstrap was killed; --force removes these files and what they started'
    [[ ${earlier} != none ]] || podman rm --force --ignore cluster-bootstrap
    remove_copies
    # A pod outlives its manifest by up to some minutes, and an API server that is
    # ending must not be taken for the new one.
    pods="$(awk '/^  name: / { print "^" $2 }' bootstrap-manifests/* | paste -sd '|')"
    # shellcheck disable=SC2016 # the inner bash expands it
    timeout 300 bash -c 'until pods="$(crictl pods --quiet --state ready --name "$1")" &&
      [[ -z ${pods} ]]; do sleep 2; done' bash "${pods:?no pod has a name}"
  fi
fi 9>&-

if step 3 'Starting cluster-bootstrap...'; then
  [[ ${earlier} == none ]] || echo "an earlier cluster-bootstrap is ${earlier}: none is started"
  if [[ ${earlier} == none ]]; then
    # Detached, and not removed at its end: neither a lost terminal nor a killed
    # script ends it, and a rerun sees how it ended.
    # --tear-down-early: the bootstrap control plane stays until every manifest
    # is created, so that the rest goes through localhost too
    # --asset-dir: where auth/, tls/, manifests/ and bootstrap-manifests/ are
    # --required-pods: namespaces and beginnings of names of pods that must be
    # ready; the bootstrap pods' names begin otherwise, so only masters count
    podman run --quiet --net=host --detach --log-driver=k8s-file \
      --name cluster-bootstrap \
      --volume /etc/kubernetes:/etc/kubernetes:z \
      --volume "${PWD}:/assets:z" \
      "${CLUSTER_BOOTSTRAP_IMAGE}" \
      start \
      --tear-down-early=false \
      --asset-dir=/assets \
      --required-pods="${REQUIRED_PODS//$'\n'/,}" > /dev/null
  fi
fi 9>&-

if step 4 'Follow its log to the end'; then
  if [[ ${earlier} != finished ]]; then
    # Killed, podman logs begins again. With set -m the loop is a process group, which
    # can be ended as a whole.
    set -m
    bash -c 'while podman logs --follow --timestamps cluster-bootstrap; (($?==137)); do :; done' |&
      bash "${SCRIPTS}/lib/follow.sh" "${SCRIPTS}/checks/start-bootstrap.json" "${REQUIRED_PODS}" &
    reader=$! && set +m
    # The limits of cluster-bootstrap together are 130 minutes, 100 up to 4.17.
    timeout "${TIMEOUT:-7860}" podman wait cluster-bootstrap > /dev/null &
    # A trap interrupts wait, and nothing else that lasts.
    wait $! || true
    # Where the log is the journal, podman logs does not end with the container.
    timeout 20 tail --pid="${reader}" --follow /dev/null ||
      jobs -p | sed 's/^/-/' | xargs --no-run-if-empty kill -- 2> /dev/null || true
    # The time was over, or podman wait was killed: cluster-bootstrap goes on.
    [[ $(container .State.Status) != running ]] ||
      give_up 'cluster-bootstrap is still running: the watch is over' 'a rerun follows it again'
    status="$(container .State.ExitCode)" || status=unknown
  fi
fi 9>&-

if step 5 'Remove the container'; then
  podman rm --force --ignore cluster-bootstrap
  # Killed, it left what it copied.
  [[ ${status} == 0 ]] || remove_copies
  [[ ${status} == 0 ]] ||
    give_up "cluster-bootstrap ended with status ${status}" \
      'its last lines say why; what it started is gone, and the next start has its full time'
fi 9>&-

# As in bootkube.sh its good end is the end of the stage; the checks come after it.
mark

finish
