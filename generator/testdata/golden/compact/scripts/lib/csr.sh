#!/usr/bin/env bash
# csr.sh: the pending requests for certificates, each with a verdict
#
# A program: approve-csrs.sh and its checks call it in the asset directory with the
# machines of the lab in MACHINES, a name and an address on each line, and the domain
# in CLUSTER_DOMAIN. It prints the lines of csr.jq, which is the judge.
set -euo pipefail

ask() {
  timeout --foreground 20 tools/oc --kubeconfig install/auth/kubeconfig --request-timeout=15s "$@"
}

# A request says twice who it is for: the sender is what the API server saw, the
# inside is what the certificate would say. openssl opens it, and only one PEM block
# of a usual size: openssl and the signer cannot read two different ones. It opens the
# pending requests of kubelets and, if a first certificate is among them, also those
# that were issued.
open_requests() {
  local at text said inside
  jq --raw-output '
    def client: .spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet";
    def kubelets: client or .spec.signerName == "kubernetes.io/kubelet-serving";
    def pending: any(.status.conditions[]?; .type | IN("Approved", "Denied", "Failed")) | not;
    any(.items[]; client and pending) as $first | .items | to_entries[]
    | select(.value | kubelets and pending or $first and client and .status.certificate != null)
    | [.key, (.value.spec.request | select(length < 8000) | try @base64d catch ""
      | select(test("\\A-----BEGIN CERTIFICATE REQUEST-----\n[A-Za-z0-9+/=\n]+"
        + "-----END CERTIFICATE REQUEST-----\n?\\z")))]
    | @tsv' <<< "${csrs}" |
    while IFS=$'\t' read -r at text; do
      text="${text//'\n'/$'\n'}"
      said="$(openssl req -noout -verify -subject -nameopt RFC2253 2>&1 <<< "${text}")" || true
      inside="$(openssl asn1parse 2>&1 <<< "${text}")" || true
      # Too long for a command line; each of the three ends with FS, and holds none.
      printf '%s\x1c' "${at}" "${said//$'\x1c'/}" "${inside//$'\x1c'/}"
    done 2> /dev/null |
    jq --raw-input --slurp 'split("\u001c") | [range(0; length - 2; 3) as $i
      | {key: .[$i], value: {said: .[$i + 1], inside: .[$i + 2]}}] | from_entries'
}

nodes="$(ask get nodes --output=json)"
csrs="$(ask get csr --output=json)"
opened="$(open_requests)"
jq --slurpfile opened <(cat <<< "${opened}") \
  '.items | to_entries | map(.value + {opened: $opened[0]["\(.key)"]})' <<< "${csrs}" |
  jq --raw-output --arg machines "${MACHINES}" --arg domain "${CLUSTER_DOMAIN}" \
    --slurpfile nodes <(cat <<< "${nodes}") --from-file "${BASH_SOURCE[0]%.sh}.jq"
