#!/usr/bin/env bash
# unpack-bootstrap-ignition: the checks of the stage
#
# unpack-bootstrap-ignition.sh --verify runs this file. A check passes when its
# command succeeds. It runs in the asset directory, in a subshell with set -euo
# pipefail and the settings below. To repeat one check:
# checks/unpack-bootstrap-ignition.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_DOMAIN='compact.bootlab.test'
SERVICE_NETWORK='172.30.0.0/16'
# openssl x509 would read all CAs of the system at every start.
SSL_CERT_FILE=/dev/null
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check laid-out 'every unpacked file is still there' <<< \
  '[[ -s unpack-bootstrap-ignition/sha256sums ]]
  cut -c 67- unpack-bootstrap-ignition/sha256sums | while IFS= read -r name; do
    [[ -e ${name} ]] || { echo "${name} is missing" && false; }
  done'
check present 'the file was a bootstrap node'\''s' << 'COMMAND'
wc --bytes auth/kubeconfig auth/kubeconfig-kubelet auth/kubeconfig-loopback \
  manifests/cluster-config.yaml manifests/cluster-dns-02-config.yml \
  manifests/cluster-infrastructure-02-config.yml manifests/cluster-ingress-02-config.yml \
  manifests/cluster-network-02-config.yml manifests/cluster-proxy-01-config.yaml \
  manifests/cluster-scheduler-02-config.yml manifests/cvo-overrides.yaml \
  manifests/openshift-config-secret-pull-secret.yaml openshift/99_feature-gate.yaml \
  tls/root-ca.crt tls/service-account.key tls/service-account.pub | (! grep '^ *0 ')
COMMAND
check private 'no one else can read keys and Secrets' << 'COMMAND'
stat --format='%04a %n' auth/kubeconfig* tls/*.key manifests/*-secret.yaml openshift/*-secret.yaml |
  awk '$1 != "0600" { print; bad = 1 } END { exit bad }'
COMMAND
check key-pairs 'every certificate belongs to its key' <<< \
  'for file in tls/kube*-signer.crt tls/aggregator-signer.crt tls/aggregator-ca.crt \
    tls/kube*-server.crt tls/kube*-client.crt tls/machine-config-server.crt; do
    public=$(openssl x509 -in "${file}" -noout -pubkey)
    [[ ${public} == "$(openssl pkey -in "${file%.*}.key" -pubout)" ]] ||
      { echo "${file} does not belong to ${file%.*}.key" && false; }
  done'
check server-chain 'clients of the API trust its certificates' <<< \
  'openssl verify -no-CApath -CAfile tls/kube-apiserver-complete-server-ca-bundle.crt \
    tls/kube-apiserver-*-server.crt'
check fresh 'the 24-hour certificates have not expired' <<< \
  'certificates=(tls/kubelet-signer.crt tls/aggregator-signer.crt tls/kube-apiserver-*-server.crt)
  openssl verify -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"
  openssl verify -attime $((EPOCHSECONDS + 3600)) \
    -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"'
check domain 'the cluster has the lab'\''s name and domain' <<< \
  'grep -E -e "\\bbaseDomain\"?: *\"?${CLUSTER_DOMAIN}\"?(,|}| *$)" \
    manifests/cluster-dns-02-config.yml'
check service-network 'its services use the lab'\''s network' <<< \
  'grep -E -e "- *\"?${SERVICE_NETWORK}\"?(,|}| *$)" manifests/cluster-network-02-config.yml'
check platform 'its platform is none, like the lab'\''s' << 'COMMAND'
sed -n '/^  platformStatus:/,$p' manifests/cluster-infrastructure-02-config.yml |
  grep -x ' *type: None'
COMMAND

end_of_checks
