package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// machine is a host that answers as a test says.
type machine struct {
	name  string
	files map[string]string // by path; directories are what is above them
	says  map[string]host.Result
	err   error
	asked []string
}

func (m *machine) Name() string { return m.name }

func (m *machine) Run(ctx context.Context, line string, limit int) (host.Result, error) {
	m.asked = append(m.asked, line)
	if m.err != nil {
		return host.Result{}, m.err
	}
	for part, r := range m.says {
		if strings.Contains(line, part) {
			if part == "slow" {
				<-ctx.Done()
				return host.Result{}, ctx.Err()
			}
			return r, nil
		}
	}
	return host.Result{Status: notThere, Err: []byte("bash: line 1: no such file")}, nil
}

func (m *machine) ReadFile(_ context.Context, file string, limit int) ([]byte, error) {
	text, ok := m.files[file]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (m *machine) List(_ context.Context, dir string) ([]string, error) {
	if m.err != nil {
		return nil, m.err
	}
	var names []string
	for file := range m.files {
		if path.Dir(file) == dir {
			names = append(names, path.Base(file))
		}
	}
	if names == nil {
		return nil, fs.ErrNotExist
	}
	return names, nil
}

// tapOf is what a script says of a stage whose checks named in bad fail.
func tapOf(s *labs.Stage, bad ...string) host.Result {
	var b strings.Builder
	b.WriteString("TAP version 14\n")
	failed := map[string]bool{}
	for _, id := range bad {
		failed[id] = true
	}
	r := host.Result{}
	for i, c := range s.Checks {
		if !failed[c.ID] {
			fmt.Fprintf(&b, "ok %d - %s: %s\n", i+1, c.ID, c.Title)
			continue
		}
		r.Status = 3
		fmt.Fprintf(&b, "not ok %d - %s: %s\n  ---\n  id: %s\n  expected: |-\n    x\n  found: |2-\n    y\x1b[2J\n  hint: |-\n    z\n  ...\n", i+1, c.ID, c.Title, c.ID)
	}
	fmt.Fprintf(&b, "1..%d\n", len(s.Checks))
	r.Out = []byte(b.String())
	return r
}

func liveLab(t *testing.T, here, bootstrap *machine) *Live {
	l := &Live{Plan: plan(t), Out: "/lab/out", NodeScripts: "/opt/bootlab", Timeout: time.Second,
		Hosts: &host.Hosts{Here: here, Local: bootstrap == nil, AssetDir: "/opt/openshift"}}
	if bootstrap != nil {
		l.Hosts.Bootstrap = bootstrap
	}
	return l
}

func (l *Live) verify(t *testing.T, words ...string) *Report {
	t.Helper()
	chosen, err := Choose(l.Plan, words, l.Here)
	if err != nil {
		t.Fatal(err)
	}
	return l.Run(context.Background(), chosen, nil)
}

func stageOf(t *testing.T, r *Report, id string) Stage {
	t.Helper()
	for _, s := range r.Stages {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no %s in the report", id)
	return Stage{}
}

func TestScriptsRunWhereTheyBelong(t *testing.T) {
	p := plan(t)
	here := &machine{name: "this machine", says: map[string]host.Result{
		"'/lab/out/scripts/make-ignition.sh' --verify < /dev/null": tapOf(p.Stage("make-ignition"))}}
	bootstrap := &machine{name: "bootstrap", says: map[string]host.Result{
		"'/opt/bootlab/resolve-api.sh' --verify < /dev/null": tapOf(p.Stage("resolve-api")),
		"'/opt/bootlab/render-etcd.sh' --verify < /dev/null": tapOf(p.Stage("render-etcd"), "pod-image")}}
	r := liveLab(t, here, bootstrap).verify(t, "make-ignition", "resolve-api", "render-etcd")
	for id, on := range map[string]string{"make-ignition": "this machine", "resolve-api": "bootstrap", "render-etcd": "bootstrap"} {
		if s := stageOf(t, r, id); s.State != Verified || s.On != on || len(s.Checks) != len(p.Stage(id).Checks) {
			t.Errorf("%+v", s)
		}
	}
	etcd := stageOf(t, r, "render-etcd")
	failed := etcd.Checks[find(etcd.Checks, "pod-image")]
	told := p.Stage("render-etcd").Checks[2]
	if failed.Outcome != Failed || failed.Hint != told.Hint || failed.Why != told.Why || failed.Expected != told.Expect || failed.Title != told.Title {
		t.Errorf("%+v is not as the stage data has it", failed)
	}
	if r.Summary.Failed != 1 || r.Summary.Good || r.Summary.Broken != 0 {
		t.Errorf("%+v", r.Summary)
	}
}

func TestWhatContradictsItselfCouldNotRun(t *testing.T) {
	s := plan(t).Stage("render-etcd")
	good, bad := tapOf(s), tapOf(s, "pod-image")
	plan := fmt.Sprintf("1..%d\n", len(s.Checks))
	with := func(r host.Result, change func(*host.Result)) host.Result { change(&r); return r }
	text := func(old, new string) func(*host.Result) {
		return func(r *host.Result) { r.Out = []byte(strings.Replace(string(r.Out), old, new, 1)) }
	}
	for want, said := range map[string]host.Result{
		"ended with status 0":                                     with(bad, func(r *host.Result) { r.Status = 0 }),
		"ended with status 3":                                     with(good, func(r *host.Result) { r.Status = 3 }),
		"ended with status 1":                                     with(good, func(r *host.Result) { r.Status = 1 }),
		"status 4: openssl is missing":                            {Status: 4, Err: []byte("error: openssl is missing\n  hint: install it\n")},
		"status 137":                                              with(good, func(r *host.Result) { r.Status = 137 }),
		"is not to be read: it ends behind line 3":                with(good, func(r *host.Result) { r.Out = []byte(strings.Join(strings.SplitAfter(string(good.Out), "\n")[:3], "")) }),
		"printed more than 4 MiB":                                 with(good, func(r *host.Result) { r.Cut = true }),
		"it gave up: gone":                                        {Status: 3, Out: []byte("TAP version 14\nBail out! gone\n")},
		"it ran no check":                                         {Out: []byte("TAP version 14\n1..0\n")},
		"does not tell of check pod-name":                         with(good, func(r *host.Result) { r.Out = without(s, "pod-name") }),
		"tells of foreign, which is no check":                     with(good, text(plan, fmt.Sprintf("ok %d - foreign: x\n1..%d\n", len(s.Checks)+1, len(s.Checks)+1))),
		"is not to be read: line 3 is no check: \"\\x1b]0;x\\a\"": with(good, text("ok 2", "\x1b]0;x\a\nok 2")),
	} {
		stage := Judge(newStage(s, "here"), s, labs.Local, said, nil)
		if stage.State != Broken || !strings.Contains(stage.Problem, want) || stage.Hint == "" {
			t.Errorf("%s: %s: %s (%s)", want, stage.State, stage.Problem, stage.Hint)
		}
		if len(stage.Checks) != len(s.Checks) {
			t.Errorf("%s: %d checks of %d are told of", want, len(stage.Checks), len(s.Checks))
		}
		r := &Report{Stages: []Stage{stage}}
		if r.sum(); r.Summary.Good || r.Summary.Bad() == 0 {
			t.Errorf("%s: %+v", want, r.Summary)
		}
	}
}

// without is the TAP of a stage that leaves a check out.
func without(s *labs.Stage, id string) []byte {
	fewer := *s
	fewer.Checks = nil
	for _, c := range s.Checks {
		if c.ID != id {
			fewer.Checks = append(fewer.Checks, c)
		}
	}
	return tapOf(&fewer).Out
}

func TestAConditionOnFilesMayLeaveAChecksOut(t *testing.T) {
	s := plan(t).Stage("render-cco")
	stage := Judge(newStage(s, "here"), s, labs.Local, host.Result{Out: without(s, "pod-copied")}, nil)
	if stage.State != Verified || find(stage.Checks, "pod-copied") >= 0 || len(stage.Checks) != len(s.Checks)-1 {
		t.Errorf("%+v", stage)
	}
}

func TestWhatIsNotDoneIsNotRun(t *testing.T) {
	p := plan(t)
	bootstrap := &machine{name: "bootstrap", says: map[string]host.Result{},
		files: map[string]string{
			"/opt/openshift/etcd-bootstrap.done": "",
			"/var/log/openshift/bootkube.json": `[{"timestamp":"2026-01-02T03:04:05Z","phase":"service start"},
				{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"cvo-bootstrap"}]`,
			"/var/log/openshift/bootlab/approve-csrs.json": `[{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"approve-csrs"}]`,
		}}
	for _, id := range []string{"render-etcd", "render-cvo", "approve-csrs", "render-kcm"} {
		bootstrap.says[id] = tapOf(p.Stage(id))
	}
	live := liveLab(t, &machine{name: "this machine"}, bootstrap)
	r := live.verify(t)
	done := map[string]bool{"render-etcd": true, "render-cvo": true, "approve-csrs": true}
	for _, s := range r.Stages {
		if (s.State == Verified) != done[s.ID] || s.State == Broken {
			t.Errorf("%s: %s %s", s.ID, s.State, s.Problem)
		}
	}
	if len(bootstrap.asked) != len(done) || !r.Summary.Good {
		t.Errorf("asked was %v: %+v", bootstrap.asked, r.Summary)
	}
	if s := stageOf(t, live.verify(t, "render-kcm"), "render-kcm"); s.State != Verified {
		t.Errorf("named alone: %s", s.State)
	}
	if s := stageOf(t, live.verify(t, "render-cvo..render-kcm"), "render-kcm"); s.State != NotDone {
		t.Errorf("in a range: %s", s.State)
	}
}

func TestWhatOthersMadeIsNotLookedFor(t *testing.T) {
	here := &machine{name: "this machine", files: map[string]string{
		"/lab/out/work/assets/unpack-bootstrap-ignition.done": "", "/lab/out/work/assets/make-pki.done": ""}}
	if s := stageOf(t, liveLab(t, here, nil).verify(t, "..make-pki"), "make-pki"); s.State != NotDone || s.Problem == "" {
		t.Errorf("%+v", s)
	}
}

func TestMachinesThatDoNotAnswer(t *testing.T) {
	gone := &machine{name: "bootstrap", err: fmt.Errorf("%w: no route to host", host.ErrUnreachable)}
	r := liveLab(t, &machine{name: "this machine"}, gone).verify(t, "render-cvo..render-kcm")
	if r.Summary.Broken != len(r.Stages) || len(r.Stages) != 4 || r.Summary.Good {
		t.Errorf("%+v", r.Summary)
	}
	slow := &machine{name: "bootstrap", says: map[string]host.Result{"slow": {}}}
	live := liveLab(t, &machine{name: "this machine"}, slow)
	live.Timeout, live.NodeScripts = 10*time.Millisecond, "/slow"
	if s := stageOf(t, live.verify(t, "render-etcd"), "render-etcd"); s.State != Broken || !strings.Contains(s.Problem, "no verdict within 10ms") {
		t.Errorf("%s: %s", s.State, s.Problem)
	}
	broken := &machine{name: "bootstrap", err: errors.New("no ssh")}
	if s := stageOf(t, liveLab(t, broken, broken).verify(t, "render-etcd"), "render-etcd"); s.State != Broken || s.Problem != "no ssh" {
		t.Errorf("%s: %s", s.State, s.Problem)
	}
}

func TestStagesThatCannotBeVerifiedHere(t *testing.T) {
	here := &machine{name: "this machine"}
	for _, c := range []struct {
		live     *Live
		id, want string
	}{
		{liveLab(t, here, nil), "wait-for-etcd", "this is a local run"},
		{liveLab(t, here, here), "release-hold", "must be told a UNIT"},
		{liveLab(t, here, here), "render-etcd", "ended with status 127"},
	} {
		if s := stageOf(t, c.live.verify(t, c.id), c.id); s.State != Broken || !strings.Contains(s.Problem, c.want) || s.Hint == "" {
			t.Errorf("%s: %s: %s", c.id, s.State, s.Problem)
		}
	}
}

func TestAnInterruptionIsNoVerdict(t *testing.T) {
	here := &machine{name: "this machine", says: map[string]host.Result{"render-etcd": tapOf(plan(t).Stage("render-etcd"))}}
	live := liveLab(t, here, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	chosen, err := Choose(live.Plan, []string{"render-etcd", "render-kcm"}, live.Here)
	if err != nil {
		t.Fatal(err)
	}
	if r := live.Run(ctx, chosen, func(Stage) { t.Error("a stage was told of") }); len(r.Stages) != 0 || r.Summary.Good {
		t.Errorf("%+v", r)
	}
}
