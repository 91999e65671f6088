#!/usr/bin/env bash
# render-kube-apiserver: the checks of the stage
#
# render-kube-apiserver.sh --verify runs this file. A check passes when its
# command succeeds. It runs in the asset directory, in a subshell with set -euo
# pipefail and the settings below. To repeat one check:
# checks/render-kube-apiserver.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod-name 'the static pod is the bootstrap API server' << 'COMMAND'
grep -E -e '\bname"?: *"?bootstrap-kube-apiserver"?(,|}| *$)' \
  bootstrap-manifests/kube-apiserver-pod.yaml
COMMAND
check pod-image 'every container of the pod has an image' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/kube-apiserver-pod.yaml |
    (! grep -vE "image.?: *.?[a-z0-9]")'
check pod-image-of-release 'the pod'\''s images are this release'\''s' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/kube-apiserver-pod.yaml |
    (! grep -vwFf <(grep -ho "[^ ]*$" release-info/images release-info/digest))'
check pod-copied 'the pod waits for cluster-bootstrap' <<< \
  '(cd kube-apiserver-bootstrap/bootstrap-manifests && sha256sum -- *) |
    (cd bootstrap-manifests && sha256sum --check --quiet)'
check config-copied 'the configuration is where the pod looks' <<< \
  'cmp kube-apiserver-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-apiserver-config.yaml"'
check manifests-copied 'the operator'\''s objects are in manifests/' <<< \
  '(cd kube-apiserver-bootstrap/manifests && sha256sum -- *) |
    (cd manifests && sha256sum --check --quiet)'
check signer-certificates 'no signer'\''s Secret has an empty certificate' << 'COMMAND'
grep -l -E -e '^ *tls\.crt: [A-Za-z0-9+/=]{40}' \
  kube-apiserver-bootstrap/manifests/secret-*-signer.yaml |
  diff - <(ls kube-apiserver-bootstrap/manifests/secret-*-signer.yaml)
COMMAND
check signer-keys 'no signer'\''s Secret has an empty key' << 'COMMAND'
grep -l -E -e '^ *tls\.key: [A-Za-z0-9+/=]{40}' \
  kube-apiserver-bootstrap/manifests/secret-*-signer.yaml |
  diff - <(ls kube-apiserver-bootstrap/manifests/secret-*-signer.yaml)
COMMAND
check client-cas 'no client CA is empty' << 'COMMAND'
grep -l -E -e "-----BEGIN CERTIFICATE-----" kube-apiserver-bootstrap/manifests/configmap-*-ca.yaml |
  diff - <(ls kube-apiserver-bootstrap/manifests/configmap-*-ca.yaml)
COMMAND
check token-public-key 'the service account'\''s public key is not empty' <<< \
  'grep -E -e "-----BEGIN (RSA )?PUBLIC KEY-----" \
    kube-apiserver-bootstrap/manifests/configmap-sa-token-signing-certs.yaml'
check bound-key 'the bound token signing key and its public half belong together' <<< \
  'openssl pkey -pubin -in tls/bound-service-account-signing-key.pub -pubout |
    diff - <(openssl pkey -in tls/bound-service-account-signing-key.key -pubout)'
check etcd-client 'etcd will accept the API server'\''s certificate' <<< \
  'openssl verify -no-CApath -CAfile tls/etcd-ca-bundle.crt tls/etcd-client.crt'
check serving-chain 'clients trust the CAs of the serving certificates' <<< \
  'openssl verify -no-CApath -CAfile tls/kube-apiserver-complete-server-ca-bundle.crt \
    tls/kube-apiserver-localhost-server.crt tls/kube-apiserver-service-network-server.crt \
    tls/kube-apiserver-lb-server.crt tls/kube-apiserver-internal-lb-server.crt'
check serving-fresh 'the serving certificates stay valid until the bootstrap ends' <<< \
  'certificates=(tls/kube-apiserver-localhost-server.crt \
    tls/kube-apiserver-service-network-server.crt tls/kube-apiserver-lb-server.crt \
    tls/kube-apiserver-internal-lb-server.crt)
  openssl verify -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"
  openssl verify -attime $((EPOCHSECONDS + 3600)) \
    -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"'

end_of_checks
