#!/usr/bin/env bash
# release-info: the checks of the stage
#
# release-info.sh --verify runs this file. A check passes when its command
# succeeds. It runs in the asset directory, in a subshell with set -euo pipefail
# and the settings below. To repeat one check: checks/release-info.sh --only ID.

# shellcheck disable=SC2016,SC2034 # each check is a shell that sees the settings
set -aeuo pipefail
SCRIPTS="$(readlink -f -- "${BASH_SOURCE[0]}")" SCRIPTS="${SCRIPTS%/*/*}"
ASSET_DIR="${SCRIPTS%/*}/work/assets"
HOST_ROOT="${ASSET_DIR%/*}/host"
RELEASE='4.21'
IMAGE_OVERRIDES=''
BOOTKUBE_IMAGES=$'machine-config-operator etcd pod cluster-etcd-operator cluster-config-operator\n'
BOOTKUBE_IMAGES+=$'  cluster-kube-apiserver-operator cluster-kube-controller-manager-operator\n'
BOOTKUBE_IMAGES+=$'  cluster-kube-scheduler-operator cluster-ingress-operator\n'
BOOTKUBE_IMAGES+=$'  cluster-node-tuning-operator cloud-credential-operator hyperkube\n'
BOOTKUBE_IMAGES+=$'  cluster-policy-controller cluster-bootstrap cluster-config-api\n'
BOOTKUBE_IMAGES+='  cluster-authentication-operator'
set +a
# shellcheck source=lib/checks.sh
source "${SCRIPTS}/lib/checks.sh"

check digest 'the release image has a digest' << 'COMMAND'
grep -E -e '@sha256:[0-9a-f]{64}$' release-info/digest
COMMAND
check architecture 'the release image is for this machine'\''s processor' << 'COMMAND'
machine=$(uname --machine | sed 's/^x86_64$/amd64/; s/^aarch64$/arm64/')
jq --exit-status --arg machine "${machine}" '.[0].Architecture | ., . == $machine' \
  release-info/inspect.json
COMMAND
check version 'it is the release that the lab was generated for' << 'COMMAND'
grep -E '^[0-9]+[.][0-9]+[.][0-9]+' release-info/version
[[ ${RELEASE} == main || $(cat release-info/version) == "${RELEASE}".* ]]
COMMAND
check kubernetes-version 'the Kubernetes version is known' << 'COMMAND'
grep -E -e '^[0-9]+\.[0-9]+\.[0-9]+' release-info/kubernetes-version
COMMAND
check images 'the release contains every image that bootkube.sh needs' << 'COMMAND'
names=$(awk 'NF == 2 { print $1 }' release-info/images)
! tr ' ' '\n' <<< "${BOOTKUBE_IMAGES}" | grep . | grep -vxF -e "${names:-none}"
COMMAND
check overrides 'every image override replaces an existing image of the release' <<< \
  'images=$(cat release-info/images)
  [[ -z ${IMAGE_OVERRIDES} ]] || ! grep -vxF -e "${images:-none}" <<< "${IMAGE_OVERRIDES}"'
check agreement 'the release image itself gives the same answer' << 'COMMAND'
for _ in 1 2 3; do # podman 4.3 sometimes loses the output of a short container
  answer=$(podman run --quiet --rm --net=none "$(cat release-info/digest)" image etcd)
  [[ -z ${answer} ]] || break
done
echo "${answer}" |
  diff - <(jq --raw-output '.spec.tags[] | select(.name == "etcd").from.name' \
    release-info/image-references)
COMMAND

end_of_checks
