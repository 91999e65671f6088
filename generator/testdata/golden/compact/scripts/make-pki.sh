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
# in Go.
# - Three pairs and a key lie in tls/ that no bootstrap node has there,
# admin-kubeconfig-signer, admin-kubeconfig-client,
# kubelet-bootstrap-kubeconfig-signer and root-ca.key.
# - A leaf's validity begins when it is made, not when its signer's does.
# - service-account.pub begins with PUBLIC KEY, where the installer writes RSA
# PUBLIC KEY above the same bytes.
# - The lifetimes are always 24 hours, one year and ten years.
# - No bound-service-account-signing-key is made.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly KUBERNETES_SERVICE_ADDRESS='172.30.0.1'
readonly STAGE='make-pki' CALL='make-pki.sh' RECORD='make-pki' MARKER='make-pki.done'
readonly NEEDS=(openssl jq flock) NEXT='make-kubeconfigs.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

# Everything that is made, one row each, signers above what they sign:
#   signer   NAME LIFETIME [SUBJECT]
#   leaf     NAME SIGNER LIFETIME USAGE SUBJECT [NAMES]
#   ca_file  NAME SIGNER...
#   key_only NAME
# What lives 24h is there to be replaced: the operators make their own within
# the first day. A disk image of the bootstrap node stays dangerous: the
# signers' keys and the administrator's kubeconfig are on it.
pki() {
  local api=CN=system:kube-apiserver,O=kube-master admin=CN=system:admin,O=system:masters
  local proxy=CN=system:kube-apiserver-proxy,O=kube-master groups=O=system:serviceaccounts service
  local operator=openshift-machine-config-operator
  service="$(printf 'DNS:%s ' {kubernetes,openshift}{,.default,.default.svc,.default.svc.cluster.local})"

  # root-ca: signs the next two; a booting node trusts the Machine Config Server by it.
  signer root-ca 10y
  # machine-config-server: shown to every node that fetches its Ignition, to one added years later too.
  leaf machine-config-server root-ca 10y ignition CN=system:machine-config-server \
    "DNS:api-int.${CLUSTER_DOMAIN}"
  # journal-gatewayd: shown by an OCP bootstrap node's journal on port 19531, and by who reads it from afar.
  leaf journal-gatewayd root-ca 10y both 'CN=journal-gatewayd,O=OpenShift Bootstrap'

  # kube-apiserver-lb-signer: signs what the API shows behind the load balancer; it is in kubeconfigs, so 10y.
  signer kube-apiserver-lb-signer 10y
  # kube-apiserver-lb-server: shown by the API server to people and to all who come from outside, by SNI.
  leaf kube-apiserver-lb-server kube-apiserver-lb-signer 24h server "${api}" "DNS:api.${CLUSTER_DOMAIN}"
  # kube-apiserver-internal-lb-server: shown by the API server to kubelets and to all who come from nodes.
  leaf kube-apiserver-internal-lb-server kube-apiserver-lb-signer 24h server "${api}" \
    "DNS:api-int.${CLUSTER_DOMAIN}"
  # kube-apiserver-localhost-signer: signs what the API shows on its own node; it is in kubeconfig-loopback.
  signer kube-apiserver-localhost-signer 10y
  # kube-apiserver-localhost-server: shown to neighbours on the node: cluster-bootstrap, scheduler and others.
  leaf kube-apiserver-localhost-server kube-apiserver-localhost-signer 24h server "${api}" \
    'DNS:localhost IP:127.0.0.1 IP:::1'
  # kube-apiserver-service-network-signer: signs what the API shows to pods; pods get it as ca.crt.
  signer kube-apiserver-service-network-signer 10y
  # kube-apiserver-service-network-server: shown to pods, which call the API by the name of its service, or by
  # the service's address, the first of the service network. Also shown when no other certificate fits.
  leaf kube-apiserver-service-network-server kube-apiserver-service-network-signer 24h server \
    "${api}" "${service}IP:${KUBERNETES_SERVICE_ADDRESS}"

  # admin-kubeconfig-signer: vouches for the administrator; nothing in the cluster renews it, so 10y.
  signer admin-kubeconfig-signer 10y
  # admin-kubeconfig-client: shown to the API by oc with auth/kubeconfig. The group system:masters may do
  # everything, whatever RBAC says: this is the key that opens a cluster in which logins are broken.
  leaf admin-kubeconfig-client admin-kubeconfig-signer 10y both "${admin}"
  # kubelet-bootstrap-kubeconfig-signer: vouches for nodes that have no certificate of their own yet.
  signer kubelet-bootstrap-kubeconfig-signer 10y
  # kubelet-client: shown to the API by a new node, out of kubeconfig-kubelet; good for asking for a
  # certificate and for nothing else. The approver of the requests compares both groups exactly.
  leaf kubelet-client kubelet-bootstrap-kubeconfig-signer 10y client \
    "CN=system:serviceaccount:${operator}:node-bootstrapper,${groups}:${operator}+${groups}"
  # kubelet-signer: signs what nodes ask for. The bootstrap's controller manager holds it for the first day.
  signer kubelet-signer 24h
  # kube-control-plane-signer: vouches for controller manager and scheduler; goes into a Secret, where the API
  # server's operator renews it.
  signer kube-control-plane-signer 1y
  # kube-control-plane-kube-controller-manager-client: made for the controller manager; on the bootstrap node
  # the cluster-policy-controller serves with it, and the controller manager comes with kubeconfig-loopback.
  leaf kube-control-plane-kube-controller-manager-client kube-control-plane-signer 1y client "${admin}"
  # kube-control-plane-kube-scheduler-client: made for the scheduler; it comes with kubeconfig-loopback too.
  leaf kube-control-plane-kube-scheduler-client kube-control-plane-signer 1y client "${admin}"

  # kube-apiserver-to-kubelet-signer: vouches for the API server where it is the client itself.
  signer kube-apiserver-to-kubelet-signer 1y
  # kube-apiserver-to-kubelet-client: shown by the API server to kubelets, for oc logs, oc exec and metrics.
  leaf kube-apiserver-to-kubelet-client kube-apiserver-to-kubelet-signer 1y client "${api}"
  # aggregator-ca: vouches for the next one, on the bootstrap node only.
  signer aggregator-ca 24h CN=aggregator,OU=bootkube
  # apiserver-proxy: shown by the bootstrap's API server to others that it passes requests on to.
  leaf apiserver-proxy aggregator-ca 24h client "${proxy}"
  # aggregator-signer: who shows a certificate from it may name another user in a request's headers. The
  # operator goes on signing with it in the cluster.
  signer aggregator-signer 24h
  # aggregator-client: the same role under that signer; the operator makes its own, nothing here reads this.
  leaf aggregator-client aggregator-signer 24h client "${proxy}"

  # kube-apiserver-complete-server-ca-bundle: trusted by kubeconfigs, and by pods in the first hours.
  ca_file kube-apiserver-complete-server-ca-bundle kube-apiserver-localhost-signer \
    kube-apiserver-service-network-signer kube-apiserver-lb-signer
  # kube-apiserver-complete-client-ca-bundle: who may log in at the API; kubelets get this file too.
  ca_file kube-apiserver-complete-client-ca-bundle admin-kubeconfig-signer kubelet-signer \
    kube-control-plane-signer kube-apiserver-to-kubelet-signer kubelet-bootstrap-kubeconfig-signer
  # kube-control-plane-ca-bundle: trusted by the cluster-policy-controller of the bootstrap node.
  ca_file kube-control-plane-ca-bundle kube-control-plane-signer kube-apiserver-lb-signer \
    kube-apiserver-localhost-signer kube-apiserver-service-network-signer
  # kubelet-client-ca-bundle: with it the API server trusts a kubelet that serves logs.
  ca_file kubelet-client-ca-bundle kubelet-signer
  # kubelet-serving-ca-bundle: the same under another name; nothing on the bootstrap node reads it.
  ca_file kubelet-serving-ca-bundle kubelet-signer
  # The other signers alone, under the names by which operators put them into ConfigMaps.
  ca_file admin-kubeconfig-ca-bundle admin-kubeconfig-signer
  ca_file kubelet-bootstrap-kubeconfig-ca-bundle kubelet-bootstrap-kubeconfig-signer
  ca_file kube-apiserver-to-kubelet-ca-bundle kube-apiserver-to-kubelet-signer
  ca_file kube-apiserver-lb-ca-bundle kube-apiserver-lb-signer
  ca_file kube-apiserver-localhost-ca-bundle kube-apiserver-localhost-signer
  ca_file kube-apiserver-service-network-ca-bundle kube-apiserver-service-network-signer
  ca_file aggregator-ca-bundle aggregator-signer

  # service-account: the controller manager signs the first service account tokens with the key, the API
  # server knows them by the public half. A bound-service-account-signing-key is not made here: the API
  # server's render makes that pair when it finds none.
  key_only service-account
}

# What a certificate may be used for. $ENV::NAMES is filled in by each command.
openssl_settings() {
  write_file 0644 make-pki/openssl.cnf << 'END'
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

# A signer signs certificates. That it may do more has no use here, but the
# installer's may, and so may this.
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

# A server proves its names. The subject plays no part in that any more.
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
}

declare -rA DAYS=([24h]=1 [1y]=365 [10y]=3650)
declare -rA SHAPE=([signer]=' CA:TRUE' [client]=' clientAuth CA:FALSE' [server]=' serverAuth CA:FALSE'
  [both]=' serverAuth,clientAuth CA:FALSE' [ignition]=' serverAuth CA:FALSE')
# Keys in the installer's format, which openssl 3 calls traditional and openssl
# 1.1.1 writes without being asked.
GENRSA=(openssl genrsa)
[[ $(openssl genrsa -help 2>&1) != *-traditional* ]] || GENRSA+=(-traditional)
# REDO: the lifetime whose rows are made although they fit, or all. MADE: the
# lifetimes of what was made. LOOKING: rows are looked at, not made.
REDO='' MADE='' LOOKING=no MISFITS=0

signer() { certificate "$1" "$1" "$2" signer "${3:-CN=$1,OU=openshift}" ''; }
leaf() { certificate "$1" "$2" "$3" "$4" "$5" "${6:-}"; }

certificate() { # NAME SIGNER LIFETIME USAGE SUBJECT NAMES
  local name=$1 part parts subject=''
  if stays "tls/$1.crt" "$3" certificate_fits "$@"; then return; fi
  MADE+=" $3"
  IFS=, read -ra parts <<< "$5"
  for part in "${parts[@]}"; do subject="/${part}${subject}"; done
  run_to "tls/${name}.key" "${GENRSA[@]}" 2048
  # A signer signs itself. Anyone else hands in a request, with subject and
  # public key, and the signer decides about the rest.
  if [[ $4 == signer ]]; then
    run_to "tls/${name}.crt" openssl req -x509 -new -key "tls/${name}.key" -subj "${subject}" \
      -days "${DAYS[$3]}" -config make-pki/openssl.cnf -extensions signer
    return
  fi
  run_to "make-pki/${name}.csr" openssl req -new -key "tls/${name}.key" -subj "${subject}" -multivalue-rdn \
    -config make-pki/openssl.cnf
  run_to "make-pki/${name}.crt" env NAMES="${6// /,}" openssl x509 -req -in "make-pki/${name}.csr" \
    -CA "tls/$2.crt" -CAkey "tls/$2.key" -set_serial "0x$(openssl rand -hex 8)" -days "${DAYS[$3]}" \
    -extfile make-pki/openssl.cnf -extensions "$4"
  # The API server shows its signer behind its own certificate.
  parts=("make-pki/${name}.crt")
  [[ $4 != server ]] || parts+=("tls/$2.crt")
  run_to "tls/${name}.crt" cat "${parts[@]}"
}

ca_file() { # NAME SIGNER...
  local files=("${@:2}")
  files=("${files[@]/#/tls/}")
  files=("${files[@]/%/.crt}")
  stays "tls/$1.crt" '' holds_only "tls/$1.crt" "${files[@]}" || run_to "tls/$1.crt" cat "${files[@]}"
}

holds_only() { # FILE CERTIFICATE...
  bundle "$@" > /dev/null || { echo "does not hold the signers that are there now"; return 1; }
}

key_only() { # NAME
  if stays "tls/$1.pub" '' key_pair "tls/$1.pub"; then return; fi
  MADE+=" key"
  run_to "tls/$1.key" "${GENRSA[@]}" 2048
  run_to "tls/$1.pub" openssl pkey -in "tls/$1.key" -pubout
}

# True when a row's file stays as it is. A key that a killed run left behind
# alone, or half, does not fit its certificate, and both are made again.
stays() { # FILE LIFETIME TEST...
  local problem='as asked for'
  if problem="$("${@:3}" 2>&1)"; then
    [[ ${LOOKING} == no && (${REDO} == all || ${REDO:-none} == "$2") ]] || return 0
    problem='as asked for'
  elif [[ ${LOOKING} == yes ]]; then
    echo "$1: ${problem//$'\n'/; }"
    MISFITS=$((MISFITS + 1))
    return 0
  fi
  [[ ! -e $1 ]] || log "$1 is made again: ${problem//$'\n'/; }"
  return 1
}

certificate_fits() { # NAME SIGNER LIFETIME USAGE SUBJECT NAMES
  local file="tls/$1.crt" facts shape public start end
  present "${file}" "tls/$1.key" || return 1
  facts="$(openssl x509 -in "${file}" -noout -pubkey -subject -nameopt RFC2253 -dates \
    -ext extendedKeyUsage,basicConstraints,subjectAltName)" || return 1
  public="$(openssl pkey -in "tls/$1.key" -pubout)" || return 1
  [[ ${facts} == *"${public}"* ]] || { echo 'does not belong to its key'; return 1; }
  shape="$(sed -n 's/^subject=/ /p; s/^    / /p' <<< "${facts}" | tr --delete '\n' |
    sed 's/, /,/g; s/IP Address:/IP:/g; s/:0:0:0:0:0:0:0:1/:::1/
      s/TLS Web Server Authentication/serverAuth/; s/TLS Web Client Authentication/clientAuth/')"
  [[ ${shape} == " $5${SHAPE[$4]}${6:+ ${6// /,}}" ]] || { echo "is${shape}"; return 1; }
  start="$(date --date="$(sed -n 's/^notBefore=//p' <<< "${facts}")" +%s)" || return 1
  end="$(date --date="$(sed -n 's/^notAfter=//p' <<< "${facts}")" +%s)" || return 1
  ((end - start == DAYS[$3] * 86400)) || { echo "lives $((end - start)) seconds, not $3"; return 1; }
  # The stages that follow take less than an hour.
  ((end - $(date +%s) > 3600)) || { echo 'has run out, or does within the hour'; return 1; }
  chain "tls/$2.crt" "${file}" &> /dev/null || { echo "is not signed by tls/$2.crt as it is now"; return 1; }
}

every_row_fits() {
  LOOKING=yes
  pki
  ((MISFITS == 0))
}

check_inputs() { :; }
own_usage() {
  printf '  %-10s %s\n' '--renew' 'make what lives 24 hours again, signers among it included'
}
own_option() {
  [[ $1 == --renew ]] || return 1
  REDO=24h FORCE=yes
}

# Only what is really regenerated invalidates anything, so that is told at the end. But
# keys of openshift-install's and keys of this script are of two clusters.
invalidates() {
  [[ ${REDO} != 24h || ! -e unpack-bootstrap-ignition.done ]] || die 1 'the keys came out of a bootstrap.ign' 'make that again and unpack it, or run make-pki.sh --force'
  invalidated unpack-bootstrap-ignition.done unpack-bootstrap-ignition.sh 'openshift-install made other keys, and the two do not mix'
}

do_stage() {
  umask 077
  [[ ${FORCE} == no ]] || REDO=${REDO:-all}
  openssl_settings
  pki
  run chmod 0644 tls/root-ca.crt
  [[ -n ${MADE} ]] || log 'every key and certificate that is there fits: nothing was made'
  [[ ${MADE} != *10y* ]] ||
    made_from_old make-kubeconfigs.done make-kubeconfigs.sh \
      'kubeconfigs carry the administrator'\''s and the nodes'\'' keys and the CAs of the API'
  [[ ${MADE} != *10y* ]] ||
    made_from_old make-manifests.done make-manifests.sh \
      'the root CA and the Machine Config Server'\''s key stand in manifests'
  [[ -z ${MADE} ]] ||
    made_from_old kube-apiserver-bootstrap.done render-kube-apiserver.sh \
      'the API server'\''s operator was given the old signers, in Secrets'
  [[ -z ${MADE} ]] ||
    made_from_old kube-controller-manager-bootstrap.done render-kcm.sh \
      'the controller manager'\''s operator was given the old kubelet-signer and service account key'
  [[ -z ${MADE} ]] ||
    made_from_old mco-bootstrap.done render-mco.sh \
      'nodes were to be given the old root CA and the old CAs of the API'\''s clients'
  [[ -z ${MADE} ]] ||
    made_from_old cvo-bootstrap.done render-cvo.sh \
      'the cluster version operator'\''s static pod was given the old kubeconfig-loopback'
  [[ -z ${MADE} ]] ||
    made_from_old kube-scheduler-bootstrap.done render-scheduler.sh \
      'the scheduler'\''s render read the old auth/kubeconfig'
  [[ -z ${MADE} ]] ||
    made_from_old openshift-manifests.done copy-manifests.sh \
      'it copied the old openshift/ into manifests/'
  [[ -z ${MADE} ]] ||
    made_from_old config-bootstrap.done render-config.sh \
      'it read the old Infrastructure'
  [[ -z ${MADE} ]] ||
    made_from_old etcd-bootstrap.done render-etcd.sh \
      'it read the old install-config, Infrastructure and Network'
  [[ -z ${MADE} ]] ||
    made_from_old node-tuning-bootstrap.done render-node-tuning.sh \
      'it read the old Infrastructure'
  [[ -z ${MADE} ]] ||
    made_from_old cco-bootstrap.done render-cco.sh \
      'it read the old install-config'
  [[ -z ${MADE} ]] ||
    made_from_old api-bootstrap.done render-api.sh \
      'render-api wrote the FeatureGate'\''s status, and this puts the bare file back'
}

verify() {
  check present 'every key, certificate and bundle is there' \
    'all files of the installer'\''s tls/, and the signers'\'' keys' \
    'Run make-pki.sh; it makes what is missing.' \
    present tls/root-ca.crt tls/root-ca.key tls/machine-config-server.crt \
      tls/machine-config-server.key tls/journal-gatewayd.crt tls/journal-gatewayd.key \
      tls/kube-apiserver-lb-signer.crt tls/kube-apiserver-lb-signer.key \
      tls/kube-apiserver-lb-server.crt tls/kube-apiserver-lb-server.key \
      tls/kube-apiserver-internal-lb-server.crt tls/kube-apiserver-internal-lb-server.key \
      tls/kube-apiserver-localhost-signer.crt tls/kube-apiserver-localhost-signer.key \
      tls/kube-apiserver-localhost-server.crt tls/kube-apiserver-localhost-server.key \
      tls/kube-apiserver-service-network-signer.crt tls/kube-apiserver-service-network-signer.key \
      tls/kube-apiserver-service-network-server.crt tls/kube-apiserver-service-network-server.key \
      tls/admin-kubeconfig-signer.crt tls/admin-kubeconfig-signer.key \
      tls/admin-kubeconfig-client.crt tls/admin-kubeconfig-client.key \
      tls/kubelet-bootstrap-kubeconfig-signer.crt tls/kubelet-bootstrap-kubeconfig-signer.key \
      tls/kubelet-client.crt tls/kubelet-client.key tls/kubelet-signer.crt tls/kubelet-signer.key \
      tls/kube-control-plane-signer.crt tls/kube-control-plane-signer.key \
      tls/kube-control-plane-kube-controller-manager-client.crt \
      tls/kube-control-plane-kube-controller-manager-client.key \
      tls/kube-control-plane-kube-scheduler-client.crt \
      tls/kube-control-plane-kube-scheduler-client.key tls/kube-apiserver-to-kubelet-signer.crt \
      tls/kube-apiserver-to-kubelet-signer.key tls/kube-apiserver-to-kubelet-client.crt \
      tls/kube-apiserver-to-kubelet-client.key tls/aggregator-ca.crt tls/aggregator-ca.key \
      tls/apiserver-proxy.crt tls/apiserver-proxy.key tls/aggregator-signer.crt \
      tls/aggregator-signer.key tls/aggregator-client.crt tls/aggregator-client.key \
      tls/service-account.key tls/service-account.pub \
      tls/kube-apiserver-complete-server-ca-bundle.crt \
      tls/kube-apiserver-complete-client-ca-bundle.crt tls/kube-control-plane-ca-bundle.crt \
      tls/kubelet-client-ca-bundle.crt tls/kubelet-serving-ca-bundle.crt \
      tls/admin-kubeconfig-ca-bundle.crt tls/kubelet-bootstrap-kubeconfig-ca-bundle.crt \
      tls/kube-apiserver-to-kubelet-ca-bundle.crt tls/kube-apiserver-lb-ca-bundle.crt \
      tls/kube-apiserver-localhost-ca-bundle.crt tls/kube-apiserver-service-network-ca-bundle.crt \
      tls/aggregator-ca-bundle.crt
  check private 'no one else can read a key' \
    'mode 0600 on every key in tls/' \
    'Run chmod 600 tls/*.key in the asset directory; who could read a key until now has it.' \
    mode 0600 tls/*.key
  check key-pairs 'every certificate belongs to its key' \
    'the same public key in both' \
    'Run make-pki.sh; it makes a key and its certificate again together.' \
    key_pair tls/root-ca.crt tls/*-signer.crt tls/aggregator-ca.crt tls/kube*-server.crt \
      tls/machine-config-server.crt tls/kube*-client.crt tls/admin-kubeconfig-client.crt \
      tls/aggregator-client.crt tls/apiserver-proxy.crt tls/journal-gatewayd.crt \
      tls/service-account.pub
  check server-chain 'clients of the API trust its certificates' \
    'a chain from each serving certificate to the bundle in the kubeconfigs' \
    'Run make-pki.sh; it makes a leaf again that its signer did not sign.' \
    chain tls/kube-apiserver-complete-server-ca-bundle.crt tls/kube-apiserver-lb-server.crt \
      tls/kube-apiserver-internal-lb-server.crt tls/kube-apiserver-localhost-server.crt \
      tls/kube-apiserver-service-network-server.crt
  check client-chain 'the API trusts its clients'\'' certificates' \
    'a chain from each client certificate to the API'\''s client CA bundle' \
    'Run make-pki.sh; it makes a leaf again that its signer did not sign.' \
    chain tls/kube-apiserver-complete-client-ca-bundle.crt tls/admin-kubeconfig-client.crt \
      tls/kubelet-client.crt tls/kube-control-plane-kube-controller-manager-client.crt \
      tls/kube-control-plane-kube-scheduler-client.crt tls/kube-apiserver-to-kubelet-client.crt
  check ignition-chain 'a booting node trusts the Machine Config Server' \
    'a chain to the root CA' \
    'Run make-pki.sh; a node would ask for its Ignition for ever, with an error about an unknown authority.' \
    chain tls/root-ca.crt tls/machine-config-server.crt tls/journal-gatewayd.crt
  check proxy-chain 'the bootstrap'\''s API server has its proxy certificate' \
    'a chain to aggregator-ca' \
    'Run make-pki.sh.' \
    chain tls/aggregator-ca.crt tls/apiserver-proxy.crt
  check aggregator-chain 'the aggregator'\''s client has its signer' \
    'a chain to aggregator-signer' \
    'Run make-pki.sh.' \
    chain tls/aggregator-ca-bundle.crt tls/aggregator-client.crt
  check admin-subject 'the administrator is in the group that may do everything' \
    'user system:admin, group system:masters' \
    'Run make-pki.sh; with another group oc could log in and do nothing.' \
    subject CN=system:admin,O=system:masters tls/admin-kubeconfig-client.crt
  check node-subject 'a new node comes as node-bootstrapper' \
    'that service account, with its two groups' \
    'Run make-pki.sh; with other groups the nodes'\'' certificate requests are never approved.' \
    subject \
      CN=system:serviceaccount:openshift-machine-config-operator:node-bootstrapper,O=system:serviceaccounts:openshift-machine-config-operator+O=system:serviceaccounts \
      tls/kubelet-client.crt
  check kubelet-subject 'the API server comes to kubelets under its own name' \
    'user system:kube-apiserver, group kube-master' \
    'Run make-pki.sh; kubelets would refuse logs and exec.' \
    subject CN=system:kube-apiserver,O=kube-master tls/kube-apiserver-to-kubelet-client.crt
  check proxy-subject 'the API server comes to other API servers as the proxy' \
    'user system:kube-apiserver-proxy, group kube-master' \
    'Run make-pki.sh.' \
    subject CN=system:kube-apiserver-proxy,O=kube-master tls/apiserver-proxy.crt
  check api-name 'the API has a certificate for its outer name' \
    'api and the cluster'\''s domain' \
    'The lab'\''s name or domain changed; run make-pki.sh, make-kubeconfigs.sh and make-manifests.sh.' \
    names "DNS:api.${CLUSTER_DOMAIN}" tls/kube-apiserver-lb-server.crt
  check api-int-name 'the API has a certificate for its inner name' \
    'api-int and the cluster'\''s domain' \
    'The lab'\''s name or domain changed; run make-pki.sh, make-kubeconfigs.sh and make-manifests.sh.' \
    names "DNS:api-int.${CLUSTER_DOMAIN}" tls/kube-apiserver-internal-lb-server.crt
  check localhost-name 'the API has a certificate for localhost' \
    'localhost and its two addresses' \
    'Run make-pki.sh.' \
    names "DNS:localhost IP:127.0.0.1 IP:::1" tls/kube-apiserver-localhost-server.crt
  check service-name 'the API has a certificate for its service' \
    'kubernetes and openshift in all their forms, and the first address of the service network' \
    'The service network of the lab changed; run make-pki.sh.' \
    names \
      "DNS:kubernetes DNS:kubernetes.default DNS:kubernetes.default.svc
      DNS:kubernetes.default.svc.cluster.local DNS:openshift DNS:openshift.default
      DNS:openshift.default.svc DNS:openshift.default.svc.cluster.local
      IP:${KUBERNETES_SERVICE_ADDRESS}" \
      tls/kube-apiserver-service-network-server.crt
  check ignition-name 'the Machine Config Server has a certificate for the name that nodes ask' \
    'api-int and the cluster'\''s domain' \
    'Name or base domain of the lab changed; run make-pki.sh, then make-manifests.sh.' \
    names "DNS:api-int.${CLUSTER_DOMAIN}" tls/machine-config-server.crt
  check server-usage 'serving certificates only serve' \
    'server authentication and nothing else' \
    'Run make-pki.sh.' \
    usage_is serverAuth tls/kube*-server.crt tls/machine-config-server.crt
  check client-usage 'client certificates only log in' \
    'client authentication and nothing else' \
    'Run make-pki.sh.' \
    usage_is clientAuth tls/kube*-client.crt tls/aggregator-client.crt tls/apiserver-proxy.crt
  check both-usages 'the administrator'\''s and the journal'\''s certificates do both' \
    'server and client authentication, as the installer'\''s' \
    'Run make-pki.sh.' \
    usage_is "serverAuth clientAuth" tls/admin-kubeconfig-client.crt tls/journal-gatewayd.crt
  check fresh 'the 24-hour certificates have not run out' \
    'all valid now and for 60 minutes more' \
    'Run make-pki.sh --renew; it says which stages must be rendered again.' \
    fresh 60 tls/kubelet-signer.crt tls/aggregator-ca.crt tls/apiserver-proxy.crt \
      tls/aggregator-signer.crt tls/aggregator-client.crt tls/kube*-server.crt
  check server-bundle 'the bundle for clients of the API is complete' \
    'the three signers of the API'\''s serving certificates' \
    'Run make-pki.sh.' \
    bundle tls/kube-apiserver-complete-server-ca-bundle.crt \
      tls/kube-apiserver-localhost-signer.crt tls/kube-apiserver-service-network-signer.crt \
      tls/kube-apiserver-lb-signer.crt
  check client-bundle 'the bundle of those who may log in is complete' \
    'five signers, and no other' \
    'Run make-pki.sh; a signer too many would be a way in.' \
    bundle tls/kube-apiserver-complete-client-ca-bundle.crt tls/admin-kubeconfig-signer.crt \
      tls/kubelet-signer.crt tls/kube-control-plane-signer.crt \
      tls/kube-apiserver-to-kubelet-signer.crt tls/kubelet-bootstrap-kubeconfig-signer.crt
  check rows 'every row of the script'\''s table fits what was made from it' \
    'key, subject, names, usages, lifetime, signer and the members of each bundle' \
    'Run make-pki.sh; it makes again what does not fit.' \
    every_row_fits
}

usual_failures() {
  usual_failure 'certificate has expired' \
    'The 24 hours of the short-lived certificates are over.' \
    'Run make-pki.sh --renew, and then the stages that it names.'
  usual_failure 'certificate is not yet valid' \
    'The clock of this machine was set back after the certificates were made.' \
    'Set the clock right (timedatectl), or run make-pki.sh --force.'
  usual_failure 'certificate signature failure' \
    'A signer was made again, and this certificate is from the one before of the same name.' \
    'Run make-pki.sh; it makes the leaf again.'
  usual_failure 'Permission denied' \
    'An earlier run as root left files that you cannot change.' \
    'Give the lab'\''s directory back to yourself with chown, and run make-pki.sh again.'
  usual_failure 'No space left on device' \
    'The disk is full.' \
    'Make room and run make-pki.sh again; what is whole is kept.'
}

stage_main "$@"
