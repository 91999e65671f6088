#!/usr/bin/env bash
# approve-csrs: Approve what the masters' kubelets ask for
#
# A kubelet starts without a certificate of its own and asks for two, one after
# the other. The client certificate is asked for in the name of the
# node-bootstrapper, whose credentials anybody gets who reaches the machine
# config server; once it is signed, the Node appears. The serving certificate is
# asked for by the node itself; without it its logs cannot be read. So each
# machine wants two approvals. On the bootstrap node approve-csr.service gives
# them every 20 seconds until .bootkube.done is there, to everything that is
# Pending, and checks nothing. This script shows what each request asks, holds
# it against the machines of the lab, and approves what is right.
#
# Reads:  auth/kubeconfig-loopback
#         auth/kubeconfig
# Differs from approve-csr.service:
# - Each pending request of a kubelet is opened and held against the machines of
# lab.yaml; what does not fit stays pending.
# - After the bootstrap API server is gone, the script asks through api-int.
# - At a terminal each approval waits for a y. Without one, what every rule
# allows is approved.
# - It says when approve-csr.service is running as well.
# - The age of a request is shown and not judged.
# For lab compact, okd 4.21, on the bootstrap node. Made by bootlab generate.
set -Eeuo pipefail

# Settings: all that comes from lab.yaml and the release stands here and
# nowhere else.
SCRIPT_DIR="$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")"
readonly ASSET_DIR='/opt/openshift'
readonly HOST_ROOT=''
readonly CLUSTER_DOMAIN='compact.bootlab.test'
readonly MASTERS='master-0 192.168.126.20
master-1 192.168.126.21
master-2 192.168.126.22'
readonly STAGE='approve-csrs' CALL='approve-csrs.sh' RECORD='approve-csrs' MARKER=''
readonly NEEDS=(oc openssl jq flock) NEXT='back to the terminal of start-bootstrap.sh'
readonly PARALLEL=yes

# shellcheck source-path=SCRIPTDIR source=stage-lib.sh
source "${SCRIPT_DIR}/stage-lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster-lib.sh
source "${SCRIPT_DIR}/cluster-lib.sh"

MACHINES="${MASTERS}"
WATCH=no APPROVED=() DECLINED=() FAULTS=0
# shellcheck disable=SC2034 # stage-lib.sh says it when the script is interrupted
AGAIN="what was approved stays approved; ${CALL} goes on"

check_inputs() {
  need_input auth/kubeconfig-loopback 'it comes with bootstrap.ign: is this the bootstrap node?'
  need_input auth/kubeconfig 'it comes with bootstrap.ign: is this the bootstrap node?'
}

invalidates() {
  :
}

own_option() { if [[ $1 == --watch ]]; then WATCH=yes; else timeout_option "$1"; fi; }
own_usage() {
  printf '  %-10s %s\n' '--watch' 'go on until every machine has both certificates'
  timeout_usage
}

do_stage() {
  [[ -n ${MACHINES} ]] || { log 'this lab has no masters: no request should ever appear, and --verify looks for one'; return; }
  [[ "$(systemctl is-active approve-csr.service 2> /dev/null || true)" != active ]] ||
    log 'approve-csr.service is running too, and approves everything: systemctl stop approve-csr.service'
  if [[ ${WATCH} == yes ]]; then watch; return; fi
  if ! look; then
    [[ ${MODE} == dry-run ]] || die 1 'the cluster does not say what is asked of it' 'oc says above why'
    log 'no cluster answers; of each request that is judged good it would show'
    show '' cluster adm certificate approve NAME || return 0
  fi
  approve
  signed
  ((FAULTS == 0)) || die 1 "${FAULTS} requests could not be approved" 'oc says above why'
}

# One look need not find all there is to come: only --watch is held to the checks.
whole_stage() {
  begin
  begin_record
  do_stage
  if [[ ${WATCH} == yes && -n ${MACHINES} ]]; then
    verify
    ((FAILED == 0)) || die 3 "${FAILED} of ${CHECKS} checks fail" 'each says above what it expected and what to do'
  fi
  record 'stage end' success
  log "${STAGE} is done; --verify shows what is missing, --watch waits for it${NEXT:+; next: ${NEXT}}"
}

# Requests come minutes apart; between them it waits.
watch() {
  local end=$((SECONDS + ${TIMEOUT:-2400}))
  while true; do
    TIMEOUT=$((end > SECONDS ? end - SECONDS : 1))
    wait_for "${TIMEOUT}" 'requests of masters, until each has both certificates' news
    [[ ${MODE} != dry-run ]] && look || return 0
    approve
    signed
    ! complete "$(standing)" || return 0
  done
}

# Whether there is something to approve, or nothing more to come.
news() {
  local requests machines
  look && requests="$(judged)" && machines="$(standing)" || return 1
  echo "${machines}"
  awk -F '\t' '$2 == "refused" { print $1 ": refused: " $9 }' <<< "${requests}"
  complete "${machines}" || awk -F '\t' -v declined=" ${DECLINED[*]} " '
    $2 == "good" && !index(declined, " " $1 " ") { found = 1 } END { exit !found }' <<< "${requests}"
}

# Who approves does not sign: the controller manager does, mostly within a second.
signed() {
  local tries states=''
  for ((tries = 0; tries < 5 && ${#APPROVED[@]} > 0; tries++)); do
    look || return 0
    states="$(jq --raw-output '.items[] | select(.metadata.name | IN($ARGS.positional[])) | .metadata.name + ": " + ([.status.conditions[]?.type] | join(","))
      + (if .status.certificate then ",Issued" else "" end)' --args "${APPROVED[@]}" <<< "${CSRS}")"
    grep --quiet --invert-match ',Issued$' <<< "${states}" || break
    sleep 1
  done
  [[ -z ${states} ]] || plain <<< "${states}" | sed 's/^/  /'
  [[ ${states} =~ :\ Approved($'\n'|$) ]] &&
    echo '  Approved and not Issued: no controller manager is running yet. It signs when it comes; until then nothing is to be done here.'
  APPROVED=()
  [[ ${MODE} == dry-run ]] || standing | plain | sed 's/^/  /'
}

nothing_is_refused() {
  local requests
  look && requests="$(judged)" || return 1
  awk -F '\t' '$2 == "refused" { print $1 ": " $9; bad = 1 } END { exit bad }' <<< "${requests}"
}

every_machine_has_a_node() {
  local machines
  look && machines="$(standing)" || return 1
  echo "${machines}"
  ! grep --quiet --invert-match ': Node ' <<< "${machines}"
}

# While the bootstrap API server lives it answers at localhost, even where DNS or
# the load balancer do not; after it there is api-int.
way_in() {
  KUBECONFIG_FILE=auth/kubeconfig
  if (: <> /dev/tcp/localhost/6443) 2> /dev/null; then KUBECONFIG_FILE=auth/kubeconfig-loopback; fi
}

# How far each machine has come, a line each: its Node, and what became of its
# newest request for a serving certificate. The API server forgets such requests,
# approved ones after an hour; then the kubelet is asked, through the API server.
standing() {
  local name node addresses ready serving
  while IFS=$'\t' read -r -u 7 name node addresses ready serving; do
    if [[ ${serving} == forgotten ]] && cluster get --raw "/api/v1/nodes/${node}/proxy/healthz" < /dev/null > /dev/null 2>&1; then
      serving='in use'
    fi
    if [[ ${node} == none ]]; then echo "${name}: no Node"
    else echo "${name}: Node ${node} at ${addresses}, ${ready}, serving certificate ${serving}"; fi
  done 7< <(jq --raw-output --arg machines "${MACHINES}" --arg domain "${CLUSTER_DOMAIN}" --slurpfile csrs <(cat <<< "${CSRS}") '
    .items as $nodes | $machines | split("\n")[] | select(. != "") | split(" ")[0] | . as $name | [., . + "." + $domain] as $names
    | ($nodes | map(select(.metadata.name | IN($names[]))) | .[0]) as $node
    | ($csrs[0].items | map(select(.spec.signerName == "kubernetes.io/kubelet-serving" and .spec.username == "system:node:\($node.metadata.name)"))
      | sort_by(.metadata.creationTimestamp, .metadata.name) | .[-1]) as $csr
    | [$name, $node.metadata.name // "none", ([$node.status.addresses[]? | select(.type == "InternalIP").address] | join(" ") | if . == "" then "none" else . end),
       (if any($node.status.conditions[]?; .type == "Ready" and .status == "True") then "Ready" else "not Ready" end),
       (if $csr == null then "forgotten" else ([$csr.status.conditions[]?.type] | join(",") | if . == "" then "Pending" else . end)
         + (if $csr.status.certificate then ",Issued" else "" end) end)] | @tsv' <<< "${NODES}")
}

# A client certificate makes a Node appear; the serving one lets logs be read.
complete() { ! grep --quiet --invert-match --extended-regexp ', serving certificate (Approved,Issued|in use)$' <<< "$1"; }

every_serving_certificate_is_there() {
  local machines
  look && machines="$(standing)" || return 1
  echo "${machines}"
  complete "${machines}"
}

# A request says twice who it is for: the sender is what the API server saw, the
# inside is what the certificate would say. openssl opens it, and only one PEM
# block of a usual size, so that openssl and the signer cannot read two different
# ones. Opened is what is judged: requests of kubelets that were not answered, and
# if a first certificate is among it, those that were given out.
opened() {
  local at text said inside
  jq --raw-output '
    def client: .spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet";
    def kubelets: client or .spec.signerName == "kubernetes.io/kubelet-serving";
    def pending: any(.status.conditions[]?; .type | IN("Approved", "Denied", "Failed")) | not;
    def issued: .status.certificate != null;
    any(.items[]; client and pending) as $first | .items | to_entries[]
    | select(.value | kubelets and pending or $first and client and issued)
    | [.key, (.value.spec.request | select(length < 8000) | try @base64d catch ""
      | select(test("\\A-----BEGIN CERTIFICATE REQUEST-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE REQUEST-----\n?\\z")))] | @tsv' <<< "${CSRS}" |
    while IFS=$'\t' read -r at text; do
      text="${text//'\n'/$'\n'}"
      said="$(openssl req -noout -verify -subject -nameopt RFC2253 2>&1 <<< "${text}")" || true
      inside="$(openssl asn1parse 2>&1 <<< "${text}")" || true
      # Too long for a command line; each of the three ends with FS, and holds none.
      printf '%s\x1c' "${at}" "${said//$'\x1c'/}" "${inside//$'\x1c'/}"
    done 2> /dev/null | jq --raw-input --slurp 'split("\u001c") | [range(0; length - 2; 3) as $i | {key: .[$i], value: {said: .[$i + 1], inside: .[$i + 2]}}]'
}

# What is asked of the cluster, and of each request what the judgement needs.
look() {
  way_in
  NODES="$(cluster get nodes --output=json)" && CSRS="$(cluster get csr --output=json)" && REQUESTS="$(opened | jq --slurpfile csrs <(cat <<< "${CSRS}") '
    def client: .spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet";
    def kubelets: client or .spec.signerName == "kubernetes.io/kubelet-serving";
    def pending: any(.status.conditions[]?; .type | IN("Approved", "Denied", "Failed")) | not;
    def issued: .status.certificate != null;
    # Names inside are DER: what kind, how long, the name.
    def bytes: [scan("..") | explode | map(if . > 57 then . - 55 else . - 48 end) | .[0] * 16 + .[1]];
    def size: if .[1] < 128 then [2, .[1]] elif .[1] == 129 then [3, .[2]] else [4, .[2] * 256 + .[3]] end;
    def names: if length < 2 then empty else size as [$head, $long] | .[$head:$head + $long] as $name
      | (if .[0] == 130 then "DNS:" + ($name | implode)
         elif .[0] == 135 and $long == 4 then "IP:" + ($name | map(tostring) | join("."))
         else "kind \(.[0])" end), (.[$head + $long:] | names) end;
    from_entries as $opened | $csrs[0].items | to_entries | map($opened["\(.key)"] as $inside | .value | {
      name: .metadata.name, made: .metadata.creationTimestamp, user: .spec.username, groups: (.spec.groups // [] | sort),
      usages: (.spec.usages // [] | sort), signer: .spec.signerName, kubelets: kubelets, issued: issued, pending: pending,
      subject: ([$inside.said // "" | scan("(?m)^subject=(.*)$")[0]][0] // (if kubelets then "unreadable" else "not opened" end)),
      signed: ($inside.said // "" | test("verify OK")),
      names: [$inside.inside // "" | scan("Subject Alternative Name\n[^\n]*HEX DUMP\\]:([0-9A-F]+)")[0] | try (bytes | .[size[0]:] | names) catch "cut off"],
      extras: ([$inside.inside // "" | scan("OBJECT +:([^\n]*)")[0]] - ["organizationName", "commonName", "id-ecPublicKey", "rsaEncryption",
        "prime256v1", "secp384r1", "ecdsa-with-SHA256", "ecdsa-with-SHA384", "sha256WithRSAEncryption"])})')"
}

# Each pending request on one line: its name, good, older or refused, what it
# asks, and why it is refused. Letters that could steer a terminal become ?.
judged() {
  jq --raw-output --arg machines "${MACHINES}" --arg domain "${CLUSTER_DOMAIN}" --slurpfile nodes <(cat <<< "${NODES}") '
    def plain: tostring | gsub("[^ -~]"; "?") | .[:400] | if . == "" then "none" else . end;
    def bad($is; $why): if $is then $why else empty end;
    # What would be granted: a machine of the list, by one of its two names.
    [$machines | split("\n")[] | select(. != "") | split(" ") | . as [$name, $address]
      | ($name, $name + "." + $domain) | {name: ., $address, names: [$name, $name + "." + $domain]}] as $known
    | ($nodes[0].items | map({key: .metadata.name, value: [.status.addresses[]? | select(.type == "InternalIP").address]}) | from_entries) as $there
    | . as $all | map(select(.pending) | . as $csr
      | ([$known[] | select($csr.subject == "CN=system:node:\(.name),O=system:nodes")][0]) as $machine
      | ([$all[] | select(.issued and .subject == $csr.subject and .signer == $csr.signer)][0].name) as $before
      | .why = [
        bad(.name | test("\\A[A-Za-z0-9][A-Za-z0-9._-]*\\z") | not; "no kubelet names a request like this"),
        if .kubelets | not then "this signer makes no certificates of kubelets" else
          bad(.signed | not; "openssl cannot read it as a request that is signed with its own key"),
          bad($machine == null; "the subject is not exactly O=system:nodes and CN=system:node: with the name of one of these machines") end,
        if .signer == "kubernetes.io/kube-apiserver-client-kubelet" then
          # It comes before the Node, so a Node or a certificate of that name belongs to somebody already.
          bad(.user != "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
            "not the node-bootstrapper asks; what a node itself renews, the controller manager approves"),
          bad(.groups != ["system:authenticated", "system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator"];
            "the groups are not exactly those of the node-bootstrapper"),
          bad(.usages - ["key encipherment"] != ["client auth", "digital signature"]; "the usages are not those of a client"),
          bad(.names + .extras != []; "a client certificate holds no names and nothing else beside the subject"),
          bad(any($machine.names[]?; in($there)); "there is a Node of this machine"),
          bad($before != null; "this name was given a certificate by \($before) already")
        elif .signer == "kubernetes.io/kubelet-serving" then
          bad(.user != "system:node:\($machine.name)"; "not this node itself asks"),
          bad(.groups != ["system:authenticated", "system:nodes"]; "the groups are not exactly those of a node"),
          bad(.usages - ["key encipherment"] != ["digital signature", "server auth"]; "the usages are not those of a server"),
          bad(.extras != ["Extension Request", "X509v3 Subject Alternative Name"]; "beside the subject it must hold names, and nothing else"),
          bad(.names == [] or .names - ["DNS:\($machine.name)", "IP:\($machine.address)"] != []; "the names are not this machine, and nothing else"),
          bad($there[$machine.name // ""] | . == null; "there is no such Node"),
          bad(any(.names[]; startswith("IP:")) and ($there[$machine.name // ""] // [] | index($machine.address) == null); "the Node has another address")
        else empty end])
    # A kubelet that restarts asks again: only the newest counts.
    | (map(select(.why == [])) | group_by([.signer, .subject]) | map(max_by([.made, .name]).name)) as $newest
    | .[] | [.name, (if .why != [] then "refused" elif .name | IN($newest[]) then "good" else "older" end),
      "\(.signer | split("/")[-1]) for \(.subject | ltrimstr("CN=system:node:") | rtrimstr(",O=system:nodes")), asked \(now - (.made | fromdateiso8601) | floor) s ago",
      .user, (.groups | join(", ")), .subject, (.names | join(", ")), (.usages | join(", ")),
      (.why | join("; "))] | map(plain) | @tsv' <<< "${REQUESTS}"
}

# Not even --force approves what is refused.
approve() {
  local name verdict about user groups subject names usages why requests
  requests="$(judged)" || die 1 'the requests cannot be judged' 'jq says above what it stumbled over'
  while IFS=$'\t' read -r -u 7 name verdict about user groups subject names usages why; do
    [[ -n ${name} && " ${DECLINED[*]} " != *" ${name} "* ]] || continue
    printf '  %s: %s\n' "${name}" "${about}"
    printf '    %-9s %s\n' 'asked by' "${user}" groups "${groups}" subject "${subject}" names "${names}" usages "${usages}" "${verdict}" \
      "${why/#none/$([[ ${verdict} == good ]] && echo 'every rule holds' || echo 'this machine has asked again since')}"
    [[ ${verdict} == good ]] || continue
    if ! wanted "${name}"; then DECLINED+=("${name}"); continue; fi
    if [[ ${MODE} == dry-run ]]; then run cluster adm certificate approve "${name}"
    elif run cluster adm certificate approve "${name}" 7<&-; then APPROVED+=("${name}")
    else DECLINED+=("${name}") FAULTS=$((FAULTS + 1)); fi
  done 7<<< "${requests}"
}

# At a terminal a person has the last word; without one the rules alone decide.
wanted() { # NAME
  local answer
  [[ ${MODE} == run && -t 3 ]] || return 0
  printf '    approve %s? [y/N] ' "$1"
  read -r -u 3 answer && [[ ${answer} == [yY]* ]]
}

verify() {
  check refused 'no request waits that must not be approved' \
    'every pending request is one of a machine of this lab' \
    'oc get csr NAME -o yaml says who sends it. Take it away with oc adm certificate deny NAME, or approve it by hand if you know better than the rules.' \
    nothing_is_refused
  check nodes 'every master has a Node' \
    'a Node by the name of each master, with the domain or without' \
    'Run wait-for-masters.sh to see how far the machine is; its request comes with its kubelet, at its second boot.' \
    every_machine_has_a_node
  check serving 'every master has its serving certificate' \
    'the newest serving request of each is Approved,Issued, or its kubelet answers through the API' \
    'Run approve-csrs.sh --watch; where a request stays Approved, the controller manager is not running.' \
    every_serving_certificate_is_there
}

usual_failures() {
  usual_failure 'Approved and not Issued' \
    'The controller manager signs what is approved, and none is running. While the masters take over there may be none for minutes.' \
    'Look at crictl ps --name kube-controller-manager on this node, later at oc get pods -n openshift-kube-controller-manager. A signature needs no second approval.'
  usual_failure 'there is a Node of this machine' \
    'The machine was recreated, or slept longer than its certificate lived, and asks like a stranger. Its Node is from before.' \
    'If you did that, oc delete node NAME and let it ask again, or approve this one request by hand.'
  usual_failure 'this name was given a certificate by' \
    'Two kubelets came by the same name, or one lost its disk between the certificate and its Node.' \
    'If the machine was recreated, oc delete csr with the name of the older request. Else somebody else holds a certificate of a master, so begin with a new cluster.'
}

stage_main "$@"
