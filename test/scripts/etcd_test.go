package scripts

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// etcdNodes is a node whose etcd was rendered at the bootstrap node's address in
// the lab.
var etcdNodes struct {
	sync.Once
	lab *Lab
}

// etcdNode gives a clone of it, with a podman of its own that has the images
// which the waits for etcd run, in a network where nothing runs yet.
func etcdNode(t *testing.T) (*Lab, *controlplane.ControlPlane) {
	t.Helper()
	keyed := KeyedNode(t)
	etcdNodes.Do(func() {
		l := keyed.copyInto(t, podman.SharedDir(t, keyed.Env.Account), keyed.Env)
		l.WithoutControlPlane(t)
		// Nothing of an earlier render runs that would have to end first.
		if err := os.RemoveAll(l.Asset("/etc/kubernetes")); err != nil {
			t.Fatal(err)
		}
		l.Must(t, "render-etcd.sh", "--force")
		l.ControlPlane = nil
		etcdNodes.lab = l
	})
	if etcdNodes.lab == nil {
		t.Fatal("etcd could not be rendered in another test")
	}
	l := etcdNodes.lab.Apart(t)
	for _, name := range []string{"etcd", "cluster-etcd-operator"} {
		// Where the scripts run, nothing reaches the registry.
		if _, err := l.Env.Podman("pull", "--quiet", l.Release.Images[name]); err != nil {
			t.Fatal(err)
		}
	}
	return l, l.WithoutControlPlane(t)
}

// nothingLeft: no container is there, running or not.
func (l *Lab) nothingLeft(t *testing.T) {
	t.Helper()
	if left := l.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}

// listen puts something in etcd's place that is no etcd.
func listen(t *testing.T, c *controlplane.ControlPlane, address string) net.Listener {
	t.Helper()
	listener, err := c.Network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"))
			conn.Close()
		}
	}()
	return listener
}

// serveExpired lets the bootstrap member show a certificate whose day is over;
// etcd reads its files again for each who calls.
func serveExpired(t *testing.T, c *controlplane.ControlPlane) (restore func()) {
	t.Helper()
	dir := filepath.Join(c.Dir, "etcd", "etcd-all-certs")
	signer, err := controlplane.LoadAuthority(filepath.Join(dir, "etcd-signer"))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := signer.Issue(controlplane.Leaf{
		Subject: pkix.Name{CommonName: "localhost"}, Names: []string{"localhost", "127.0.0.1"},
		Usage:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	var undo []func()
	for ext, text := range map[string][]byte{".crt": pair.Certificate, ".key": pair.Key} {
		file := filepath.Join(dir, "etcd-serving-"+host+ext)
		undo = append(undo, replaced(t, file, text))
	}
	return func() { undo[0](); undo[1]() }
}

// replaced gives a file another text, until it is put right.
func replaced(t *testing.T, file string, text []byte) (restore func()) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	return func() { write(before) }
}

// stranger is a certificate that nothing in the lab trusts.
func stranger(t *testing.T) controlplane.Pair {
	t.Helper()
	authority, err := controlplane.NewAuthority("somebody else")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(controlplane.Leaf{
		Subject: pkix.Name{CommonName: "etcd-client"}, Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// way is one in which a wait goes wrong; what it invalidates is put right behind it.
type way struct {
	name   string
	damage func(t *testing.T, l *Lab, c *controlplane.ControlPlane) (restore func())
	args   []string
	says   []string
	cause  string // id of the failure that is told
}

func eachWay(t *testing.T, l *Lab, c *controlplane.ControlPlane, s *labs.Stage, ways []way) {
	t.Helper()
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			restore := w.damage(t, l, c)
			defer restore()
			r := l.RunStage(t, s, w.args...)
			r.Want(t, 1, w.says...)
			if f := failureOf(s, w.cause); w.cause != "" && !strings.Contains(r.All, "cause: "+f.Cause) {
				t.Errorf("nothing is said of %s:\n%s", w.cause, r.All)
			}
			l.nothingLeft(t)
		})
	}
}

// failureOf is one of the stage's failures.
func failureOf(s *labs.Stage, id string) labs.Failure {
	for _, f := range s.Failures {
		if f.ID == id {
			return f
		}
	}
	return labs.Failure{Cause: "no failure " + id}
}

func TestWaitForEtcdTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	l, c := etcdNode(t)
	s := clusterStage(t, release, "wait-for-etcd")
	short := []string{"--timeout=2"}
	eachWay(t, l, c, s, []way{{
		name:   "nothing listens",
		damage: func(*testing.T, *Lab, *controlplane.ControlPlane) func() { return func() {} },
		args:   short, says: []string{"connection refused", "https://localhost:2379 is unhealthy", "no sign of a healthy etcd within 2 s"}, cause: "refused",
	}, {
		name: "no etcd listens",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			listener := listen(t, c, "0.0.0.0:2379")
			return func() { listener.Close() }
		},
		args: short, says: []string{"no sign of a healthy etcd"}, cause: "no-tls",
	}})
	if Last(l.Records(t), "wait-for-etcd") != "failure" {
		t.Errorf("recorded %+v", l.Records(t))
	}
	c.StartEtcd(t)
	eachWay(t, l, c, s, []way{{
		name: "another CA",
		damage: func(t *testing.T, l *Lab, _ *controlplane.ControlPlane) func() {
			return replaced(t, l.Asset("tls/etcd-ca-bundle.crt"), stranger(t).Certificate)
		},
		says: []string{"certificate signed by unknown authority", "waiting does not fix that"}, cause: "other-ca",
	}, {
		name: "a client certificate that etcd does not know",
		damage: func(t *testing.T, l *Lab, _ *controlplane.ControlPlane) func() {
			pair := stranger(t)
			crt := replaced(t, l.Asset("tls/etcd-client.crt"), pair.Certificate)
			key := replaced(t, l.Asset("tls/etcd-client.key"), pair.Key)
			return func() { crt(); key() }
		},
		args: short, says: []string{"is unhealthy", "no sign of a healthy etcd"},
	}, {
		name:   "an expired certificate",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() { return serveExpired(t, c) },
		says:   []string{"certificate has expired", "waiting does not fix that"}, cause: "expired",
	}, {
		name: "etcd hangs",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			return c.FreezeMember(t, "etcd-bootstrap")
		},
		args: short, says: []string{"context deadline exceeded", "no sign of a healthy etcd"},
	}})
	r := l.RunStage(t, s)
	r.Want(t, 0, "is healthy", "wait-for-etcd is done; next: start-bootstrap.sh")
	l.shown(t, s.ID, r)
	allGood(t, l, s)
	breaks(t, l, s, "healthy", fixtures(t, s.ID)["healthy"])
}

func TestWaitForEtcdWaitsUntilItIsThere(t *testing.T) {
	t.Parallel()
	l, c := etcdNode(t)
	s := clusterStage(t, release, "wait-for-etcd")
	session := l.Start(t, s.ScriptName())
	until(t, "a first answer", func() bool { return strings.Contains(session.said.String(), "is unhealthy") })
	c.StartEtcd(t)
	r := session.Wait(t)
	r.Want(t, 0, "is healthy", "is done")
	if n := strings.Count(r.All, "https://localhost:2379 is unhealthy"); n != 1 {
		t.Errorf("the same was told %d times:\n%s", n, r.All)
	}
	if Last(l.Records(t), s.ID) != "success" {
		t.Errorf("recorded %+v", l.Records(t))
	}
	if found, _ := filepath.Glob(l.Asset("wait-for-etcd.done")); len(found) > 0 {
		t.Error("what waits needs no marker")
	}
	l.nothingLeft(t)
	// A running script, or bootkube.sh, has the name; a check asks without.
	if _, err := l.Env.Podman("create", "--name", "etcdctl", l.Release.Images["etcd"], "etcdctl"); err != nil {
		t.Fatal(err)
	}
	allGood(t, l, s)
	l.RunStage(t, s).Want(t, 1, "another program's container is named etcdctl")
	if _, err := l.Env.Podman("rm", "etcdctl"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Env.Podman("create", "--name", "etcdctl", "--volume", l.Asset("tls")+":/opt/openshift/tls:ro,z", l.Release.Images["etcd"], "etcdctl"); err != nil {
		t.Fatal(err)
	}
	l.RunStage(t, s).Want(t, 1, "another program's container is named etcdctl; its volumes: "+l.Asset("tls")) // another lab's
	if _, err := l.Env.Podman("rm", "etcdctl"); err != nil {
		t.Fatal(err)
	}
	l.leaves(t, "etcdctl", "etcd", "/opt/openshift/tls")
	l.RunStage(t, s).Want(t, 0, "wait-for-etcd is done")
	l.nothingLeft(t)
}

// leaves makes a container of a name, as a killed run on the node leaves it.
func (l *Lab) leaves(t *testing.T, name, image, mount string) {
	t.Helper()
	l.Exec(t, "podman", "create", "--name", name, "--volume", mount+":"+mount, l.Release.Images[image], "/x").Want(t, 0)
}

func TestWaitForEtcdCanBeInterruptedAndKilled(t *testing.T) {
	t.Parallel()
	l, c := etcdNode(t)
	s := clusterStage(t, release, "wait-for-etcd")
	c.StartEtcd(t)
	thaw := c.FreezeMember(t, "etcd-bootstrap")
	session := l.Start(t, s.ScriptName())
	until(t, "the container", func() bool { return slices.Contains(l.Env.Containers(t), "etcdctl") })
	session.Interrupt()
	session.Wait(t).Want(t, 1, "interrupted", "run "+s.ScriptName()+" again")
	l.nothingLeft(t)
	if Last(l.Records(t), s.ID) != "failure" {
		t.Errorf("recorded %+v", l.Records(t))
	}
	session = l.Start(t, s.ScriptName())
	until(t, "the container", func() bool { return slices.Contains(l.Env.Containers(t), "etcdctl") })
	session.KillGroup()
	thaw()
	l.RunStage(t, s).Want(t, 0, "is done")
	l.nothingLeft(t)
}

func TestWaitForEtcdIsLeftOutWhereEtcdWasStopped(t *testing.T) {
	t.Parallel()
	l, _ := etcdNode(t)
	if err := os.WriteFile(l.Asset("stop-etcd.done"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "wait-for-etcd.sh").Want(t, 0, "stop-etcd.done exists; skipping wait-for-etcd")
	if records := l.Records(t); Last(records, "wait-for-etcd") != "" {
		t.Errorf("recorded %+v", records)
	}
}

// TestWatchSeesEtcdGrowAndShrink lets real members join as the operator lets
// them, a step at a time.
func TestWatchSeesEtcdGrowAndShrink(t *testing.T) {
	t.Parallel()
	l, c := etcdNode(t)
	s := clusterStage(t, release, "watch-etcd-members")
	c.StartEtcd(t)
	session := l.Start(t, s.ScriptName())
	seen := func(text string) {
		t.Helper()
		until(t, text, func() bool { return strings.Contains(lastLook(session.said.String()), text) })
	}
	seen("a list of one has a quorum of one")
	allGood(t, l, s)
	for i, name := range []string{"master-0", "master-1", "master-2"} {
		c.AddLearner(t, name)
		seen("added, and not started yet")
		if i == 0 {
			allGood(t, l, s)
		}
		c.StartLearner(t, name)
		seen("learner, in sync")
		if i == 0 {
			allGood(t, l, s)
		}
		c.Promote(t, name)
		seen([]string{"both are needed for a quorum", "3 vote, and one of them may fail", "EtcdRunningInCluster can turn True: 3 remain"}[i])
	}
	allGood(t, l, s)
	c.RemoveBootstrapMember(t)
	r := session.Wait(t)
	r.Want(t, 0, "the bootstrap member is gone", "watch-etcd-members is done")
	if strings.Contains(lastLook(r.All), "etcd-bootstrap") {
		t.Errorf("the last look has it still:\n%s", r.All)
	}
	allGood(t, l, s)
	l.nothingLeft(t)
	if records := l.Records(t); Last(records, s.ID) != "" {
		t.Errorf("what stands beside is recorded among bootkube's stages: %+v", records)
	}
	l.Run(t, s.ScriptName()).Want(t, 0, "the bootstrap member is gone")
}

// lastLook is what a waiting script told last.
func lastLook(said string) string {
	blocks := strings.Split(said, " s  ")
	return blocks[len(blocks)-1]
}

func TestWatchEndsAtTheNumberThatIsAskedFor(t *testing.T) {
	t.Parallel()
	l, c := etcdNode(t)
	s := clusterStage(t, release, "watch-etcd-members")
	c.StartEtcd(t)
	r := l.RunStage(t, s, "--until=1")
	r.Want(t, 0, "waiting for 1 voting members", "is done")
	l.shown(t, s.ID, r)
	l.RunStage(t, s, "--until=2", "--timeout=1").Want(t, 1, "no sign of 2 voting members")
	c.AddMaster(t, "master-0")
	l.RunStage(t, s, "--until=2").Want(t, 0, "both are needed")
	c.AddMaster(t, "master-1")
	thaw := c.FreezeMember(t, "master-1")
	l.RunStage(t, s, "--until=3", "--timeout=1").Want(t, 1, "votes, does not answer", "adds and removes no member", "cause: "+failureOf(s, "unwell").Cause)
	if points, status := verified(t, l, s); status != 3 || !slices.Equal(Failed(points), []string{"healthy"}) {
		t.Errorf("status %d, %+v", status, points)
	}
	thaw()
	l.RunStage(t, s, "--until=3").Want(t, 0, "3 vote, and one of them may fail")
	all := fixtures(t, s.ID)
	t.Run("a stranger", func(t *testing.T) { breaks(t, l, s, "lab-machines", all["lab-machines"]) })
	c.Etcdctl(t, "member", "remove", idOf(t, c, "203.0.113.9"))
	t.Run("two at once", func(t *testing.T) { breaks(t, l, s, "one-at-a-time", all["one-at-a-time"]) })
	c.Etcdctl(t, "member", "remove", idOf(t, c, "203.0.113.9"))
	c.Etcdctl(t, "member", "remove", idOf(t, c, "192.168.126.22"))
	t.Run("one that ended", func(t *testing.T) { breaks(t, l, s, "healthy", all["healthy"]) })
}

// idOf is the member at an address.
func idOf(t *testing.T, c *controlplane.ControlPlane, address string) string {
	t.Helper()
	for _, line := range strings.Split(c.Etcdctl(t, "member", "list"), "\n") {
		fields := strings.Split(line, ", ")
		if len(fields) > 3 && strings.Contains(fields[3], address) {
			return fields[0]
		}
	}
	t.Fatalf("no member at %s", address)
	return ""
}

func TestWatchTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	l, c := etcdNode(t)
	s := clusterStage(t, release, "watch-etcd-members")
	short := []string{"--timeout=1"}
	eachWay(t, l, c, s, []way{{
		name:   "nothing listens",
		damage: func(*testing.T, *Lab, *controlplane.ControlPlane) func() { return func() {} },
		args:   short, says: []string{"localhost: nothing listens on port 2379", "192.168.126.20: nothing listens"}, cause: "no-answer",
	}, {
		name: "no etcd listens",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			listener := listen(t, c, "127.0.0.1:2379")
			return func() { listener.Close() }
		},
		args: short, says: []string{"localhost: ", "first record does not look like a TLS handshake", "192.168.126.20: nothing listens"},
	}})
	c.StartEtcd(t)
	eachWay(t, l, c, s, []way{{
		name: "another CA",
		damage: func(t *testing.T, l *Lab, _ *controlplane.ControlPlane) func() {
			return replaced(t, l.Asset("tls/etcd-ca-bundle.crt"), stranger(t).Certificate)
		},
		says: []string{"waiting does not fix that"}, cause: "other-ca",
	}, {
		name:   "an expired certificate",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() { return serveExpired(t, c) },
		says:   []string{"waiting does not fix that"}, cause: "expired",
	}})
	session := l.Start(t, s.ScriptName())
	until(t, "a look", func() bool { return strings.Contains(session.said.String(), "votes, leads") })
	l.Run(t, s.ScriptName()).Want(t, 1, "another stage script is running")
	l.Run(t, "wait-for-etcd.sh").Want(t, 0, "is done") // it has a lock of its own
	c.AddMaster(t, "master-0")
	thaw := c.FreezeMember(t, "master-0")
	defer thaw()
	until(t, "a look without quorum", func() bool { return strings.Contains(session.said.String(), "context deadline exceeded") })
	session.Interrupt()
	session.Wait(t).Want(t, 1, "interrupted", "cause: "+failureOf(s, "no-quorum").Cause)
	l.nothingLeft(t)
}

func TestWatchInALabWithoutMasters(t *testing.T) {
	t.Parallel()
	from, c := etcdNode(t)
	l := NewLab(t, from.Env, Options{From: "bootstrap-only", Place: labs.OnNode, Release: from.Release})
	if err := l.takeAssets(from, append(bootstrapAssets, "release-info")...); err != nil {
		t.Fatal(err)
	}
	l.Join(t, c)
	c.StartEtcd(t)
	l.Run(t, "watch-etcd-members.sh").Want(t, 0, "this lab has no masters", "votes, leads", "is done")
	l.Run(t, "watch-etcd-members.sh", "--verify").Want(t, 0)
}

// planeWithEtcdObject is a node with an API server that knows the operator's
// object, as it is before the operator has looked at it.
func planeWithEtcdObject(t *testing.T) (*Lab, *controlplane.ControlPlane) {
	t.Helper()
	l, c := etcdNode(t)
	c.StartEtcd(t)
	c.StartAPIServer(t)
	c.Define(t, "Etcd")
	c.Apply(t, "apiVersion: operator.openshift.io/v1\nkind: Etcd\nmetadata: {name: cluster}\n")
	return l, c
}

const theEtcd = "etcds.operator.openshift.io/cluster"

func running(status, reason, message string) controlplane.Condition {
	return controlplane.Condition{Type: "EtcdRunningInCluster", Status: status, Reason: reason, Message: message}
}

func TestWaitForCEOTellsTheConditionUntilItIsTrue(t *testing.T) {
	t.Parallel()
	l, c := planeWithEtcdObject(t)
	s := clusterStage(t, release, "wait-for-ceo")
	session := l.Start(t, s.ScriptName())
	seen := func(text string) {
		t.Helper()
		until(t, text, func() bool { return strings.Contains(session.said.String(), text) })
	}
	seen("Waiting for CEO to finish...")
	seen("has no such condition yet")
	available := controlplane.Condition{Type: "EtcdMembersAvailable", Status: "True", Reason: "EtcdQuorate", Message: "2 members are available"}
	c.SetConditions(t, theEtcd, running("False", "NotEnoughEtcdMembers", "still waiting for three healthy etcd members"), available)
	seen("EtcdRunningInCluster False NotEnoughEtcdMembers still waiting for three healthy etcd members")
	seen("2 members are available")
	available.Message = "4 members are available"
	c.SetConditions(t, theEtcd, available)
	seen("4 members are available")
	c.SetConditions(t, theEtcd, running("True", "EnoughEtcdMembers", "enough members found"))
	r := session.Wait(t)
	r.Want(t, 0, "EtcdRunningInCluster True EnoughEtcdMembers enough members found", "Cluster etcd operator bootstrapped successfully", "wait-for-ceo is done; next: verify-api.sh")
	l.nothingLeft(t)
	allGood(t, l, s)
	if Last(l.Records(t), s.ID) != "success" {
		t.Errorf("recorded %+v", l.Records(t))
	}
	r = l.RunStage(t, s)
	r.Want(t, 0, "is done") // at once
	l.shown(t, s.ID, r)
	breaks(t, l, s, "running-in-cluster", fixtures(t, s.ID)["running-in-cluster"])
}

func TestWaitForCEOTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	l, c := planeWithEtcdObject(t)
	s := clusterStage(t, release, "wait-for-ceo")
	c.SetConditions(t, theEtcd, running("False", "NotEnoughEtcdMembers", "still waiting for three healthy etcd members"))
	short := []string{"--timeout=2"}
	eachWay(t, l, c, s, []way{{
		name:   "too few members",
		damage: func(*testing.T, *Lab, *controlplane.ControlPlane) func() { return func() {} },
		args:   short, says: []string{"no sign of members on the masters", "within 2 s"}, cause: "waiting",
	}, {
		name: "another CA",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			return c.ServeStranger(t, controlplane.ForAPIInt)
		},
		says: []string{"certificate signed by unknown authority", "waiting does not fix that"}, cause: "oc-unknown-ca",
	}, {
		name: "an expired certificate",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			return c.ServeExpired(t, controlplane.ForAPIInt)
		},
		says: []string{"certificate has expired", "waiting does not fix that"}, cause: "oc-expired",
	}, {
		name: "the name has no address",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			address := strings.TrimSpace(strings.Fields(c.Etcdctl(t, "endpoint", "status", "--cluster", "--write-out=simple"))[0])
			address, _, _ = strings.Cut(strings.TrimPrefix(address, "https://"), ":")
			c.SetName(t, "api-int", "")
			return func() { c.SetName(t, "api-int", address) }
		},
		args: short, says: []string{"no such host"}, cause: "oc-no-host",
	}, {
		name: "a torn kubeconfig",
		damage: func(t *testing.T, l *Lab, _ *controlplane.ControlPlane) func() {
			return replaced(t, l.Asset("auth/kubeconfig"), []byte("apiVersion: v1\nclusters: [\n"))
		},
		says: []string{"error loading config file", "waiting does not fix that"}, cause: "no-kubeconfig",
	}, {
		name: "the object is gone",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			c.Kubectl(t, "delete", theEtcd)
			return func() {
				c.Apply(t, "apiVersion: operator.openshift.io/v1\nkind: Etcd\nmetadata: {name: cluster}\n")
			}
		},
		args: short, says: []string{`"cluster" not found`}, cause: "no-object",
	}, {
		name: "nothing listens",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			c.StopAPIServer(t)
			return func() {}
		},
		args: short, says: []string{"was refused"}, cause: "oc-refused",
	}, {
		name: "no API server listens",
		damage: func(t *testing.T, _ *Lab, c *controlplane.ControlPlane) func() {
			return c.AnswerGarbage(t, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		},
		args: short, says: []string{"no sign of members on the masters"},
	}})
	if err := os.Remove(l.Asset("auth/kubeconfig")); err != nil {
		t.Fatal(err)
	}
	l.RunStage(t, s).Want(t, 4, "auth/kubeconfig is missing")
}

func TestWaitForCEOGoesOnWithWhatAKilledRunLeft(t *testing.T) {
	t.Parallel()
	l, c := planeWithEtcdObject(t)
	s := clusterStage(t, release, "wait-for-ceo")
	session := l.Start(t, s.ScriptName())
	session.Until(t, "has no such condition yet")
	session.Interrupt()
	session.Wait(t).Want(t, 1, "interrupted", "run "+s.ScriptName()+" again")
	l.nothingLeft(t)

	// The operator's command, as a run leaves it that was killed.
	l.Exec(t, "podman", "run", "--detach", "--quiet", "--rm", "--net=host", "--name", s.ID, "--volume", "/opt/openshift:/assets:z",
		l.Release.Images["cluster-etcd-operator"], "/usr/bin/cluster-etcd-operator", "wait-for-ceo", "--kubeconfig", "/assets/auth/kubeconfig").Want(t, 0)
	session = l.Start(t, s.ScriptName())
	session.Until(t, "waiting up to 600 s for container wait-for-ceo left by an interrupted run")
	c.SetConditions(t, theEtcd, running("True", "EnoughEtcdMembers", "enough members found"))
	session.Wait(t).Want(t, 0, "is done")
	l.nothingLeft(t)

	l.leaves(t, s.ID, "etcd", "/opt/openshift") // dead, and ours
	l.RunStage(t, s).Want(t, 0, "wait-for-ceo is done")
	l.leaves(t, s.ID, "etcd", "/opt")
	l.RunStage(t, s).Want(t, 1, "another program's container is named wait-for-ceo; its volumes: /opt")
	if left := l.Env.Containers(t); !slices.Equal(left, []string{s.ID}) {
		t.Errorf("what belongs elsewhere was touched: %v", left)
	}
}

// TestTheWaitsForEtcdHaveEveryMode looks at what changes nothing.
func TestTheWaitsForEtcdHaveEveryMode(t *testing.T) {
	t.Parallel()
	l, _ := etcdNode(t)
	for _, id := range []string{"wait-for-etcd", "watch-etcd-members", "wait-for-ceo"} {
		s := clusterStage(t, release, id)
		before := l.Snapshot(t)
		l.RunStage(t, s, "--help").Want(t, 0, append(modes, "Usage: "+s.Call()+" [OPTION]", "--timeout=S")...)
		if said := words(l.RunStage(t, s, "--explain").Out); !strings.Contains(said, s.Title) || !strings.Contains(said, words(s.Why)) {
			t.Errorf("--explain says %s", said)
		}
		l.RunStage(t, s, "--dry-run").Want(t, 0, "podman ", "wait_for ")
		for _, wrong := range []string{"--frobnicate", "--timeout=", "--timeout=0", "--timeout=x", "--timeout=1;id"} {
			l.RunStage(t, s, wrong).Want(t, 2, s.Call()+" --help")
		}
		before.Same(t, l.Snapshot(t))
		l.RunStage(t, s, "--step").Want(t, 1, "stopped before step 1")
	}
	for _, wrong := range []string{"--until=0", "--until=", "--until=x", "--until=1;id"} {
		l.Run(t, "watch-etcd-members.sh", wrong).Want(t, 2, "needs a number")
	}
}
