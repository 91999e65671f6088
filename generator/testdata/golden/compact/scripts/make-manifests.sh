#!/usr/bin/env bash
# make-manifests: Write the cluster down as objects
#
# Before there is an API, a cluster is a directory of files. The installer turns
# one install-config.yaml into some twenty objects: who the cluster is, which
# networks it has, which platform it stands on, with what it pulls images. Every
# operator that renders reads some of them, and cluster-bootstrap creates all of
# them in the API. What an operator cannot find here it guesses, refuses, or
# crashes over.
#
# Reads:  tls/root-ca.crt
#         tls/root-ca.key
#         tls/machine-config-server.crt
#         tls/machine-config-server.key
#         $PULL_SECRET_FILE
# Writes: install-config.yaml
#         metadata.json
#         auth/kubeadmin-password
#         manifests/
#         openshift/
#         original_cvo_overrides.patch
#         make-manifests.written
#         edited/
# Differs from openshift-install:
# - The objects are written out here with the settings of this script;
# openshift-install marshals Go types.
# - Secrets have mode 0600.
# - The cluster's ids are kept in metadata.json, the password in auth/, both in
# the asset directory.
# - install-config.yaml stays.
# - openshift-install-manifests names the release, not the version of an
# installer.
# - What you edited is kept unless --force is given.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
OUT_DIR="${SCRIPT_DIR%/*}"
readonly ASSET_DIR="${OUT_DIR}/work/assets"
readonly HOST_ROOT="${OUT_DIR}/work/host"
readonly PULL_SECRET_FILE=''
readonly CLUSTER_NAME='compact'
readonly BASE_DOMAIN='bootlab.test'
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly RELEASE='4.21'
readonly DISTRIBUTION='okd'
readonly NETWORK_TYPE='OVNKubernetes'
readonly MACHINE_NETWORK='192.168.126.0/24'
readonly CLUSTER_NETWORK='10.128.0.0/14'
readonly CLUSTER_NETWORKS='10.128.0.0/14 23'
readonly SERVICE_NETWORK='172.30.0.0/16'
readonly CONTROL_PLANE_REPLICAS='3'
readonly COMPUTE_REPLICAS='0'
readonly SSH_KEY=''
readonly STAGE='make-manifests' CALL='make-manifests.sh' RECORD='make-manifests' MARKER='make-manifests.done'
readonly NEEDS=(openssl jq flock) NEXT='release-info.sh'

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"

check_inputs() {
  need_input tls/root-ca.crt 'run make-pki.sh first'
  need_input tls/root-ca.key 'run make-pki.sh first'
  need_input tls/machine-config-server.crt 'run make-pki.sh first'
  need_input tls/machine-config-server.key 'run make-pki.sh first'
}

invalidates() {
  invalidated unpack-bootstrap-ignition.done unpack-bootstrap-ignition.sh \
    'openshift-install wrote other manifests'
  invalidated openshift-manifests.done copy-manifests.sh \
    'it copied the old openshift/ into manifests/'
  invalidated config-bootstrap.done render-config.sh \
    'it read the old Infrastructure'
  invalidated cvo-bootstrap.done render-cvo.sh \
    'it read the old ClusterVersion'
  invalidated etcd-bootstrap.done render-etcd.sh \
    'it read the old install-config, Infrastructure and Network'
  invalidated kube-apiserver-bootstrap.done render-kube-apiserver.sh \
    'it read the old Network and Infrastructure'
  invalidated kube-controller-manager-bootstrap.done render-kcm.sh \
    'it read the old Network'
  invalidated node-tuning-bootstrap.done render-node-tuning.sh \
    'it read the old Infrastructure'
  invalidated mco-bootstrap.done render-mco.sh \
    'it read the old install-config, Infrastructure, Network, DNS, Proxy and pull secret'
  invalidated cco-bootstrap.done render-cco.sh \
    'it read the old install-config'
  invalidated api-bootstrap.done render-api.sh \
    'render-api wrote the FeatureGate'\''s status, and this puts the bare file back'
}

# What the installer concludes from the numbers of machines.
CONTROL_PLANE_TOPOLOGY=HighlyAvailable INFRASTRUCTURE_TOPOLOGY=HighlyAvailable MASTERS_SCHEDULABLE=false
INGRESS_PLACEMENT=Workers
((CONTROL_PLANE_REPLICAS > 1)) || CONTROL_PLANE_TOPOLOGY=SingleReplica INGRESS_PLACEMENT=ControlPlane
((COMPUTE_REPLICAS != 1)) || INFRASTRUCTURE_TOPOLOGY=SingleReplica
((COMPUTE_REPLICAS > 0)) || INFRASTRUCTURE_TOPOLOGY=${CONTROL_PLANE_TOPOLOGY} MASTERS_SCHEDULABLE=true

do_stage() {
  local pull_secret='' cluster_id='' infra_id='' hash='' root_ca='' role file
  local -A pem=() begin=() end=()
  command -v perl > /dev/null || command -v python3 > /dev/null ||
    die 4 'neither perl nor python3 is here' 'install one of them: they lead to the bcrypt of the C library'
  [[ ${MODE} == dry-run ]] || need_pull_secret
  # Two names that no one chooses: clusterID for updates and telemetry, infraID
  # for all that is made for the cluster outside of it. Made once, then kept.
  ids_fit || write_file 0644 metadata.json < <(new_ids)
  # The first login to the console and to oc, until an identity provider is set.
  [[ -s auth/kubeadmin-password ]] || write_file 0600 auth/kubeadmin-password < <(new_password)
  if [[ ${MODE} != dry-run || -e ${MARKER} ]]; then look_up; fi

  # What the installer would be given; it holds the pull secret, so 0600.
  keep 0600 install-config.yaml < <(install_config "$(json "${pull_secret}")")

  # The same for the cluster's eyes, without the pull secret. etcd and the
  # machine config operator read it now, others later.
  manifest manifests/cluster-config.yaml << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: cluster-config-v1
  namespace: kube-system
  annotations:
    kubernetes.io/description: What the cluster was installed with; it may have changed since.
data:
  install-config: |
$(install_config '""' | sed 's/^/    /')
END

  # The domain below which all names of the cluster lie.
  manifest manifests/cluster-dns-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: DNS
metadata:
  name: cluster
spec:
  baseDomain: ${CLUSTER_DOMAIN}
END

  # Platform, topology and the two addresses of the API. Operators decide by the
  # status, and none of them could find out what stands there.
  manifest manifests/cluster-infrastructure-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata:
  name: cluster
spec:
  platformSpec:
    type: None
status:
  apiServerInternalURI: https://api-int.${CLUSTER_DOMAIN}:6443
  apiServerURL: https://api.${CLUSTER_DOMAIN}:6443
  controlPlaneTopology: ${CONTROL_PLANE_TOPOLOGY}
  cpuPartitioning: None
  infrastructureName: "${infra_id}"
  infrastructureTopology: ${INFRASTRUCTURE_TOPOLOGY}
  platform: None
  platformStatus:
    type: None
END

  # Where routes get their names, and on which nodes the routers run.
  manifest manifests/cluster-ingress-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: Ingress
metadata:
  name: cluster
spec:
  domain: apps.${CLUSTER_DOMAIN}
status:
  defaultPlacement: ${INGRESS_PLACEMENT}
END

  # The networks of pods and services. The empty policy says that services get
  # no addresses from outside.
  manifest manifests/cluster-network-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: Network
metadata:
  name: cluster
spec:
  clusterNetwork:
$(cluster_networks '  ')
  externalIP:
    policy: {}
  networkType: ${NETWORK_TYPE}
  serviceNetwork:
  - ${SERVICE_NETWORK}
END

  # No proxy: but the machine config operator wants to read that it is so.
  manifest manifests/cluster-proxy-01-config.yaml << END
apiVersion: config.openshift.io/v1
kind: Proxy
metadata:
  name: cluster
spec: {}
END

  # Without workers the masters must take ordinary pods.
  manifest manifests/cluster-scheduler-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: Scheduler
metadata:
  name: cluster
spec:
  mastersSchedulable: ${MASTERS_SCHEDULABLE}
END

  # The cloud's configuration; without a cloud it is empty.
  manifest manifests/kube-cloud-config.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: kube-cloud-cfg
  namespace: kube-system
type: Opaque
data:
  config: ""
END

  # The root CA, for whoever must trust the Machine Config Server.
  manifest manifests/kube-system-configmap-root-ca.yaml << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: root-ca
  namespace: kube-system
data:
  ca.crt: |
${root_ca}
END

  # The same for the machine config operator, once as what to trust and once
  # with the key: the operator renews the server's certificate from then on.
  manifest manifests/machine-config-server-ca-configmap.yaml << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: machine-config-server-ca
  namespace: openshift-machine-config-operator
  annotations:
    openshift.io/description: The CAs that may have signed the certificate of the Machine Config Server
    openshift.io/owning-component: Machine Config Operator
  labels:
    auth.openshift.io/managed-certificate-type: ca-bundle
data:
  ca-bundle.crt: |
${root_ca}
END
  manifest manifests/machine-config-server-ca-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: machine-config-server-ca
  namespace: openshift-machine-config-operator
  annotations:
    openshift.io/description: Signs the certificate of the Machine Config Server
    openshift.io/owning-component: Machine Config Operator
    auth.openshift.io/certificate-issuer: root-ca
    auth.openshift.io/certificate-not-after: "${end[root-ca]:-}"
    auth.openshift.io/certificate-not-before: "${begin[root-ca]:-}"
  labels:
    auth.openshift.io/managed-certificate-type: signer
type: kubernetes.io/tls
data:
  tls.crt: ${pem[root-ca.crt]:-}
  tls.key: ${pem[root-ca.key]:-}
END

  # What the Machine Config Server shows once it runs in the cluster.
  manifest manifests/machine-config-server-tls-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: machine-config-server-tls
  namespace: openshift-machine-config-operator
  annotations:
    openshift.io/description: The certificate and the key of the Machine Config Server
    openshift.io/owning-component: Machine Config Operator
    auth.openshift.io/certificate-hostnames: api-int.${CLUSTER_DOMAIN}
    auth.openshift.io/certificate-issuer: root-ca
    auth.openshift.io/certificate-not-after: "${end[machine-config-server]:-}"
    auth.openshift.io/certificate-not-before: "${begin[machine-config-server]:-}"
  labels:
    auth.openshift.io/managed-certificate-type: target
type: kubernetes.io/tls
data:
  tls.crt: ${pem[machine-config-server.crt]:-}
  tls.key: ${pem[machine-config-server.key]:-}
END

  # With what nodes and operators log in at registries.
  manifest manifests/openshift-config-secret-pull-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: pull-secret
  namespace: openshift-config
type: kubernetes.io/dockerconfigjson
data:
  .dockerconfigjson: $(printf '%s' "${pull_secret}" | base64 --wrap=0)
END

  # The default feature set. It waits in openshift/ until copy-manifests.sh; then
  # a status is rendered into the copy, which later renders ask for.
  manifest openshift/99_feature-gate.yaml << END
apiVersion: config.openshift.io/v1
kind: FeatureGate
metadata:
  name: cluster
spec: {}
END

  # The hash of the password above; the cluster never sees the password.
  manifest openshift/99_kubeadmin-password-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: kubeadmin
  namespace: kube-system
data:
  kubeadmin: $(printf '%s' "${hash}" | base64 --wrap=0)
END

  # Who installed, and with what; the cluster version operator makes a metric of it.
  manifest openshift/openshift-install-manifests.yaml << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: openshift-install-manifests
  namespace: openshift-config
data:
  invoker: user
  version: "${RELEASE}"
END

  for role in master worker; do
    # What a new machine boots with: where its Ignition is, and which CA to trust
    # there. This is the content of master.ign and worker.ign too.
    manifest "openshift/99_openshift-cluster-api_${role}-user-data-secret.yaml" << END
apiVersion: v1
kind: Secret
metadata:
  name: ${role}-user-data
  namespace: openshift-machine-api
type: Opaque
data:
  disableTemplating: dHJ1ZQo=
  userData: $(pointer_config "${role}" "${pem[root-ca.crt]:-}" | base64 --wrap=0)
END
    # The way in when nothing else works any more: ssh core@node.
    [[ -z ${SSH_KEY} ]] || manifest "openshift/99_openshift-machineconfig_99-${role}-ssh.yaml" << END
apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels:
    machineconfiguration.openshift.io/role: ${role}
  name: 99-${role}-ssh
spec:
  config:
    ignition:
      version: 3.2.0
    passwd:
      users:
      - name: core
        sshAuthorizedKeys:
        - $(json "${SSH_KEY}")
END
  done

  # The ClusterVersion. Each object above is declared unmanaged, so that the
  # cluster version operator does not put the payload's own in its place while
  # the bootstrap runs. The patch takes that back at the end: restore-cvo-overrides.
  keep 0644 manifests/cvo-overrides.yaml << END
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata:
  name: version
  namespace: openshift-cluster-version
spec:
  channel: stable-scos-4
  upstream: https://amd64.origin.releases.ci.openshift.org/graph
  clusterID: ${cluster_id}
  overrides:
$(overrides)
END
  keep 0644 original_cvo_overrides.patch <<< '{"spec":{"overrides":null}}'

  # What an earlier run wrote and this one did not, as for an SSH key that is gone.
  for file in $(ours); do
    [[ " ${KEPT[*]} " == *" ${file} "* ]] || ! written_before "${file}" || run rm --force "${file}"
  done
}

install_config() { # PULL-SECRET, as a JSON string
  cat << END
additionalTrustBundlePolicy: Proxyonly
apiVersion: v1
baseDomain: "${BASE_DOMAIN}"
compute:
- architecture: $(architecture)
  hyperthreading: Enabled
  name: worker
  platform: {}
  replicas: ${COMPUTE_REPLICAS}
controlPlane:
  architecture: $(architecture)
  hyperthreading: Enabled
  name: master
  platform: {}
  replicas: ${CONTROL_PLANE_REPLICAS}
metadata:
  name: "${CLUSTER_NAME}"
networking:
  clusterNetwork:
$(cluster_networks '  ')
  machineNetwork:
  - cidr: ${MACHINE_NETWORK}
  networkType: ${NETWORK_TYPE}
  serviceNetwork:
  - ${SERVICE_NETWORK}
platform:
  none: {}
publish: External
pullSecret: $1
END
  [[ -z ${SSH_KEY} ]] || printf 'sshKey: %s\n' "$(json "${SSH_KEY}")"
}

architecture() { uname --machine | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/'; }

cluster_networks() { # INDENT
  local cidr prefix
  while read -r cidr prefix; do
    printf '%s- cidr: %s\n%s  hostPrefix: %s\n' "$1" "${cidr}" "$1" "${prefix}"
  done <<< "${CLUSTER_NETWORKS}"
}

# Any text as a JSON string, which is also a YAML one.
json() { printf '%s' "$1" | jq --raw-input --slurp .; } # TEXT

pointer_config() { # ROLE CA, in base64
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  jq --null-input --join-output --compact-output --arg ca "data:text/plain;charset=utf-8;base64,$2" \
    --arg source "https://api-int.${CLUSTER_DOMAIN}:22623/config/$1" \
    '{ignition: {config: {merge: [{$source}]}, security: {tls: {certificateAuthorities: [{source: $ca}]}},
      version: "3.2.0"}}'
}

# Machine configuration and the machines' own data the payload does not have.
overrides() {
  local file api
  for file in $(ours | grep --extended-regexp '^(manifests|openshift)/' |
    grep --invert-match --regexp=-user-data- --regexp=_openshift-machineconfig_ --regexp=/cvo-overrides); do
    [[ -e ${file} ]] || continue
    api="$(value_at .apiVersion "${file}")"
    [[ ${api} == */* ]] || api=/
    printf '  - group: "%s"\n' "${api%%/*}"
    printf '    kind: %s\n    name: %s\n' "$(value_at .kind "${file}")" "$(value_at .metadata.name "${file}")"
    printf '    namespace: "%s"\n    unmanaged: true\n' "$(value_at .metadata.namespace "${file}")"
  done
}

# Secrets are for no one else to read.
manifest() { # FILE
  local text mode=0644
  text="$(cat)"
  [[ ${text} != *$'\nkind: Secret'* ]] || mode=0600
  keep "${mode}" "$1" <<< "${text}"
}

KEPT=()
# Writes a file unless it was edited by hand since this script wrote it, which
# the hashes in make-manifests.written tell. With --force it is written all the
# same, and what was edited goes to edited/.
keep() { # MODE FILE
  local text sum
  text="$(cat)"
  sum="$(sha256sum <<< "${text}")"
  KEPT+=("$2")
  if [[ -e $2 && $(sha256sum < "$2") == "${sum}" ]]; then
    mode "$1" "$2" > /dev/null || run chmod "$1" "$2"
    return
  fi
  if [[ -e $2 ]] && ! written_before "$2"; then
    if [[ ${FORCE} == no ]]; then log "kept as it was edited: $2 (--force writes it again)"; return; fi
    run mkdir --parents "edited/$(dirname -- "$2")"
    run mv --force "$2" "edited/$2"
  fi
  [[ ${MODE} == dry-run ]] || echo "${sum%% *} $2" >> make-manifests.written
  write_file "$1" "$2" <<< "${text}"
}

written_before() { # FILE
  local sum
  sum="$(sha256sum < "$1")"
  grep --quiet --line-regexp --fixed-strings "${sum%% *} $1" make-manifests.written 2> /dev/null
}

# The files that this script wrote, in the order of their names.
ours() { cut --delimiter=' ' --fields=2 make-manifests.written 2> /dev/null | LC_ALL=C sort --unique; }

ids_fit() {
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  jq --exit-status --arg name "${CLUSTER_NAME}" '.clusterName == $name and (.clusterID | length) == 36 and
    (.infraID | length) > 5' metadata.json > /dev/null 2>&1
}

new_ids() {
  local base suffix
  base="$(sed 's/[^A-Za-z0-9-]/-/g; s/--*/-/g; s/^\(.\{21\}\).*/\1/; s/-*$//' <<< "${CLUSTER_NAME}")"
  suffix="$(openssl rand -base64 96 | tr --delete --complement b-df-hj-np-tv-xz2456789 | cut --characters=-5)"
  # shellcheck disable=SC2016 # what begins with $ here is jq's, not the shell's
  jq --null-input --compact-output --arg clusterName "${CLUSTER_NAME}" --arg infraID "${base}-${suffix}" \
    --arg clusterID "$(< /proc/sys/kernel/random/uuid)" '{$clusterName, $clusterID, $infraID}'
}

# Four times five letters and digits, without those that look alike.
new_password() {
  openssl rand -base64 96 | tr --delete --complement a-km-zA-NP-Z2-9 | cut --characters=-20 | fold --width=5 |
    paste --serial --delimiters=-
}

# Everything that manifests are filled in with.
look_up() {
  local file
  pull_secret="$(pull_secret_text)"
  cluster_id="$(jq --raw-output .clusterID metadata.json)"
  infra_id="$(jq --raw-output .infraID metadata.json)"
  root_ca="$(sed 's/^/    /' tls/root-ca.crt)"
  for file in root-ca.crt root-ca.key machine-config-server.crt machine-config-server.key; do
    pem[${file}]="$(base64 --wrap=0 "tls/${file}")"
  done
  for file in root-ca machine-config-server; do
    begin[${file}]="$(moment -startdate "${file}")"
    end[${file}]="$(moment -enddate "${file}")"
  done
  hash="$(old_hash)" || hash="$(new_hash)"
}

moment() { # -startdate|-enddate NAME
  local date
  date="$(openssl x509 -in "tls/$2.crt" -noout "$1")"
  date --utc --date="${date#*=}" +%Y-%m-%dT%H:%M:%SZ
}

need_pull_secret() {
  [[ -n ${PULL_SECRET_FILE} || ${DISTRIBUTION} != okd ]] || return 0
  [[ -r ${PULL_SECRET_FILE} ]] || die 4 "the pull secret ${PULL_SECRET_FILE:-of OCP} cannot be read" \
    'name it as pullSecret in lab.yaml, and save it there; for OCP it comes from the cloud console'
  is_pull_secret < "${PULL_SECRET_FILE}" || die 4 "${PULL_SECRET_FILE} is not a pull secret" \
    'it must be JSON with auths, and in it an auth for each registry'
}

# OKD takes any pull secret that has the right form; its images are public.
pull_secret_text() {
  if [[ -n ${PULL_SECRET_FILE} ]]; then cat "${PULL_SECRET_FILE}"; else echo '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}'; fi
}

is_pull_secret() {
  jq --exit-status '.auths | length > 0 and all(.[]; (.auth // .credsStore // "") != "")' > /dev/null 2>&1
}

# bcrypt with cost 10. openssl has none, but the C library's crypt does; perl and
# python lead there. The prefix is the one that the installer writes.
new_hash() {
  local salt hash
  salt="$(openssl rand -base64 16 | tr + . | cut --characters=-22)"
  hash="$(crypt_password "\$2b\$10\$${salt}")"
  [[ ${hash} == \$2b\$10\$* && ${#hash} == 60 ]] ||
    die 4 'no bcrypt in crypt() of this system' 'install perl and libxcrypt'
  echo "\$2a\$${hash#\$2b\$}"
}

old_hash() {
  local hash
  hash="$(value_at .data.kubeadmin openshift/99_kubeadmin-password-secret.yaml | base64 --decode)" &&
    [[ -n ${hash} && $(crypt_password "${hash}") == "${hash}" ]] && echo "${hash}"
} 2> /dev/null

# The password goes through a pipe: arguments can be seen by every user.
crypt_password() { # SETTING
  # shellcheck disable=SC2016 # what begins with $ here is perl's, not the shell's
  local perl='chomp(my ($word, $setting) = <STDIN>); print crypt($word, $setting) // ""'
  local python='import ctypes, sys; word, setting = sys.stdin.buffer.read().splitlines()[:2]
for name in "libcrypt.so.2", "libcrypt.so.1":
    try: crypt = ctypes.CDLL(name).crypt
    except OSError: continue
    crypt.restype = ctypes.c_char_p; print((crypt(word, setting) or b"").decode()); break'
  local command=(perl -e "${perl}")
  command -v perl > /dev/null || command=(python3 -c "${python}")
  printf '%s\n%s\n' "$(< auth/kubeadmin-password)" "$1" | "${command[@]}"
}

decoded() { present "$2" && value_at "$1" "$2" | base64 --decode; } # PATH FILE

root_ca_arrives() {
  local file bad=0 ca files=(manifests/kube-system-configmap-root-ca.yaml)
  files+=(manifests/machine-config-server-ca-configmap.yaml)
  present tls/root-ca.crt || return 1
  ca="$(sed 's/^/    /' tls/root-ca.crt)"
  for file in "${files[@]}"; do
    [[ "$(cat "${file}")" == *"${ca}"* ]] || { echo "${file} holds no tls/root-ca.crt"; bad=1; }
  done
  ca="base64,$(base64 --wrap=0 tls/root-ca.crt)\""
  for file in openshift/99_openshift-cluster-api_{master,worker}-user-data-secret.yaml; do
    [[ "$(decoded .data.userData "${file}")" == *"${ca}"* ]] ||
      { echo "${file} holds no tls/root-ca.crt"; bad=1; }
  done
  return "${bad}"
}

ignition_keys_arrive() {
  local file what bad=0
  while read -r file what; do
    present "${file}" "${what}" || { bad=1; continue; }
    cmp --silent "${what}" <(decoded ".data.tls.${what##*.}" "${file}") ||
      { echo "${file} holds no ${what}"; bad=1; }
  done << END
manifests/machine-config-server-ca-secret.yaml tls/root-ca.crt
manifests/machine-config-server-ca-secret.yaml tls/root-ca.key
manifests/machine-config-server-tls-secret.yaml tls/machine-config-server.crt
manifests/machine-config-server-tls-secret.yaml tls/machine-config-server.key
END
  return "${bad}"
}

pull_secret_arrives() {
  local secret
  secret="$(decoded .data..dockerconfigjson manifests/openshift-config-secret-pull-secret.yaml)" || return 1
  is_pull_secret <<< "${secret}" || { echo 'not JSON with an auth for each registry'; return 1; }
  [[ -z ${PULL_SECRET_FILE} || ${secret} == "$(cat "${PULL_SECRET_FILE}")" ]] ||
    { echo "not what ${PULL_SECRET_FILE} holds"; return 1; }
}

password_fits() {
  present auth/kubeadmin-password openshift/99_kubeadmin-password-secret.yaml || return 1
  [[ -n $(old_hash) ]] || { echo 'the hash is that of another password'; return 1; }
}

ssh_key_arrives() {
  local file bad=0 key
  key="$(json "${SSH_KEY}")"
  for file in openshift/99_openshift-machineconfig_99-{master,worker}-ssh.yaml; do
    if [[ -z ${SSH_KEY} ]]; then absent "${file}" || bad=1; continue; fi
    grep --quiet --fixed-strings --line-regexp --regexp="        - ${key}" "${file}" ||
      { echo "${file} holds another key"; bad=1; }
  done
  return "${bad}"
}

replicas_arrive() {
  local found
  found="$(awk '/^ *controlPlane:$/ { here = 1 }
    here && /^ *replicas:/ { print $2; exit }' manifests/cluster-config.yaml)"
  echo "${found:-none}"
  [[ ${found} == "${CONTROL_PLANE_REPLICAS}" ]]
}

ids_arrive() {
  local cluster infra
  ids_fit || { echo "metadata.json is not that of ${CLUSTER_NAME}"; return 1; }
  cluster="$(jq --raw-output .clusterID metadata.json)" infra="$(jq --raw-output .infraID metadata.json)"
  value .spec.clusterID "${cluster}" manifests/cvo-overrides.yaml &&
    value .status.infrastructureName "${infra}" manifests/cluster-infrastructure-02-config.yml
}

everything_is_unmanaged() {
  local wanted
  present make-manifests.written manifests/cvo-overrides.yaml || return 1
  wanted="$(overrides)"
  [[ -n ${wanted} && "$(< manifests/cvo-overrides.yaml)" == *"${wanted}"* ]] ||
    { echo "not exactly these:"; echo "${wanted}"; return 1; }
}

nothing_is_left_open() {
  local files
  mapfile -t files < <(ours | grep --invert-match ssh.yaml)
  present "${files[@]}" make-manifests.written || return 1
  awk '/^ *(sshKey|pullSecret): / { next }
    /{{|<no.value>|[$][{]|(crt|key|json|kubeadmin|userData|ID|Name): *("")?$/ {
      print FILENAME ", line " FNR; bad = 1
    }
    END { exit bad }' "${files[@]}"
}

verify() {
  check present 'every manifest of the installer is there' \
    'the files of manifests/ and openshift/ and those beside them, none empty' \
    'Run make-manifests.sh.' \
    present install-config.yaml metadata.json auth/kubeadmin-password \
      manifests/cluster-config.yaml manifests/cluster-dns-02-config.yml \
      manifests/cluster-infrastructure-02-config.yml manifests/cluster-ingress-02-config.yml \
      manifests/cluster-network-02-config.yml manifests/cluster-proxy-01-config.yaml \
      manifests/cluster-scheduler-02-config.yml manifests/cvo-overrides.yaml \
      manifests/kube-cloud-config.yaml manifests/kube-system-configmap-root-ca.yaml \
      manifests/machine-config-server-tls-secret.yaml \
      manifests/openshift-config-secret-pull-secret.yaml openshift/99_feature-gate.yaml \
      openshift/99_kubeadmin-password-secret.yaml \
      openshift/99_openshift-cluster-api_master-user-data-secret.yaml \
      openshift/99_openshift-cluster-api_worker-user-data-secret.yaml \
      openshift/openshift-install-manifests.yaml original_cvo_overrides.patch
  check present-ignition-ca 'the machine config operator gets the CA of its server' \
    'a ConfigMap with the CA, a Secret with CA and key' \
    'Run make-manifests.sh.' \
    present manifests/machine-config-server-ca-configmap.yaml \
      manifests/machine-config-server-ca-secret.yaml
  check private 'no one else can read what is secret' \
    'mode 0600' \
    'Run make-manifests.sh --force, or chmod 600 on them.' \
    mode 0600 install-config.yaml auth/kubeadmin-password \
      manifests/machine-config-server-*-secret.yaml \
      manifests/openshift-config-secret-pull-secret.yaml \
      openshift/99_kubeadmin-password-secret.yaml manifests/kube-cloud-config.yaml \
      openshift/99_openshift-cluster-api_*-user-data-secret.yaml
  check no-own-ca 'no CA of the user'\''s is left over' \
    'no user-ca-bundle-config.yaml, for a lab has none' \
    'Remove it, unless you put it there; the machine config operator would give it to every node.' \
    absent manifests/user-ca-bundle-config.yaml
  check machine-network 'the cluster'\''s install-config has the lab'\''s machine network' \
    'a line with the network'\''s CIDR' \
    'Run make-manifests.sh --force; etcd'\''s render crashes without one, and goes astray with another.' \
    line "^ +- cidr: ${MACHINE_NETWORK}\$" manifests/cluster-config.yaml
  check replicas 'the cluster'\''s install-config has the lab'\''s number of masters' \
    'the number below controlPlane' \
    'Run make-manifests.sh --force; cluster-bootstrap decides by it whether to wait for masters.' \
    replicas_arrive
  check no-pull-secret 'the cluster'\''s install-config holds no pull secret' \
    'an empty one' \
    'Run make-manifests.sh --force; everyone who may read ConfigMaps in kube-system could read it.' \
    line "^ +pullSecret: \"\"\$" manifests/cluster-config.yaml
  check domain 'the cluster'\''s domain is the lab'\''s' \
    'name and base domain' \
    'The lab changed; run make-manifests.sh --force.' \
    value .spec.baseDomain "${CLUSTER_DOMAIN}" manifests/cluster-dns-02-config.yml
  check platform 'the platform is none, and the status says so' \
    'status.platformStatus.type None' \
    'Run make-manifests.sh --force; etcd'\''s render crashes without a platformStatus.' \
    value .status.platformStatus.type None manifests/cluster-infrastructure-02-config.yml
  check topology 'the control plane has the topology of its number of masters' \
    'HighlyAvailable with three masters, SingleReplica with one' \
    'Run make-manifests.sh --force; etcd waits for as many members as the topology asks for.' \
    value .status.controlPlaneTopology "${CONTROL_PLANE_TOPOLOGY}" \
      manifests/cluster-infrastructure-02-config.yml
  check workers-topology 'the infrastructure has the topology of its number of workers' \
    'HighlyAvailable with two workers, SingleReplica with one, as the control plane with none' \
    'Run make-manifests.sh --force.' \
    value .status.infrastructureTopology "${INFRASTRUCTURE_TOPOLOGY}" \
      manifests/cluster-infrastructure-02-config.yml
  check api-url 'the API'\''s outer address is known' \
    'https, api and the cluster'\''s domain, port 6443' \
    'Run make-manifests.sh --force.' \
    value .status.apiServerURL "https://api.${CLUSTER_DOMAIN}:6443" \
      manifests/cluster-infrastructure-02-config.yml
  check api-int-url 'the API'\''s inner address is known' \
    'https, api-int and the cluster'\''s domain, port 6443' \
    'Run make-manifests.sh --force; kubelets are told this address.' \
    value .status.apiServerInternalURI "https://api-int.${CLUSTER_DOMAIN}:6443" \
      manifests/cluster-infrastructure-02-config.yml
  check service-network 'services get the lab'\''s network' \
    'the network whose first address is in the API'\''s certificate' \
    'Run make-manifests.sh --force, and make-pki.sh for the certificate.' \
    value ".spec.serviceNetwork[0]" "${SERVICE_NETWORK}" manifests/cluster-network-02-config.yml
  check cluster-network 'pods get the lab'\''s network' \
    'the first cluster network' \
    'Run make-manifests.sh --force.' \
    value ".spec.clusterNetwork[0].cidr" "${CLUSTER_NETWORK}" \
      manifests/cluster-network-02-config.yml
  check network-type 'the network plugin is the lab'\''s' \
    'the type from lab.yaml' \
    'Run make-manifests.sh --force.' \
    value .spec.networkType "${NETWORK_TYPE}" manifests/cluster-network-02-config.yml
  check routes 'routes lie below apps' \
    'apps and the cluster'\''s domain' \
    'Run make-manifests.sh --force.' \
    value .spec.domain "apps.${CLUSTER_DOMAIN}" manifests/cluster-ingress-02-config.yml
  check schedulable 'masters take pods exactly if there are no workers' \
    'mastersSchedulable true without workers, else false' \
    'Run make-manifests.sh --force; without workers and schedulable masters no router could ever run.' \
    value .spec.mastersSchedulable "${MASTERS_SCHEDULABLE}" \
      manifests/cluster-scheduler-02-config.yml
  check proxy 'there is a Proxy object' \
    'kind Proxy' \
    'Run make-manifests.sh --force; the machine config operator'\''s render stops without the file.' \
    value .kind Proxy manifests/cluster-proxy-01-config.yaml
  check feature-gate 'there is a FeatureGate' \
    'kind FeatureGate' \
    'Run make-manifests.sh --force; render-api.sh would find nothing to give a status to.' \
    value .kind FeatureGate openshift/99_feature-gate.yaml
  check root-ca 'nodes are told to trust this PKI'\''s root CA' \
    'tls/root-ca.crt in the ConfigMaps and in both pointer configurations' \
    'The root CA was made again; run make-manifests.sh.' \
    root_ca_arrives
  check ignition-keys 'the Machine Config Server gets its keys' \
    'the files of tls/ in the Secrets' \
    'The certificates were made again; run make-manifests.sh.' \
    ignition_keys_arrive
  check ignition-still-valid 'what the Machine Config Server shows has not run out' \
    'valid now and for a day more' \
    'Run make-pki.sh, then make-manifests.sh.' \
    fresh 1440 tls/root-ca.crt tls/machine-config-server.crt
  check pull-secret 'the pull secret is one' \
    'JSON with an auth for each registry, as in the lab'\''s file' \
    'Save the pull secret again as it was downloaded, and run make-manifests.sh.' \
    pull_secret_arrives
  check password 'the hash is that of the password' \
    'bcrypt of auth/kubeadmin-password' \
    'Run make-manifests.sh; without it no one can log in to the console.' \
    password_fits
  check ssh-key 'the nodes get the lab'\''s SSH key' \
    'the same characters, and no file if the lab has no key' \
    'The lab changed; run make-manifests.sh.' \
    ssh_key_arrives
  check ids 'the cluster is the same in all files' \
    'clusterID and infraID of metadata.json' \
    'Run make-manifests.sh --force.' \
    ids_arrive
  check overrides 'the cluster version operator is told to leave every object alone' \
    'an unmanaged override for each' \
    'Run make-manifests.sh --force.' \
    everything_is_unmanaged
  check patch 'there is a way back from the overrides' \
    'a merge patch of spec.overrides' \
    'Run make-manifests.sh --force.' \
    line "^\\{\"spec\":\\{\"overrides\":null\\}\\}\$" original_cvo_overrides.patch
  check filled-in 'nothing was left open' \
    'no placeholder and no empty value in what was written' \
    'Run make-manifests.sh --force; if it stays so, the settings at the top of the script lack a value.' \
    nothing_is_left_open
}

usual_failures() {
  usual_failure 'cannot be read' \
    'The lab names a pull secret file that is not there, or you may not read it.' \
    'Save it beside lab.yaml under the name given there, or leave pullSecret out for OKD.'
  usual_failure 'is not a pull secret' \
    'The file is not the JSON that the cloud console gives, perhaps a copy with line breaks in it.' \
    'Download it again and save it unchanged.'
  usual_failure 'no bcrypt in crypt()' \
    'Neither perl nor python reaches a C library that knows bcrypt.' \
    'Install perl; every current Debian, Fedora and RHEL has libxcrypt.'
  usual_failure 'Permission denied' \
    'An earlier run as root left files that you cannot change.' \
    'Give the lab'\''s directory back to yourself with chown, and run make-manifests.sh again.'
}

stage_main "$@"
