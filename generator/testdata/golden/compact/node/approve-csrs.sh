#!/usr/bin/env bash
# approve-csrs: Approve what the masters' kubelets ask for
#
# A kubelet starts without a certificate of its own and asks for two, one after
# the other. The client certificate is asked for in the name of the
# node-bootstrapper, whose credentials anybody gets who reaches the machine
# config server; once it is signed, the Node appears. The serving certificate is
# asked for by the node itself; without it its logs cannot be read. So each
# machine wants two approvals. On the bootstrap node approve-csr.service gives
# them every 20 seconds until .bootkube.done is there, to everything that is
# Pending, and checks nothing. This script shows what each request asks, holds
# it against the machines of the lab, and approves what is right.
#
# Reads:  auth/kubeconfig-loopback
#         auth/kubeconfig
# Differs from approve-csr.service:
# - Each pending request of a kubelet is opened and held against the machines of
#   lab.yaml; what does not fit stays pending.
# - After the bootstrap API server is gone, the script asks through api-int.
# - At a terminal each approval waits for a y. Without one, what every rule
#   allows is approved.
# - It says when approve-csr.service is running as well.
# - The age of a request is shown and not judged.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
MASTERS=$'master-0 192.168.126.20\n'
MASTERS+=$'master-1 192.168.126.21\n'
MASTERS+='master-2 192.168.126.22'
STAGE=approve-csrs RECORD=approve-csrs
MARKER=''
NEXT='back to the terminal of start-bootstrap.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"
# shellcheck source=lib/ending.sh
source "${SCRIPTS}/lib/ending.sh"

needs oc openssl jq flock
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' auth/kubeconfig-loopback \
  auth/kubeconfig
runs_in_parallel
option '--watch' WATCH 'go on until every machine has both certificates'
option '--timeout=S' TIMEOUT 'with --watch, give up after S seconds'
begin "$@"

export CLUSTER_DOMAIN MACHINES="${MASTERS}" # for the programs in lib/
declined=' ' failed=no approved=()

# While the bootstrap API server lives it answers at localhost, even where DNS or
# the load balancer do not; after it there is api-int.
ask() {
  local kubeconfig=auth/kubeconfig
  ! (: <> /dev/tcp/localhost/6443) 2> /dev/null || kubeconfig=auth/kubeconfig-loopback
  timeout 20 oc --kubeconfig "${kubeconfig}" --request-timeout=15s "$@"
}

complete() { # LINES of lib/machines.sh
  ! grep -qvE ', serving certificate (Approved,Issued|in use)$' <<< "$1"
}

# Each request on a few lines, with the verdict of lib/csr.jq. What every rule allows
# is approved, at a terminal after a y.
approve() {
  local requests name verdict about user groups subject names usages why answer
  requests="$(bash "${SCRIPTS}/lib/csr.sh")" || return 1
  while IFS=$'\t' read -r -u 7 name verdict about user groups subject names usages why; do
    [[ -n ${name} && ${declined} != *" ${name} "* ]] || continue
    case ${verdict} in
      good) why='every rule holds' ;;
      older) why='this machine has asked again since' ;;
    esac
    printf '  %s: %s\n' "${name}" "${about}"
    printf '    %-9s %s\n' 'asked by' "${user}" groups "${groups}" subject "${subject}" \
      names "${names}" usages "${usages}" "${verdict}" "${why}"
    [[ ${verdict} == good ]] || continue
    if [[ -t 0 ]]; then
      printf '    approve %s? [y/N] ' "${name}"
      read -r answer || answer=n
      [[ ${answer} == [yY]* ]] || { declined+="${name} " && continue; }
    fi
    if ask adm certificate approve "${name}" 7<&-; then
      approved+=("${name}")
    else
      declined+="${name} " failed=yes
    fi
  done 7<<< "${requests}"
}

# Who approves does not sign: the controller manager does, mostly within a second.
show_signatures() {
  local tries states=''
  for ((tries = 0; tries < 5 && ${#approved[@]} > 0; tries++)); do
    states="$(ask get csr --output=json | jq --raw-output '.items[]
      | select(.metadata.name | IN($ARGS.positional[]))
      | "  \(.metadata.name): " + ([.status.conditions[]?.type] | join(","))
        + (if .status.certificate then ",Issued" else "" end) | gsub("[^ -~]"; "?")' \
      --args "${approved[@]}")" || break
    ! grep -qv ',Issued$' <<< "${states}" || { sleep 1 && continue; }
    break
  done
  [[ -z ${states} ]] || echo "${states}"
  ! grep -q ': Approved$' <<< "${states}" ||
    echo '  Approved and not Issued: no controller manager is running yet. It signs when it comes.'
  approved=()
}

# Is there something to approve, or nothing more to come?
news() {
  local requests machines
  machines="$(bash "${SCRIPTS}/lib/machines.sh")" || return 1
  requests="$(bash "${SCRIPTS}/lib/csr.sh")" || return 1
  echo "${machines}"
  awk -F '\t' '$2 == "refused" { print $1 ": refused: " $9 }' <<< "${requests}"
  complete "${machines}" || awk -F '\t' -v declined="${declined}" '
    $2 == "good" && !index(declined, " " $1 " ") { found = 1 }
    END { exit !found }' <<< "${requests}"
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

[[ -n ${MACHINES} ]] || finish_part 'approve-csrs is done: this lab has no masters'

[[ "$(systemctl is-active approve-csr.service 2> /dev/null || true)" != active ]] ||
  echo 'approve-csr.service is running too, and approves everything:' \
    'systemctl stop approve-csr.service'

if step 1 'Judge each pending request, and approve what every rule allows'; then
  if [[ -z ${WATCH} ]]; then
    approve || give_up 'the cluster does not say what is asked of it' 'the answer is above'
    show_signatures
    bash "${SCRIPTS}/lib/machines.sh"
  else
    # Requests come minutes apart.
    TIMEOUT=${TIMEOUT:-$((SECONDS + 2400))}
    while true; do
      wait_for 2400 'requests of masters, until each has both certificates' news
      if approve; then show_signatures; fi
      ! complete "$(bash "${SCRIPTS}/lib/machines.sh")" || break
    done
  fi
  [[ ${failed} == no ]] || give_up 'a request could not be approved' 'the answer of oc is above'
fi 9>&-

# One look need not find all that is to come.
[[ -n ${WATCH} ]] || finish_part 'approve-csrs is done; --verify shows what is missing'

finish
