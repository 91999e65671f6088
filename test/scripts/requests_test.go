package scripts

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// judgement is what approve-csrs.sh says of a request, and why.
type judgement struct{ verdict, why string }

var judgementLines = regexp.MustCompile(`(?m)^  (\S.*): \S+ for .*, asked -?\d+ s ago\n(?:    .*\n){5}    (good|older|refused) +(\S.*)$`)

func judgements(r Result) map[string]judgement {
	all := map[string]judgement{}
	for _, m := range judgementLines.FindAllStringSubmatch(r.All, -1) {
		all[m[1]] = judgement{m[2], m[3]}
	}
	return all
}

// forged is a request that must not be approved, and a word of why not.
type forged struct {
	certificateRequest
	why string
}

// judgedNode is a bootstrap node whose cluster has one Node: master-2.
func judgedNode(t *testing.T) (*Lab, *controlplane.ControlPlane) {
	t.Helper()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	c.AllowNodes(t)
	c.Node(t, "master-2", addressOf(t, l, "master-2"), true)
	return l, c
}

// addressOf is the address of a machine of the lab.
func addressOf(t *testing.T, l *Lab, name string) string {
	t.Helper()
	keys := l.keys(t)
	for _, m := range append(slices.Clone(keys.Masters), keys.Others...) {
		if m.Name == name {
			return m.Address
		}
	}
	t.Fatalf("no machine %s", name)
	return ""
}

// forgedClients are wrong in one thing each.
func forgedClients(t *testing.T, l *Lab) map[string]forged {
	subject := func(name pkix.Name) func(*certificateRequest) {
		return func(r *certificateRequest) { r.pem, _ = requestFor(t, x509.CertificateRequest{Subject: name}) }
	}
	named := func(node string) func(*certificateRequest) { return subject(nodeSubject(node)) }
	bootstrapper := func(groups ...string) pkix.Name {
		return pkix.Name{CommonName: "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper", Organization: groups}
	}
	const notExactly = "the subject is not exactly"
	good, _ := requestFor(t, x509.CertificateRequest{Subject: nodeSubject("master-1")})
	other, _ := requestFor(t, x509.CertificateRequest{Subject: nodeSubject("master-7")})
	changes := map[string]struct {
		change func(*certificateRequest)
		why    string
	}{
		"other-user": {func(r *certificateRequest) { r.from = l.pair(t, "admin-kubeconfig-client") }, "not the node-bootstrapper asks"},
		"a-node":     {func(r *certificateRequest) { r.from = l.issued(t, "kubelet-signer", nodeSubject("master-1")) }, "not the node-bootstrapper asks"},
		"extra-group": {func(r *certificateRequest) {
			r.from = l.issued(t, "kubelet-bootstrap-kubeconfig-signer", bootstrapper("system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "more"))
		}, "the groups are not exactly"},
		"missing-group": {func(r *certificateRequest) {
			r.from = l.issued(t, "kubelet-bootstrap-kubeconfig-signer", bootstrapper("system:serviceaccounts"))
		}, "the groups are not exactly"},

		"unknown-name":  {named("master-7"), notExactly},
		"the-bootstrap": {named("bootstrap"), notExactly},
		"upper-case":    {named("MASTER-1"), notExactly},
		"no-name":       {named(""), notExactly},
		"longer":        {named("master-10"), notExactly},
		"other-domain":  {named("master-1.elsewhere.test"), notExactly},
		"blank":         {named("master-1 "), notExactly},
		"comma":         {named("master-1,O=system:nodes"), notExactly},
		"pattern":       {named("master-."), notExactly},
		"newline":       {named("master-1\nsubject=CN=system:node:master-1,O=system:nodes"), notExactly},
		"escape":        {named("\x1b[2Jmaster-1"), notExactly},
		"no-prefix":     {subject(pkix.Name{Organization: []string{"system:nodes"}, CommonName: "master-1"}), notExactly},
		"extra-o":       {subject(pkix.Name{Organization: []string{"system:nodes", "system:masters"}, CommonName: "system:node:master-1"}), notExactly},
		"other-o":       {subject(pkix.Name{Organization: []string{"system:masters"}, CommonName: "system:node:master-1"}), notExactly},
		"no-o":          {subject(pkix.Name{CommonName: "system:node:master-1"}), notExactly},
		"extra-ou":      {subject(pkix.Name{Organization: []string{"system:nodes"}, OrganizationalUnit: []string{"x"}, CommonName: "system:node:master-1"}), notExactly},
		"two-names": {subject(pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:master-1", ExtraNames: []pkix.AttributeTypeAndValue{
			{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "system:node:master-0"}, {Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "system:node:master-1"},
		}}), notExactly},
		"node-is-there":  {named("master-2"), "there is a Node of this machine"},
		"node-is-there2": {named("master-2." + l.keys(t).Domain), "there is a Node of this machine"},

		"other-signer":   {func(r *certificateRequest) { r.signer = "kubernetes.io/kube-apiserver-client" }, "this signer makes no certificates of kubelets"},
		"own-signer":     {func(r *certificateRequest) { r.signer = "example.test/kube-apiserver-client-kubelet" }, "this signer makes no certificates of kubelets"},
		"serving-signer": {func(r *certificateRequest) { r.signer = servingSigner }, "not this node itself asks"},
		"more-usages":    {func(r *certificateRequest) { r.usages = append(r.usages, "server auth") }, "the usages are not those of a client"},
		"other-usages":   {func(r *certificateRequest) { r.usages = []string{"digital signature", "cert sign"} }, "the usages are not those of a client"},
		"fewer-usages":   {func(r *certificateRequest) { r.usages = []string{"client auth"} }, "the usages are not those of a client"},

		"a-dns-name": {func(r *certificateRequest) { r.pem, _ = requestFor(t, withNames("master-1", "master-1")) }, "a client certificate holds no names"},
		"an-address": {func(r *certificateRequest) {
			r.pem, _ = requestFor(t, withNames("master-1", addressOf(t, l, "master-1")))
		}, "a client certificate holds no names"},
		"an-authority": {func(r *certificateRequest) { r.pem, _ = requestFor(t, authorityRequest("master-1")) }, "a client certificate holds no names"},
		"two-blocks":   {func(r *certificateRequest) { r.pem = append(slices.Clone(good), other...) }, "openssl cannot read it"},
		"words-before": {func(r *certificateRequest) { r.pem = append([]byte("-----BEGIN NOTHING-----\n"), good...) }, "openssl cannot read it"},
		"headers": {func(r *certificateRequest) {
			r.pem = []byte(strings.Replace(string(good), "-----\n", "-----\nA: b\n\n", 1))
		}, "openssl cannot read it"},
		"huge":       {func(r *certificateRequest) { r.pem, _ = requestFor(t, withNames("master-1", manyNames(2000)...)) }, "openssl cannot read it"},
		"many-names": {func(r *certificateRequest) { r.pem, _ = requestFor(t, withNames("master-1", manyNames(150)...)) }, "a client certificate holds no names"},

		"--all":                     {func(*certificateRequest) {}, "no kubelet names a request like this"},
		"$(touch ${HOME}broken)":    {func(*certificateRequest) {}, "no kubelet names a request like this"},
		"a;touch broken":            {func(*certificateRequest) {}, "no kubelet names a request like this"},
		"two\nlines: refused: x":    {func(*certificateRequest) {}, "no kubelet names a request like this"},
		"\x1b]0;title\x07\u009b31m": {func(*certificateRequest) {}, "no kubelet names a request like this"},
		"tab\there\tgood":           {func(*certificateRequest) {}, "no kubelet names a request like this"},
	}
	all := map[string]forged{}
	for name, c := range changes {
		r := l.clientRequest(t, name, "master-1")
		if !strings.ContainsAny(name, " ;\n\t\x1b") && !strings.HasPrefix(name, "-") {
			r.name = "client-" + name
		}
		r.usages = slices.Clone(r.usages)
		c.change(&r)
		all[r.name] = forged{r, c.why}
	}
	return all
}

// forgedServings come from master-2, which is a Node, and are wrong in one thing.
func forgedServings(t *testing.T, l *Lab) map[string]forged {
	address := addressOf(t, l, "master-2")
	const notTheMachine = "the names are not this machine"
	inside := func(change func(*x509.CertificateRequest)) func(*certificateRequest) {
		return func(r *certificateRequest) {
			template := withNames("master-2", "master-2", address)
			change(&template)
			r.pem, _ = requestFor(t, template)
		}
	}
	names := func(names ...string) func(*certificateRequest) {
		return func(r *certificateRequest) { r.pem, _ = requestFor(t, withNames("master-2", names...)) }
	}
	changes := map[string]struct {
		change func(*certificateRequest)
		why    string
	}{
		"foreign-address": {names("master-2", "192.0.2.1"), notTheMachine},
		"other-machine":   {names("master-2", addressOf(t, l, "master-1")), notTheMachine},
		"more-addresses":  {names("master-2", address, "192.0.2.1"), notTheMachine},
		"ipv6":            {names("master-2", address, "2001:db8::1"), notTheMachine},
		"wildcard":        {names("*."+l.keys(t).Domain, address), notTheMachine},
		"foreign-name":    {names("api-int."+l.keys(t).Domain, address), notTheMachine},
		"other-form":      {names("master-2", "master-2."+l.keys(t).Domain, address), notTheMachine},
		"upper-case":      {names("MASTER-2", address), notTheMachine},
		"localhost":       {names("master-2", "localhost"), notTheMachine},
		"one-name-of-two": {names("master-2, IP Address:" + address), notTheMachine},
		"escape":          {names("\x1b[31mmaster-2", address), notTheMachine},
		"long-name":       {names(strings.Repeat("a", 63) + "." + strings.Repeat("b", 63) + "." + strings.Repeat("c", 63)), notTheMachine},
		"no-names":        {names(), "beside the subject it must hold names"},
		"mail":            {inside(func(r *x509.CertificateRequest) { r.EmailAddresses = []string{"root@example.test"} }), notTheMachine},
		"uri":             {inside(func(r *x509.CertificateRequest) { r.URIs = []*url.URL{{Scheme: "https", Host: "example.test"}} }), notTheMachine},
		"an-authority":    {inside(func(r *x509.CertificateRequest) { r.ExtraExtensions = authorityRequest("").ExtraExtensions }), "beside the subject it must hold names"},
		"extra-o": {inside(func(r *x509.CertificateRequest) {
			r.Subject.Organization = append(r.Subject.Organization, "system:masters")
		}), "the subject is not exactly"},
		"from-bootstrap": {func(r *certificateRequest) { r.from = l.pair(t, "kubelet-client") }, "not this node itself asks"},
		"extra-group": {func(r *certificateRequest) {
			r.from = l.issued(t, "kubelet-signer", pkix.Name{CommonName: "system:node:master-2", Organization: []string{"system:nodes", "more"}})
		}, "the groups are not exactly"},
		"more-usages":   {func(r *certificateRequest) { r.usages = append(r.usages, "client auth") }, "the usages are not those of a server"},
		"client-signer": {func(r *certificateRequest) { r.signer = clientSigner }, "not the node-bootstrapper asks"},
		"no-node-is-there": {func(r *certificateRequest) {
			*r = l.servingRequest(t, r.name, "master-1", "master-1", addressOf(t, l, "master-1"))
		}, "there is no such Node"},
	}
	all := map[string]forged{}
	for name, c := range changes {
		r := l.servingRequest(t, "serving-"+name, "master-2", "master-2", address)
		r.usages = slices.Clone(r.usages)
		c.change(&r)
		r.name = "serving-" + name
		all[r.name] = forged{r, c.why}
	}
	return all
}

// authorityRequest wants to become a CA.
func authorityRequest(node string) x509.CertificateRequest {
	return x509.CertificateRequest{Subject: nodeSubject(node), ExtraExtensions: []pkix.Extension{
		{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 0x03, 0x01, 0x01, 0xff}},
	}}
}

// signedByAnother is a request whose sender does not have the key in it.
func signedByAnother(t *testing.T, node string) []byte {
	t.Helper()
	request, _ := requestFor(t, x509.CertificateRequest{Subject: nodeSubject(node)})
	block, _ := pem.Decode(request)
	at := len(block.Bytes) - 4 // inside the signature's second number
	block.Bytes[at] ^= 0xff
	return pem.EncodeToMemory(block)
}

func manyNames(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("master-%d.example.test", i))
	}
	return names
}

var unprintable = regexp.MustCompile(`[^ -~]`)

// control are characters that could steer a terminal.
var control = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}]`)

// TestOnlyWhatMachinesOfTheLabMayHaveIsApproved puts good and forged requests
// side by side before the script.
func TestOnlyWhatMachinesOfTheLabMayHaveIsApproved(t *testing.T) {
	t.Parallel()
	l, c := judgedNode(t)
	s := clusterStage(t, release, "approve-csrs")
	bad := forgedClients(t, l)
	for name, f := range forgedServings(t, l) {
		bad[name] = f
	}
	// Who may ask at all may have any name: the administrator's group can.
	evil := l.clientRequest(t, "evil-user", "master-1")
	evil.from = l.issued(t, "admin-kubeconfig-signer", pkix.Name{CommonName: "evil\n  good\x1b[31m`touch broken`\t$(touch broken)", Organization: []string{"system:masters"}})
	bad[evil.name] = forged{evil, "not the node-bootstrapper asks"}
	for name, f := range bad {
		if status, answer := l.send(t, f.certificateRequest); status != http.StatusCreated {
			t.Errorf("%q cannot be asked: %d %s", name, status, answer)
			delete(bad, name)
		}
	}

	older := l.clientRequest(t, "csr-zzz", "master-0")
	l.mustSend(t, older)
	time.Sleep(1100 * time.Millisecond) // the API counts seconds
	legacy := l.clientRequest(t, "csr-fqdn", "master-1."+l.keys(t).Domain)
	legacy.usages = []string{"digital signature", "key encipherment", "client auth"}
	good := []certificateRequest{
		l.clientRequest(t, "csr-8x2vb", "master-0"), legacy,
		l.servingRequest(t, "csr-serving", "master-2", "master-2", addressOf(t, l, "master-2")),
	}
	for _, r := range good {
		l.mustSend(t, r)
	}

	before := l.Snapshot(t)
	l.RunStage(t, s, "--dry-run").Want(t, 0, `ask adm certificate approve "${name}"`)
	before.Same(t, l.Snapshot(t))
	for _, g := range good {
		if state := requestState(t, c, g.name); state != "Pending" {
			t.Errorf("after --dry-run %s is %s", g.name, state)
		}
	}
	r := l.RunStage(t, s, "--force")
	r.Want(t, 0, "approve-csrs is done", "csr-8x2vb: Approved", "Approved and not Issued")
	if found := control.FindString(r.All); found != "" {
		t.Errorf("the output holds %q", found)
	}
	said := judgements(r)
	for _, g := range good {
		if said[g.name].verdict != "good" || requestState(t, c, g.name) != "Approved" {
			t.Errorf("%s is %v, %s", g.name, said[g.name], requestState(t, c, g.name))
		}
	}
	if said[older.name].verdict != "older" || requestState(t, c, older.name) != "Pending" {
		t.Errorf("%s is %v, %s", older.name, said[older.name], requestState(t, c, older.name))
	}
	for name, f := range bad {
		j := said[unprintable.ReplaceAllString(name, "?")]
		if j.verdict != "refused" || !strings.Contains(j.why, f.why) {
			t.Errorf("%q is %+v, not refused for %q", name, j, f.why)
		}
		if state := requestState(t, c, name); state != "Pending" {
			t.Errorf("%q is %s", name, state)
		}
	}
	if len(said) != len(bad)+len(good)+1 {
		t.Errorf("%d requests were judged, not %d", len(said), len(bad)+len(good)+1)
	}

	points, status := verified(t, l, s)
	if failed := Failed(points); status != 3 || !slices.Contains(failed, "refused") {
		t.Errorf("--verify: status %d, failed are %v", status, failed)
	}
	if found, _ := filepath.Glob(filepath.Join(l.Host(), "*", "*broken*")); len(found) > 0 {
		t.Errorf("%v was executed", found)
	}
	if _, err := os.Stat(l.Asset("broken")); err == nil {
		t.Error("a name was executed")
	}
}

// TestWhatTheAPIServerWouldNotTakeIsRefusedToo: newer API servers look at a
// request before they keep it, so a stand-in oc tells of these.
func TestWhatTheAPIServerWouldNotTakeIsRefusedToo(t *testing.T) {
	t.Parallel()
	l, _ := InSharedControlPlane(t)
	address := addressOf(t, l, "master-2")
	serving, _ := requestFor(t, withNames("master-2", "master-2", address))
	const unread, header = "openssl cannot read it", "-----BEGIN CERTIFICATE REQUEST-----\n"
	requests := map[string]struct{ pem, signer, user, why string }{
		"nothing":    {"", clientSigner, "u", unread},
		"a-word":     {"hello", clientSigner, "u", unread},
		"zeros":      {"\x00\x01\x02", clientSigner, "u", unread},
		"no-der":     {header + "AAAA\n-----END CERTIFICATE REQUEST-----\n", clientSigner, "u", unread},
		"huge":       {header + strings.Repeat("A", 1<<20), clientSigner, "u", unread},
		"other-key":  {string(signedByAnother(t, "master-2")), clientSigner, "u", unread},
		"other-node": {string(serving), servingSigner, "system:node:master-1", "not this node itself asks"},
	}
	var items []string
	for name, r := range requests {
		items = append(items, fmt.Sprintf(`{"metadata": {"name": %q, "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"request": %q, "signerName": %q, "username": %q}, "status": {}}`,
			name, base64.StdEncoding.EncodeToString([]byte(r.pem)), r.signer, r.user))
	}
	l.answerInPlaceOfOC(t, map[string]string{"get csr": `{"items": [` + strings.Join(items, ",") + `]}`, "get nodes": `{"items": []}`})
	// The service that approves everything is running as well.
	service := "#!/bin/bash\n[[ $* == 'is-active approve-csr.service' ]] && echo active\n"
	if err := os.WriteFile(l.Asset("/root/bin/systemctl"), []byte(service), 0o755); err != nil {
		t.Fatal(err)
	}
	r := l.RunWith(t, []string{"PATH=/root/bin:" + podman.SystemPath}, "approve-csrs.sh")
	r.Want(t, 0, "approve-csrs is done", "approve-csr.service is running too, and approves everything")
	said := judgements(r)
	for name, request := range requests {
		if j := said[name]; j.verdict != "refused" || !strings.Contains(j.why, request.why) {
			t.Errorf("%s is %+v", name, j)
		}
	}
	if strings.Contains(r.All, "no oc: ") {
		t.Errorf("it asked for more than to look:\n%s", r.All)
	}
}

// answerInPlaceOfOC puts an oc into /root/bin of the node that knows a few
// questions and no more.
func (l *Lab) answerInPlaceOfOC(t *testing.T, answers map[string]string) {
	t.Helper()
	dir := l.Asset("/root/bin")
	text := "#!/bin/bash\ncase \"$*\" in\n"
	i := 0
	for question, answer := range answers {
		file := fmt.Sprintf("answer-%d", i)
		i++
		text += fmt.Sprintf("  *' %s '*) cat /root/bin/%s ;;\n", question, file)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(answer), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text += "  *) echo \"no oc: $*\" >&2; exit 1 ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "oc"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
