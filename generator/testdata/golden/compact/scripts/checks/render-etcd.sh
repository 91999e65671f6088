#!/usr/bin/env bash
# render-etcd: the checks of the stage
#
# render-etcd.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-etcd.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
# openssl x509 would read all CAs of the system at every start.
SSL_CERT_FILE=/dev/null
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod-manifest 'the etcd static pod manifest is where the kubelet looks' <<< \
  'cmp etcd-bootstrap/etc-kubernetes/manifests/etcd-member-pod.yaml \
    "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"'
check pod-name 'the manifest defines the pod etcd-bootstrap-member' << 'COMMAND'
grep -E -e '\bname"?: *"?etcd-bootstrap-member"?(,|}| *$)' \
  "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
COMMAND
check pod-image 'the static pod has an image to run' <<< \
  'grep -E "^[- ]*.?image.?:" "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml" |
    (! grep -vE "image.?: *.?[a-z0-9]")'
check pod-image-of-release 'it is the etcd image of this release' << 'COMMAND'
etcd="$(grep '^etcd ' release-info/images)"
grep --fixed-strings "${etcd#* }" "${HOST_ROOT}/etc/kubernetes/manifests/etcd-member-pod.yaml"
COMMAND
check member-files 'the files under /etc/kubernetes match the render' <<< \
  '(cd etcd-bootstrap/etc-kubernetes && find * -type f -exec sha256sum {} +) |
    (cd "${HOST_ROOT}/etc/kubernetes" && sha256sum --check --quiet)'
check tls 'tls/ has the API server'\''s etcd client certificate, key and CA bundle' <<< \
  '(cd etcd-bootstrap/tls && sha256sum -- *) | (cd tls && sha256sum --check --quiet)'
check client-chain 'the client certificate is signed by the etcd signer' <<< \
  'openssl verify -no-CApath -CAfile tls/etcd-ca-bundle.crt tls/etcd-client.crt'
check client-key 'the client certificate and its key belong together' <<< \
  'openssl x509 -in tls/etcd-client.crt -noout -pubkey |
    diff - <(openssl pkey -in tls/etcd-client.key -pubout)'
check peer-chain 'the member'\''s peer certificate is signed by the etcd signer' <<< \
  'openssl verify -no-CApath -CAfile \
    "${HOST_ROOT}/etc/kubernetes/static-pod-resources/etcd-member/ca.crt" \
    "${HOST_ROOT}"/etc/kubernetes/static-pod-resources/etcd-member/etcd-all-certs/etcd-peer-*.crt'
check serving 'the serving certificates allow server and client authentication' << 'COMMAND'
for file in \
  "${HOST_ROOT}"/etc/kubernetes/static-pod-resources/etcd-member/*/etcd-serving-*.crt; do
  openssl x509 -in "${file}" -noout -ext extendedKeyUsage |
    sed '1d; s/ //g; y/,/\n/' | sort |
    diff - <(printf '%s\n' TLSWebServerAuthentication TLSWebClientAuthentication | sort)
done
COMMAND
check api-manifests 'etcd'\''s rendered manifests are in manifests/' <<< \
  '(cd etcd-bootstrap/manifests && sha256sum -- *) | (cd manifests && sha256sum --check --quiet)'

end_of_checks
