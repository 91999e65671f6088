#!/usr/bin/env bash
# make-manifests: the checks of the stage
#
# make-manifests.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/make-manifests.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
PULL_SECRET_FILE=''
CLUSTER_NAME='compact'
CLUSTER_DOMAIN='compact.bootlab.test'
NETWORK_TYPE='OVNKubernetes'
MACHINE_NETWORK='192.168.126.0/24'
CLUSTER_NETWORK='10.128.0.0/14'
SERVICE_NETWORK='172.30.0.0/16'
CONTROL_PLANE_REPLICAS='3'
CONTROL_PLANE_TOPOLOGY='HighlyAvailable'
INFRASTRUCTURE_TOPOLOGY='HighlyAvailable'
MASTERS_SCHEDULABLE='true'
SSH_KEY=''
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check present 'every manifest of the installer exists' << 'COMMAND'
wc --bytes install-config.yaml metadata.json auth/kubeadmin-password manifests/cluster-config.yaml \
  manifests/cluster-dns-02-config.yml manifests/cluster-infrastructure-02-config.yml \
  manifests/cluster-ingress-02-config.yml manifests/cluster-network-02-config.yml \
  manifests/cluster-proxy-01-config.yaml manifests/cluster-scheduler-02-config.yml \
  manifests/cvo-overrides.yaml manifests/kube-cloud-config.yaml \
  manifests/kube-system-configmap-root-ca.yaml manifests/machine-config-server-tls-secret.yaml \
  manifests/openshift-config-secret-pull-secret.yaml openshift/99_feature-gate.yaml \
  openshift/99_kubeadmin-password-secret.yaml \
  openshift/99_openshift-cluster-api_master-user-data-secret.yaml \
  openshift/99_openshift-cluster-api_worker-user-data-secret.yaml \
  openshift/openshift-install-manifests.yaml original_cvo_overrides.patch | (! grep '^ *0 ')
COMMAND
check present-ignition-ca 'the machine config operator gets the CA of its server' << 'COMMAND'
wc --bytes manifests/machine-config-server-ca-configmap.yaml \
  manifests/machine-config-server-ca-secret.yaml | (! grep '^ *0 ')
COMMAND
check private 'no one else can read secret files' << 'COMMAND'
stat --format='%04a %n' install-config.yaml auth/kubeadmin-password \
  manifests/machine-config-server-*-secret.yaml manifests/openshift-config-secret-pull-secret.yaml \
  openshift/99_kubeadmin-password-secret.yaml manifests/kube-cloud-config.yaml \
  openshift/99_openshift-cluster-api_*-user-data-secret.yaml |
  awk '$1 != "0600" { print; bad = 1 } END { exit bad }'
COMMAND
check no-own-ca 'no CA of the user is left over' <<< \
  '[[ ! -e manifests/user-ca-bundle-config.yaml ]]'
check machine-network \
  'the cluster'\''s install-config has the lab'\''s machine network' <<< \
  'grep -E -e "^ +- cidr: ${MACHINE_NETWORK}\$" manifests/cluster-config.yaml'
check replicas 'the cluster'\''s install-config has the lab'\''s number of masters' << 'COMMAND'
awk '/^ *controlPlane:$/ { here = 1 } here && /^ *replicas:/ { print $2; exit }' \
  manifests/cluster-config.yaml | diff - <(echo "${CONTROL_PLANE_REPLICAS}")
COMMAND
check no-pull-secret 'the cluster'\''s install-config holds no pull secret' << 'COMMAND'
grep -E -e '^ +pullSecret: ""$' manifests/cluster-config.yaml
COMMAND
check domain 'the cluster'\''s domain is the lab'\''s' <<< \
  'grep -E -e "\\bbaseDomain\"?: *\"?${CLUSTER_DOMAIN}\"?(,|}| *$)" \
    manifests/cluster-dns-02-config.yml'
check platform 'the platform is none, and the status says so' << 'COMMAND'
sed -n '/^  platformStatus:/,$p' manifests/cluster-infrastructure-02-config.yml |
  grep -x ' *type: None'
COMMAND
check topology 'the control plane'\''s topology matches its number of masters' <<< \
  'grep -E -e "\\bcontrolPlaneTopology\"?: *\"?${CONTROL_PLANE_TOPOLOGY}\"?(,|}| *$)" \
    manifests/cluster-infrastructure-02-config.yml'
check workers-topology 'the infrastructure'\''s topology matches its number of workers' <<< \
  'grep -E -e "\\binfrastructureTopology\"?: *\"?${INFRASTRUCTURE_TOPOLOGY}\"?(,|}| *$)" \
    manifests/cluster-infrastructure-02-config.yml'
check api-url 'the API'\''s external address is set' <<< \
  'grep -E -e "\\bapiServerURL\"?: *\"?https://api[.]${CLUSTER_DOMAIN}:6443\"?(,|}| *$)" \
    manifests/cluster-infrastructure-02-config.yml'
check api-int-url 'the API'\''s internal address is set' << 'COMMAND'
grep -E -e "\\bapiServerInternalURI\"?: *\"?https://api-int[.]${CLUSTER_DOMAIN}:6443\"?(,|}| *$)" \
  manifests/cluster-infrastructure-02-config.yml
COMMAND
check service-network 'services use the lab'\''s network' <<< \
  'grep -E -e "- *\"?${SERVICE_NETWORK}\"?(,|}| *$)" manifests/cluster-network-02-config.yml'
check cluster-network 'pods use the lab'\''s network' <<< \
  'grep -E -e "\\bcidr\"?: *\"?${CLUSTER_NETWORK}\"?(,|}| *$)" \
    manifests/cluster-network-02-config.yml'
check network-type 'the network plugin is the lab'\''s' <<< \
  'grep -E -e "\\bnetworkType\"?: *\"?${NETWORK_TYPE}\"?(,|}| *$)" \
    manifests/cluster-network-02-config.yml'
check routes 'routes are below apps' <<< \
  'grep -E -e "\\bdomain\"?: *\"?apps[.]${CLUSTER_DOMAIN}\"?(,|}| *$)" \
    manifests/cluster-ingress-02-config.yml'
check schedulable 'masters accept pods only if there are no workers' <<< \
  'grep -E -e "\\bmastersSchedulable\"?: *\"?${MASTERS_SCHEDULABLE}\"?(,|}| *$)" \
    manifests/cluster-scheduler-02-config.yml'
check proxy 'there is a Proxy object' << 'COMMAND'
grep -E -e '\bkind"?: *"?Proxy"?(,|}| *$)' manifests/cluster-proxy-01-config.yaml
COMMAND
check feature-gate 'there is a FeatureGate' << 'COMMAND'
grep -E -e '\bkind"?: *"?FeatureGate"?(,|}| *$)' openshift/99_feature-gate.yaml
COMMAND
check root-ca 'nodes trust this PKI'\''s root CA' << 'COMMAND'
for file in manifests/kube-system-configmap-root-ca.yaml \
  manifests/machine-config-server-ca-configmap.yaml; do
  [[ ! -e ${file} ]] || sed -n '/-----BEGIN/,/-----END/s/^    //p' "${file}" |
    cmp - tls/root-ca.crt
done
for role in master worker; do
  sed -n 's/^  userData: //p' "openshift/99_openshift-cluster-api_${role}-user-data-secret.yaml" |
    base64 --decode | jq --raw-output '.ignition.security.tls.certificateAuthorities[].source' |
    cut -d , -f 2 | base64 --decode | cmp - tls/root-ca.crt
done
COMMAND
check ignition-keys 'the Machine Config Server gets its keys' <<< \
  'for name in machine-config-server root-ca; do
    file=manifests/machine-config-server-tls-secret.yaml
    [[ ${name} != root-ca ]] || file=manifests/machine-config-server-ca-secret.yaml
    [[ ${name} != root-ca || -e ${file} ]] || continue
    for part in crt key; do
      sed -n "s/^  tls.${part}: //p" "${file}" | base64 --decode | cmp - "tls/${name}.${part}"
    done
  done'
check ignition-still-valid \
  'the Machine Config Server'\''s certificates have not expired' <<< \
  'certificates=(tls/root-ca.crt tls/machine-config-server.crt)
  openssl verify -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"
  openssl verify -attime $((EPOCHSECONDS + 86400)) \
    -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"'
check pull-secret 'the pull secret is valid' << 'COMMAND'
secret=$(sed -n 's/^  .dockerconfigjson: //p' manifests/openshift-config-secret-pull-secret.yaml |
  base64 --decode)
jq --exit-status '.auths | length > 0 and all(.[]; (.auth // .credsStore // "") != "")' \
  <<< "${secret}"
[[ -z ${PULL_SECRET_FILE} || ${secret} == "$(cat "${PULL_SECRET_FILE}")" ]] ||
  { echo "not what ${PULL_SECRET_FILE} holds" && false; }
COMMAND
check password 'the hash is that of the password' << 'COMMAND'
hash=$(sed -n 's/^  kubeadmin: //p' openshift/99_kubeadmin-password-secret.yaml | base64 --decode)
[[ -n ${hash} ]]
program=(perl -e 'chomp(my ($word, $setting) = <STDIN>); print crypt($word, $setting) // ""')
command -v perl > /dev/null || program=(python3 -c 'import ctypes, ctypes.util, sys
crypt = ctypes.CDLL(ctypes.util.find_library("crypt")).crypt
crypt.restype = ctypes.c_char_p
print((crypt(*sys.stdin.buffer.read().splitlines()[:2]) or b"").decode())')
password="$(cat auth/kubeadmin-password)"
[[ $(printf '%s\n%s\n' "${password}" "${hash}" | "${program[@]}") == "${hash}" ]] ||
  { echo 'the hash is that of another password' && false; }
COMMAND
check ssh-key 'the nodes get the lab'\''s SSH key' <<< \
  'key=$(printf %s "${SSH_KEY}" | jq --raw-input --slurp .)
  for file in openshift/99_openshift-machineconfig_99-{master,worker}-ssh.yaml; do
    if [[ -z ${SSH_KEY} ]]; then
      [[ ! -e ${file} ]]
    else
      grep -xF -e "        - ${key}" "${file}"
    fi ||
      { echo "${file} is not what lab.yaml asks for" && false; }
  done'
check ids 'the cluster'\''s ids are the same in all files' << 'COMMAND'
jq --exit-status --arg name "${CLUSTER_NAME}" '.clusterName == $name and
  (.clusterID | length) == 36 and (.infraID | length) > 5' metadata.json
grep -x "  clusterID: $(jq --raw-output .clusterID metadata.json)" manifests/cvo-overrides.yaml
grep -x "  infrastructureName: \"$(jq --raw-output .infraID metadata.json)\"" \
  manifests/cluster-infrastructure-02-config.yml
COMMAND
check overrides 'the cluster version operator has to ignore every object' << 'COMMAND'
cut -d ' ' -f 2 make-manifests.written | LC_ALL=C sort -u | grep -E '^(manifests|openshift)/' |
  grep -v -e -user-data- -e _openshift-machineconfig_ -e /cvo-overrides |
  while read -r file; do
    [[ ! -e ${file} ]] || sed -n 's/^kind: \(.*\)/    kind: \1/p
      s/^  name: \(.*\)/    name: \1/p; s/^  namespace: \(.*\)/    namespace: "\1"/p' "${file}"
  done | diff - <(sed '1,/^  overrides:/d' manifests/cvo-overrides.yaml |
    grep -v -e '^  - group:' -e '^    namespace: ""' -e '^    unmanaged: true$')
COMMAND
check patch 'there is a patch that removes the overrides' << 'COMMAND'
grep -E -e '^\{"spec":\{"overrides":null\}\}$' original_cvo_overrides.patch
COMMAND
check filled-in 'no value is missing' << 'COMMAND'
mapfile -t files < <(cut -d ' ' -f 2 make-manifests.written | sort -u | grep -v ssh.yaml)
for file in "${files[@]:?nothing was written}"; do
  [[ -s ${file} ]] || { echo "${file} is missing or empty" && false; }
done
awk '/^ *(sshKey|pullSecret): / { next }
  /[{][{]|<no.value>|[$][{]|(crt|key|json|kubeadmin|userData|ID|Name): *("")?$/ {
    print FILENAME ", line " FNR; bad = 1
  }
  END { exit bad }' "${files[@]}"
COMMAND

end_of_checks
