#!/usr/bin/env bash
# verify-api: Reach the API by both of its names
#
# The last look before bootkube.sh ends: does the API answer where everybody
# will look for it, through DNS and the load balancer? The answers are recorded
# as check-api-url and check-api-int-url, where openshift-install analyze looks
# for them. As with the lookups, a bad answer stops nothing.
#
# In bootkube.sh: stage check-api-url, "Check if API URL is reachable during bootstrap"
# Reads:  tls/kube-apiserver-complete-server-ca-bundle.crt
# Differs from bootkube.sh:
# - The server's certificate is verified against the cluster's own CAs.
# - A request ends after 15 s, and curl says what went wrong.
# - A name that is marked as reached must answer still, or it is asked and
# recorded again.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly CLUSTER_DOMAIN='compact.bootlab.test'
# One script, two stages of bootkube.sh: how it is called chooses.
case " $* " in
  *' --resolve '*)
    readonly STAGE='resolve-api' CALL='verify-api.sh --resolve' NEXT='render-cco.sh'
    readonly MARKERS=('api-dns-resolved.done' 'api-int-dns-resolved.done') NEEDS=(dig jq flock) ;;
  *)
    readonly STAGE='verify-api' CALL='verify-api.sh' NEXT='finish-bootstrap.sh'
    readonly MARKERS=('api-dns-check.done' 'api-int-dns-check.done') NEEDS=(curl jq flock) ;;
esac

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

# With --resolve this is resolve-api: Ask whether api and api-int resolve
#
# A mistake in DNS shows late, when masters cannot find api-int. So bootkube.sh
# asks for both names early and writes the answers into its records, as
# resolve-api-url and resolve-api-int-url. It never stops at a bad answer: the
# bootstrap itself works on localhost and does not need them.
#
# In bootkube.sh: stage resolve-api-url, "Check if API URL is resolvable during bootstrap"
# Differs from bootkube.sh:
# - Only an address is an answer.
# - A name server has 3 s to answer and is asked twice.
# - A name that is marked as resolved must resolve still, or it is asked and
# recorded again.
UNABLE=0 REQUEST=() GOOD=''

check_inputs() {
  [[ ${STAGE} != verify-api ]] || need_input tls/kube-apiserver-complete-server-ca-bundle.crt 'it comes with bootstrap.ign: is this the bootstrap node?'
}

own_usage() {
  printf '  %-10s %s\n' '--resolve' 'the stage resolve-api, which asks only whether the names resolve'
}
own_option() { [[ $1 == --resolve ]]; }

# What is asked of a host, and the line that a good answer holds.
request() { # HOST
  if [[ ${STAGE} != verify-api ]]; then
    REQUEST=(dig +short +time=3 +tries=2 "$1") GOOD='([0-9]+\.){3}[0-9]+'
    return
  fi
  # --get: a GET of these paths is open to everybody, a HEAD is not
  # https://NAME:6443/readyz: answers 200 only when the API server is ready,
  # which is what a load balancer asks too
  REQUEST=(curl --cacert tls/kube-apiserver-complete-server-ca-bundle.crt --silent --show-error --fail
    --max-time 15 --write-out '%{http_code}\n' --output /dev/null
    --get "https://$1:6443/readyz") GOOD=200
}

# The exit status says little: to dig a name without an address is a success.
answer() {
  local text
  text="$(attempt "${REQUEST[@]}" 2>&1)" || true
  echo "${text:-nothing}"
  grep --quiet --line-regexp --extended-regexp --regexp="${GOOD}" <<< "${text}"
}

api_answers() { request "api.${CLUSTER_DOMAIN}"; answer; }
api_int_answers() { request "api-int.${CLUSTER_DOMAIN}"; answer; }

# Each name has a record of its own, with the message that bootkube.sh logs, and
# a marker if it is good.
ask() { # NAME RECORD MARKER MESSAGE CAUSE HINT
  local found message
  request "$1.${CLUSTER_DOMAIN}"
  if [[ ${MODE} != dry-run ]]; then
    if [[ ${FORCE} == no && -e $3 ]] && answer > /dev/null; then
      log "$1 was asked before, and its answer is good still"
      return
    fi
    rm --force "$3"
    RECORD=$2
    record 'stage start'
  fi
  show '' "${REQUEST[@]}" || return 0
  if found="$(answer)"; then
    echo "${found}"
    [[ -z $3 ]] || touch "$3"
    record 'stage end' success
    return
  fi
  UNABLE=$((UNABLE + 1)) message="$4 ${REQUEST[-1]}"
  record 'stage end' failure "${BASH_LINENO[0]} ${FUNCNAME[1]} ${CALL%% *}" "${message}"
  printf '%s\n%s\n  cause: %s\n  hint: %s\n' "${found}" "${message}" "$5" "$6"
}

do_stage() {
  if [[ ${STAGE} == resolve-api ]]; then
    log 'Check if API URL is resolvable during bootstrap'
    ask api resolve-api-url api-dns-resolved.done 'Unable to resolve API_URL' \
      'The name api of the cluster has no address record that this node can see.' \
      'Add the record, or correct the node'\''s name server; then restart bootkube, or go on, for nothing waits for it.'
    log 'Check if API-Int URL is resolvable during bootstrap'
    ask api-int resolve-api-int-url api-int-dns-resolved.done 'Unable to resolve API_INT_URL' \
      'The name api-int of the cluster has no address record that this node can see.' \
      'Add the record before masters are started; their Ignition file names api-int and nothing else.'
  fi
  if [[ ${STAGE} == verify-api ]]; then
    log 'Check if API URL is reachable during bootstrap'
    ask api check-api-url api-dns-check.done 'Unable to reach API_URL'\''s https endpoint at' \
      'The name leads to an address where nothing answers, to a server without a certificate of this cluster, or to an API server that is not ready.' \
      'Look at the load balancer'\''s port 6443 and at its view of the backends.'
    log 'Check if API-Int URL is reachable during bootstrap'
    ask api-int check-api-int-url api-int-dns-check.done 'Unable to reach API_INT_URL'\''s https endpoint at' \
      'The name leads to an address where nothing answers, to a server without a certificate of this cluster, or to an API server that is not ready.' \
      'Look at the load balancer'\''s port 6443; without api-int no node stays in the cluster.'
  fi
}

marked() {
  local marker
  for marker in "${MARKERS[@]}"; do [[ -e ${marker} ]] || return 1; done
  ((${#MARKERS[@]} > 0))
}

# As in bootkube.sh, a bad answer stops nothing: what follows does not need it.
whole_stage() {
  local meaning='masters find neither their configuration nor the API without these names; the bootstrap itself uses localhost'
  [[ ${STAGE} != verify-api ]] || meaning='nodes and clients need these names; a load balancer may keep only this node from itself'
  begin
  do_stage
  if ((UNABLE == 0)); then log "${STAGE} is done${NEXT:+; next: ${NEXT}}"; return; fi
  log "${UNABLE} of 2 names failed, which is recorded and stops nothing: ${meaning}"
  log "${CALL} asks again what failed${NEXT:+; next: ${NEXT}}"
}

verify() {
  if [[ ${STAGE} == resolve-api ]]; then
    check api 'api resolves' \
      'at least one address' \
      'Look at the lab'\''s DNS on the gateway, and at /etc/resolv.conf on this node.' \
      api_answers
    check api-int 'api-int resolves' \
      'at least one address' \
      'Look at the lab'\''s DNS on the gateway, and at /etc/resolv.conf on this node; masters fetch their configuration by this name.' \
      api_int_answers
  fi
  if [[ ${STAGE} == verify-api ]]; then
    check api 'api answers' \
      'status 200, with a certificate of the cluster' \
      'Look at the load balancer'\''s port 6443 on the gateway; it must send to masters whose /readyz is 200.' \
      api_answers
    check api-int 'api-int answers' \
      'status 200, with a certificate of the cluster' \
      'Look at the load balancer'\''s port 6443 on the gateway; nodes and operators use this name.' \
      api_int_answers
  fi
}

# Said at once, by ask.
usual_failures() { :; }
stage_main "$@"
