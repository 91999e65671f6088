#!/usr/bin/env bash
# make-pki: the checks of the stage
#
# make-pki.sh --verify runs this file. A check passes when its command succeeds.
# It runs in the asset directory, in a subshell with set -euo pipefail and the
# settings below. To repeat one check: checks/make-pki.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_DOMAIN='compact.bootlab.test'
KUBERNETES_SERVICE_ADDRESS='172.30.0.1'
# openssl x509 would read all CAs of the system at every start.
SSL_CERT_FILE=/dev/null
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check present 'every key, certificate and bundle is there' << 'COMMAND'
wc --bytes tls/root-ca.crt tls/root-ca.key tls/machine-config-server.crt \
  tls/machine-config-server.key tls/journal-gatewayd.crt tls/journal-gatewayd.key \
  tls/kube-apiserver-lb-signer.crt tls/kube-apiserver-lb-signer.key \
  tls/kube-apiserver-lb-server.crt tls/kube-apiserver-lb-server.key \
  tls/kube-apiserver-internal-lb-server.crt tls/kube-apiserver-internal-lb-server.key \
  tls/kube-apiserver-localhost-signer.crt tls/kube-apiserver-localhost-signer.key \
  tls/kube-apiserver-localhost-server.crt tls/kube-apiserver-localhost-server.key \
  tls/kube-apiserver-service-network-signer.crt tls/kube-apiserver-service-network-signer.key \
  tls/kube-apiserver-service-network-server.crt tls/kube-apiserver-service-network-server.key \
  tls/admin-kubeconfig-signer.crt tls/admin-kubeconfig-signer.key tls/admin-kubeconfig-client.crt \
  tls/admin-kubeconfig-client.key tls/kubelet-bootstrap-kubeconfig-signer.crt \
  tls/kubelet-bootstrap-kubeconfig-signer.key tls/kubelet-client.crt tls/kubelet-client.key \
  tls/kubelet-signer.crt tls/kubelet-signer.key tls/kube-control-plane-signer.crt \
  tls/kube-control-plane-signer.key tls/kube-control-plane-kube-controller-manager-client.crt \
  tls/kube-control-plane-kube-controller-manager-client.key \
  tls/kube-control-plane-kube-scheduler-client.crt \
  tls/kube-control-plane-kube-scheduler-client.key tls/kube-apiserver-to-kubelet-signer.crt \
  tls/kube-apiserver-to-kubelet-signer.key tls/kube-apiserver-to-kubelet-client.crt \
  tls/kube-apiserver-to-kubelet-client.key tls/aggregator-ca.crt tls/aggregator-ca.key \
  tls/apiserver-proxy.crt tls/apiserver-proxy.key tls/aggregator-signer.crt \
  tls/aggregator-signer.key tls/aggregator-client.crt tls/aggregator-client.key \
  tls/service-account.key tls/service-account.pub tls/kube-apiserver-complete-server-ca-bundle.crt \
  tls/kube-apiserver-complete-client-ca-bundle.crt tls/kube-control-plane-ca-bundle.crt \
  tls/kubelet-client-ca-bundle.crt tls/kubelet-serving-ca-bundle.crt \
  tls/admin-kubeconfig-ca-bundle.crt tls/kubelet-bootstrap-kubeconfig-ca-bundle.crt \
  tls/kube-apiserver-to-kubelet-ca-bundle.crt tls/kube-apiserver-lb-ca-bundle.crt \
  tls/kube-apiserver-localhost-ca-bundle.crt tls/kube-apiserver-service-network-ca-bundle.crt \
  tls/aggregator-ca-bundle.crt | (! grep '^ *0 ')
COMMAND
check private 'no one else can read a key' << 'COMMAND'
stat --format='%04a %n' tls/*.key |
  awk '$1 != "0600" { print; bad = 1 } END { exit bad }'
COMMAND
check key-pairs 'every certificate belongs to its key' <<< \
  'for file in tls/root-ca.crt tls/*-signer.crt tls/aggregator-ca.crt tls/*-server.crt \
    tls/a*-client.crt tls/k*-client.crt tls/apiserver-proxy.crt tls/journal-gatewayd.crt; do
    public=$(openssl x509 -in "${file}" -noout -pubkey)
    [[ ${public} == "$(openssl pkey -in "${file%.*}.key" -pubout)" ]] ||
      { echo "${file} does not belong to ${file%.*}.key" && false; }
  done
  openssl pkey -pubin -in tls/service-account.pub -pubout |
    diff - <(openssl pkey -in tls/service-account.key -pubout)'
check server-chain 'clients of the API trust its certificates' <<< \
  'openssl verify -no-CApath -CAfile tls/kube-apiserver-complete-server-ca-bundle.crt \
    tls/kube-apiserver-lb-server.crt tls/kube-apiserver-internal-lb-server.crt \
    tls/kube-apiserver-localhost-server.crt tls/kube-apiserver-service-network-server.crt'
check client-chain 'the API trusts its clients'\'' certificates' <<< \
  'openssl verify -no-CApath -CAfile tls/kube-apiserver-complete-client-ca-bundle.crt \
    tls/admin-kubeconfig-client.crt tls/kubelet-client.crt \
    tls/kube-control-plane-kube-controller-manager-client.crt \
    tls/kube-control-plane-kube-scheduler-client.crt tls/kube-apiserver-to-kubelet-client.crt'
check ignition-chain 'a booting node trusts the Machine Config Server' <<< \
  'openssl verify -no-CApath -CAfile tls/root-ca.crt tls/machine-config-server.crt \
    tls/journal-gatewayd.crt'
check proxy-chain 'the bootstrap'\''s API server has its proxy certificate' <<< \
  'openssl verify -no-CApath -CAfile tls/aggregator-ca.crt tls/apiserver-proxy.crt'
check aggregator-chain 'the aggregator'\''s client has its signer' <<< \
  'openssl verify -no-CApath -CAfile tls/aggregator-ca-bundle.crt tls/aggregator-client.crt'
check admin-subject 'the administrator is in the group with all rights' << 'COMMAND'
openssl x509 -in tls/admin-kubeconfig-client.crt -noout -subject -nameopt RFC2253 |
  diff - <(printf '%s' subject= \
    CN=system:admin, \
    O=system:masters && echo)
COMMAND
check node-subject 'a new node logs in as node-bootstrapper' << 'COMMAND'
openssl x509 -in tls/kubelet-client.crt -noout -subject -nameopt RFC2253 |
  diff - <(printf '%s' subject= \
    CN=system:serviceaccount:openshift-machine-config-operator:node-bootstrapper, \
    O=system:serviceaccounts:openshift-machine-config-operator+O=system:serviceaccounts && echo)
COMMAND
check kubelet-subject 'the API server logs in to kubelets under its own name' << 'COMMAND'
openssl x509 -in tls/kube-apiserver-to-kubelet-client.crt -noout -subject -nameopt RFC2253 |
  diff - <(printf '%s' subject= \
    CN=system:kube-apiserver, \
    O=kube-master && echo)
COMMAND
check proxy-subject 'the API server logs in to other API servers as the proxy' << 'COMMAND'
openssl x509 -in tls/apiserver-proxy.crt -noout -subject -nameopt RFC2253 |
  diff - <(printf '%s' subject= \
    CN=system:kube-apiserver-proxy, \
    O=kube-master && echo)
COMMAND
check api-name 'the API has a certificate for its external name' << 'COMMAND'
openssl x509 -in tls/kube-apiserver-lb-server.crt -noout -ext subjectAltName |
  sed '1d; s/ //g; y/,/\n/' | sort |
  diff - <(printf '%s\n' "DNS:api.${CLUSTER_DOMAIN}" | sort)
COMMAND
check api-int-name 'the API has a certificate for its internal name' << 'COMMAND'
openssl x509 -in tls/kube-apiserver-internal-lb-server.crt -noout -ext subjectAltName |
  sed '1d; s/ //g; y/,/\n/' | sort |
  diff - <(printf '%s\n' "DNS:api-int.${CLUSTER_DOMAIN}" | sort)
COMMAND
check localhost-name 'the API has a certificate for localhost' << 'COMMAND'
openssl x509 -in tls/kube-apiserver-localhost-server.crt -noout -ext subjectAltName |
  sed '1d; s/ //g; y/,/\n/' | sort |
  diff - <(printf '%s\n' DNS:localhost IPAddress:127.0.0.1 IPAddress:0:0:0:0:0:0:0:1 | sort)
COMMAND
check service-name 'the API has a certificate for its service' << 'COMMAND'
openssl x509 -in tls/kube-apiserver-service-network-server.crt -noout -ext subjectAltName |
  sed '1d; s/ //g; y/,/\n/' | sort |
  diff - <(printf '%s\n' DNS:kubernetes DNS:kubernetes.default DNS:kubernetes.default.svc \
    DNS:kubernetes.default.svc.cluster.local DNS:openshift DNS:openshift.default \
    DNS:openshift.default.svc DNS:openshift.default.svc.cluster.local \
    "IPAddress:${KUBERNETES_SERVICE_ADDRESS}" | sort)
COMMAND
check ignition-name \
  'the Machine Config Server has a certificate for the name that nodes use' << 'COMMAND'
openssl x509 -in tls/machine-config-server.crt -noout -ext subjectAltName |
  sed '1d; s/ //g; y/,/\n/' | sort |
  diff - <(printf '%s\n' "DNS:api-int.${CLUSTER_DOMAIN}" | sort)
COMMAND
check server-usage 'serving certificates can only serve' << 'COMMAND'
signers=$(cat tls/root-ca.crt tls/*-signer.crt tls/aggregator-ca.crt)
openssl verify -no-CApath -no_check_time -CAfile <(echo "${signers}") -purpose sslserver \
  tls/*-server.crt
! (openssl verify -no-CApath -no_check_time -CAfile <(echo "${signers}") -purpose sslclient \
  tls/*-server.crt || true) |& grep ': OK$'
COMMAND
check client-usage 'client certificates can only log in' << 'COMMAND'
signers=$(cat tls/root-ca.crt tls/*-signer.crt tls/aggregator-ca.crt)
openssl verify -no-CApath -no_check_time -CAfile <(echo "${signers}") -purpose sslclient \
  tls/kube*-client.crt tls/aggregator-client.crt tls/apiserver-proxy.crt
! (openssl verify -no-CApath -no_check_time -CAfile <(echo "${signers}") -purpose sslserver \
  tls/kube*-client.crt tls/aggregator-client.crt tls/apiserver-proxy.crt || true) |&
  grep ': OK$'
COMMAND
check both-usages \
  'the administrator'\''s and the journal'\''s certificates can do both' <<< \
  'signers=$(cat tls/root-ca.crt tls/*-signer.crt tls/aggregator-ca.crt)
  openssl verify -no-CApath -no_check_time -CAfile <(echo "${signers}") -purpose sslserver \
    tls/admin-kubeconfig-client.crt tls/journal-gatewayd.crt
  openssl verify -no-CApath -no_check_time -CAfile <(echo "${signers}") -purpose sslclient \
    tls/admin-kubeconfig-client.crt tls/journal-gatewayd.crt'
check fresh 'the 24-hour certificates have not expired' <<< \
  'certificates=(tls/kubelet-signer.crt tls/aggregator-ca.crt tls/apiserver-proxy.crt \
    tls/aggregator-signer.crt tls/aggregator-client.crt tls/kube*-server.crt)
  openssl verify -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"
  openssl verify -attime $((EPOCHSECONDS + 3600)) \
    -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"'
check server-bundle 'the bundle for clients of the API is complete' << 'COMMAND'
grep -q -e '-BEGIN CERTIFICATE-' tls/kube-apiserver-complete-server-ca-bundle.crt
cat tls/kube-apiserver-localhost-signer.crt tls/kube-apiserver-service-network-signer.crt \
  tls/kube-apiserver-lb-signer.crt |
  sort | diff - <(sort tls/kube-apiserver-complete-server-ca-bundle.crt)
COMMAND
check client-bundle 'the bundle of those who may log in is complete' << 'COMMAND'
grep -q -e '-BEGIN CERTIFICATE-' tls/kube-apiserver-complete-client-ca-bundle.crt
cat tls/admin-kubeconfig-signer.crt tls/kubelet-signer.crt tls/kube-control-plane-signer.crt \
  tls/kube-apiserver-to-kubelet-signer.crt tls/kubelet-bootstrap-kubeconfig-signer.crt |
  sort | diff - <(sort tls/kube-apiserver-complete-client-ca-bundle.crt)
COMMAND
check rows 'every certificate and every bundle is as the installer makes it' << 'COMMAND'
# The first certificate of each file: that of a server is followed by its signer.
text=$(awk 'FNR == 1 { on = 1 } on; /-END/ { on = 0 }' tls/root-ca.crt tls/*-signer.crt \
  tls/aggregator-ca.crt tls/*-server.crt tls/[ak]*-client.crt tls/apiserver-proxy.crt \
  tls/journal-gatewayd.crt | openssl crl2pkcs7 -nocrl -certfile /dev/stdin |
  openssl pkcs7 -print_certs -noout -text)
paste -d ' ' <(awk '
    /Issuer:/ { sub(/.*CN ?= ?/, ""); issuer = $0 }
    /Subject:/ { sub(/.*Subject: |.*service.*:/, ""); gsub(/(OU|O|CN) ?= ?|,/, ""); name = $0 }
    /Extended Key Usage/ { getline; gsub(/ |TLS Web|Authentication/, ""); usage = $0 }
    /CA:TRUE/ { usage = usage "CA" }
    /Signature Algorithm/ && name { print name, "by", issuer, usage; name = usage = "" }
  ' <<< "${text}") \
  <(sed -n 's/^ *Not .*: //p' <<< "${text}" | date --file=- +%s | paste - - |
    awk '{ print ($2 - $1) / 86400 }') | sort | diff - <(sort << 'END'
openshift root-ca by root-ca CA 3650
system:machine-config-server by root-ca Server 3650
OpenShift Bootstrap journal-gatewayd by root-ca Server,Client 3650
openshift kube-apiserver-lb-signer by kube-apiserver-lb-signer CA 3650
kube-master system:kube-apiserver by kube-apiserver-lb-signer Server 1
kube-master system:kube-apiserver by kube-apiserver-lb-signer Server 1
openshift kube-apiserver-localhost-signer by kube-apiserver-localhost-signer CA 3650
kube-master system:kube-apiserver by kube-apiserver-localhost-signer Server 1
openshift kube-apiserver-service-network-signer by kube-apiserver-service-network-signer CA 3650
kube-master system:kube-apiserver by kube-apiserver-service-network-signer Server 1
openshift admin-kubeconfig-signer by admin-kubeconfig-signer CA 3650
system:masters system:admin by admin-kubeconfig-signer Server,Client 3650
openshift kubelet-bootstrap-kubeconfig-signer by kubelet-bootstrap-kubeconfig-signer CA 3650
node-bootstrapper by kubelet-bootstrap-kubeconfig-signer Client 3650
openshift kubelet-signer by kubelet-signer CA 1
openshift kube-control-plane-signer by kube-control-plane-signer CA 365
system:masters system:admin by kube-control-plane-signer Client 365
system:masters system:admin by kube-control-plane-signer Client 365
openshift kube-apiserver-to-kubelet-signer by kube-apiserver-to-kubelet-signer CA 365
kube-master system:kube-apiserver by kube-apiserver-to-kubelet-signer Client 365
bootkube aggregator by aggregator CA 1
kube-master system:kube-apiserver-proxy by aggregator Client 1
openshift aggregator-signer by aggregator-signer CA 1
kube-master system:kube-apiserver-proxy by aggregator-signer Client 1
END
)
cat tls/kube-control-plane-signer.crt tls/kube-apiserver-lb-signer.crt \
  tls/kube-apiserver-localhost-signer.crt tls/kube-apiserver-service-network-signer.crt |
  cmp - tls/kube-control-plane-ca-bundle.crt
for name in admin-kubeconfig kubelet-bootstrap-kubeconfig kube-apiserver-to-kubelet \
  kube-apiserver-lb kube-apiserver-localhost kube-apiserver-service-network aggregator; do
  cmp "tls/${name}-signer.crt" "tls/${name}-ca-bundle.crt"
done
cmp tls/kubelet-signer.crt tls/kubelet-client-ca-bundle.crt
cmp tls/kubelet-signer.crt tls/kubelet-serving-ca-bundle.crt
COMMAND
check signers 'the current signer signed every certificate' <<< \
  'openssl verify -no-CApath -no_check_time -CAfile \
    <(cat tls/root-ca.crt tls/*-signer.crt tls/aggregator-ca.crt) \
    tls/*-signer.crt tls/*-server.crt tls/[ak]*-client.crt tls/apiserver-proxy.crt \
    tls/journal-gatewayd.crt'

end_of_checks
