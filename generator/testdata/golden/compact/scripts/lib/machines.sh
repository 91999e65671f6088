#!/usr/bin/env bash
# machines.sh: how far the machines of the lab have come to be Nodes
#
# A program: scripts and checks call it in the asset directory with the machines in
# MACHINES, a name and an address on each line, and the domain in CLUSTER_DOMAIN. It
# prints a line for each: its Node, and what became of its newest request for a
# serving certificate.
set -euo pipefail

ask() {
  timeout --foreground 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s "$@"
}

nodes="$(ask get nodes --output=json)"
csrs="$(ask get csr --output=json)"
jq --raw-output --arg machines "${MACHINES}" --arg domain "${CLUSTER_DOMAIN}" \
  --slurpfile csrs <(cat <<< "${csrs}") '
  .items as $nodes | $machines | split("\n")[] | select(. != "") | split(" ")[0] | . as $name
  | [., . + "." + $domain] as $names
  | ($nodes | map(select(.metadata.name | IN($names[]))) | .[0]) as $node
  | ($csrs[0].items
      | map(select(.spec.signerName == "kubernetes.io/kubelet-serving"
          and .spec.username == "system:node:\($node.metadata.name)"))
      | sort_by(.metadata.creationTimestamp, .metadata.name) | .[-1]) as $csr
  | [$name, $node.metadata.name // "none",
      ([$node.status.addresses[]? | select(.type == "InternalIP").address] | join(" ")
        | if . == "" then "none" else . end),
      (if any($node.status.conditions[]?; .type == "Ready" and .status == "True")
        then "Ready" else "not Ready" end),
      (if $csr == null then "forgotten"
        else ([$csr.status.conditions[]?.type] | join(",") | if . == "" then "Pending" else . end)
          + (if $csr.status.certificate then ",Issued" else "" end) end)]
  | map(gsub("[^ -~]"; "?")) | @tsv' <<< "${nodes}" |
  while IFS=$'\t' read -r name node addresses ready serving; do
    # The API server forgets requests, approved ones after an hour. Then the kubelet
    # is asked, through the API server, which verifies its certificate.
    if [[ ${serving} == forgotten && ${node} != none ]] &&
      ask get --raw "/api/v1/nodes/${node}/proxy/healthz" < /dev/null > /dev/null 2>&1; then
      serving='in use'
    fi
    if [[ ${node} == none ]]; then
      echo "${name}: no Node"
    else
      echo "${name}: Node ${node} at ${addresses}, ${ready}, serving certificate ${serving}"
    fi
  done
