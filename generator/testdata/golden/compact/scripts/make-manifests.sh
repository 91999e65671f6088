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
#   openshift-install marshals Go types.
# - Secrets have mode 0600.
# - The cluster's ids are kept in metadata.json, the password in auth/, both in
#   the asset directory.
# - install-config.yaml stays.
# - openshift-install-manifests names the release, not the version of an
#   installer.
# - What you edited is kept unless --force is given.
# For lab compact, okd 4.21, local run on this workstation. Made by bootlab generate.
set -Eeuo pipefail

# Settings: every value that comes from lab.yaml and the release.
SCRIPTS="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
PULL_SECRET_FILE=''
CLUSTER_NAME='compact'
BASE_DOMAIN='bootlab.test'
CLUSTER_DOMAIN='compact.bootlab.test'
RELEASE='4.21'
NETWORK_TYPE='OVNKubernetes'
MACHINE_NETWORK='192.168.126.0/24'
CLUSTER_NETWORKS='10.128.0.0/14 23'
SERVICE_NETWORK='172.30.0.0/16'
CONTROL_PLANE_REPLICAS='3'
COMPUTE_REPLICAS='0'
CONTROL_PLANE_TOPOLOGY='HighlyAvailable'
INFRASTRUCTURE_TOPOLOGY='HighlyAvailable'
INGRESS_PLACEMENT='Workers'
MASTERS_SCHEDULABLE='true'
SSH_KEY=''
STAGE=make-manifests RECORD=make-manifests
MARKER=make-manifests.done NEXT='release-info.sh'
# shellcheck source=lib/stage.sh
source "${SCRIPTS}/lib/stage.sh"

needs openssl jq flock
needs_input 'run make-pki.sh first' tls/root-ca.crt tls/root-ca.key tls/machine-config-server.crt \
  tls/machine-config-server.key
invalidates unpack-bootstrap-ignition.done unpack-bootstrap-ignition.sh \
  'openshift-install wrote other manifests'
invalidates openshift-manifests.done copy-manifests.sh \
  'it copied the old openshift/ into manifests/'
invalidates config-bootstrap.done render-config.sh \
  'it read the old Infrastructure'
invalidates cvo-bootstrap.done render-cvo.sh \
  'it read the old ClusterVersion'
invalidates etcd-bootstrap.done render-etcd.sh \
  'it read the old install-config, Infrastructure and Network'
invalidates kube-apiserver-bootstrap.done render-kube-apiserver.sh \
  'it read the old Network and Infrastructure'
invalidates kube-controller-manager-bootstrap.done render-kcm.sh \
  'it read the old Network'
invalidates node-tuning-bootstrap.done render-node-tuning.sh \
  'it read the old Infrastructure'
invalidates mco-bootstrap.done render-mco.sh \
  'it read the old install-config, Infrastructure, Network, DNS, Proxy and pull secret'
invalidates cco-bootstrap.done render-cco.sh \
  'it read the old install-config'
invalidates api-bootstrap.done render-api.sh \
  'render-api wrote the FeatureGate'\''s status, and this puts the bare file back'
begin "$@"

# Writes the text on standard input to a file, unless the file was edited since
# this script wrote it, which the hashes in make-manifests.written tell. With
# --force it is written, and what was edited goes to edited/.
keep() { # FILE
  local line
  rm -f .new
  (umask 077 && cat > .new)
  # What holds a key or the pull secret is for no one else to read.
  [[ $1 == install-config.yaml ]] || grep --quiet '^kind: Secret$' .new || chmod 0644 .new
  if [[ -e $1 ]] && ! cmp -s .new "$1" && ! written_before "$1"; then
    if [[ ${FORCE:-no} == no ]]; then
      echo "kept as it was edited: $1 (--force writes it again)"
      return
    fi
    mkdir -p "edited/$(dirname "$1")"
    mv -f "$1" "edited/$1"
  fi
  line="$(sha256sum .new | cut -c -64) $1"
  grep --quiet -xF "${line}" make-manifests.written 2> /dev/null ||
    echo "${line}" >> make-manifests.written
  [[ $1 != */* ]] || mkdir -p "${1%/*}"
  mv -f .new "$1"
}

written_before() { # FILE
  grep --quiet -xF "$(sha256sum "$1" | cut -c 1-64) $1" make-manifests.written 2> /dev/null
}

id() { jq --raw-output ".$1" metadata.json; } # clusterID|infraID

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

# OKD takes any pull secret of the right form; its images are public.
pull_secret() { echo '{"auths":{"fake":{"auth":"aWQ6cGFzcwo="}}}'; }

pem() { base64 --wrap=0 "tls/$1"; } # FILE

root_ca() { sed 's/^/    /' tls/root-ca.crt; }

moment() { # -startdate|-enddate NAME
  date --utc --date="$(openssl x509 -in "tls/$2.crt" -noout "$1" | cut -d = -f 2)" \
    +%Y-%m-%dT%H:%M:%SZ
}

pointer_config() { # ROLE
  jq --null-input --join-output --compact-output \
    --arg ca "data:text/plain;charset=utf-8;base64,$(pem root-ca.crt)" \
    --arg source "https://api-int.${CLUSTER_DOMAIN}:22623/config/$1" \
    '{ignition: {config: {merge: [{$source}]},
      security: {tls: {certificateAuthorities: [{source: $ca}]}}, version: "3.2.0"}}'
}

# Each object that this script wrote. Of machine configuration and of the machines'
# own data the payload has no other version.
overrides() {
  local file
  while read -r file; do
    [[ ! -e ${file} ]] || awk '
      /^apiVersion: / { group = $2; if (!sub("/.*", "", group)) group = "" }
      /^kind: / { kind = $2 }
      /^  name: / && name == "" { name = $2 }
      /^  namespace: / { space = $2 }
      END { printf "  - group: \"%s\"\n    kind: %s\n    name: %s\n", group, kind, name
        printf "    namespace: \"%s\"\n    unmanaged: true\n", space }' "${file}"
  done < <(cut -d ' ' -f 2 make-manifests.written | LC_ALL=C sort --unique |
    grep -E '^(manifests|openshift)/' |
    grep -v -e -user-data- -e _openshift-machineconfig_ -e /cvo-overrides)
}

# bcrypt with cost 10. openssl has none, but the C library's crypt does; perl and
# python reach it. The old hash stays as long as it is that of the password.
password_hash() {
  local old salt hash
  old="$(sed -n 's/^  kubeadmin: //p' openshift/99_kubeadmin-password-secret.yaml 2> /dev/null |
    base64 --decode)"
  if [[ -n ${old} && $(crypt_password "${old}") == "${old}" ]]; then
    printf %s "${old}"
    return
  fi
  salt="$(openssl rand -base64 16 | tr + . | cut -c -22)"
  hash="$(crypt_password "\$2b\$10\$${salt}")"
  [[ ${hash} == \$2b\$10\$* && ${#hash} == 60 ]] ||
    { echo 'no bcrypt in crypt() of this system' >&2 && return 1; }
  # The installer writes this prefix, for the same algorithm.
  printf %s "\$2a\$${hash#\$2b\$}"
}

# The password goes through a pipe: every user can see arguments.
crypt_password() { # SETTING
  # shellcheck disable=SC2016 # what begins with $ is perl's
  local program=(perl -e 'chomp(my ($word, $setting) = <STDIN>);
    print crypt($word, $setting) // ""')
  command -v perl > /dev/null || program=(python3 -c 'import ctypes, ctypes.util, sys
crypt = ctypes.CDLL(ctypes.util.find_library("crypt")).crypt
crypt.restype = ctypes.c_char_p
print((crypt(*sys.stdin.buffer.read().splitlines()[:2]) or b"").decode())')
  printf '%s\n%s\n' "$(< auth/kubeadmin-password)" "$1" | "${program[@]}"
}

if step 1 'Look at the pull secret'; then
  pull_secret | jq --exit-status '
    .auths | length > 0 and all(.[]; (.auth // .credsStore // "") != "")' > /dev/null 2>&1 ||
    { echo "${PULL_SECRET_FILE} is not a pull secret" && false; }
fi 9>&-

if step 2 'Make the ids of the cluster and the password of kubeadmin'; then
  # clusterID is for updates and telemetry, infraID for what is made for the cluster
  # outside of it. They are made once, and then kept.
  if ! jq --exit-status --arg name "${CLUSTER_NAME}" '.clusterName == $name and
    (.clusterID | length) == 36 and (.infraID | length) > 5' metadata.json > /dev/null 2>&1; then
    base="$(sed 's/[^A-Za-z0-9-]/-/g; s/--*/-/g; s/^\(.\{21\}\).*/\1/; s/-*$//' \
      <<< "${CLUSTER_NAME}")"
    suffix="$(openssl rand -base64 96 | tr -dc b-df-hj-np-tv-xz2456789 | cut -c -5)"
    jq --null-input --compact-output --arg clusterName "${CLUSTER_NAME}" \
      --arg infraID "${base}-${suffix}" --arg clusterID "$(cat /proc/sys/kernel/random/uuid)" \
      '{$clusterName, $clusterID, $infraID}' > .new
    mv -f .new metadata.json
  fi
  # The first login to the console and to oc, until there is an identity provider:
  # four times five letters and digits, without those that look alike.
  mkdir -p auth
  if [[ ! -s auth/kubeadmin-password ]]; then
    (umask 077 && openssl rand -base64 96 | tr -dc a-km-zA-NP-Z2-9 | cut -c -20 | fold -w 5 |
      paste -sd - > .new)
    mv -f .new auth/kubeadmin-password
  fi
fi 9>&-

if step 3 'Write the install-config, with and without the pull secret'; then
  # It holds the pull secret: mode 0600. openshift-install deletes its own.
  install_config "$(json "$(pull_secret)")" | keep install-config.yaml

  # The same without the pull secret, for the cluster. etcd and the machine config
  # operator read it now, others later.
  keep manifests/cluster-config.yaml << END
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
fi 9>&-

if step 4 'Write names, networks and platform of the cluster'; then
  # The domain below which all names of the cluster lie.
  keep manifests/cluster-dns-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: DNS
metadata:
  name: cluster
spec:
  baseDomain: ${CLUSTER_DOMAIN}
END

  # Platform, topology and the two addresses of the API. Operators decide by the
  # status, and none of them could find out what stands there.
  keep manifests/cluster-infrastructure-02-config.yml << END
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
  infrastructureName: "$(id infraID)"
  infrastructureTopology: ${INFRASTRUCTURE_TOPOLOGY}
  platform: None
  platformStatus:
    type: None
END

  # Where routes get their names, and on which nodes the routers run.
  keep manifests/cluster-ingress-02-config.yml << END
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
  keep manifests/cluster-network-02-config.yml << END
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
  keep manifests/cluster-proxy-01-config.yaml << END
apiVersion: config.openshift.io/v1
kind: Proxy
metadata:
  name: cluster
spec: {}
END

  # Without workers the masters must take ordinary pods.
  keep manifests/cluster-scheduler-02-config.yml << END
apiVersion: config.openshift.io/v1
kind: Scheduler
metadata:
  name: cluster
spec:
  mastersSchedulable: ${MASTERS_SCHEDULABLE}
END

  # The cloud's configuration; without a cloud it is empty.
  keep manifests/kube-cloud-config.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: kube-cloud-cfg
  namespace: kube-system
type: Opaque
data:
  config: ""
END
fi 9>&-

if step 5 'Write what leads a node to the Machine Config Server'; then
  # The root CA, for whoever must trust the Machine Config Server.
  keep manifests/kube-system-configmap-root-ca.yaml << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: root-ca
  namespace: kube-system
data:
  ca.crt: |
$(root_ca)
END

  # The same for the machine config operator, once as what to trust and once
  # with the key: the operator renews the server's certificate from then on.
  keep manifests/machine-config-server-ca-configmap.yaml << END
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
$(root_ca)
END
  keep manifests/machine-config-server-ca-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: machine-config-server-ca
  namespace: openshift-machine-config-operator
  annotations:
    openshift.io/description: Signs the certificate of the Machine Config Server
    openshift.io/owning-component: Machine Config Operator
    auth.openshift.io/certificate-issuer: root-ca
    auth.openshift.io/certificate-not-after: "$(moment -enddate root-ca)"
    auth.openshift.io/certificate-not-before: "$(moment -startdate root-ca)"
  labels:
    auth.openshift.io/managed-certificate-type: signer
type: kubernetes.io/tls
data:
  tls.crt: $(pem root-ca.crt)
  tls.key: $(pem root-ca.key)
END

  # What the Machine Config Server shows once it runs in the cluster.
  keep manifests/machine-config-server-tls-secret.yaml << END
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
    auth.openshift.io/certificate-not-after: "$(moment -enddate machine-config-server)"
    auth.openshift.io/certificate-not-before: "$(moment -startdate machine-config-server)"
  labels:
    auth.openshift.io/managed-certificate-type: target
type: kubernetes.io/tls
data:
  tls.crt: $(pem machine-config-server.crt)
  tls.key: $(pem machine-config-server.key)
END

  for role in master worker; do
    # What a new machine boots with: where its Ignition is, and which CA to trust
    # there. This is the content of master.ign and worker.ign too.
    keep "openshift/99_openshift-cluster-api_${role}-user-data-secret.yaml" << END
apiVersion: v1
kind: Secret
metadata:
  name: ${role}-user-data
  namespace: openshift-machine-api
type: Opaque
data:
  disableTemplating: dHJ1ZQo=
  userData: $(pointer_config "${role}" | base64 --wrap=0)
END
    # The way in when nothing else works any more: ssh core@node.
    [[ -z ${SSH_KEY} ]] || keep "openshift/99_openshift-machineconfig_99-${role}-ssh.yaml" << END
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
fi 9>&-

if step 6 'Write with what the cluster logs in, and who may log in'; then
  # With what nodes and operators log in at registries.
  keep manifests/openshift-config-secret-pull-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: pull-secret
  namespace: openshift-config
type: kubernetes.io/dockerconfigjson
data:
  .dockerconfigjson: $(printf %s "$(pull_secret)" | base64 --wrap=0)
END

  # The default feature set. It waits in openshift/ until copy-manifests.sh; then
  # a status is rendered into the copy, which later renders ask for.
  keep openshift/99_feature-gate.yaml << END
apiVersion: config.openshift.io/v1
kind: FeatureGate
metadata:
  name: cluster
spec: {}
END

  # The hash of the password above; the cluster never sees the password.
  keep openshift/99_kubeadmin-password-secret.yaml << END
apiVersion: v1
kind: Secret
metadata:
  name: kubeadmin
  namespace: kube-system
data:
  kubeadmin: $(password_hash | base64 --wrap=0)
END

  # Who installed, and with what; the cluster version operator makes a metric of it.
  keep openshift/openshift-install-manifests.yaml << END
apiVersion: v1
kind: ConfigMap
metadata:
  name: openshift-install-manifests
  namespace: openshift-config
data:
  invoker: user
  version: "${RELEASE}"
END
fi 9>&-

if step 7 'Delete what an earlier lab.yaml wanted'; then
  for file in \ manifests/image-digest-mirror-set.yaml \
    manifests/image-content-source-policy.yaml \
    manifests/user-ca-bundle-config.yaml \ \
    openshift/99_osimagestream.yaml \
    openshift/99_openshift-machineconfig_99-{master,worker}-ssh.yaml; do
    # Only what this script wrote, and nobody edited.
    [[ ! -e ${file} ]] || ! written_before "${file}" || rm -f "${file}"
  done
fi 9>&-

if step 8 'Write the ClusterVersion'; then
  # The ClusterVersion. Each object above is declared unmanaged, so that the
  # cluster version operator does not put the payload's own in its place while
  # the bootstrap runs. The patch takes that back at the end: restore-cvo-overrides.
  keep manifests/cvo-overrides.yaml << END
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata:
  name: version
  namespace: openshift-cluster-version
spec:
  channel: stable-scos-4
  upstream: https://amd64.origin.releases.ci.openshift.org/graph
  clusterID: $(id clusterID)
  overrides:
$(overrides)
END
  keep original_cvo_overrides.patch <<< '{"spec":{"overrides":null}}'
fi 9>&-

finish
