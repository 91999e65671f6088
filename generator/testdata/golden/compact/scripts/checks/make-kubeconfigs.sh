#!/usr/bin/env bash
# make-kubeconfigs: the checks of the stage
#
# make-kubeconfigs.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/make-kubeconfigs.sh --only
# ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
CLUSTER_DOMAIN='compact.bootlab.test'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check private 'no one else can read the kubeconfigs' << 'COMMAND'
stat --format='%04a %n' auth/kubeconfig auth/kubeconfig-loopback auth/kubeconfig-kubelet |
  awk '$1 != "0600" { print; bad = 1 } END { exit bad }'
COMMAND
check admin-server 'the administrator'\''s kubeconfig uses api-int' <<< \
  'grep -E -e "\\bserver\"?: *\"?https://api-int[.]${CLUSTER_DOMAIN}:6443\"?(,|}| *$)" \
    auth/kubeconfig'
check admin-embeds 'the administrator'\''s kubeconfig contains the files of tls/' <<< \
  'data() { sed -n "s/.*$1-data: //p" auth/kubeconfig | base64 --decode; }
  data certificate-authority | cmp - tls/kube-apiserver-complete-server-ca-bundle.crt
  data client-certificate | cmp - tls/admin-kubeconfig-client.crt
  data client-key | cmp - tls/admin-kubeconfig-client.key'
check loopback-server 'the loopback kubeconfig uses localhost' << 'COMMAND'
grep -E -e '\bserver"?: *"?https://localhost:6443"?(,|}| *$)' auth/kubeconfig-loopback
COMMAND
check loopback-embeds 'the loopback kubeconfig contains the files of tls/' <<< \
  'data() { sed -n "s/.*$1-data: //p" auth/kubeconfig-loopback | base64 --decode; }
  data certificate-authority | cmp - tls/kube-apiserver-localhost-ca-bundle.crt
  data client-certificate | cmp - tls/admin-kubeconfig-client.crt
  data client-key | cmp - tls/admin-kubeconfig-client.key'
check kubelet-server 'the nodes'\'' kubeconfig uses api-int' <<< \
  'grep -E -e "\\bserver\"?: *\"?https://api-int[.]${CLUSTER_DOMAIN}:6443\"?(,|}| *$)" \
    auth/kubeconfig-kubelet'
check kubelet-embeds 'the nodes'\'' kubeconfig contains the files of tls/' <<< \
  'data() { sed -n "s/.*$1-data: //p" auth/kubeconfig-kubelet | base64 --decode; }
  data certificate-authority | cmp - tls/kube-apiserver-complete-server-ca-bundle.crt
  data client-certificate | cmp - tls/kubelet-client.crt
  data client-key | cmp - tls/kubelet-client.key'
check admin-context 'the administrator'\''s kubeconfig has a current context' << 'COMMAND'
grep -E -e '\bcurrent-context"?: *"?admin"?(,|}| *$)' auth/kubeconfig
COMMAND
check loopback-context 'the loopback kubeconfig has a current context' << 'COMMAND'
grep -E -e '\bcurrent-context"?: *"?loopback"?(,|}| *$)' auth/kubeconfig-loopback
COMMAND
check kubelet-context 'the nodes'\'' kubeconfig has a current context' << 'COMMAND'
grep -E -e '\bcurrent-context"?: *"?kubelet"?(,|}| *$)' auth/kubeconfig-kubelet
COMMAND
check client-still-valid 'the client certificates have not expired' <<< \
  'certificates=(tls/admin-kubeconfig-client.crt tls/kubelet-client.crt)
  openssl verify -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"
  openssl verify -attime $((EPOCHSECONDS + 86400)) \
    -partial_chain -trusted <(cat "${certificates[@]}") "${certificates[@]}"'

end_of_checks
