package scripts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/standin/facts"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

const (
	startScript    = "start-bootstrap.sh"
	startContainer = "cluster-bootstrap"
)

// starting is a bootstrap node on which everything is rendered, with etcd running
// and a kubelet; nothing of the control plane runs yet.
type starting struct {
	*Lab
	c     *controlplane.ControlPlane
	k     *Kubelet
	stage *labs.Stage
}

func newStart(t *testing.T) *starting {
	t.Helper()
	controlplane.Need(t)
	l := onNode(t)
	s := &starting{Lab: l, c: l.WithoutControlPlane(t), stage: clusterStage(t, release, "start-bootstrap")}
	s.c.StartEtcd(t)
	s.k = l.WithKubelet(t, s.c)
	s.limit(t, nil)
	return s
}

// limit sets the stand-in's time limits; those that are not given are long, its
// pauses are short.
func (s *starting) limit(t *testing.T, limits map[string]string) {
	t.Helper()
	all := map[string]string{"api": "2m", "pods": "2m", "poll": "200ms", "available": "2m", "delay": "200ms", "assets": "2m"}
	maps.Copy(all, limits)
	text := ""
	for name, value := range all {
		text += name + ": " + value + "\n"
	}
	if err := os.WriteFile(s.Asset(".stand-in-limits"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

var requiredPods = map[string]string{
	"openshift-kube-apiserver":          "kube-apiserver-",
	"openshift-kube-scheduler":          "openshift-kube-scheduler-",
	"openshift-kube-controller-manager": "kube-controller-manager-",
	"openshift-cluster-version":         "cluster-version-operator-",
}

// pods lets masters run the required pods.
func (s *starting) pods(t *testing.T, masters ...string) {
	t.Helper()
	until(t, "the API server", func() bool { return s.k.is(&s.k.ready) })
	for namespace, name := range requiredPods {
		for _, master := range masters {
			s.c.Pod(t, namespace, name+master, master, true)
		}
	}
}

// revisions lets the three operators say that masters have a revision.
func (s *starting) revisions(t *testing.T, masters ...string) {
	t.Helper()
	kinds := []string{"KubeAPIServer", "KubeScheduler", "KubeControllerManager"}
	s.c.Define(t, kinds...)
	var statuses []controlplane.NodeStatus
	for _, master := range masters {
		statuses = append(statuses, controlplane.NodeStatus{Node: master, Current: 3})
	}
	for _, kind := range kinds {
		s.c.Apply(t, "apiVersion: operator.openshift.io/v1\nkind: "+kind+"\nmetadata: {name: cluster}\n")
		s.c.SetNodeStatuses(t, strings.ToLower(kind)+"s.operator.openshift.io/cluster", statuses...)
	}
}

// masters let the start come to its good end: they carry the cluster, and their
// API server answers when that of the bootstrap goes.
func (s *starting) masters(t *testing.T) {
	t.Helper()
	s.k.Set(&s.k.keeps, true)
	s.pods(t, "master-0")
	s.revisions(t, "master-0", "master-1")
}

// begin starts the script and waits until it says something.
func (s *starting) begin(t *testing.T, until string, args ...string) *Session {
	t.Helper()
	session := s.Start(t, startScript, args...)
	session.saysOnce(t, until)
	return session
}

// ready waits until the API server of the start answers well.
func (s *starting) ready(t *testing.T, session *Session) {
	t.Helper()
	session.saysOnce(t, "    | The 20 minutes start.")
	until(t, "the API server", func() bool { return s.k.is(&s.k.ready) })
}

// up begins and waits for that.
func (s *starting) up(t *testing.T, args ...string) *Session {
	t.Helper()
	session := s.Start(t, startScript, args...)
	s.ready(t, session)
	return session
}

// saysOnce waits until the script has said a text.
func (s *Session) saysOnce(t *testing.T, text string) {
	t.Helper()
	for range 1800 {
		if strings.Contains(s.said.String(), text) {
			return
		}
		select {
		case <-s.ended:
			time.Sleep(100 * time.Millisecond)
			if !strings.Contains(s.said.String(), text) {
				t.Fatalf("it ended without %q:\n%s", text, s.said.String())
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("nothing of %q within three minutes:\n%s", text, s.said.String())
}

// gone: nothing of cluster-bootstrap is left, and what is not its own is.
func (s *starting) gone(t *testing.T) {
	t.Helper()
	if left := lines(s.manifests(t, "/etc/kubernetes/manifests")); left != "etcd-member-pod.yaml\nmachineconfigoperator-bootstrap-pod.yaml" {
		t.Errorf("the kubelet has\n%s", left)
	}
	if s.k.has("bootstrap-secrets") {
		t.Error("the secrets are left")
	}
	if left := s.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}

// isDone: it is marked and recorded, and every check is good.
func (s *starting) isDone(t *testing.T) {
	t.Helper()
	s.gone(t)
	allGood(t, s.Lab, s.stage)
	if !slices.Equal(s.marked(s.stage), []bool{true}) || Last(s.Records(t), "cb-bootstrap") != "success" {
		t.Errorf("markers %v, records %+v", s.marked(s.stage), s.Records(t))
	}
}

// failed: it is neither marked nor recorded as a success.
func (s *starting) failed(t *testing.T, message string) {
	t.Helper()
	records := s.Records(t)
	if slices.Contains(s.marked(s.stage), true) || Last(records, "cb-bootstrap") != "failure" || !strings.Contains(messageOf(records, "cb-bootstrap"), message) {
		t.Errorf("markers %v, records %+v", s.marked(s.stage), records)
	}
}

// inOrder looks for texts one behind the other.
func inOrder(t *testing.T, all string, texts ...string) {
	t.Helper()
	rest := all
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("%q does not come where it should in\n%s", text, all)
			return
		}
		rest = after
	}
}

// unfolded is what the script said, with each explanation on one line.
func unfolded(all string) string {
	return regexp.MustCompile(`(?m)^    \| `).ReplaceAllString(strings.ReplaceAll(all, "\n    | ", " "), "")
}

// explained is what the script says of the steps of a lab, behind the lines that
// announce them.
func explained(s *labs.Stage) []string {
	var out []string
	for _, step := range s.Steps {
		if step.Line != "" {
			out = append(out, step.Line)
		}
		out = append(out, strings.Join(strings.Fields(step.Text), " "))
	}
	return out
}

func TestTheBootstrapControlPlaneStartsAndHandsOver(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	session := s.up(t)
	session.saysOnce(t, "not ready: kube-apiserver: not seen, openshift-kube-scheduler: not seen")
	s.pods(t, "master-0")
	session.saysOnce(t, "polling will continue, last status: error getting kubeapiservers/cluster")
	s.revisions(t, "master-0")
	session.saysOnce(t, "[master-0 at Current: 3, Traget: 0]")
	s.masters(t)
	r := session.Wait(t)
	r.Want(t, 0, "start-bootstrap is done; next: ", `Created "cluster-config.yaml" configmaps.v1./cluster-config-v1 -n kube-system`,
		"Pod Status:openshift-kube-scheduler/openshift-kube-scheduler\tReady", "has been satisfied")
	inOrder(t, unfolded(r.All), explained(s.stage)...)
	inOrder(t, r.All, "API is up", "The limit of 20 minutes ends at ", "The limit of 30 minutes ends at ", "The limit of 60 minutes ends at ")
	if n := strings.Count(r.All, "failed to create some manifests:"); n > 1 {
		t.Errorf("%d times it is told that manifests were refused", n)
	}
	for _, event := range []string{"bootstrap-success", "bootstrap-finished"} {
		s.c.Kubectl(t, "get", "event", event, "--namespace=kube-system")
	}
	s.isDone(t)

	before := s.Snapshot(t)
	s.Run(t, startScript).Want(t, 0, "done already")
	before.Same(t, s.Snapshot(t))

	t.Run("checks", func(t *testing.T) { s.checksFail(t) })

	// Not even --force repeats what restore-cvo-overrides.sh followed.
	if err := os.WriteFile(s.Asset("cvo-overrides.done"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s.Run(t, startScript, "--force").Want(t, 1, "start-bootstrap cannot run again after restore-cvo-overrides.sh")
	s.Run(t, startScript).Want(t, 0, "done already")
}

// checksFail breaks what the checks of a finished stage look at. None of them
// makes the script start another control plane.
func (s *starting) checksFail(t *testing.T) {
	all := fixtures(t, s.stage.ID)
	for _, c := range s.stage.Checks {
		t.Run(c.ID, func(t *testing.T) {
			clone := s.Clone(t)
			clone.ControlPlane = s.c
			breaks(t, clone, s.stage, c.ID, all[c.ID])
			clone.Run(t, startScript).Want(t, 3, "error: start-bootstrap is done, but a check fails", "--force would start another control plane", "not ok ")
			if !clone.marked(s.stage)[0] {
				t.Error("the marker is gone")
			}
			if c.ID == "required-pods" {
				s.pods(t, "master-0")
			}
		})
	}
}

// startFailures are ways in which cluster-bootstrap itself fails: what is wrong
// before the start, its limits, and what is said of it.
var startFailures = []struct {
	name   string
	limits map[string]string
	damage func(*testing.T, *starting) (restore func())
	during func(*testing.T, *starting)
	says   []string
	record string
}{
	{
		name: "the API server never answers", limits: map[string]string{"api": "2s"},
		damage: func(t *testing.T, s *starting) func() {
			s.k.Set(&s.k.idle, true)
			return func() { s.k.Set(&s.k.idle, false) }
		},
		says: []string{"Still waiting for the Kubernetes API: Get \"https://localhost:6443/readyz\": dial tcp", "Error: time out waiting for Kubernetes API", "cause: The API server did not answer"},
	},
	{
		name: "garbage answers in its place", limits: map[string]string{"api": "2s"},
		damage: func(t *testing.T, s *starting) func() {
			s.k.Set(&s.k.idle, true)
			restore := s.c.AnswerGarbage(t, "garbage\n")
			return func() { restore(); s.k.Set(&s.k.idle, false) }
		},
		says: []string{"first record does not look like a TLS handshake", "Error: time out waiting for Kubernetes API"},
	},
	{
		name: "no master comes", limits: map[string]string{"pods": "8s"},
		says: []string{"Error: error while checking pod status: timed out waiting for the condition", "min left; not ready: kube-apiserver: not seen", "cause: After twenty minutes a required pod was not ready"},
	},
	{
		name: "a file is no object", limits: nil,
		damage: func(t *testing.T, s *starting) func() {
			if err := os.WriteFile(s.Asset("manifests/zz-empty"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			return func() { os.Remove(s.Asset("manifests/zz-empty")) }
		},
		says: []string{"Assert creation failed: failed to load some manifests:", "\"zz-empty\": unable to decode asset", "cause: A file of manifests/ cannot be read as one object"},
	},
	{
		name: "one master alone", limits: map[string]string{"available": "3s"},
		during: func(t *testing.T, s *starting) { s.pods(t, "master-0"); s.revisions(t, "master-0") },
		says:   []string{"time out waiting for condition: \"API should be available on at least two master nodes\", err: timed out", "cause: After thirty minutes fewer than two masters"},
	},
	{
		name: "a manifest is refused to the end", limits: map[string]string{"assets": "20s"},
		damage: func(t *testing.T, s *starting) func() {
			file := s.Asset("manifests/zz.yaml")
			if err := os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name, namespace: default}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			return func() { os.Remove(file) }
		},
		during: func(t *testing.T, s *starting) { s.pods(t, "master-0"); s.revisions(t, "master-0", "master-1") },
		says:   []string{"\"zz.yaml\": failed to create configmaps.v1./Not_A_Name -n default:", "Invalid value", "Error: timed out creating manifests", "cause: An hour was not enough"},
	},
}

func TestAStartThatFailsSaysWhyAndLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	for _, f := range sample.Of(t, 2, startFailures) {
		t.Run(f.name, func(t *testing.T) {
			s.limit(t, f.limits)
			restore := func() {}
			if f.damage != nil {
				restore = f.damage(t, s)
			}
			session := s.begin(t, "Waiting up to 20m0s for the Kubernetes API")
			if f.during != nil {
				s.ready(t, session)
				f.during(t, s)
			}
			r := session.Wait(t)
			restore()
			r.Want(t, 1, append(f.says, "error: cluster-bootstrap ended with status 1", "the next start has its full time")...)
			s.failed(t, "cluster-bootstrap ended with status 1")
			s.gone(t)
			s.forgetMasters(t)
		})
	}

	// What the API server shows is wrong from its first answer on.
	for name, c := range map[string]struct {
		show func(testing.TB, string) func()
		says []string
	}{
		"its certificate is over":  {s.c.ServeExpired, []string{"certificate has expired", "cause: A certificate is older than it may be"}},
		"its certificate is alien": {s.c.ServeStranger, []string{"certificate signed by unknown authority", "cause: Who answers at this address"}},
	} {
		t.Run(name, func(t *testing.T) {
			s.limit(t, map[string]string{"pods": "8s"})
			s.stopped(t)
			s.c.StartAPIServer(t)
			restore := c.show(t, controlplane.ForLocalhost)
			s.c.StopAPIServer(t)
			session := s.Start(t, startScript)
			session.Wait(t).Want(t, 1, append(c.says, "error while checking pod status")...)
			restore()
			s.gone(t)
		})
	}

	// The next start has its full time, and goes through.
	s.limit(t, nil)
	session := s.up(t)
	s.masters(t)
	session.Wait(t).Want(t, 0, `Skipped "cluster-config.yaml"`, "start-bootstrap is done")
	s.isDone(t)
}

// forgetMasters takes away what they ran.
func (s *starting) forgetMasters(t *testing.T) {
	t.Helper()
	s.stopped(t)
	s.c.StartAPIServer(t)
	for namespace := range requiredPods {
		s.c.Kubectl(t, "delete", "pods", "--all", "--force", "--grace-period=0", "--ignore-not-found", "--namespace="+namespace)
	}
	if strings.Contains(s.c.Kubectl(t, "api-resources", "--api-group=operator.openshift.io"), "kubeapiservers") {
		s.revisions(t)
	}
	s.c.StopAPIServer(t)
}

// stopped waits until the kubelet has ended the API server of a start.
func (s *starting) stopped(t *testing.T) {
	t.Helper()
	until(t, "the end of the API server", func() bool {
		data, _ := os.ReadFile(s.k.list())
		return !strings.Contains(string(data), staticPodNames[apiServerManifest])
	})
}

// phases are points at which a start is broken off.
var phases = []struct {
	name, says string
	idle       bool
	prepare    func(*testing.T, *starting)
}{
	{name: "waiting for the API", says: "Waiting up to 20m0s for the Kubernetes API", idle: true},
	{name: "waiting for pods", says: "min left; not ready"},
	{name: "waiting for two masters", says: "Waiting for self hosted control plane", prepare: func(t *testing.T, s *starting) { s.pods(t, "master-0") }},
	{name: "waiting for load balancers", says: "to give load-balancers time", prepare: func(t *testing.T, s *starting) { s.revisions(t, "master-0", "master-1") }},
}

func TestCtrlCTakesBackWhatTheStartBegan(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	s.limit(t, map[string]string{"delay": "2m"})
	for i, p := range phases {
		t.Run(p.name, func(t *testing.T) {
			s.k.Set(&s.k.idle, p.idle)
			session := s.begin(t, "Waiting up to 20m0s for the Kubernetes API")
			if p.prepare != nil {
				s.ready(t, session)
				p.prepare(t, s)
			}
			session.saysOnce(t, p.says)
			if i%2 == 0 {
				session.Interrupt()
			} else {
				session.signal(syscall.SIGTERM)
			}
			session.Wait(t).Want(t, 1, "taking back what cluster-bootstrap began", "error: interrupted",
				"container, static pods and secrets are removed; a rerun starts again")
			s.gone(t)
			s.failed(t, "interrupted")
		})
	}
}

func TestALostTerminalDoesNotEndTheStart(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	session := s.begin(t, "min left; not ready")
	session.signal(syscall.SIGHUP)
	time.Sleep(time.Second)
	s.masters(t)
	session.Wait(t).Want(t, 0, "start-bootstrap is done")
	s.isDone(t)
}

func TestAKilledScriptIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	s.begin(t, "min left; not ready").Kill(t)
	s.unlocked(t)
	again := s.begin(t, stillRuns)
	again.saysOnce(t, "min left; not ready")
	// The podman logs of both scripts.
	if n := s.killClients("logs --follow"); n != 2 {
		t.Errorf("%d were killed", n)
	}
	s.masters(t)
	r := again.Wait(t)
	// Its podman logs was killed too: neither lines are lost, nor the end.
	r.Want(t, 0, "Starting temporary bootstrap control plane...", "API is up", "The limit of 20 minutes ends at ",
		"Sending bootstrap-success event.", "Sending bootstrap-finished event.", "Tearing down temporary bootstrap control plane...")
	s.isDone(t)
}

// What a script says of the container of an earlier run.
const (
	stillRuns = "an earlier cluster-bootstrap is running-0: none is started"
	endedWell = "an earlier cluster-bootstrap is exited-0: none is started"
)

// running are the names of the containers that run.
func (s *starting) running(t *testing.T) []string {
	t.Helper()
	out, err := s.Env.Podman("ps", "--format", "{{.Names}}")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(out)
}

// ended waits until cluster-bootstrap has ended, and podman knows its status. Its
// container stays.
func (s *starting) ended(t *testing.T) {
	t.Helper()
	until(t, "the end of the container", func() bool {
		status, err := s.Env.Podman("container", "inspect", "--format", "{{.State.Status}}", startContainer)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(status) == "exited"
	})
}

// manifestsCreated waits until the API server took all that it can take yet.
func (s *starting) manifestsCreated(t *testing.T) {
	t.Helper()
	until(t, "the manifests in the API server", func() bool {
		points, _ := verified(t, s.Lab, s.stage)
		return slices.ContainsFunc(points, func(p Point) bool { return p.ID == "manifests-created" && p.OK })
	})
}

// clients are the processes of podman with these words in their command line.
func (s *starting) clients(words string) []int {
	var out []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		data, _ := os.ReadFile(file)
		line := strings.ReplaceAll(string(data), "\x00", " ")
		environment, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		var pid int
		if _, err := fmt.Sscan(filepath.Base(filepath.Dir(file)), &pid); err == nil && strings.HasPrefix(line, "podman ") && strings.Contains(line, words) && strings.Contains(string(environment), s.Env.Dir) {
			out = append(out, pid)
		}
	}
	return out
}

// killClients ends them, as kill -9 does, and gives their number.
func (s *starting) killClients(words string) int {
	pids := s.clients(words)
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(pids)
}

// A podman wait that is killed knows no end: the container is not removed, and the
// stage is not done.
func TestAKilledPodmanIsFollowedByTheNext(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	session := s.begin(t, "min left; not ready")
	if n := s.killClients("wait cluster-bootstrap"); n != 1 {
		t.Errorf("%d were killed", n)
	}
	session.Wait(t).Want(t, 1, "error: cluster-bootstrap is still running: the watch is over", "a rerun follows it again")
	s.failed(t, "cluster-bootstrap is still running")
	if left := s.running(t); !slices.Equal(left, []string{startContainer}) {
		t.Errorf("running are %v", left)
	}
	until(t, "the end of podman logs", func() bool { return len(s.clients("logs --follow")) == 0 })
	again := s.begin(t, stillRuns)
	s.masters(t)
	again.Wait(t).Want(t, 0, "start-bootstrap is done")
	s.isDone(t)
}

func TestAGoodEndThatNobodySawIsFound(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	s.begin(t, "min left; not ready").Kill(t)
	s.masters(t)
	s.ended(t)
	s.unlocked(t)
	s.Run(t, startScript).Want(t, 0, endedWell, "API is up", "Tearing down temporary bootstrap control plane...", "start-bootstrap is done")
	s.isDone(t)

	// Without its container, by the event that it sent.
	if err := os.Remove(s.Asset("cb-bootstrap.done")); err != nil {
		t.Fatal(err)
	}
	r := s.Run(t, startScript)
	r.Want(t, 0, "an earlier cluster-bootstrap ended well: the event bootstrap-finished says so", "an earlier cluster-bootstrap is finished: none is started", "start-bootstrap is done")
	if strings.Contains(r.All, "Starting temporary bootstrap control plane...") {
		t.Errorf("it started another:\n%s", r.All)
	}
	s.isDone(t)
}

func TestWhatAKilledClusterBootstrapLeftIsTakenAway(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	kill := func() {
		if _, err := s.Env.Podman("kill", startContainer); err != nil {
			t.Fatal(err)
		}
		s.ended(t)
	}
	// By the script, if it lives.
	session := s.begin(t, "min left; not ready")
	kill()
	session.Wait(t).Want(t, 1, "error: cluster-bootstrap ended with status 137", "what it started is gone")
	s.failed(t, "cluster-bootstrap ended with status 137")
	s.gone(t)

	// Else by the next, and only if it is told to.
	session = s.begin(t, "min left; not ready")
	session.Kill(t)
	kill()
	s.unlocked(t)
	left := s.manifests(t, "/etc/kubernetes/manifests")
	s.Run(t, startScript).Want(t, 1, "error: the kubelet already has /etc/kubernetes/manifests/bootstrap-pod.yaml ", " /etc/kubernetes/manifests/kube-apiserver-pod.yaml", "an earlier cluster-bootstrap was killed; --force removes these files and what they started")
	if now := s.manifests(t, "/etc/kubernetes/manifests"); !maps.Equal(now, left) {
		t.Errorf("the kubelet has %s, had %s", lines(now), lines(left))
	}
	s.k.Set(&s.k.slow, true)
	session = s.begin(t, "2. Remove static pods of an earlier start, and wait for their end", "--force")
	until(t, "the end of the static pods' files", func() bool { return !s.k.has("manifests/" + apiServerManifest) })
	time.Sleep(3 * time.Second) // longer than it waits between two looks
	if containers := s.Env.Containers(t); strings.Contains(session.said.String(), "==> 3.") || len(containers) > 0 {
		t.Errorf("it did not wait for the pods; containers: %v\n%s", containers, session.said.String())
	}
	s.k.Set(&s.k.slow, false)
	s.ready(t, session)
	s.masters(t)
	session.Wait(t).Want(t, 0, "start-bootstrap is done")
	s.isDone(t)
}

func TestTheWatchEndsAndTheStartGoesOn(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	s.Run(t, startScript, "--timeout=8").Want(t, 1, "error: cluster-bootstrap is still running: the watch is over", "a rerun follows it again")
	s.failed(t, "cluster-bootstrap is still running")
	if left := s.running(t); !slices.Equal(left, []string{startContainer}) {
		t.Errorf("running are %v", left)
	}
	again := s.begin(t, stillRuns)
	again.Interrupt()
	again.Wait(t).Want(t, 1, "error: interrupted")
	s.gone(t)
	s.Run(t, startScript, "--timeout=x").Want(t, 2, "'--timeout=x' needs a number")
}

// inTopology generates the lab again with another topology or release.
func (s *starting) again(t *testing.T, old, new string) {
	t.Helper()
	file := filepath.Join(s.Dir, "lab.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("no %s in lab.yaml", old)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(data), old, new, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Bootlab("generate", s.Dir); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutMastersTheStartEndsByDesign(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	s.again(t, "topology: compact", "topology: bootstrap-only")
	plan := planOf(t, release, "bootstrap-only")
	s.stage = plan.Stage("start-bootstrap")
	byDesign := []string{"start-bootstrap ends here by design", "ok 1 - api-was-up", "ok 2 - manifests-created", "ok 4 - etcd-stays"}

	check := func(t *testing.T, r Result) {
		t.Helper()
		r.Want(t, 0, byDesign...)
		s.gone(t)
		s.failed(t, "ended by design: this lab has no masters")
		allGood(t, s.Lab, s.stage)
	}
	t.Run("its time is over", func(t *testing.T) {
		s.limit(t, map[string]string{"pods": "40s"}) // in which all manifests are created
		session := s.begin(t, "This lab has no masters")
		check(t, session.Wait(t))
	})
	for _, c := range s.stage.Checks {
		t.Run(c.ID, func(t *testing.T) {
			clone := s.Clone(t)
			clone.ControlPlane = s.c
			breaks(t, clone, s.stage, c.ID, fixtures(t, s.stage.ID)[c.ID])
		})
	}
	s.limit(t, nil)
	t.Run("Ctrl-C behind the API", func(t *testing.T) {
		session := s.begin(t, "min left; not ready")
		s.manifestsCreated(t)
		session.Interrupt()
		check(t, session.Wait(t))
	})
	t.Run("--timeout", func(t *testing.T) {
		check(t, s.Run(t, startScript, "--timeout=45"))
	})
	t.Run("Ctrl-C before the API", func(t *testing.T) {
		s.stopped(t)
		s.k.Set(&s.k.idle, true)
		session := s.begin(t, "Waiting up to 20m0s for the Kubernetes API")
		session.Interrupt()
		session.Wait(t).Want(t, 1, "error: interrupted")
		s.gone(t)
	})
}

// TestAStartOfFourSeventeenCountsNodes: up to 4.17 two masters need only have
// joined.
func TestAStartOfFourSeventeenCountsNodes(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	old := SharedRelease(t, "4.17")
	s.again(t, fmt.Sprintf("version: %q", release), `version: "4.17"`)
	replaceImage(t, s.Lab, startContainer, old.Images[startContainer])
	s.put(t, "release-info/version", "4.17.0\n") // a stage refuses a node of another release
	s.stage = clusterStage(t, "4.17", "start-bootstrap")
	session := s.up(t)
	s.k.Set(&s.k.keeps, true)
	s.pods(t, "master-0")
	s.c.Node(t, "master-0", "192.168.126.11", true)
	session.saysOnce(t, "1 masters joined the cluster")
	s.c.Node(t, "master-1", "192.168.126.12", false)
	r := session.Wait(t)
	r.Want(t, 0, "Master master-1 joined the cluster", "2 masters joined the cluster", "start-bootstrap is done")
	inOrder(t, r.All, "Waiting for 2 masters to join", "    | With more than one replica", "Sending bootstrap-success event.", "    | The event kube-system/bootstrap-success",
		"    | A second pass", "Tearing down", "Sending bootstrap-finished event.", "    | In this release the event comes after the tear-down")
	s.isDone(t)
}

// replaceImage puts another pull spec into release-info/images.
func replaceImage(t *testing.T, l *Lab, name, spec string) {
	t.Helper()
	data, err := os.ReadFile(l.Asset("release-info/images"))
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(string(data), "\n")
	at := slices.IndexFunc(list, func(line string) bool { return strings.HasPrefix(line, name+" ") })
	list[at] = name + " " + spec
	if err := os.WriteFile(l.Asset("release-info/images"), []byte(strings.Join(list, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestOneMasterNeedsNoSecond: with one replica nothing is waited for behind the
// pods.
func TestOneMasterNeedsNoSecond(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	file := s.Asset("manifests/cluster-config.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	one := strings.Replace(string(data), "replicas: 3", "replicas: 1", 1)
	if one == string(data) {
		t.Fatalf("no replicas in %s", data)
	}
	if err := os.WriteFile(file, []byte(one), 0o644); err != nil {
		t.Fatal(err)
	}
	session := s.up(t)
	s.k.Set(&s.k.keeps, true)
	s.pods(t, "master-0")
	r := session.Wait(t)
	r.Want(t, 0, "start-bootstrap is done")
	for _, text := range []string{"self hosted control plane to be available", "load-balancers"} {
		if strings.Contains(r.All, text) {
			t.Errorf("it waited: %s", text)
		}
	}
	s.isDone(t)
}

// TestEveryReleaseStartsAsItsBootkubeDoes compares the command that each
// release's script would run with what bootkube.sh runs.
func TestEveryReleaseStartsAsItsBootkubeDoes(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	f, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	env := podman.New(t, account, Registry(t))
	for _, id := range labs.Builtin().ReleaseIDs() {
		t.Run(id, func(t *testing.T) {
			l := NewLab(t, env, Options{Place: labs.OnNode, Release: &standin.Release{
				ID: id, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64),
			}})
			l.pretendReleaseInfo(t)
			l.put(t, "bootstrap-manifests/some-pod.yaml", "metadata:\n  name: some\n")
			l.Wrap(t, "oc", "exit 1")
			l.Wrap(t, "crictl", "")
			// The dry run ends with the podman that should start the container.
			calls := filepath.Join(env.Dir, "tmp", "starts-"+id)
			l.Wrap(t, "podman", `case "$1 $2" in run*) echo "podman $*" >> `+calls+`; exit 9 ;; container*) exit 1 ;; esac`)
			l.Exec(t, "bash", "-c", l.Must(t, startScript, "--dry-run").Out).Want(t, 9)
			got, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			want := l.bootkubesCommand(f, f.StageOf(id, "cb-bootstrap"))
			want = strings.NewReplacer(l.Assets()+":/assets:z", "/opt/openshift:/assets:z", " --rm ", " --detach ").Replace(want)
			if string(got) != want+"\n" {
				t.Errorf("run would be\n%snot\n%s", got, want)
			}
		})
	}
}
