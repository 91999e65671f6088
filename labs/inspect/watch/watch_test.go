package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"bootlab/labs/inspect/host"
)

// said puts a snapshot's rows into lines: "row: fact | fact".
func said(s *Status) string {
	var b strings.Builder
	for _, row := range s.Rows {
		var facts []string
		for _, f := range row.Facts {
			if !f.Counted {
				facts = append(facts, f.String()+[]string{"", " +", " ~", " !"}[f.Mood])
			}
		}
		if row.Problem != "" {
			facts = append(facts, "("+row.Problem+")")
		}
		fmt.Fprintf(&b, "%s: %s\n", row.ID, strings.Join(facts, " | "))
	}
	return b.String()
}

const wantRows = `machines: 4 of 5 answer | master-2: ssh: connect to host master-2 port 22: Connection refused
units: release-image: done + | crio: running + | kubelet: running + | bootkube: running, 2 restarts + | approve-csr: inactive | progress: failed (exit-code) !
pods: 2 files | etcd-bootstrap-member: 2/3 run + | kube-apiserver: 1/1 run + | kube-scheduler: 0/1 run, attempt 5 !
etcd: 3 voters, 1 learner | etcd-bootstrap: voter + | master-0: voter, not healthy ! | master-1: learner ~ | https://192.168.126.13:2380: has not started ~
api: localhost: ready + | api: ready + | api-int: Failed to connect to api-int port 6443 !
mcs: listens on 22623 +
csrs: 2 pending, 1 approved, 1 denied ! | master-1 (serving): 1 pending ~ | master-2 (client): 1 pending ~
masters: master-0: Ready + | master-1: NotReady ~ | master-2: no SSH yet
revisions: etcd: 1 of 2 nodes at 6 ~ | kube-apiserver: 1 of 2 nodes at 6 ~ | kube-controller-manager: 2 of 2 nodes at 5 + | kube-scheduler: 1 of 2 nodes at 4, revision 4 failed on master-0 !
operators: 2 of 5 available, 3 progressing, 1 degraded | network: degraded (RolloutHung) ! | ingress: not available (IngressUnavailable) ~ | console: not available ~
`

func TestALookAtMachinesSeesEveryPartOfTheCluster(t *testing.T) {
	plan := loadPlan(t, "compact")
	hosts, _ := newNodes(t, plan)
	put(t, filepath.Join(hosts.Root, "var/log/openshift/bootkube.json"), `[{"timestamp":"2026-11-21T11:00:00Z","phase":"service start"},
{"timestamp":"2026-11-21T11:00:00Z","stage":"etcd-bootstrap","phase":"stage start"},
{"timestamp":"2026-11-21T11:00:04Z","stage":"etcd-bootstrap","phase":"stage end","result":"success"},
{"timestamp":"2026-11-21T11:00:05Z","stage":"wait-for-etcd","phase":"stage start"}]`, 0o644)
	put(t, filepath.Join(hosts.Root, "var/log/openshift/release-image.json"), `[{"timestamp":"2026-11-21T10:00:00Z","phase":"service start"},
{"timestamp":"2026-11-21T10:00:09Z","stage":"pull-release-image","phase":"stage start"}]`, 0o644)
	s := look(context.Background(), hosts, plan)
	if got := said(s); got != wantRows {
		t.Errorf("rows:\n%s\nwant:\n%s", got, wantRows)
	}
	states := map[string]StageState{}
	for _, stage := range s.Stages {
		states[stage.Name] = stage.State
	}
	for name, want := range map[string]StageState{"render-etcd": Done, "wait-for-etcd": Runs, "render-config": NotBegun, "pull-release-image": CutOff} {
		if states[name] != want {
			t.Errorf("%s: %s, want %s", name, states[name], want)
		}
	}
	if s.Phase != "temporary control plane: wait-for-etcd runs" || s.Waiting.For != plan.Stage("wait-for-etcd").Title {
		t.Errorf("phase %q, waiting %+v", s.Phase, s.Waiting)
	}
	if s.Log != (LogLine{"bootkube", "Waiting for the first etcd member"}) {
		t.Errorf("%+v", s.Log)
	}
}

func TestTheNewestOfTheLastLinesIsShown(t *testing.T) {
	plan := loadPlan(t, "compact")
	hosts, _ := newNodes(t, plan)
	journal := time.Unix(1795258000, 0)
	for i, c := range []struct {
		at   time.Time
		want LogLine
	}{
		{journal.Add(-time.Minute), LogLine{"bootkube", "Waiting for the first etcd member"}},
		{journal.Add(time.Minute), LogLine{"render-etcd", "==> wrote 3 files ?[1m"}},
	} {
		file := filepath.Join(hosts.Root, "var/log/openshift/bootlab/render-etcd.log")
		put(t, file, "first\n==> wrote 3 files \x1b[1m\n", 0o644)
		if err := os.Chtimes(file, c.at, c.at); err != nil {
			t.Fatal(err)
		}
		if s := look(context.Background(), hosts, plan); s.Log != c.want {
			t.Errorf("%d: %+v, want %+v", i, s.Log, c.want)
		}
	}
}

func TestWhatTheClusterSaysOfItselfIsThePhase(t *testing.T) {
	plan := loadPlan(t, "compact")
	hosts, bootstrap := newNodes(t, plan)
	for _, step := range []struct{ file, text, phase string }{
		{"oc-configmaps", `{"items":[{"metadata":{"name":"bootstrap"},"data":{"status":"complete"}}]}`, "the bootstrap is complete; operators roll out"},
		{"oc-clusterversions.config.openshift.io", `{"items":[{"status":{"history":[{"state":"Completed","version":"4.21.0\u001b[2J"}]}}]}`, "the cluster is installed: version 4.21.0?[2J"},
	} {
		put(t, filepath.Join(bootstrap.said, step.file), step.text, 0o644)
		if s := look(context.Background(), hosts, plan); s.Phase != step.phase {
			t.Errorf("phase %q, want %q", s.Phase, step.phase)
		}
	}
}

func TestWhatCannotBeSeenAnyMoreStaysAndIsOld(t *testing.T) {
	plan := loadPlan(t, "compact")
	hosts, bootstrap := newNodes(t, plan)
	w := NewWatch(plan, hosts, nil)
	scene := w.Scene()
	look := func() *Status {
		for s := range w.all(context.Background()) {
			scene.Add(s)
		}
		return scene.Status(time.Now().UTC())
	}
	before := look()
	// The API is silent: what it said stays, with the reason.
	if err := os.Remove(filepath.Join(bootstrap.said, "oc-nodes")); err != nil {
		t.Fatal(err)
	}
	silent := look()
	machines := silent.Row("machines")
	if f := machines.Facts[len(machines.Facts)-1]; f.Value != "nothing is recorded for oc-nodes" {
		t.Errorf("%+v", f)
	}
	// The bootstrap node is gone: all of its rows stay as they were, and the API
	// is not asked from there.
	bootstrap.gone = true
	gone := look()
	for _, id := range []string{"units", "pods", "mcs", "operators"} {
		old, row := before.Row(id), gone.Row(id)
		if len(row.Facts) == 0 || len(row.Facts) != len(old.Facts) || row.Problem == "" || row.Seen.After(silent.At) {
			t.Errorf("%s: %+v", id, row)
		}
	}
	// etcd is asked on a master then.
	if row := gone.Row("etcd"); row.Problem != "" || len(row.Facts) != 5 {
		t.Errorf("etcd: %+v", row)
	}
	var texts []string
	for _, c := range Changes(silent, gone) {
		texts = append(texts, c.Where+": "+c.Text)
	}
	if all := strings.Join(texts, "\n"); len(texts) < 2 || len(texts) > 3 || !strings.Contains(all, "bootstrap: ssh: connect to host bootstrap port 22: Connection refused (was answers)") {
		t.Errorf("changes:\n%s", all)
	}
	since := gone.Row("machines").Facts[1].Since
	again := look()
	if f := again.Row("machines").Facts[1]; f.Since != since || f.Mood != Bad {
		t.Errorf("%+v, since %s before", f, since)
	}
	if c := Changes(gone, again); len(c) > 0 {
		t.Errorf("nothing changed, but: %v", c)
	}
}

func TestAMachineThatHangsHoldsUpNobody(t *testing.T) {
	plan := loadPlan(t, "compact")
	hosts, _ := newNodes(t, plan)
	hosts.Masters["master-1"] = hanging{hosts.Masters["master-1"].(*node)}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	looks := 0
	NewWatch(plan, hosts, nil).Run(ctx, 10*time.Millisecond, func(s *Status) {
		if looks++; looks > 30 && s.Row("operators").Problem == "" && s.Row("etcd").Problem == "" {
			stop()
		}
	})
	if looks <= 30 {
		t.Errorf("%d looks", looks)
	}
}

// hanging answers when it is told to stop.
type hanging struct{ *node }

func (h hanging) Run(ctx context.Context, line string, limit int) (r host.Result, err error) {
	<-ctx.Done()
	return r, ctx.Err()
}

func TestLookingTakesAShareOfTheTimeAndNoMore(t *testing.T) {
	e := &Eye{Rest: 2, Share: 3}
	for took, want := range map[time.Duration]time.Duration{0: time.Second, 100 * time.Millisecond: time.Second, time.Minute: 3 * time.Minute} {
		if got := e.Pause(&Sight{Took: took}, 2*time.Second); got != want {
			t.Errorf("after %s: %s, want %s", took, got, want)
		}
	}
}

// Every sight of a day, of machines that come and go.
func TestADayOfSightsDoesNotGrow(t *testing.T) {
	plan := loadPlan(t, "compact")
	hosts, _ := newNodes(t, plan)
	w := NewWatch(plan, hosts, nil)
	var sights []*Sight
	for s := range w.all(context.Background()) {
		sights = append(sights, s)
	}
	scene := w.Scene()
	at := time.Now().UTC()
	day := func(looks int) uint64 {
		for i := range looks {
			at = at.Add(2 * time.Second)
			for _, seen := range sights {
				s := *seen
				s.At = at
				if i%11 == 0 {
					s.Found, s.Problem = nil, fmt.Sprint("no answer ", i)
				}
				scene.Add(&s)
			}
			if i%100 == 0 {
				scene.Status(at)
			}
		}
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := day(1000)
	if grown := int64(day(86_400/2)) - int64(before); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}
