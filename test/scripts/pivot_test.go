package scripts

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/controlplane"
)

// Objects of the cluster, as kubectl names them.
const (
	etcdObject             = "etcds.operator.openshift.io/cluster"
	apiServerObject        = "kubeapiservers.operator.openshift.io/cluster"
	clusterVersion         = "clusterversions.config.openshift.io/version"
	infrastructure         = "infrastructures.config.openshift.io/cluster"
	bootkubeRecord         = "/var/log/openshift/bootkube.json"
	progressRecord         = "/var/log/openshift/progress.json"
	machineConfigStaticPod = "/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml"
)

// pivot gives a bootstrap node behind wait-for-ceo: bootkube.sh has one thing to
// do, and the cluster's objects say what those of a real one would. What their
// operators change later, the test changes in their place.
func pivot(t *testing.T) (*Lab, *controlplane.ControlPlane) {
	t.Helper()
	l := KeyedNode(t)
	c := l.WithControlPlane(t)
	c.Define(t, "ClusterVersion", "ClusterOperator", "Infrastructure", "Etcd", "KubeAPIServer", "Route")
	for _, marker := range []string{"cb-bootstrap.done", "cvo-overrides.done"} {
		l.put(t, marker, "")
	}
	c.Apply(t, `apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
spec:
  clusterID: 00000000-0000-0000-0000-000000000000
  overrides: [{kind: DNS, group: config.openshift.io, namespace: "", name: cluster, unmanaged: true}]
---
apiVersion: config.openshift.io/v1
kind: Infrastructure
metadata: {name: cluster}
---
apiVersion: operator.openshift.io/v1
kind: Etcd
metadata: {name: cluster}
---
apiVersion: operator.openshift.io/v1
kind: KubeAPIServer
metadata: {name: cluster}
`)
	l.beforeTheEnd(t)
	return l, c
}

// beforeTheEnd brings node and cluster to where finish-bootstrap.sh begins.
func (l *Lab) beforeTheEnd(t *testing.T) {
	t.Helper()
	c := l.ControlPlane
	if completed(t, c) != "" {
		c.Kubectl(t, "delete", "configmap", "bootstrap", "--namespace=kube-system")
	}
	c.SetStatus(t, infrastructure, map[string]any{"controlPlaneTopology": "HighlyAvailable"})
	c.SetStatus(t, etcdObject, map[string]any{"conditions": []controlplane.Condition{
		{Type: "EtcdRunningInCluster", Status: "True", Reason: "EnoughEtcdMembers", Message: "enough members found"},
	}})
	c.SetNodeStatuses(t, apiServerObject, controlplane.NodeStatus{Node: "master-0", Current: 2}, controlplane.NodeStatus{Node: "master-1", Target: 3})
	for _, left := range []string{".bootkube.done", "finish-bootstrap.done", progressRecord} {
		if err := os.RemoveAll(l.Asset(left)); err != nil {
			t.Fatal(err)
		}
	}
	l.put(t, bootkubeRecord, `[
{"timestamp":"2026-01-01T00:00:00Z","phase":"service start"},
{"timestamp":"2026-01-01T00:00:00Z","phase":"stage start","stage":"wait-for-ceo"},
{"timestamp":"2026-01-01T00:00:00Z","phase":"stage end","stage":"wait-for-ceo","result":"success"}
]
`)
}

// removeMember stands in for the etcd operator, which removes the bootstrap's
// member once the ConfigMap says complete.
func removeMember(t *testing.T, c *controlplane.ControlPlane) {
	t.Helper()
	c.SetConditions(t, etcdObject, controlplane.Condition{Type: "EtcdBootstrapMemberRemoved", Status: "True", Reason: "BootstrapMemberRemoved", Message: "etcd bootstrap member is removed"})
}

// completed is what the ConfigMap says; empty without one.
func completed(t *testing.T, c *controlplane.ControlPlane) string {
	t.Helper()
	var found struct{ Data struct{ Status string } }
	if err := c.Get("/api/v1/namespaces/kube-system/configmaps/bootstrap", &found); err != nil && !errors.Is(err, controlplane.ErrNotFound) {
		t.Fatal(err)
	}
	return found.Data.Status
}

// pivotStage finds a stage of a release that has a script.
func pivotStage(t *testing.T, id, stage string) *labs.Stage {
	t.Helper()
	s := planOf(t, id, usualLab).Stage(stage)
	if s == nil || !HasTemplate(s) {
		t.Fatalf("%s has no script %s", id, stage)
	}
	return s
}

// analyzed says what openshift-install analyze makes of a record: a service is
// successful if the last entry says so.
func (l *Lab) analyzed(t *testing.T, record string) bool {
	t.Helper()
	data, err := os.ReadFile(l.Asset(record))
	if err != nil {
		t.Fatal(err)
	}
	var entries []Record
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	last := entries[len(entries)-1]
	return last.Phase == "service end" && last.Result == "success"
}

// has says whether a file is there.
func (l *Lab) has(asset string) bool {
	_, err := os.Lstat(l.Asset(asset))
	return err == nil
}

// Until waits for a script to say something.
func (s *Session) Until(tb testing.TB, text string) {
	tb.Helper()
	until(tb, "saying "+text, func() bool {
		select {
		case <-s.ended:
			if !strings.Contains(s.said.String(), text) {
				tb.Fatalf("it ended and said\n%s", s.said.String())
			}
		default:
		}
		return strings.Contains(s.said.String(), text)
	})
}

func TestTheOverridesAreRestored(t *testing.T) {
	t.Parallel()
	l, c := pivot(t)
	s := clusterStage(t, release, "restore-cvo-overrides")
	again := func(t *testing.T) {
		for _, name := range l.markers(s) {
			os.Remove(name)
		}
		l.put(t, "original_cvo_overrides.patch", `{"spec":{"overrides":null}}`+"\n")
		l.put(t, machineConfigStaticPod, "kind: Pod\n")
		c.Kubectl(t, "patch", clusterVersion, "--type=merge", `--patch={"spec":{"overrides":[{"kind":"DNS","name":"cluster","unmanaged":true}]}}`)
	}
	overrides := func(t *testing.T) string { return c.Kubectl(t, "get", clusterVersion, "--output=jsonpath={.spec}") }

	t.Run("nothing was the user's", func(t *testing.T) {
		again(t)
		r := l.RunStage(t, s)
		r.Want(t, 0, s.Log, "clusterversion.config.openshift.io/version patched", s.ID+" is done; next: wait-for-ceo.sh")
		l.shown(t, s.ID, r)
		if got := overrides(t); strings.Contains(got, "overrides") || !strings.Contains(got, "clusterID") {
			t.Errorf("spec is %s", got)
		}
		if l.has(machineConfigStaticPod) {
			t.Error("the Machine Config Server is still there")
		}
		allGood(t, l, s)
		if Last(l.Records(t), s.Bootkube) != "success" {
			t.Errorf("recorded %+v", l.Records(t))
		}
	})
	t.Run("marked, and the static pod is back", func(t *testing.T) {
		l.put(t, machineConfigStaticPod, "kind: Pod\n")
		r := l.RunStage(t, s)
		r.Want(t, 0, "marked as done, but a check fails", s.ID+" is done")
		// bootkube.sh removes it at each start, and patches once.
		if strings.Contains(r.All, " patched") {
			t.Errorf("it patched again:\n%s", r.All)
		}
		if Last(l.Records(t), s.Bootkube) != "success" || !l.has("cvo-overrides.done") {
			t.Errorf("recorded %+v", l.Records(t))
		}
		if l.has(machineConfigStaticPod) {
			t.Error("the Machine Config Server is still there")
		}
	})
	t.Run("the user's own stay", func(t *testing.T) {
		again(t)
		l.put(t, "original_cvo_overrides.patch", `{"spec":{"overrides":[{"kind":"Proxy","group":"config.openshift.io","namespace":"","name":"cluster","unmanaged":true}]}}`+"\n")
		l.RunStage(t, s).Want(t, 0, s.ID+" is done")
		if got := overrides(t); !strings.Contains(got, "Proxy") || strings.Contains(got, "DNS") {
			t.Errorf("spec is %s", got)
		}
		allGood(t, l, s)
	})
	t.Run("refused", func(t *testing.T) {
		again(t)
		l.put(t, "original_cvo_overrides.patch", `{"spec":"nothing"}`+"\n")
		r := l.RunStage(t, s, "--timeout=2")
		r.Want(t, 1, s.Failures[0].Message, "no sign of the patch to be taken within 2 s", "cause: "+s.Failures[0].Cause)
		if strings.Contains(overrides(t), "nothing") || l.has("cvo-overrides.done") || !l.has(machineConfigStaticPod) {
			t.Error("something was done all the same")
		}
		if Last(l.Records(t), s.Bootkube) != "failure" {
			t.Errorf("recorded %+v", l.Records(t))
		}
	})
	t.Run("every mode", func(t *testing.T) {
		again(t)
		eachMode(t, l, s)
		if !strings.Contains(overrides(t), "DNS") {
			t.Error("only looking changed the cluster")
		}
		l.RunStage(t, s, "--dry-run").Want(t, 0, "oc patch ", "wait_for 1200 ", "rm -f \"${HOST_ROOT}/etc/kubernetes/manifests/machineconfigoperator-bootstrap-pod.yaml\"")
	})
	t.Run("killed and run again", func(t *testing.T) {
		again(t)
		session := l.Start(t, s.ScriptName(), "--step")
		for range 2 {
			session.Step(t)
			session.Enter()
		}
		session.Kill(t)
		l.unlocked(t)
		l.RunStage(t, s).Want(t, 0, s.ID+" is done")
		allGood(t, l, s)
	})
	t.Run("marked", func(t *testing.T) {
		for _, check := range s.Checks {
			t.Run(check.ID, func(t *testing.T) {
				breaks(t, l, s, check.ID, fixtures(t, s.ID)[check.ID])
				l.RunStage(t, s).Want(t, 0)
				allGood(t, l, s)
			})
		}
	})
	hopeless(t, l, s, controlplane.ForAPIInt, again)
	t.Run("silence", func(t *testing.T) {
		again(t)
		thaw := c.FreezeAPIServer(t)
		r := l.RunStage(t, s, "--timeout=1")
		thaw()
		r.Want(t, 1, s.Failures[0].Message, "no sign of the patch to be taken within 1 s")
	})
}

// eachMode asks a script for everything that changes nothing.
func eachMode(t *testing.T, l *Lab, s *labs.Stage) {
	t.Helper()
	before := l.Snapshot(t)
	l.RunStage(t, s, "--help").Want(t, 0, append(modes, "Usage: "+s.Call()+" [OPTION]", "--timeout=S")...)
	if said := words(l.RunStage(t, s, "--explain").Out); !strings.Contains(said, s.Title) || !strings.Contains(said, words(s.Why)) {
		t.Errorf("--explain says %s", said)
	}
	l.RunStage(t, s, "--dry-run").Want(t, 0)
	l.RunStage(t, s, "--frobnicate").Want(t, 2, s.Call()+" --help")
	l.RunStage(t, s, "--timeout=0").Want(t, 2)
	before.Same(t, l.Snapshot(t))
}

// hopeless is every way in which a script meets no answer from the API: each has
// its own message, and the script its end. It starts over each time.
func hopeless(t *testing.T, l *Lab, s *labs.Stage, certificate string, begin func(*testing.T)) {
	t.Helper()
	c := l.ControlPlane
	cause := func(id string) string {
		at := slices.IndexFunc(s.Failures, func(f labs.Failure) bool { return f.ID == id })
		if at < 0 {
			t.Fatalf("%s has no failure %s", s.ID, id)
		}
		return "cause: " + s.Failures[at].Cause
	}
	name := map[string]string{controlplane.ForAPI: "api", controlplane.ForAPIInt: "api-int"}[certificate]
	address := strings.TrimSpace(readFile(t, filepath.Join(c.Dir, "names", name)))
	ways := map[string]struct {
		damage func(*testing.T) (restore func())
		says   []string
	}{
		"expired certificate": {func(t *testing.T) func() { return c.ServeExpired(t, certificate) }, []string{"certificate has expired", cause("oc-expired")}},
		"another CA":          {func(t *testing.T) func() { return c.ServeStranger(t, certificate) }, []string{"certificate signed by unknown authority", cause("oc-unknown-ca")}},
		"nothing listens":     {func(t *testing.T) func() { c.StopAPIServer(t); return func() { c.StartAPIServer(t) } }, []string{"was refused", cause("oc-refused")}},
		"garbage": {func(t *testing.T) func() {
			c.StopAPIServer(t)
			stop := c.AnswerGarbage(t, "\x1b[31mHTTP/1.1 200 nonsense\r\n\r\n\x07")
			return func() { stop(); c.StartAPIServer(t) }
		}, []string{"first record does not look like a TLS handshake", cause("oc-no-tls")}},
		"no such name": {func(t *testing.T) func() {
			c.SetName(t, name, "")
			return func() { c.SetName(t, name, address) }
		}, []string{"no such host", cause("oc-no-host")}},
	}
	for _, what := range sample.Of(t, 2, slices.Sorted(maps.Keys(ways))) {
		way := ways[what]
		t.Run(what, func(t *testing.T) {
			begin(t)
			restore := way.damage(t)
			r := l.RunStage(t, s, "--timeout=3")
			restore()
			r.Want(t, 1, way.says...)
			if strings.ContainsAny(r.All, "\x1b\x07") {
				t.Errorf("the terminal was steered:\n%q", r.All)
			}
		})
	}
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
