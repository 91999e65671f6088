#!/usr/bin/env bash
# verify-api: Reach the API by both of its names
#
# The last look before bootkube.sh ends: does the API answer where everybody
# will look for it, through DNS and the load balancer? The answers are recorded
# as check-api-url and check-api-int-url, where openshift-install analyze looks
# for them. As with the lookups, a bad answer stops nothing.
#
# In bootkube.sh: stage check-api-url,
#         "Check if API URL is reachable during bootstrap"
# Reads:  tls/kube-apiserver-complete-server-ca-bundle.crt
# Differs from bootkube.sh:
# - The server's certificate is verified against the cluster's own CAs.
# - A request ends after 15 s, and curl says what went wrong.
# - A name that is marked as reached must answer still, or it is asked and
#   recorded again.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
API_METHOD='--get'
API_PATH='readyz'
STAGE=verify-api RECORD=check-api-url
MARKER=api-dns-check.done
NEXT='finish-bootstrap.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs curl jq flock
needs_input 'it comes with bootstrap.ign: is this the bootstrap node?' \
  tls/kube-apiserver-complete-server-ca-bundle.crt
# shellcheck source=lib/part.sh
source "${SCRIPTS}/lib/part.sh"
# Each name has a record and a marker of its own.
# shellcheck disable=SC2034
RECORD='' MARKER='' MARKERS='api-dns-check.done api-int-dns-check.done'
begin "$@"

GOOD=200
ask() { # URL
  # --get: a GET of these paths is open to everybody, a HEAD is not
  # https://NAME:6443/readyz: answers 200 only when the API server is ready,
  # which is what a load balancer asks too
  curl --cacert tls/kube-apiserver-complete-server-ca-bundle.crt --silent --show-error --fail \
    --max-time 15 --write-out '%{http_code}\n' --output /dev/null \
    "${API_METHOD}" "$1"
}

if part api check-api-url api-dns-check.done \
  && step 1 'Check if API URL is reachable during bootstrap'; then
  target="https://api.${CLUSTER_DOMAIN}:6443/${API_PATH}"
  answer="$(ask "${target}" 2>&1)" || true
  echo "${answer:-nothing}"
  grep --quiet --line-regexp --extended-regexp --regexp="${GOOD}" <<< "${answer}" ||
    FAILURE="Unable to reach API_URL's https endpoint at ${target}"
fi 9>&-
end_part

if part api-int check-api-int-url api-int-dns-check.done \
  && step 2 'Check if API-Int URL is reachable during bootstrap'; then
  target="https://api-int.${CLUSTER_DOMAIN}:6443/${API_PATH}"
  answer="$(ask "${target}" 2>&1)" || true
  echo "${answer:-nothing}"
  grep --quiet --line-regexp --extended-regexp --regexp="${GOOD}" <<< "${answer}" ||
    FAILURE="Unable to reach API_INT_URL's https endpoint at ${target}"
fi 9>&-
end_part

finish_parts \
  'nodes and clients need these names; a load balancer may keep only this node from itself'
