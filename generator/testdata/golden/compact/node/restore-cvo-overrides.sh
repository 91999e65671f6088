#!/usr/bin/env bash
# restore-cvo-overrides: Give the cluster version operator back what it was told to leave alone
#
# While cluster-bootstrap creates manifests, the cluster version operator works
# on the same cluster, and both would write some of the same objects. So the
# installer marks each object it ships as unmanaged, in the overrides of the
# ClusterVersion. Now these are taken back, and only overrides that the user
# wanted stay. As the masters' control plane stands by now, the machine config
# server of the bootstrap node goes too.
#
# In bootkube.sh: stage cvo-overrides,
#         "Restoring CVO overrides"
# Reads:  auth/kubeconfig
#         original_cvo_overrides.patch
# Differs from bootkube.sh:
# - The wait has a limit, each try ends after 20 s, and its end says what was
#   waited for.
# - The wait ends early at the third answer in a row that waiting does not
#   change, which is a certificate that is expired or of another CA, or a
#   kubeconfig that cannot be read.
# - The pod of the Machine Config Server is removed inside the stage, before its
#   checks, its marker and the end in the record.
# - The line "Trying again to restore CVO overrides" comes before the pause,
#   which is 5 seconds.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
STAGE=restore-cvo-overrides RECORD=cvo-overrides
MARKER=cvo-overrides.done NEXT='wait-for-ceo.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs oc jq flock
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' auth/kubeconfig \
  original_cvo_overrides.patch
option '--timeout=S' TIMEOUT 'give up after S seconds instead of 1200'
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

restore_overrides() {
  # --kubeconfig: the cluster's administrator, through api-int
  # --type: a list in a merge patch replaces the whole list
  # --patch-file: spec.overrides and nothing else
  timeout --foreground 20 \
    oc patch clusterversion.config.openshift.io version --request-timeout=15s \
    --kubeconfig=auth/kubeconfig \
    --type=merge \
    --patch-file=original_cvo_overrides.patch && return
  echo 'Trying again to restore CVO overrides'
  return 1
}

if step 1 'Restoring CVO overrides'; then
  # Each try has a limit, and bootkube.sh tries for ever.
  wait_for 1200 'the patch to be taken' restore_overrides
fi 9>&-

if step 2 'Stop the Machine Config Server of this node'; then
  # Masters that come later ask the Machine Config Server in the cluster.
  rm -f "${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"
fi 9>&-

finish
