#!/usr/bin/env bash
# render-mco: the checks of the stage
#
# render-mco.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/render-mco.sh --only ID.

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

check pod-image 'every container of the pod has an image' <<< \
  'grep -E "^[- ]*.?image.?:" mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml |
    (! grep -vE "image.?: *.?[a-z0-9]")'
check pod-image-of-release 'the pod'\''s images are this release'\''s' <<< \
  'grep -E "^[- ]*.?image.?:" mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml |
    (! grep -vwFf <(jq -r ".spec.tags[].from.name" image-references && cat release-info/digest))'
check pod-name 'the pod is the bootstrap machine-config-operator' << 'COMMAND'
grep -E -e '\bname"?: *"?bootstrap-machine-config-operator"?(,|}| *$)' \
  mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
COMMAND
check pod-placed 'the kubelet has the pod manifest' <<< \
  'pod=machineconfigoperator-bootstrap-pod.yaml
  placed="${HOST_ROOT}/etc/kubernetes/manifests/${pod}"
  if [[ -e cvo-overrides.done ]]; then [[ ! -e ${placed} ]]
  else cmp "mco-bootstrap/bootstrap/${pod}" "${placed}"; fi'
check controller-files 'the operator rendered the controller'\''s input' << 'COMMAND'
wc --bytes mco-bootstrap/bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml \
  mco-bootstrap/bootstrap/manifests/machineconfigcontroller-pull-secret \
  mco-bootstrap/bootstrap/manifests/master.machineconfigpool.yaml \
  mco-bootstrap/bootstrap/manifests/worker.machineconfigpool.yaml | (! grep '^ *0 ')
COMMAND
check node-ca 'nodes get a root CA' << 'COMMAND'
grep -E -e '^ *rootCAData: "?LS0tLS1CRUdJTi' \
  mco-bootstrap/bootstrap/manifests/machineconfigcontroller-controllerconfig.yaml
COMMAND
check client-cas 'kubelets get the CAs of their clients' <<< \
  'grep -E -e "-----BEGIN CERTIFICATE-----" \
    mco-bootstrap/manifests/kube-apiserver-serving-ca-configmap.yaml'
check controller-input 'the controller has its input' <<< \
  '(cd mco-bootstrap/bootstrap/manifests && sha256sum -- *) |
    (cd "${HOST_ROOT}/etc/mcc/bootstrap" && sha256sum --check --quiet)'
check controller-gates 'the controller has the FeatureGate with a status' <<< \
  'cmp manifests/99_feature-gate.yaml "${HOST_ROOT}/etc/mcc/bootstrap/99_feature-gate.yaml"'
check image-references 'the controller has the list of images' <<< \
  'cmp image-references "${HOST_ROOT}/etc/mcc/bootstrap/image-references"'
check kubeconfig 'the server has a kubeconfig for its clients' <<< \
  'cmp auth/kubeconfig-kubelet "${HOST_ROOT}/etc/mcs/kubeconfig"'
check kubeconfig-kind 'the kubeconfig for nodes is a kubeconfig' <<< \
  'grep --quiet --extended-regexp "^ *server: *.?https://[^ ]+:6443.?$" auth/kubeconfig-kubelet
  grep --quiet "^ *client-certificate-data: *LS0tLS1CRUdJTi" auth/kubeconfig-kubelet'
check pull-secret-kind 'the pull secret is a Secret' <<< \
  'secret=manifests/openshift-config-secret-pull-secret.yaml
  grep --quiet --extended-regexp "^kind: *.?Secret.?$" "${secret}"
  grep --quiet --extended-regexp "^ +.?[.]dockerconfigjson.?:" "${secret}"'
check server-chain 'nodes trust the server' <<< \
  'openssl verify -no-CApath -CAfile tls/root-ca.crt "${HOST_ROOT}/etc/ssl/mcs/tls.crt"'
check server-key 'the server'\''s certificate and key belong together' <<< \
  'openssl x509 -in "${HOST_ROOT}/etc/ssl/mcs/tls.crt" -noout -pubkey |
    diff - <(openssl pkey -in "${HOST_ROOT}/etc/ssl/mcs/tls.key" -pubout)'
check manifests-copied 'the operator'\''s objects are in manifests/' <<< \
  '(cd mco-bootstrap/manifests && sha256sum -- *) | (cd manifests && sha256sum --check --quiet)'

end_of_checks
