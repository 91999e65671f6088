#!/usr/bin/env bash
# cluster-lib.sh: how scripts ask a running cluster, and wait for it
#
# Sourced behind stage-lib.sh by the scripts that wait for something or call oc.
# Questions change nothing, so they are neither shown one by one nor left out
# with --verify; what changes the cluster goes through run as everywhere, and is
# shown as the oc that it is.
POLL=5 TIMEOUT='' DEADLINE='' KUBECONFIG_FILE='' HOPELESS=0 OC=oc
# On the bootstrap node oc is in PATH; on the workstation it is what get-tools.sh
# took out of the release.
# shellcheck disable=SC2034 # command-lib.sh shows it
[[ -z ${HOST_ROOT} ]] || OC=tools/oc
# shellcheck disable=SC2034 # stage-lib.sh says it when the script is interrupted
AGAIN="waiting changed nothing; ${CALL} waits again"
# Answers that no waiting fixes. Go has one text for what is over and what has not
# begun, and the latter comes with time: a clock may be some seconds behind.
readonly NEVER_FIXED='certificate has expired.* is after|certificate signed by unknown authority|doesn.t contain any IP SANs|certificate is (valid for|not valid for any)'

timeout_option() { # OPTION
  [[ $1 =~ ^--timeout=([1-9][0-9]{0,5})$ ]] || return 1
  TIMEOUT=${BASH_REMATCH[1]}
}
timeout_usage() { printf '  %-10s %s\n' --timeout=S 'give up after S seconds, all waits together'; }
# A script with options of its own defines both again.
own_option() { timeout_option "$1"; }
own_usage() { timeout_usage; }

# A question to the cluster, or a change when run stands before it. oc bounds each
# request, but makes several, so it is bounded as a whole too.
cluster() { # ARGUMENT...
  local status=0
  attempt timeout --foreground 20 "${OC}" --kubeconfig "${KUBECONFIG_FILE}" --request-timeout=15s "$@" || status=$?
  ((status != 0)) || return 0
  ((status != 124)) || echo 'no answer within 20 s' >&2
  ERROR="oc $1 ${2:-} did not succeed"
  return "${status}"
}

# COMMAND prints what it sees, and is true when that is enough. Each change of
# what it sees is told, with the seconds so far; what only repeats is not. TIMEOUT
# counts from the first wait, and each wait looks once even when it is over.
wait_for() { # SECONDS WHAT COMMAND...
  local limit=${TIMEOUT:-$1} what=$2 began=${SECONDS} end=$((SECONDS + $1)) seen='' last='' state rest
  if [[ ${MODE} == dry-run ]]; then
    log "here it waits for ${what}, at most ${limit} s"
    return
  fi
  log "waiting for ${what}, at most ${limit} s"
  if [[ -n ${TIMEOUT} ]]; then
    DEADLINE=${DEADLINE:-$((SECONDS + TIMEOUT))}
    end=${DEADLINE}
  fi
  while true; do
    state=0
    seen="$("${@:3}" 2>&1)" || state=$?
    seen="$(plain <<< "${seen}")"
    [[ ${seen} == "${last}" ]] || told "$((SECONDS - began))" "${seen}"
    ((state != 0)) || { HOPELESS=0; return; }
    last=${seen}
    give_up_early "${seen}" "${what}"
    rest=$((end - SECONDS))
    ((rest > 0)) ||
      die 1 "no sign of ${what} within ${limit} s" "what was seen last stands above; ${CALL} waits again"
    sleep "$((rest < POLL ? rest : POLL))"
  done
}

# What comes from elsewhere keeps its letters and loses what would steer the
# terminal. oc's own log, with the time in each line, and the port that a
# question went out from would make every answer look new.
plain() {
  local text
  text="$(tr -cd '[:print:]\n' | sed --regexp-extended '/^[EWIF][0-9]{4} [0-9:.]+ /d; s/:[0-9]+->/->/g; s/current time [^ ]+ is/now is/')"
  echo "${text:-nothing}"
}

told() { # SECONDS TEXT
  awk -v at="$1" '{ printf NR == 1 ? "  %5d s  %s\n" : "%8s  %s\n", NR == 1 ? at : "", $0 }' <<< "$2"
}

# An expired certificate or another cluster's will not get better; three such
# answers one after the other are enough.
give_up_early() { # ANSWER WHAT
  if ! grep --quiet --extended-regexp --regexp="${NEVER_FIXED}" <<< "$1"; then HOPELESS=0; return; fi
  HOPELESS=$((HOPELESS + 1))
  ((HOPELESS < 3)) || die 1 "$2 cannot be seen, and waiting does not fix that" 'the last answer stands above'
}

# The conditions of an object in JSON, each on a line: type, status, message.
# Operators write them, so they steer no terminal.
condition() { # TYPE-PATTERN, reads JSON
  jq --raw-output --arg type "$1" '.status.conditions[]? | select(.type | test("^(" + $type + ")$"))
    | [.type, .status, .reason // "", .message // ""] | join(" ") | gsub("[^ -~]"; " ")'
}

# The two signs that the bootstrap node may go.
bootstrap_is_complete() {
  local found
  found="$(cluster get configmap bootstrap --namespace=kube-system --output=jsonpath='{.data.status}' | plain)" || return 1
  echo "ConfigMap kube-system/bootstrap has status ${found}"
  [[ ${found} == complete ]]
}

# 4.14 spells the condition without its first t.
member_is_removed() {
  local found
  found="$(cluster get etcds cluster --output=json | condition 'EtcdBoot?strapMemberRemoved')" || return 1
  echo "${found:-no condition EtcdBootstrapMemberRemoved}"
  [[ ${found} == *' True '* ]]
}

# How a question goes wrong, whoever asks.
cluster_failures() {
  usual_failure ' is after 20' \
    'A certificate is older than it may be. Those of the bootstrap live 24 hours from openshift-install'\''s create, and a wrong clock makes them look older.' \
    'Compare date on both machines. If the day is over, begin again with a new bootstrap.ign; if nodes slept over it, approve the new requests of their kubelets.'
  usual_failure ' is before 20' \
    'A certificate is younger than this machine'\''s clock. Go has the same words for it, "has expired or is not yet valid", and then says before where it says after.' \
    'Compare date on both machines, and set the clock that is behind. A difference of a few seconds goes away by itself; the script goes on waiting.'
  usual_failure 'certificate signed by unknown authority' \
    'Who answers at this address is not an API server of this cluster, or it has certificates of another run of openshift-install.' \
    'Look who answers, openssl s_client -connect HOST:6443 -showcerts; then at DNS, at the load balancer, and at which auth/ directory is used.'
  usual_failure 'no such host' \
    'The name of the API does not resolve on this machine.' \
    'Run verify-api.sh --resolve on the bootstrap node; elsewhere look at /etc/resolv.conf, and ask the name server with dig.'
  usual_failure 'was refused' \
    'Nothing listens there. The API server is not up, or the load balancer has no backend.' \
    'On the bootstrap node, as root, look at crictl ps -a --name kube-apiserver; elsewhere at the load balancer'\''s view of port 6443.'
  usual_failure 'no answer within 20 s' \
    'The address swallows what is sent to it, or the API server is too busy to answer.' \
    'Look at the firewall between here and the load balancer, and at the load of the API server and its etcd.'
  usual_failure 'context deadline exceeded' \
    'The address swallows what is sent to it, or the API server is too busy to answer.' \
    'Look at the firewall between here and the load balancer, and at the load of the API server and its etcd.'
  usual_failure 'TLS handshake timeout' \
    'Somebody takes the connection and says nothing. A load balancer does so when all of its backends are silent.' \
    'Look at the load balancer'\''s view of port 6443, and at the API server'\''s log.'
  usual_failure 'first record does not look like a TLS handshake' \
    'Something that speaks no TLS listens at this address.' \
    'Look with ss -ltnp, on the machine of that address, who has port 6443.'
  usual_failure 'You must be logged in to the server' \
    'The API server does not know the certificate or the token that was shown.' \
    'Take the kubeconfig of this cluster, which the header of the script names.'
  usual_failure 'the server doesn'\''t have a resource type' \
    'The API server answers, and this type was not created yet, or it is no API server of OpenShift.' \
    'Early in a bootstrap wait until its CRD is there, oc get crd; later look at which kubeconfig is used.'
}
