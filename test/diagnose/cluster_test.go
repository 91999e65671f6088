package diagnose

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
	"bootlab/test/controlplane"
	"bootlab/test/scripts"
)

// node is the lab's bootstrap node, in the network of a real API server.
type node struct {
	tb testing.TB
	*scripts.Lab
}

func (node) Name() string { return "bootstrap" }

func (n node) Run(_ context.Context, line string, limit int) (host.Result, error) {
	r := n.Exec(n.tb, "bash", "--noprofile", "--norc", "-c", line)
	return host.Result{Out: []byte(r.Out), Err: []byte(r.Err), Status: r.Status, Cut: len(r.Out) > limit}, nil
}

func (node) ReadFile(context.Context, string, int) ([]byte, error) { return nil, host.ErrRunsNothing }
func (node) List(context.Context, string) ([]string, error)        { return nil, host.ErrRunsNothing }

// cluster is a lab whose API is real, and what its bootstrap node says beside it.
type cluster struct {
	*controlplane.ControlPlane
	node    node
	plan    *labs.Plan
	all     *labs.Diagnosis
	found   map[string]host.Found
	started time.Time
}

var upper = []string{"masters", "members", "operators", "finished"}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	l := scripts.KeyedNode(t)
	c := &cluster{ControlPlane: l.WithControlPlane(t), node: node{t, l}, found: map[string]host.Found{}, started: time.Now().UTC()}
	lab, problems := labs.LoadLab(l.Dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	c.plan, c.all = plan, labs.BuiltinDiagnosis().For(plan)
	c.all.Layers = slices.DeleteFunc(c.all.Layers, func(l *labs.Layer) bool { return !slices.Contains(upper, l.ID) })
	return c
}

// collect asks the API again for some evidence, or for all, as diagnose does.
func (c *cluster) collect(t *testing.T, ids ...string) {
	t.Helper()
	var wanted []*labs.Evidence
	for _, e := range c.all.Evidence {
		if e.On == labs.OnCluster && (len(ids) == 0 || slices.Contains(ids, e.ID)) {
			wanted = append(wanted, e)
		}
	}
	hosts := &host.Hosts{Bootstrap: c.node, AssetDir: "/opt/openshift"}
	for _, f := range hosts.Collect(t.Context(), c.plan.Lab, wanted, nil) {
		if !f.Had || f.Status != 0 {
			t.Fatalf("%s: %s, status %d: %s", f.Evidence.ID, f.Problem, f.Status, f.Complaint)
		}
		c.found[f.Evidence.ID] = f
	}
}

// says gives evidence of the bootstrap node, which has no systemd here.
func (c *cluster) says(id, text string) {
	c.found[id] = host.Found{Evidence: c.all.Find(id), Had: true, Text: []byte(text), At: time.Now().UTC()}
}

// walk judges what was found, an hour later: the API server dates what it makes
// itself, and no object in it is old.
func (c *cluster) walk(t *testing.T) *diagnose.Report {
	t.Helper()
	var all []host.Found
	for _, id := range slices.Sorted(maps.Keys(c.found)) {
		f := c.found[id]
		f.At = f.At.Add(time.Hour)
		all = append(all, f)
	}
	r, err := diagnose.Walk(c.all, c.plan.Lab, false, all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// request sends the request of a kubelet, as whoever is named; empty is the
// node-bootstrapper with its own kubeconfig.
func (c *cluster) request(t *testing.T, name, signer, usage, machine, as string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + machine}}, key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	object := fmt.Sprintf(`{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": %q}, "spec": {"signerName": "kubernetes.io/%s", "usages": ["digital signature", %q], "request": %q}}`,
		name, signer, usage, base64.StdEncoding.EncodeToString(text))
	oc := "oc --kubeconfig=/opt/openshift/auth/kubeconfig-kubelet"
	if as != "" {
		oc = "oc --kubeconfig=/opt/openshift/auth/kubeconfig --as=" + as + " --as-group=system:nodes --as-group=system:authenticated"
	}
	c.node.Exec(t, "bash", "-c", oc+` create -f - <<< "$1"`, "bash", object).Want(t, 0, "created")
}

func (c *cluster) oc(t *testing.T, args ...string) {
	t.Helper()
	c.node.Exec(t, append([]string{"oc", "--kubeconfig=/opt/openshift/auth/kubeconfig"}, args...)...).Want(t, 0)
}

// status puts something into the status of an object.
func (c *cluster) status(t *testing.T, object, text string, flags ...string) {
	t.Helper()
	var status map[string]any
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatal(err, text)
	}
	c.SetStatus(t, object, status, flags...)
}

func (c *cluster) since() string { return c.started.Format(time.RFC3339) }

// build makes the objects of a cluster whose bootstrap is complete.
func (c *cluster) build(t *testing.T) {
	c.Define(t)
	c.AllowNodes(t)
	stop := c.StartSigner(t)
	for _, m := range c.plan.Lab.Machines.Masters {
		c.Node(t, m.Name, m.Address, true)
		c.request(t, "client-"+m.Name, "kube-apiserver-client-kubelet", "client auth", m.Name, "")
		c.request(t, "serving-"+m.Name, "kubelet-serving", "server auth", m.Name, "system:node:"+m.Name)
		c.oc(t, "adm", "certificate", "approve", "client-"+m.Name, "serving-"+m.Name)
		c.Pod(t, "openshift-etcd", "etcd-"+m.Name, m.Name, true)
	}
	c.oc(t, "wait", "--for=jsonpath={.status.certificate}", "--timeout=20s", "csr", "--all")
	stop()
	first := c.plan.Lab.Machines.Masters[0].Name
	c.Pod(t, "openshift-etcd-operator", "etcd-operator-5d7b9c6f8-9kq2m", first, true)
	c.Pod(t, "openshift-network-operator", "network-operator-6c5d8f9b7-2x4kl", first, true)
	c.Apply(t, strings.ReplaceAll(`
apiVersion: operator.openshift.io/v1
kind: Etcd
metadata: {name: cluster}
---
apiVersion: operator.openshift.io/v1
kind: KubeAPIServer
metadata: {name: cluster}
---
apiVersion: operator.openshift.io/v1
kind: KubeControllerManager
metadata: {name: cluster}
---
apiVersion: operator.openshift.io/v1
kind: KubeScheduler
metadata: {name: cluster}
---
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: bootstrap, namespace: kube-system}
data: {status: complete}
`, "\t", ""))
	var revisions []string
	for _, m := range c.plan.Lab.Machines.Masters {
		revisions = append(revisions, fmt.Sprintf(`{"nodeName": %q, "currentRevision": 4}`, m.Name))
	}
	for _, kind := range []string{"etcds", "kubeapiservers", "kubecontrollermanagers", "kubeschedulers"} {
		c.status(t, kind+".operator.openshift.io/cluster", `{"nodeStatuses": [`+strings.Join(revisions, ",")+`]}`)
	}
	c.SetConditions(t, "etcds.operator.openshift.io/cluster",
		controlplane.Condition{Type: "EtcdRunningInCluster", Status: "True", Reason: "BootstrapAlreadyRemoved", Message: "etcd-bootstrap member is already removed"},
		controlplane.Condition{Type: "EtcdBootstrapMemberRemoved", Status: "True", Reason: "BootstrapMemberRemoved"},
		// What 4.14 calls it.
		controlplane.Condition{Type: "EtcdBoostrapMemberRemoved", Status: "True", Reason: "BootstrapMemberRemoved"},
		controlplane.Condition{Type: "EtcdMembersDegraded", Status: "False", Reason: "AsExpected", Message: "No unhealthy members found"})
	c.status(t, "clusterversions.config.openshift.io/version", `{"history": [{"state": "Completed", "startedTime": "`+c.since()+`", "version": "4.21.0"}]}`)
	c.SetConditions(t, "clusterversions.config.openshift.io/version",
		controlplane.Condition{Type: "Available", Status: "True", Message: "Done applying 4.21.0"},
		controlplane.Condition{Type: "Failing", Status: "False"}, controlplane.Condition{Type: "Progressing", Status: "False"})
	for _, name := range []string{"network", "dns", "image-registry", "etcd"} {
		c.Apply(t, "apiVersion: config.openshift.io/v1\nkind: ClusterOperator\nmetadata: {name: "+name+"}\n")
		c.operatorIsWell(t, name)
	}
	c.says("bootkube-record", `[{"timestamp": "`+c.since()+`", "phase": "stage start", "stage": "cb-bootstrap"}, {"timestamp": "`+c.since()+`", "phase": "stage end", "stage": "cb-bootstrap", "result": "success"}, {"timestamp": "`+c.since()+`", "phase": "stage start", "stage": "wait-for-ceo"}, {"timestamp": "`+c.since()+`", "phase": "stage end", "stage": "wait-for-ceo", "result": "success"}, {"timestamp": "`+c.since()+`", "phase": "service end", "result": "success"}]`)
	c.says("markers", ".bootkube.done\ncb-bootstrap.done\ncvo-overrides.done\n")
}

func (c *cluster) operatorIsWell(t *testing.T, name string) {
	c.SetConditions(t, "clusteroperators.config.openshift.io/"+name,
		controlplane.Condition{Type: "Available", Status: "True"}, controlplane.Condition{Type: "Degraded", Status: "False"})
}

// condition makes one of an object's conditions bad, and good again.
func condition(object string, bad, good controlplane.Condition) (put, fix func(*testing.T, *cluster)) {
	return func(t *testing.T, c *cluster) { c.SetConditions(t, object, bad) }, func(t *testing.T, c *cluster) { c.SetConditions(t, object, good) }
}

// ready is a node's condition.
func (c *cluster) ready(t *testing.T, machine, condition string) {
	c.status(t, "node/"+machine, `{"conditions": [`+condition+`]}`)
}

func (c *cluster) container(t *testing.T, pod, namespace, state string) {
	c.status(t, "pod/"+pod, `{"containerStatuses": [{"name": "pause", "image": "x", "imageID": "x", "ready": false, "restartCount": 5, "state": `+state+`}]}`, "--namespace="+namespace)
}

type realFault struct {
	symptom  string
	looks    []string // the evidence that changes
	put, fix func(t *testing.T, c *cluster)
}

// realFaults are put into the real API and taken back, one after the other.
func realFaults(masters []labs.Machine) []realFault {
	last := masters[len(masters)-1]
	const etcds, version, operators = "etcds.operator.openshift.io/cluster", "clusterversions.config.openshift.io/version", "clusteroperators.config.openshift.io/"
	memberBad, memberGood := condition(etcds, controlplane.Condition{Type: "EtcdMembersDegraded", Status: "True", Reason: "UnhealthyMembers", Message: "2 of 3 members are available, " + last.Name + " is unhealthy"},
		controlplane.Condition{Type: "EtcdMembersDegraded", Status: "False", Reason: "AsExpected"})
	fewBad, fewGood := condition(etcds, controlplane.Condition{Type: "EtcdRunningInCluster", Status: "False", Reason: "NotEnoughEtcdMembers", Message: "still waiting for three healthy etcd members"},
		controlplane.Condition{Type: "EtcdRunningInCluster", Status: "True", Reason: "EnoughEtcdMembers"})
	networkBad, networkGood := condition(operators+"network", controlplane.Condition{Type: "Degraded", Status: "True", Reason: "RolloutHung", Message: "DaemonSet rollout is not making progress"}, controlplane.Condition{Type: "Degraded", Status: "False"})
	registryBad, registryGood := condition(operators+"image-registry", controlplane.Condition{Type: "Available", Status: "False", Reason: "StorageNotConfigured", Message: "Available: Error: storage backend not configured"}, controlplane.Condition{Type: "Available", Status: "True"})
	failingBad, failingGood := condition(version, controlplane.Condition{Type: "Failing", Status: "Unknown", Reason: "SlowClusterOperator", Message: "waiting on machine-config over 90 minutes which is longer than expected"}, controlplane.Condition{Type: "Failing", Status: "False"})
	forget := func(t *testing.T, c *cluster) { c.oc(t, "delete", "csr", "late", "--ignore-not-found") }
	nodeGood := func(t *testing.T, c *cluster) { c.Node(t, last.Name, last.Address, true) }
	ask := func(t *testing.T, c *cluster) {
		c.oc(t, "delete", "node", last.Name)
		c.oc(t, "delete", "csr", "client-"+last.Name, "serving-"+last.Name, "--ignore-not-found")
		c.request(t, "late", "kube-apiserver-client-kubelet", "client auth", last.Name, "")
	}
	back := func(t *testing.T, c *cluster) { forget(t, c); nodeGood(t, c) }
	return []realFault{
		{"csr-serving-pending", []string{"csrs"}, func(t *testing.T, c *cluster) {
			// Dates of the API server are whole seconds, and it must be the newest.
			time.Sleep(time.Second)
			c.request(t, "late", "kubelet-serving", "server auth", last.Name, "system:node:"+last.Name)
		}, forget},
		{"csr-client-pending", []string{"csrs", "nodes"}, ask, back},
		{"csr-denied", []string{"csrs", "nodes"}, func(t *testing.T, c *cluster) { ask(t, c); c.oc(t, "adm", "certificate", "deny", "late") }, back},
		{"csr-not-issued", []string{"csrs", "nodes"}, func(t *testing.T, c *cluster) { ask(t, c); c.oc(t, "adm", "certificate", "approve", "late") }, back},
		{"csr-other-name", []string{"csrs", "nodes"}, func(t *testing.T, c *cluster) {
			c.oc(t, "delete", "node", last.Name)
			c.request(t, "late", "kube-apiserver-client-kubelet", "client auth", "localhost.localdomain", "")
		}, back},
		{"node-silent", []string{"nodes"}, func(t *testing.T, c *cluster) {
			c.ready(t, last.Name, `{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status.", "lastTransitionTime": "`+c.since()+`"}`)
		}, nodeGood},
		{"node-no-network", []string{"nodes"}, func(t *testing.T, c *cluster) {
			c.ready(t, last.Name, `{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", "lastTransitionTime": "`+c.since()+`"}`)
		}, nodeGood},
		{"network-pods-fail", []string{"nodes", "pods"}, func(t *testing.T, c *cluster) {
			c.ready(t, last.Name, `{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "container runtime network not ready", "lastTransitionTime": "`+c.since()+`"}`)
			c.container(t, "network-operator-6c5d8f9b7-2x4kl", "openshift-network-operator", `{"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}`)
		}, func(t *testing.T, c *cluster) {
			nodeGood(t, c)
			c.container(t, "network-operator-6c5d8f9b7-2x4kl", "openshift-network-operator", `{"running": {}}`)
		}},
		{"node-other-address", []string{"nodes"}, func(t *testing.T, c *cluster) { c.Node(t, last.Name, "192.0.2.77", false) }, nodeGood},
		{"member-unhealthy", []string{"etcd"}, memberBad, memberGood},
		{"too-few-members", []string{"etcd"}, fewBad, fewGood},
		{"revision-fails", []string{"kubescheduler"}, func(t *testing.T, c *cluster) {
			c.status(t, "kubeschedulers.operator.openshift.io/cluster", `{"nodeStatuses": [{"nodeName": "`+masters[0].Name+`", "currentRevision": 4}, {"nodeName": "`+last.Name+`", "lastFailedRevision": 4, "lastFailedReason": "InstallerFailed", "lastFailedCount": 3, "lastFailedRevisionErrors": ["installer: no space left on device"]}]}`)
		}, func(t *testing.T, c *cluster) {
			c.status(t, "kubeschedulers.operator.openshift.io/cluster", `{"nodeStatuses": [{"nodeName": "`+masters[0].Name+`", "currentRevision": 4}, {"nodeName": "`+last.Name+`", "currentRevision": 4}]}`)
		}},
		{"operator-network", []string{"clusteroperators"}, networkBad, networkGood},
		{"registry-storage", []string{"clusteroperators"}, registryBad, registryGood},
		{"version-fails", []string{"clusterversion"}, failingBad, failingGood},
		{"configmap-other", []string{"bootstrap-configmap"},
			func(t *testing.T, c *cluster) {
				c.oc(t, "patch", "configmap", "bootstrap", "-n", "kube-system", "--type=merge", `--patch={"data":{"status":"started"}}`)
			},
			func(t *testing.T, c *cluster) {
				c.oc(t, "patch", "configmap", "bootstrap", "-n", "kube-system", "--type=merge", `--patch={"data":{"status":"complete"}}`)
			}},
		{"member-stays", []string{"etcd"}, func(t *testing.T, c *cluster) {
			c.SetConditions(t, etcds, controlplane.Condition{Type: "EtcdBootstrapMemberRemoved", Status: "False"}, controlplane.Condition{Type: "EtcdBoostrapMemberRemoved", Status: "False"},
				controlplane.Condition{Type: "BootstrapTeardownDegraded", Status: "True", Reason: "Error", Message: "error while removing bootstrap member [3e8]: etcdserver: unhealthy cluster"})
		}, func(*testing.T, *cluster) {}},
	}
}

// The evidence lines of the cluster, asked of a real API server with real
// objects: once as it should be, and with each fault.
func TestTheClustersSideWithARealAPI(t *testing.T) {
	c := newCluster(t)
	c.build(t)
	c.collect(t)
	if r := c.walk(t); r.Verdict != diagnose.Healthy || len(r.Warnings) > 0 || len(r.Layers) != len(upper) {
		t.Fatalf("%s in %s: %+v %+v", r.Verdict, r.Layer, r.Cause, r.Layers)
	}
	for _, f := range c.found {
		if f.Evidence.Form == labs.JSONForm && !json.Valid(bytes.TrimSpace(f.Text)) {
			t.Errorf("%s is no JSON: %s", f.Evidence.ID, f.Text)
		}
	}
	for _, fault := range realFaults(c.plan.Lab.Machines.Masters) {
		t.Run(fault.symptom, func(t *testing.T) {
			before := maps.Clone(c.found)
			fault.put(t, c)
			c.collect(t, fault.looks...)
			if r := c.walk(t); r.Cause == nil || r.Cause.ID != fault.symptom {
				t.Errorf("%s in %s: %+v", r.Verdict, r.Layer, r.Cause)
			}
			fault.fix(t, c)
			c.found = before
		})
	}
}
