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
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check pod-image 'every container of the pod has an image' << 'COMMAND'
sed -n 's/^[- ]*"*image"*: *//p' mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml |
  awk '!/[a-z]/ { print "empty: " $0; bad = 1 } END { exit bad || NR == 0 }'
COMMAND
check pod-image-of-release 'the pod'\''s images are this release'\''s' << 'COMMAND'
(jq --raw-output '.spec.tags[].from.name' image-references && cat release-info/digest) |
  awk 'FNR == NR { known[$NF]; next }
    /^[- ]*"?image"?:/ { gsub(/["\047]/, "", $NF); if (!($NF in known)) { print $NF; bad = 1 } }
    END { exit bad }' - mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
COMMAND
check pod-name 'the pod is the bootstrap machine-config-operator' << 'COMMAND'
grep -E -e '\bname"?: *"?bootstrap-machine-config-operator"?(,|}| *$)' \
  mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml
COMMAND
check pod-placed 'the kubelet has the pod manifest' << 'COMMAND'
if [[ -e cvo-overrides.done ]]; then
  [[ ! -e "${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml" ]]
else
  cmp mco-bootstrap/bootstrap/machineconfigoperator-bootstrap-pod.yaml \
    "${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"
fi
COMMAND
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
check client-cas 'kubelets get the CAs of their clients' << 'COMMAND'
grep -E -e '-----BEGIN CERTIFICATE-----' \
  mco-bootstrap/manifests/kube-apiserver-serving-ca-configmap.yaml
COMMAND
check controller-input 'the controller has its input' << 'COMMAND'
(cd mco-bootstrap/bootstrap/manifests && find * -type f -exec sha256sum {} +) |
  (cd "${HOST_ROOT}/etc/mcc/bootstrap" && sha256sum --check --quiet)
COMMAND
check controller-gates 'the controller has the FeatureGate with a status' <<< \
  'cmp manifests/99_feature-gate.yaml "${HOST_ROOT}/etc/mcc/bootstrap/99_feature-gate.yaml"'
check image-references 'the controller has the list of images' <<< \
  'cmp image-references "${HOST_ROOT}/etc/mcc/bootstrap/image-references"'
check kubeconfig 'the server has a kubeconfig for its clients' <<< \
  'cmp auth/kubeconfig-kubelet "${HOST_ROOT}/etc/mcs/kubeconfig"'
check kubeconfig-kind 'the kubeconfig for nodes is a kubeconfig' << 'COMMAND'
grep --quiet --extended-regexp '^ *server: *"?https://[^ ]+:6443"?$' auth/kubeconfig-kubelet
grep --quiet '^ *client-certificate-data: *LS0tLS1CRUdJTi' auth/kubeconfig-kubelet
COMMAND
check pull-secret-kind 'the pull secret is a Secret' << 'COMMAND'
secret=manifests/openshift-config-secret-pull-secret.yaml
grep --quiet --extended-regexp '^kind: *"?Secret"?$' "${secret}"
grep --quiet --extended-regexp '^ +"?[.]dockerconfigjson"?:' "${secret}"
COMMAND
check server-chain 'nodes trust the server' <<< \
  'openssl verify -no-CApath -CAfile tls/root-ca.crt "${HOST_ROOT}/etc/ssl/mcs/tls.crt"'
check server-key 'the server'\''s certificate and key belong together' << 'COMMAND'
openssl x509 -in "${HOST_ROOT}/etc/ssl/mcs/tls.crt" -noout -pubkey |
  diff - <(openssl pkey -in "${HOST_ROOT}/etc/ssl/mcs/tls.key" -pubout)
COMMAND
check manifests-copied 'the operator'\''s objects are in manifests/' << 'COMMAND'
(cd mco-bootstrap/manifests && find * -type f -exec sha256sum {} +) |
  (cd manifests && sha256sum --check --quiet)
COMMAND

end_of_checks
