package inspect

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// midway is a lab with machines while masters join.
func midway() *watch.Status {
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	fact := func(name, value string, mood watch.Mood) watch.Fact {
		return watch.Fact{Name: name, Value: value, Mood: mood}
	}
	s := &watch.Status{At: noon, Lab: "mylab", Release: "4.21", Topology: "compact", Phase: "temporary control plane: start-bootstrap runs",
		Waiting: watch.Waiting{For: "Start the temporary control plane", Since: ago(252 * time.Second), Usual: 8 * time.Minute},
		Log:     watch.LogLine{Stage: "start-bootstrap", Line: "Waiting for pods: kube-apiserver, kube-scheduler, kube-controller-manager"},
		Ends:    watch.Ending{At: noon.Add(23 * time.Hour), Level: host.EndsInDays, What: "CN=system:kube-apiserver,O=kube-master and 8 more"}}
	row := func(id, title string, facts ...watch.Fact) {
		s.Rows = append(s.Rows, watch.Row{ID: id, Title: title, Seen: noon, Facts: facts})
	}
	gone := fact("master-2", "Connection refused", watch.Plain)
	gone.Since = ago(42 * time.Second)
	row("machines", "machines", fact("", "4 of 5 answer", watch.Plain), gone)
	row("units", "units", fact("release-image", "done", watch.Good), fact("crio", "running", watch.Good), fact("kubelet", "running", watch.Good),
		fact("bootkube", "running", watch.Good), fact("approve-csr", "inactive", watch.Plain), fact("progress", "starting (start-pre)", watch.Working))
	row("pods", "static pods", fact("", "6 files", watch.Plain), fact("cluster-version-operator", "1/1 run", watch.Good), fact("etcd-bootstrap-member", "3/5 run", watch.Good),
		fact("kube-apiserver", "4/4 run", watch.Good), fact("kube-controller-manager", "2/2 run", watch.Good), fact("kube-scheduler", "0/1 run, attempt 5", watch.Bad))
	row("etcd", "etcd", fact("", "1 voter, 1 learner", watch.Plain), fact("etcd-bootstrap", "voter", watch.Good), fact("master-0", "learner", watch.Working))
	row("api", "API", fact("localhost", "ready", watch.Good), fact("api", "ready", watch.Good), fact("api-int", "Connection refused", watch.Bad))
	row("mcs", "MCS", fact("", "listens on 22623", watch.Good))
	row("csrs", "CSRs", fact("", "1 pending, 3 approved", watch.Plain), fact("master-1 (serving)", "1 pending", watch.Working))
	row("masters", "masters", fact("master-0", "Ready", watch.Good), fact("master-1", "NotReady", watch.Working), fact("master-2", "no SSH yet", watch.Plain))
	row("revisions", "revisions", fact("etcd", "0 of 1 nodes at 2", watch.Working), fact("kube-apiserver", "0 of 1 nodes at 1", watch.Working))
	operators := []watch.Fact{fact("", "21 of 34 available, 9 progressing, 1 degraded", watch.Plain), fact("network", "degraded (RolloutHung)", watch.Bad)}
	for i := range 12 {
		operators = append(operators, fact(fmt.Sprintf("operator-%d", i), "not available (Waiting)", watch.Working))
	}
	row("operators", "operators", append(operators, watch.Fact{Name: "dns", Value: "available", Mood: watch.Good, Counted: true})...)
	s.Rows[3].Seen, s.Rows[3].Problem = ago(42*time.Second), "no answer in time"
	s.Stages = stagesUntil(labs.OnNode, "start-bootstrap")
	return s
}

// stagesUntil are the stages of a place, done up to one that runs.
func stagesUntil(place labs.Place, at string) []watch.Stage {
	catalog := labs.Builtin()
	lab, _ := labs.LoadLab(filepath.Join("..", "..", "..", "labs", "examples", "compact", "lab.yaml"), catalog)
	plan, err := catalog.Resolve(lab)
	if err != nil {
		panic(err)
	}
	var all []watch.Stage
	state, start := watch.Done, noon.Add(-time.Hour)
	for _, s := range plan.Stages {
		if !s.In(place) {
			continue
		}
		one := watch.Stage{Name: s.ID, State: state, Attempt: 1, Start: start, End: start.Add(7 * time.Second), Usual: time.Duration(s.Seconds) * time.Second}
		start = start.Add(time.Minute)
		switch {
		case s.ID == at:
			one.State, one.Start, one.End = watch.Runs, noon.Add(-252*time.Second), time.Time{}
			state = watch.NotBegun
		case state == watch.NotBegun:
			one.Attempt, one.Start, one.End = 0, time.Time{}, time.Time{}
		case len(all) == 2:
			one.State, one.Attempt, one.Error = watch.Failed, 3, "語語語 a message in which wide letters stand, and that is longer than any screen is wide, so that it must be cut somewhere: here, or there, or yet further on"
		}
		all = append(all, one)
	}
	return all
}

// localRun is a local run with a running stage.
func localRun() *watch.Status {
	stages := stagesUntil(labs.Local, "render-etcd")
	return &watch.Status{At: noon, Lab: "mylab", Release: "4.21", Topology: "compact", Local: true, Phase: "rendering: render-etcd runs",
		Waiting: watch.Waiting{For: "Render the etcd member of the bootstrap node", Since: noon.Add(-252 * time.Second), Usual: 2 * time.Second},
		Log:     watch.LogLine{Stage: "render-etcd", Line: "wrote /assets/etcd-bootstrap 語語語"}, Stages: stages,
		Ends: watch.Ending{At: noon.Add(3 * time.Hour), Level: host.EndsSoon, What: "CN=kubelet-signer"}}
}

// drawn is a snapshot on a screen without colours.
func drawn(s *watch.Status, width, height int, more ...func(*screen)) string {
	c := &screen{width: width, height: height, follow: true, paint: newPaint(lipgloss.NewRenderer(io.Discard)), changes: []watch.Change{
		{At: noon.Add(-9 * time.Second), Where: "masters", Text: "master-0: Ready (was NotReady)", Mood: watch.Good},
		{At: noon.Add(-3 * time.Second), Where: "operators", Text: "network: degraded (RolloutHung) (was not available)", Mood: watch.Bad},
	}}
	for _, change := range more {
		change(c)
	}
	return watchView(s, c)
}

func cause(c *screen) {
	c.cause = []string{"cause: The load balancer sends nothing to the Machine Config Server", "see it: curl --insecure https://api-int.mylab.bootlab.test:22623/healthz", "fix it: look at the backend in haproxy.cfg", "and more", "and more", "and more"}
}

func TestScreensLookAsTheyDid(t *testing.T) {
	for name, got := range map[string]string{
		"lab-80x24": drawn(midway(), 80, 24), "lab-200x60": drawn(midway(), 200, 60), "lab-40x12": drawn(midway(), 40, 12),
		"lab-cause-80x24": drawn(midway(), 80, 24, cause),
		"local-80x24":     drawn(localRun(), 80, 24), "local-200x60": drawn(localRun(), 200, 60), "local-40x12": drawn(localRun(), 40, 12),
		"help-80x24":  drawn(localRun(), 80, 24, func(c *screen) { c.help = true }),
		"first-80x24": drawn(&watch.Status{Lab: "mylab", Release: "4.21", Topology: "compact"}, 80, 24, func(c *screen) { c.changes = nil }),
	} {
		file := filepath.Join("testdata", "watch", name+".txt")
		if os.Getenv("UPDATE_WATCH") != "" {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got+"\n" != string(want) {
			t.Errorf("%s is otherwise; UPDATE_WATCH=1 writes it again:\n%s", name, got)
		}
	}
}

func TestNoScreenIsLargerThanTheTerminal(t *testing.T) {
	for _, s := range []*watch.Status{midway(), localRun(), {}} {
		for width := 0; width < 240; width += 3 {
			for _, height := range []int{0, 1, 5, 6, 7, 12, 13, 24, 60, 200} {
				for _, more := range []func(*screen){func(*screen) {}, cause, func(c *screen) { c.help = true }, func(c *screen) { c.offset, c.follow = 1000, false }} {
					lines := strings.Split(drawn(s, width, height, more), "\n")
					if len(lines) > max(height, 1) {
						t.Fatalf("%dx%d: %d lines", width, height, len(lines))
					}
					for _, line := range lines {
						if w := ansi.StringWidth(line); w > width {
							t.Fatalf("%dx%d: a line of %d cells: %q", width, height, w, line)
						}
					}
				}
			}
		}
	}
}

func TestWideLettersKeepTheColumns(t *testing.T) {
	s := localRun()
	s.Stages[0].Name = "語語語"
	lines := strings.Split(drawn(s, 200, 60), "\n")
	at := -1
	for _, line := range lines {
		before, _, found := strings.Cut(line, " | ")
		if !found {
			continue
		}
		if w := ansi.StringWidth(before); at < 0 {
			at = w
		} else if w != at {
			t.Errorf("column at %d, else at %d: %q", w, at, line)
		}
	}
	if at < 0 {
		t.Error("there are no columns")
	}
}

func TestADurationIsTwoUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 59*time.Second + 600*time.Millisecond: "1m00s", 3599 * time.Second: "59m59s",
		25 * time.Hour: "25h00m", 50 * time.Hour: "2d02h"} {
		if got := brief(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
