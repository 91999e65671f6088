#!/usr/bin/env bash
# approve-worker-csrs: Approve what the workers' kubelets ask for
#
# Workers come after the pivot: the bootstrap node's Machine Config Server
# refuses their pool, so they ask again and again until the one in the cluster
# answers. By then approve-csr.service has ended, and on platform none there are
# no Machine objects with which the machine approver could compare a new node.
# So every worker waits for two approvals, and the cluster for its workers: with
# no node for the routers wait-for-operators.sh never ends. Run this in a second
# terminal while it waits.
#
# Reads:  tools/oc
#         install/auth/kubeconfig
# Differs from the machine approver in a cluster with Machine objects:
# - A request is held against the machines of lab.yaml, by name and address.
# - At a terminal each approval waits for a y. Without one, what every rule
#   allows is approved.
# - The age of a request is shown and not judged.
# For lab compact, okd 4.21, on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
WORKERS=''
STAGE=approve-worker-csrs RECORD=approve-worker-csrs
MARKER=''
NEXT='back to wait-for-operators.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"
# shellcheck source=lib/ending.sh
source "${SCRIPTS}/lib/ending.sh"

needs openssl jq flock
needs_input 'run get-tools.sh first' tools/oc
needs_input 'run make-ignition.sh first' install/auth/kubeconfig
runs_in_parallel
option '--watch' WATCH 'go on until every machine has both certificates'
option '--timeout=S' TIMEOUT 'with --watch, give up after S seconds'
begin "$@"

export CLUSTER_DOMAIN MACHINES="${WORKERS}" # for the programs in lib/
declined=' ' failed=no approved=()

ask() { timeout 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s "$@"; }

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

[[ -n ${MACHINES} ]] || finish_part 'approve-worker-csrs is done: this lab has no workers'

if step 1 'Judge each pending request, and approve what every rule allows'; then
  if [[ -z ${WATCH} ]]; then
    approve || give_up 'the cluster does not say what is asked of it' 'the answer is above'
    show_signatures
    bash "${SCRIPTS}/lib/machines.sh"
  else
    # Requests come minutes apart.
    TIMEOUT=${TIMEOUT:-$((SECONDS + 2400))}
    while true; do
      wait_for 2400 'requests of workers, until each has both certificates' news
      if approve; then show_signatures; fi
      ! complete "$(bash "${SCRIPTS}/lib/machines.sh")" || break
    done
  fi
  [[ ${failed} == no ]] || give_up 'a request could not be approved' 'the answer of oc is above'
fi 9>&-

# One look need not find all that is to come.
[[ -n ${WATCH} ]] || finish_part 'approve-worker-csrs is done; --verify shows what is missing'

finish
