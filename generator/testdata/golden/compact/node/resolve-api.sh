#!/usr/bin/env bash
# resolve-api: Ask whether api and api-int resolve
#
# A mistake in DNS shows late, when masters cannot find api-int. So bootkube.sh
# asks for both names early and writes the answers into its records, as
# resolve-api-url and resolve-api-int-url. It never stops at a bad answer: the
# bootstrap itself works on localhost and does not need them.
#
# In bootkube.sh: stage resolve-api-url,
#         "Check if API URL is resolvable during bootstrap"
# Differs from bootkube.sh:
# - Only an address is an answer.
# - A name server has 3 s to answer and is asked twice.
# - A name that is marked as resolved must resolve still, or it is asked and
#   recorded again.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR=/opt/openshift
HOST_ROOT=''
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
STAGE=resolve-api RECORD=resolve-api-url
MARKER=api-dns-resolved.done NEXT='render-cco.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs dig jq flock
# shellcheck source=lib/part.sh
source "${SCRIPTS}/lib/part.sh"
# Each name has a record and a marker of its own.
# shellcheck disable=SC2034
RECORD='' MARKER='' MARKERS='api-dns-resolved.done api-int-dns-resolved.done'
begin "$@"

# Only an address is a good answer: to dig a name without one is a success.
GOOD='([0-9]+\.){3}[0-9]+'
ask() { # NAME
  dig +short +time=3 +tries=2 "$1"
}

if part api resolve-api-url api-dns-resolved.done \
  && step 1 'Check if API URL is resolvable during bootstrap'; then
  target="api.${CLUSTER_DOMAIN}"
  answer="$(ask "${target}" 2>&1)" || true
  echo "${answer:-nothing}"
  grep --quiet --line-regexp --extended-regexp --regexp="${GOOD}" <<< "${answer}" ||
    FAILURE="Unable to resolve API_URL ${target}"
fi 9>&-
end_part

if part api-int resolve-api-int-url api-int-dns-resolved.done \
  && step 2 'Check if API-Int URL is resolvable during bootstrap'; then
  target="api-int.${CLUSTER_DOMAIN}"
  answer="$(ask "${target}" 2>&1)" || true
  echo "${answer:-nothing}"
  grep --quiet --line-regexp --extended-regexp --regexp="${GOOD}" <<< "${answer}" ||
    FAILURE="Unable to resolve API_INT_URL ${target}"
fi 9>&-
end_part

finish_parts \
  'masters need these names for their configuration and for the API; the bootstrap uses localhost'
