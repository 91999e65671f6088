#!/usr/bin/env bash
# make-pki: Make the keys and certificates that a cluster is born with
#
# Nothing in a bootstrap is trusted by default. The API server shows a
# certificate under each name it has, every client shows one of its own, and a
# new node that knows neither trusts one CA that came with its Ignition. So the
# PKI stands before everything else: eleven roots for eleven purposes, so that a
# lost key opens one door only, and what the bootstrap's API server shows to
# others lasts a single day. The installer makes all of it in memory and packs
# it into bootstrap.ign; here it is made one file at a time.
#
# Writes: tls/
#         make-pki/
# Differs from openshift-install:
# - openssl makes the files one by one; openshift-install makes them in memory,
#   in Go.
# - Three pairs and a key lie in tls/ that no bootstrap node has there,
#   admin-kubeconfig-signer, admin-kubeconfig-client,
#   kubelet-bootstrap-kubeconfig-signer and root-ca.key.
# - A leaf's validity begins when it is made, not when its signer's does.
# - service-account.pub begins with PUBLIC KEY, where the installer writes RSA
#   PUBLIC KEY above the same bytes.
# - The lifetimes are always 24 hours, one year and ten years.
# - No bound-service-account-signing-key is made.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_DOMAIN='compact.bootlab.test'
KUBERNETES_SERVICE_ADDRESS='172.30.0.1'
STAGE=make-pki RECORD=make-pki
MARKER=make-pki.done
NEXT='make-kubeconfigs.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs openssl jq flock
invalidates unpack-bootstrap-ignition.done unpack-bootstrap-ignition.sh \
  'openshift-install made other keys, and the two do not mix'
option '--renew' RENEW 'make what lives 24 hours again, signers among it included'
# What --renew regenerates would not fit the files of another cluster.
if [[ " $* " == *' --renew '* && " $* " != *' --dry-run '* ]]; then
  [[ ! -e ${ASSET_DIR}/unpack-bootstrap-ignition.done ]] ||
    die 1 'the keys came out of a bootstrap.ign' \
      'make that file again and unpack it, or run make-pki.sh --force'
  set -- "$@" --force
fi
begin "$@"

umask 077
# openssl x509 would read all CAs of the system at every start.
export SSL_CERT_FILE=/dev/null
# Keys have the installer's format: openssl 3 calls it traditional, and openssl
# 1.1.1 knows no other.
genrsa=(openssl genrsa)
[[ $(openssl genrsa -help 2>&1) != *-traditional* ]] || genrsa+=(-traditional)
declare -A days=([24h]=1 [1y]=365 [10y]=3650)
declare -A shape=([signer]=CA:TRUE [client]=TLSWebClientAuthenticationCA:FALSE
  [server]=TLSWebServerAuthenticationCA:FALSE [ignition]=TLSWebServerAuthenticationCA:FALSE
  [both]='TLSWebServerAuthentication,TLSWebClientAuthenticationCA:FALSE')

# The rows in the steps below call these functions: a signer signs itself and
# others, a leaf is signed. Each makes tls/NAME.key and tls/NAME.crt, unless those
# that are there fit the row.
signer() { # NAME LIFETIME [SUBJECT]
  local subject="${3:-/OU=openshift/CN=$1}"
  ! fits "$1" "$1" "$2" signer "${subject}" '' || return 0
  "${genrsa[@]}" -out make-pki/key 2048
  openssl req -x509 -new -key make-pki/key -subj "${subject}" -days "${days[$2]}" \
    -config make-pki/openssl.cnf -extensions signer -out make-pki/crt
  put "$1" "$2"
}

leaf() { # NAME SIGNER LIFETIME USAGE SUBJECT [NAMES]
  local serial
  ! fits "$1" "$2" "$3" "$4" "$5" "${6:-}" || return 0
  "${genrsa[@]}" -out make-pki/key 2048
  # The request holds subject and public key. The signer decides about the rest.
  openssl req -new -key make-pki/key -subj "$5" -multivalue-rdn \
    -config make-pki/openssl.cnf -out "make-pki/$1.csr"
  serial="$(< /proc/sys/kernel/random/uuid)" # 16 of its random digits
  NAMES="${6:-}" openssl x509 -req -in "make-pki/$1.csr" -CA "tls/$2.crt" -CAkey "tls/$2.key" \
    -set_serial "0x${serial:24}${serial:0:4}" -days "${days[$3]}" \
    -extfile make-pki/openssl.cnf -extensions "$4" -out "make-pki/$1.crt" 2> make-pki/messages ||
    { cat make-pki/messages && return 1; }
  # The API server presents its signer after its own certificate.
  cp "make-pki/$1.crt" make-pki/crt
  [[ $4 != server ]] || cat "tls/$2.crt" >> make-pki/crt
  put "$1" "$3"
}

# First the old certificate and the markers of what was made from it go, so that a
# killed run leaves no key with the certificate of another.
put() { # NAME LIFETIME
  outdate "$2"
  [[ ! -e tls/$1.crt ]] || rm "tls/$1.crt"
  mv -f make-pki/key "tls/$1.key"
  mv -f make-pki/crt "tls/$1.crt"
}

# Kubeconfigs and manifests hold only what lives 10 years, the results of the
# renders more.
outdate() { # LIFETIME
  local lifetime marker script
  while read -r lifetime marker script; do
    [[ (${lifetime} == any || $1 == 10y) && -e ${marker} ]] || continue
    echo "run ${script} again: what it read is regenerated"
    rm -f "${marker}"
  done << 'END'
10y make-kubeconfigs.done make-kubeconfigs.sh
10y make-manifests.done make-manifests.sh
any kube-apiserver-bootstrap.done render-kube-apiserver.sh
any kube-controller-manager-bootstrap.done render-kcm.sh
any mco-bootstrap.done render-mco.sh
any cvo-bootstrap.done render-cvo.sh
any kube-scheduler-bootstrap.done render-scheduler.sh
any openshift-manifests.done copy-manifests.sh
any config-bootstrap.done render-config.sh
any etcd-bootstrap.done render-etcd.sh
any node-tuning-bootstrap.done render-node-tuning.sh
any cco-bootstrap.done render-cco.sh
any api-bootstrap.done render-api.sh
END
}

# True when key and certificate fit their row and stay; otherwise says why not.
fits() { # NAME SIGNER LIFETIME USAGE SUBJECT NAMES
  local crt="tls/$1.crt" why found public dates wanted="${5#/}"
  [[ -e ${crt} ]] || return 1
  wanted="${wanted//\//,}${shape[$4]}${6}"
  if ! found="$(openssl x509 -in "${crt}" -noout -pubkey -subject -nameopt sep_comma_plus -dates \
    -ext extendedKeyUsage,basicConstraints,subjectAltName)" ||
    ! public="$(openssl pkey -in "tls/$1.key" -pubout)"; then
    why='certificate or key cannot be read'
  elif [[ ${found} != *"${public}"* ]]; then
    why='it does not belong to its key'
  elif [[ $(sed -n 's/^subject=//p; s/^    //p' <<< "${found}" | tr --delete ' \n' |
    sed 's/IPAddress:/IP:/g; s/:0:0:0:0:0:0:0:1/:::1/') != "${wanted// /}" ]]; then
    why="subject, usage or names are not ${wanted}"
  elif ! openssl verify -no-CApath -no_check_time -CAfile "tls/$2.crt" "${crt}" \
    > make-pki/messages 2>&1; then
    why="it is not signed by tls/$2.crt as it is now"
  elif ! mapfile -t dates < <(sed -n 's/^not[A-Za-z]*=//p' <<< "${found}" | date --file=- +%s) ||
    ((dates[1] - dates[0] != days[$3] * 86400)); then
    why="its lifetime is not $3"
  elif ((dates[1] < EPOCHSECONDS + 3600)); then
    why='it has expired, or will within an hour'
  elif [[ ${FORCE:-no} == yes && (-z ${RENEW:-} || $3 == 24h) ]]; then
    why='as requested'
  else
    return 0
  fi
  echo "regenerating ${crt}: ${why}"
  return 1
}

bundle() { # NAME SIGNER...
  local files=("${@:2}")
  files=("${files[@]/#/tls/}")
  cat "${files[@]/%/.crt}" > make-pki/crt
  mv -f make-pki/crt "tls/$1.crt"
}

api=/O=kube-master/CN=system:kube-apiserver
proxy=/O=kube-master/CN=system:kube-apiserver-proxy
admin=/O=system:masters/CN=system:admin
groups=/O=system:serviceaccounts+O=system:serviceaccounts:openshift-machine-config-operator
bootstrapper=CN=system:serviceaccount:openshift-machine-config-operator:node-bootstrapper
service="$(printf 'DNS:%s,' {kubernetes,openshift}{,.default,.default.svc{,.cluster.local}})"

if step 1 'Write what a certificate may be used for'; then
  mkdir -p tls make-pki
  # $ENV::NAMES is filled in for each certificate.
  cat > make-pki/openssl.cnf << 'END'
NAMES = DNS:localhost
openssl_conf = modules
[req]
distinguished_name = subject
[subject]

# openssl allows a CN of 64 characters; node-bootstrapper's account has 72.
[modules]
stbl_section = lengths
[lengths]
CN = min:1,max:128

# A signer signs certificates. The installer's may also serve and log in, and
# so may this.
[signer]
keyUsage = critical, digitalSignature, keyEncipherment, keyCertSign
basicConstraints = critical, CA:TRUE
subjectKeyIdentifier = hash

# A client proves who it is: CN is the user, every O is a group.
[client]
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = clientAuth
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid

# A server proves its names. Clients no longer look at the subject.
[server]
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = serverAuth
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = $ENV::NAMES

[both]
keyUsage = critical, digitalSignature, keyEncipherment
extendedKeyUsage = serverAuth, clientAuth
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid

# The installer leaves the key usage of the Machine Config Server open.
[ignition]
extendedKeyUsage = serverAuth
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = $ENV::NAMES
END
  chmod 0644 make-pki/openssl.cnf
fi 9>&-

if step 2 'What a booting node trusts: the Machine Config Server'; then
  # root-ca: signs the next two; it comes to a booting node with its Ignition.
  signer root-ca 10y
  # The file is public. From 4.19 on its key goes into the cluster, in a Secret.
  chmod 0644 tls/root-ca.crt
  # machine-config-server: presented to every node that fetches its Ignition, also
  # to one that is added years later.
  leaf machine-config-server root-ca 10y ignition /CN=system:machine-config-server \
    "DNS:api-int.${CLUSTER_DOMAIN}"
  # journal-gatewayd: an OCP bootstrap node serves its journal with it on port
  # 19531, and the client that reads the journal uses the same.
  leaf journal-gatewayd root-ca 10y both '/O=OpenShift Bootstrap/CN=journal-gatewayd'
fi 9>&-

if step 3 'What the API server presents behind the load balancer'; then
  # kube-apiserver-lb-signer: kubeconfigs hold it, so 10 years.
  signer kube-apiserver-lb-signer 10y
  # The serving certificates live 24 hours: by then the API server's operator has
  # made its own. By SNI, the first is presented to people, the second to kubelets.
  leaf kube-apiserver-lb-server kube-apiserver-lb-signer 24h server "${api}" \
    "DNS:api.${CLUSTER_DOMAIN}"
  leaf kube-apiserver-internal-lb-server kube-apiserver-lb-signer 24h server "${api}" \
    "DNS:api-int.${CLUSTER_DOMAIN}"
fi 9>&-

if step 4 'What it presents on its own node, and to pods'; then
  # kube-apiserver-localhost-signer: it is in kubeconfig-loopback.
  signer kube-apiserver-localhost-signer 10y
  # For cluster-bootstrap, the scheduler and others on the same node.
  leaf kube-apiserver-localhost-server kube-apiserver-localhost-signer 24h server "${api}" \
    DNS:localhost,IP:127.0.0.1,IP:::1
  # kube-apiserver-service-network-signer: pods get it as ca.crt.
  signer kube-apiserver-service-network-signer 10y
  # Pods call the API by the name of its service, or by the service's address, the
  # first of the service network. Also presented when no other certificate fits.
  leaf kube-apiserver-service-network-server kube-apiserver-service-network-signer 24h server \
    "${api}" "${service}IP:${KUBERNETES_SERVICE_ADDRESS}"
fi 9>&-

if step 5 'The administrator'; then
  # Nothing in the cluster renews it, so 10 years. The group system:masters may do
  # everything, whatever RBAC says: this key opens a cluster whose logins are
  # broken, and the disk of a bootstrap node that holds it stays dangerous.
  signer admin-kubeconfig-signer 10y
  leaf admin-kubeconfig-client admin-kubeconfig-signer 10y both "${admin}"
fi 9>&-

if step 6 'Nodes'; then
  # kubelet-client: a new node asks for a certificate with it, and may do nothing
  # else. The approver of the requests compares both groups exactly.
  signer kubelet-bootstrap-kubeconfig-signer 10y
  leaf kubelet-client kubelet-bootstrap-kubeconfig-signer 10y client "${groups}/${bootstrapper}"
  # kubelet-signer: signs what nodes ask for. The controller manager of the
  # bootstrap node holds it for the first day.
  signer kubelet-signer 24h
fi 9>&-

if step 7 'Controller manager and scheduler'; then
  # kube-control-plane-signer: goes into a Secret, and the API server's operator
  # renews it. On the bootstrap node cluster-policy-controller serves with the first
  # leaf; controller manager and scheduler log in with kubeconfig-loopback.
  signer kube-control-plane-signer 1y
  leaf kube-control-plane-kube-controller-manager-client kube-control-plane-signer 1y client \
    "${admin}"
  leaf kube-control-plane-kube-scheduler-client kube-control-plane-signer 1y client "${admin}"
fi 9>&-

if step 8 'The API server as a client of kubelets'; then
  # For oc logs, oc exec and metrics.
  signer kube-apiserver-to-kubelet-signer 1y
  leaf kube-apiserver-to-kubelet-client kube-apiserver-to-kubelet-signer 1y client "${api}"
fi 9>&-

if step 9 'The API server as a client of other API servers'; then
  # apiserver-proxy: the API server of the bootstrap node passes requests on with it.
  signer aggregator-ca 24h /OU=bootkube/CN=aggregator
  leaf apiserver-proxy aggregator-ca 24h client "${proxy}"
  # aggregator-signer: a client that it signed may name another user in a request's
  # headers. The operator signs with it in the cluster; nothing on the bootstrap
  # node reads its leaf.
  signer aggregator-signer 24h
  leaf aggregator-client aggregator-signer 24h client "${proxy}"
fi 9>&-

if step 10 'The key that signs service account tokens'; then
  # The controller manager signs the first tokens with the key, the API server
  # checks them with the public half. The render of the API server makes a
  # bound-service-account-signing-key itself.
  if [[ -z ${FORCE:-} || ${FORCE} == no || -n ${RENEW:-} ]] && [[ -e tls/service-account.pub ]] &&
    openssl pkey -in tls/service-account.key -pubout | cmp -s - tls/service-account.pub; then
    echo 'tls/service-account.key fits'
  else
    outdate any
    "${genrsa[@]}" -out make-pki/key 2048
    openssl pkey -in make-pki/key -pubout -out make-pki/pub
    rm -f tls/service-account.pub
    mv -f make-pki/key tls/service-account.key
    mv -f make-pki/pub tls/service-account.pub
  fi
fi 9>&-

if step 11 'Bundles: whom the API trusts, and who trusts the API'; then
  # Kubeconfigs trust the API by this, and pods in the first hours.
  bundle kube-apiserver-complete-server-ca-bundle kube-apiserver-localhost-signer \
    kube-apiserver-service-network-signer kube-apiserver-lb-signer
  # Clients with a certificate of these log in at the API; kubelets get the file too.
  bundle kube-apiserver-complete-client-ca-bundle admin-kubeconfig-signer kubelet-signer \
    kube-control-plane-signer kube-apiserver-to-kubelet-signer kubelet-bootstrap-kubeconfig-signer
  # For cluster-policy-controller on the bootstrap node.
  bundle kube-control-plane-ca-bundle kube-control-plane-signer kube-apiserver-lb-signer \
    kube-apiserver-localhost-signer kube-apiserver-service-network-signer
  # By the first the API server trusts a kubelet that serves logs; nothing on the
  # bootstrap node reads the second.
  bundle kubelet-client-ca-bundle kubelet-signer
  bundle kubelet-serving-ca-bundle kubelet-signer
  # The other signers, under the names by which operators put them into ConfigMaps.
  bundle admin-kubeconfig-ca-bundle admin-kubeconfig-signer
  bundle kubelet-bootstrap-kubeconfig-ca-bundle kubelet-bootstrap-kubeconfig-signer
  bundle kube-apiserver-to-kubelet-ca-bundle kube-apiserver-to-kubelet-signer
  bundle kube-apiserver-lb-ca-bundle kube-apiserver-lb-signer
  bundle kube-apiserver-localhost-ca-bundle kube-apiserver-localhost-signer
  bundle kube-apiserver-service-network-ca-bundle kube-apiserver-service-network-signer
  bundle aggregator-ca-bundle aggregator-signer
  rm -f make-pki/messages
fi 9>&-

finish
