#!/usr/bin/env -S jq -f
# csr.jq: the judge of requests for certificates
#
# May each pending request be approved?
#
# csr.sh calls it with the requests, what openssl read in them (.opened), the Nodes
# and the machines of the lab. One line for each: its name, good, older or refused,
# what it asks, who asks, and why it is refused. Nothing that a request says is
# trusted: a good one is exactly what the kubelet of a machine of the lab sends.

# Characters that could steer a terminal become a question mark.
def plain: tostring | gsub("[^ -~]"; "?") | .[:400] | if . == "" then "none" else . end;
def refuse($is; $why): if $is then $why else empty end;
def client: .spec.signerName == "kubernetes.io/kube-apiserver-client-kubelet";
def serving: .spec.signerName == "kubernetes.io/kubelet-serving";
def pending: any(.status.conditions[]?; .type | IN("Approved", "Denied", "Failed")) | not;

# The names inside are DER, in hexadecimal: kind, length, name.
def bytes: [scan("..") | explode | map(if . > 57 then . - 55 else . - 48 end) | .[0] * 16 + .[1]];
def size:
  if .[1] < 128 then [2, .[1]] elif .[1] == 129 then [3, .[2]]
  else [4, .[2] * 256 + .[3]] end;
def names:
  if length < 2 then empty
  else size as [$head, $long] | .[$head:$head + $long] as $name
    | (if .[0] == 130 then "DNS:" + ($name | implode)
       elif .[0] == 135 and $long == 4 then "IP:" + ($name | map(tostring) | join("."))
       else "kind \(.[0])" end),
      (.[$head + $long:] | names)
  end;

def request: .opened as $opened | {
  name: .metadata.name, made: .metadata.creationTimestamp, user: .spec.username,
  groups: (.spec.groups // [] | sort), usages: (.spec.usages // [] | sort),
  signer: .spec.signerName, client: client, serving: serving,
  pending: pending, issued: (.status.certificate != null),
  subject: ([$opened.said // "" | scan("(?m)^subject=(.*)$")[0]][0]
    // (if client or serving then "unreadable" else "not opened" end)),
  signed: ($opened.said // "" | test("verify OK")),
  names: [$opened.inside // ""
    | scan("Subject Alternative Name\n[^\n]*HEX DUMP\\]:([0-9A-F]+)")[0]
    | try (bytes | .[size[0]:] | names) catch "cut off"],
  extras: ([$opened.inside // "" | scan("OBJECT +:([^\n]*)")[0]] - ["organizationName",
    "commonName", "id-ecPublicKey", "rsaEncryption", "prime256v1", "secp384r1",
    "ecdsa-with-SHA256", "ecdsa-with-SHA384", "sha256WithRSAEncryption"])};

# It comes before the Node, so a Node or a certificate of that name belongs to
# somebody already.
def client_refusals($machine; $before; $nodes):
  refuse(.user != "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper";
    "not the node-bootstrapper asks; the controller manager approves what a node itself renews"),
  refuse(.groups != ["system:authenticated", "system:serviceaccounts",
      "system:serviceaccounts:openshift-machine-config-operator"];
    "the groups are not exactly those of the node-bootstrapper"),
  refuse(.usages - ["key encipherment"] != ["client auth", "digital signature"];
    "the usages are not those of a client"),
  refuse(.names + .extras != [];
    "a client certificate holds no names and nothing else beside the subject"),
  refuse(any($machine.names[]?; in($nodes)); "there is a Node of this machine"),
  refuse($before != null; "this name was given a certificate by \($before) already");

def serving_refusals($machine; $addresses):
  refuse(.user != "system:node:\($machine.name)"; "not this node itself asks"),
  refuse(.groups != ["system:authenticated", "system:nodes"];
    "the groups are not exactly those of a node"),
  refuse(.usages - ["key encipherment"] != ["digital signature", "server auth"];
    "the usages are not those of a server"),
  refuse(.extras != ["Extension Request", "X509v3 Subject Alternative Name"];
    "beside the subject it must hold names, and nothing else"),
  refuse(.names == [] or .names - ["DNS:\($machine.name)", "IP:\($machine.address)"] != [];
    "the names are not this machine, and nothing else"),
  refuse($addresses == null; "there is no such Node"),
  refuse(any(.names[]; startswith("IP:")) and ($addresses // [] | index($machine.address)) == null;
    "the Node has another address");

# What would be granted: a machine of the list, by one of its two names.
[$machines | split("\n")[] | select(. != "") | split(" ") | . as [$name, $address]
  | ($name, $name + "." + $domain) | {name: ., $address, names: [$name, $name + "." + $domain]}]
  as $known
| ($nodes[0].items
    | map({key: .metadata.name,
        value: [.status.addresses[]? | select(.type == "InternalIP").address]})
    | from_entries) as $there
| map(request) as $all
| [$all[] | select(.pending) | . as $csr
    | ([$known[] | select($csr.subject == "CN=system:node:\(.name),O=system:nodes")][0]) as $machine
    | ([$all[] | select(.issued and .subject == $csr.subject and .signer == $csr.signer)][0].name)
      as $before
    | .why = [
      refuse(.name | test("\\A[A-Za-z0-9][A-Za-z0-9._-]*\\z") | not;
        "no kubelet names a request like this"),
      if .client or .serving then
        refuse(.signed | not;
          "openssl cannot read it as a request that is signed with its own key"),
        refuse($machine == null; "the subject is not exactly O=system:nodes and "
          + "CN=system:node: with the name of one of these machines")
      else "this signer makes no certificates of kubelets" end,
      if .client then client_refusals($machine; $before; $there)
      elif .serving then serving_refusals($machine; $there[$machine.name // ""])
      else empty end]]
# A kubelet that restarts asks again: only the newest counts.
| (map(select(.why == [])) | group_by([.signer, .subject]) | map(max_by([.made, .name]).name))
  as $newest
| .[]
| [.name, (if .why != [] then "refused" elif .name | IN($newest[]) then "good" else "older" end),
    "\(.signer | split("/")[-1]) for \(.subject | ltrimstr("CN=system:node:")
      | rtrimstr(",O=system:nodes")), asked \(now - (.made | fromdateiso8601) | floor) s ago",
    .user, (.groups | join(", ")), .subject, (.names | join(", ")), (.usages | join(", ")),
    (.why | join("; "))]
| map(plain) | @tsv
