package scripts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/test/controlplane"
)

// loopback and internal are the administrator's kubeconfigs on a bootstrap node,
// for localhost and for api-int.
const (
	loopback = "--kubeconfig=/opt/openshift/auth/kubeconfig-loopback"
	internal = "--kubeconfig=/opt/openshift/auth/kubeconfig"
)

// asNode asks as a machine does that has no certificate of its own yet.
const asNode = "--kubeconfig=/opt/openshift/auth/kubeconfig-kubelet"

func TestAControlPlaneAnswersUnderEachOfItsNames(t *testing.T) {
	t.Parallel()
	l, c := InSharedControlPlane(t)
	if out := c.Kubectl(t, "version"); !strings.Contains(out, "Server Version: "+controlplane.KubernetesVersion) {
		t.Errorf("it says %s", out)
	}
	api := "https://api." + l.keys(t).Domain + ":6443"
	// Each trusts the CA of its own kubeconfig and no other.
	for _, kubeconfig := range []string{loopback, internal} {
		l.Exec(t, "oc", kubeconfig, "auth", "whoami").Want(t, 0, "system:admin", "system:masters")
	}
	l.Exec(t, "curl", "--silent", "--cacert", "/opt/openshift/tls/kube-apiserver-lb-ca-bundle.crt",
		api+"/readyz").Want(t, 0, "ok")
	r := l.Exec(t, "curl", "--silent", "--show-error", "--cacert", "/opt/openshift/tls/kube-apiserver-localhost-ca-bundle.crt",
		api+"/readyz")
	r.Want(t, 60, "certificate")
	// RBAC is on: whoever has no certificate may do next to nothing.
	l.Exec(t, "curl", "--silent", "--cacert", "/opt/openshift/tls/kube-apiserver-localhost-ca-bundle.crt",
		"https://localhost:6443/api/v1/secrets").Want(t, 0, `"code": 403`, "system:anonymous")
}

func TestTheNameServerKnowsTheMachinesOfTheLab(t *testing.T) {
	t.Parallel()
	l, _ := InSharedControlPlane(t)
	lab := l.keys(t)
	for name, address := range map[string]string{
		"api": lab.Bootstrap.Address, "api-int": lab.Bootstrap.Address, lab.Bootstrap.Name: lab.Bootstrap.Address,
		lab.Masters[0].Name: lab.Masters[0].Address, lab.Masters[2].Name: lab.Masters[2].Address,
		"console.apps": lab.Bootstrap.Address, "no-such-name": "",
	} {
		r := l.Exec(t, "dig", "+short", name+"."+lab.Domain)
		if got := strings.TrimSpace(r.Out); got != address {
			t.Errorf("%s is %q, not %q", name, got, address)
		}
	}
}

// request is a certificate request as a kubelet makes it.
func request(name, signer, body string, usages ...string) string {
	return fmt.Sprintf(`{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":%q},
"spec":{"request":%q,"signerName":%q,"usages":["%s"]}}`, name, body, signer, strings.Join(usages, `","`))
}

// newRequest makes a key and a request for it on the node, and gives what the
// API wants of it.
func newRequest(t *testing.T, l *Lab, subject string) string {
	t.Helper()
	dir := t.TempDir()
	l.Exec(t, "openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", subject,
		"-keyout", filepath.Join(dir, "key"), "-out", filepath.Join(dir, "csr")).Want(t, 0)
	return strings.TrimSpace(l.Exec(t, "base64", "--wrap=0", filepath.Join(dir, "csr")).Out)
}

// bootstrapSigner is who signs the first certificate of a node.
const bootstrapSigner = "kubernetes.io/kube-apiserver-client-kubelet"

// asksFor creates a request as a new node does.
func asksFor(t *testing.T, l *Lab, name, body string) Result {
	t.Helper()
	file := filepath.Join(l.Dir, name+".json")
	putFile(t, file, request(name, bootstrapSigner, body, "digital signature", "client auth"))
	return l.Exec(t, "oc", asNode, "create", "--filename="+file)
}

// condition is what oc get csr says of a request.
func condition(t *testing.T, l *Lab, name string) string {
	t.Helper()
	fields := strings.Fields(l.Exec(t, "oc", loopback, "get", "csr", name, "--no-headers").Out)
	return fields[len(fields)-1]
}

func TestANodeAsksForItsCertificateAndGetsIt(t *testing.T) {
	t.Parallel()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	body := newRequest(t, l, "/O=system:nodes/CN=system:node:master-0")
	// The role binding comes with a manifest: before it nodes may not ask.
	asksFor(t, l, "csr-one", body).Want(t, 1, "Forbidden", "node-bootstrapper")
	c.AllowNodes(t)
	until(t, "asking", func() bool { return asksFor(t, l, "csr-one", body).Status == 0 })
	sawTheBootstrapper(t, c, "csr-one")
	if got := condition(t, l, "csr-one"); got != "Pending" {
		t.Errorf("it is %s", got)
	}
	l.Exec(t, "oc", loopback, "adm", "certificate", "approve", "csr-one").Want(t, 0, "csr-one approved")
	if got := condition(t, l, "csr-one"); got != "Approved" {
		t.Errorf("without a signer it is %s", got)
	}
	stop := c.StartSigner(t)
	until(t, "signing", func() bool { return condition(t, l, "csr-one") == "Approved,Issued" })
	certificate := filepath.Join(l.Dir, "node.crt")
	putFile(t, certificate, l.Exec(t, "bash", "-c", "oc "+loopback+" get csr csr-one --output=jsonpath={.status.certificate} | base64 -d").Out)
	l.Exec(t, "openssl", "verify", "-CAfile", "/opt/openshift/tls/kube-apiserver-complete-client-ca-bundle.crt",
		"-purpose", "sslclient", certificate).Want(t, 0, "OK")
	l.Exec(t, "openssl", "x509", "-noout", "-subject", "-in", certificate).Want(t, 0, "system:node:master-0")

	// What is denied is not signed; nor is anything once the signer is off.
	asksFor(t, l, "csr-two", body).Want(t, 0)
	l.Exec(t, "oc", loopback, "adm", "certificate", "deny", "csr-two").Want(t, 0, "csr-two denied")
	stop()
	asksFor(t, l, "csr-three", body).Want(t, 0)
	l.Exec(t, "oc", loopback, "adm", "certificate", "approve", "csr-three").Want(t, 0)
	l.Exec(t, "oc", loopback, "get", "csr", "csr-two", "csr-three", "--output=jsonpath={.items[*].status.certificate}").Equals(t, "")
}

// sawTheBootstrapper compares who the API server saw in a request: by these very
// groups the machine approver knows a new node.
func sawTheBootstrapper(t *testing.T, c *controlplane.ControlPlane, name string) {
	t.Helper()
	var found struct {
		Spec struct {
			Username string
			Groups   []string
		}
	}
	if err := json.Unmarshal([]byte(c.Kubectl(t, "get", "csr", name, "--output=json")), &found); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found.Spec.Groups)
	groups := []string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator"}
	if found.Spec.Username != "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper" || !slices.Equal(found.Spec.Groups, groups) {
		t.Errorf("the API server saw %+v", found.Spec)
	}
}

// Equals compares what a program wrote.
func (r Result) Equals(tb testing.TB, text string) {
	tb.Helper()
	if r.Status != 0 || r.Out != text {
		tb.Errorf("status %d, not %q:\n%s", r.Status, text, r.All)
	}
}

func putFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheStandInForOCKnowsNoMoreThanIsRight(t *testing.T) {
	t.Parallel()
	l, _ := InSharedControlPlane(t)
	for _, words := range [][]string{
		{"adm"}, {"adm", "release", "info"}, {"adm", "certificate"}, {"adm", "certificate", "sign"}, {"adm", "top", "nodes"},
		{"certificate", "approve", "x"}, {"cordon", "x"}, {"whoami"}, {"projects"}, {loopback, "adm", "drain", "x"},
		{"--kubeconfig", "/opt/openshift/auth/kubeconfig-loopback", "debug-node", "x"}, {"-n", "x", "new-app"},
	} {
		r := l.Exec(t, append([]string{"oc"}, words...)...)
		if r.Status != 1 || !strings.Contains(strings.ToLower(r.Err), "error: ") {
			t.Errorf("oc %v: status %d, %s", words, r.Status, r.All)
		}
	}
	l.Exec(t, "oc", "--kubeconfig", "/opt/openshift/auth/kubeconfig-loopback", "-n", "default", "get", "services").Want(t, 0, "kubernetes")
	l.Exec(t, "oc", loopback, "adm", "certificate", "approve", "no-such-request").Want(t, 1, "not found")
	l.Exec(t, "shellcheck", filepath.Join(l.ControlPlane.Bin, "oc")).Want(t, 0)
}

// names are those of etcd's members, and voters those with a vote.
func names(members []controlplane.Member) (names, voters []string) {
	for _, m := range members {
		names = append(names, m.Name)
		if !m.Learner {
			voters = append(voters, m.Name)
		}
	}
	slices.Sort(names)
	slices.Sort(voters)
	return names, voters
}

func TestEtcdGrowsToTheMastersAndLeavesTheBootstrapNode(t *testing.T) {
	t.Parallel()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	want := []string{"etcd-bootstrap"}
	check := func() {
		t.Helper()
		if names, voters := names(c.Members(t)); !slices.Equal(names, want) || !slices.Equal(voters, want) {
			t.Errorf("members %v, voters %v, not %v", names, voters, want)
		}
	}
	check()
	c.Namespace(t, "outlives")
	for _, m := range l.keys(t).Masters {
		c.AddMaster(t, m.Name)
		want = append(want, m.Name)
		check()
	}
	if health := c.Etcdctl(t, "endpoint", "health", "--cluster"); strings.Count(health, "is healthy") != 4 {
		t.Errorf("not four are healthy: %s", health)
	}
	// Without a certificate of its signer etcd tells nothing.
	if r := l.Exec(t, "curl", "--silent", "--show-error", "--insecure", "https://localhost:2379/version"); r.Status == 0 {
		t.Errorf("a stranger learns %s", r.Out)
	}

	c.RemoveBootstrapMember(t)
	want = want[1:]
	check()
	c.MoveAPIServer(t)
	c.Kubectl(t, "get", "namespace", "outlives")
}

func TestAnAPIServerGoesWrongAsToldAndRightAgain(t *testing.T) {
	t.Parallel()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	ask := func(kubeconfig string) Result {
		return l.Exec(t, "oc", kubeconfig, "--request-timeout=5s", "get", "--raw=/readyz")
	}
	well := func() {
		t.Helper()
		for _, kubeconfig := range []string{loopback, internal} {
			ask(kubeconfig).Want(t, 0, "ok")
		}
	}
	well()
	for _, wrong := range []struct {
		what   string
		damage func() (restore func())
		says   string
	}{
		{"expired", func() func() { return c.ServeExpired(t, controlplane.ForAPIInt) }, "certificate has expired"},
		{"a stranger's", func() func() { return c.ServeStranger(t, controlplane.ForAPIInt) }, "unknown authority"},
		{"gone", func() func() { c.StopAPIServer(t); return func() { c.StartAPIServer(t) } }, "refused"},
		{"silent", func() func() { return c.FreezeAPIServer(t) }, "deadline exceeded|imeout"},
		{"garbage", func() func() {
			c.StopAPIServer(t)
			restore := c.AnswerGarbage(t, "garbage\n")
			return func() { restore(); c.StartAPIServer(t) }
		}, "first record does not look like a TLS handshake"},
		{"without a name", func() func() {
			c.SetName(t, "api-int", "")
			return func() { c.SetName(t, "api-int", l.keys(t).Bootstrap.Address) }
		}, "no such host"},
		{"without etcd", func() func() { c.StopEtcd(t); return func() { c.StartEtcd(t) } }, "etcd failed"},
	} {
		restore := wrong.damage()
		if wrong.what == "without etcd" { // noticed a moment later
			until(t, "not ready", func() bool { return ask(internal).Status != 0 })
		}
		if r := ask(internal); r.Status != 1 || !regexp.MustCompile(wrong.says).MatchString(r.All) {
			t.Errorf("%s: status %d, nothing of %q:\n%s", wrong.what, r.Status, wrong.says, r.All)
		}
		restore()
		until(t, "right again", func() bool { return ask(internal).Status == 0 })
	}
	well()
}

func TestObjectsHaveTheStatusThatATestSets(t *testing.T) {
	t.Parallel()
	_, c := InSharedControlPlane(t)
	c.Define(t)
	c.Apply(t, "apiVersion: operator.openshift.io/v1\nkind: KubeAPIServer\nmetadata: {name: of-this-test}\nspec: {anything: 1}\nstatus: {ignored: 1}\n")
	object := "kubeapiservers.operator.openshift.io/of-this-test"
	get := func(path string) string { return c.Kubectl(t, "get", object, "--output=jsonpath="+path) }
	if got := get("{.spec.anything}/{.status.ignored}"); got != "1/" {
		t.Errorf("spec and status are %s", got)
	}
	c.SetConditions(t, object, controlplane.Condition{Type: "A", Status: "True"}, controlplane.Condition{Type: "B", Status: "True"})
	c.SetConditions(t, object, controlplane.Condition{Type: "A", Status: "False", Reason: "Because"})
	c.SetNodeStatuses(t, object, controlplane.NodeStatus{Node: "master-0", Current: 3}, controlplane.NodeStatus{Node: "master-1", Target: 3})
	if got := get("{range .status.conditions[*]}{.type}={.status} {end}{.status.nodeStatuses[*].currentRevision}"); got != "B=True A=False 3" {
		t.Errorf("the status is %s", got)
	}
	c.Node(t, "of-this-test", "192.168.126.99", false)
	c.Pod(t, "of-this-test", "a-pod", "of-this-test", true)
	if out := c.Kubectl(t, "get", "node", "of-this-test", "--no-headers"); !strings.Contains(out, "NotReady") {
		t.Errorf("the node is %s", out)
	}
	c.Node(t, "of-this-test", "192.168.126.99", true)
	if out := c.Kubectl(t, "get", "node", "of-this-test", "--no-headers"); strings.Contains(out, "NotReady") {
		t.Errorf("the node is %s", out)
	}
	c.Kubectl(t, "wait", "--namespace=of-this-test", "--for=condition=Ready", "--timeout=5s", "pod/a-pod")
}

func TestScriptsReachARealEtcdFromTheImageOfTheRelease(t *testing.T) {
	t.Parallel()
	l := KeyedNode(t)
	c := l.WithoutControlPlane(t)
	health := func() Result {
		return l.Exec(t, "podman", "run", "--quiet", "--rm", "--net=host", "--env=ETCDCTL_API=3", "--entrypoint=etcdctl",
			"--volume=/opt/openshift/tls:/tls:ro,z", l.Release.Images["etcd"], "--dial-timeout=2s", "--cacert=/tls/etcd-ca-bundle.crt",
			"--cert=/tls/etcd-client.crt", "--key=/tls/etcd-client.key", "--endpoints=https://localhost:2379", "endpoint", "health")
	}
	health().Want(t, 1, "unhealthy cluster")
	c.StartEtcd(t)
	health().Want(t, 0, "is healthy")
}
