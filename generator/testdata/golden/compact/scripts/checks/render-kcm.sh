#!/usr/bin/env bash
# render-kcm: the checks of the stage
#
# render-kcm.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-kcm.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod-name 'the static pod is the bootstrap controller manager' << 'COMMAND'
grep -E -e '\bname"?: *"?bootstrap-kube-controller-manager"?(,|}| *$)' \
  bootstrap-manifests/kube-controller-manager-pod.yaml
COMMAND
check pod-image 'both containers have an image' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/kube-controller-manager-pod.yaml |
    (! grep -vE "image.?: *.?[a-z0-9]")'
check pod-image-of-release 'the pod'\''s images are this release'\''s' <<< \
  'grep -E "^[- ]*.?image.?:" bootstrap-manifests/kube-controller-manager-pod.yaml |
    (! grep -vwFf <(grep -ho "[^ ]*$" release-info/images release-info/digest))'
check pod-copied 'the pod waits for cluster-bootstrap' <<< \
  '(cd kube-controller-manager-bootstrap/bootstrap-manifests && sha256sum -- *) |
    (cd bootstrap-manifests && sha256sum --check --quiet)'
check config-copied 'the controller manager'\''s configuration is where the pod looks' <<< \
  'cmp kube-controller-manager-bootstrap/config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/kube-controller-manager-config.yaml"'
check cpc-config-copied \
  'the policy controller'\''s configuration is where the pod looks' <<< \
  'cmp kube-controller-manager-bootstrap/cpc-config \
    "${HOST_ROOT}/etc/kubernetes/bootstrap-configs/cluster-policy-controller-config.yaml"'
check manifests-copied 'the operator'\''s objects are in manifests/' <<< \
  '(cd kube-controller-manager-bootstrap/manifests && sha256sum -- *) |
    (cd manifests && sha256sum --check --quiet)'
check csr-signer-certificate 'the signer of kubelets'\'' certificates is not empty' << 'COMMAND'
grep -E -e '^ *tls\.crt: [A-Za-z0-9+/=]{40}' \
  kube-controller-manager-bootstrap/manifests/secret-csr-signer-signer.yaml
COMMAND
check csr-signer-key 'that signer'\''s key is not empty' << 'COMMAND'
grep -E -e '^ *tls\.key: [A-Za-z0-9+/=]{40}' \
  kube-controller-manager-bootstrap/manifests/secret-csr-signer-signer.yaml
COMMAND
check csr-ca 'the CA of kubelets'\'' certificates is not empty' <<< \
  'grep -E -e "-----BEGIN CERTIFICATE-----" manifests/configmap-csr-controller-ca.yaml'
check token-key 'the key of service account tokens is not empty' << 'COMMAND'
grep -l -E -e '^ *service-account\.key: [A-Za-z0-9+/=]{40}' \
  kube-controller-manager-bootstrap/manifests/secret-initial-*-private-key.yaml |
  diff - <(ls kube-controller-manager-bootstrap/manifests/secret-initial-*-private-key.yaml)
COMMAND
check signer-fresh 'the signer of kubelets'\'' certificates is valid for long enough' <<< \
  'certificates=(tls/kubelet-signer.crt)
  openssl verify -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"
  openssl verify -attime $((EPOCHSECONDS + 3600)) \
    -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"'

end_of_checks
