package scripts

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/labs/check"
	"bootlab/labs/host"
	"bootlab/test/podman"
)

// keptFiles are the asset directory as openshift-install gather bootstrap keeps
// it: without the files whose names say that they are secret.
type keptFiles struct{ fs.FS }

func (k keptFiles) leaves(name string) bool {
	for _, secret := range []string{"*secret*", "*kubeconfig*", "*.key"} {
		if matched, _ := filepath.Match(secret, filepath.Base(name)); matched {
			info, err := fs.Stat(k.FS, name)
			return err == nil && info.Mode().IsRegular()
		}
	}
	return false
}

func (k keptFiles) Open(name string) (fs.File, error) {
	if k.leaves(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return k.FS.Open(name)
}

func (k keptFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(k.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return k.leaves(filepath.Join(name, e.Name())) }), err
}

// comparison holds the verdicts of bash on a stage against those of labs/check.
type comparison struct {
	stage *labs.Stage
	plan  *labs.Plan
	told  *tally
}

// tally counts what was compared.
type tally struct {
	sync.Mutex
	passed, failed, known, unknown int
}

func (c *tally) String() string {
	return fmt.Sprintf("of bash %d verdicts that all is well, %d that it is not; of a bundle %d, which could not tell %d times",
		c.passed, c.failed, c.known, c.unknown)
}

// TestDeclarationsMeanInGoWhatTheyMeanInBash: on a good lab every declaration,
// and on one that is broken by a fixture those that must fail, have the same
// verdict in the script and in labs/check. What a bundle of the lab keeps may be
// too little for a verdict, never enough for another one.
func TestDeclarationsMeanInGoWhatTheyMeanInBash(t *testing.T) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local)
	told := &tally{}
	t.Run("all", func(t *testing.T) {
		for _, s := range append(Stages(t, release, labs.Local), unpackStage(t)) {
			t.Run(s.ID, func(t *testing.T) {
				t.Parallel()
				whole := good
				if s.ID == unpackID {
					whole = Unpacked(t)
				}
				whole = whole.Clone(t)
				c := comparison{s, whole.plan(t), told}
				c.chooseChecks(t, whole)
				if failed := c.on(t, whole, c.declarations()); len(failed) > 0 {
					t.Errorf("on a good lab %v fail", failed)
				}
				all := fixtures(t, s.ID)
				for _, id := range c.declarations() {
					t.Run(id, func(t *testing.T) {
						l := whole.Clone(t)
						all[id].apply(t, l)
						if failed := c.on(t, l, append([]string{id}, all[id].Also...)); !slices.Contains(failed, id) {
							t.Errorf("in bash %v fail", failed)
						}
					})
				}
			})
		}
	})
	t.Log(told)
}

// declarations are the checks of the stage that Go can run too.
func (c comparison) declarations() []string {
	var ids []string
	for _, one := range c.stage.Checks {
		if one.Predicate == nil {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// plan is what the lab's own lab.yaml makes.
func (l *Lab) plan(t *testing.T) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLab(l.Dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// chooseChecks makes the stage's script run those checks alone that ONLY names:
// all of them at each fixture would take minutes.
func (c comparison) chooseChecks(t *testing.T, l *Lab) {
	t.Helper()
	file := filepath.Join(l.Scripts(), c.stage.ScriptName())
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const end = "stage_main \"$@\"\n"
	head, ends := strings.CutSuffix(string(text), end)
	if !ends {
		t.Fatalf("%s does not end as stage scripts do", file)
	}
	head += "eval \"any_$(declare -f check)\"\ncheck() { [[ \" ${ONLY} \" != *\" $1 \"* ]] || any_check \"$@\"; }\n"
	if err := os.WriteFile(file, []byte(head+end), 0o755); err != nil {
		t.Fatal(err)
	}
}

// on compares the checks of those ids on a lab, and gives those that fail.
func (c comparison) on(t *testing.T, l *Lab, ids []string) []string {
	t.Helper()
	r := l.RunWith(t, []string{"ONLY=" + strings.Join(ids, " ")}, c.stage.ScriptName(), "--verify")
	points, err := ParseTAP(r.Out)
	if err != nil {
		t.Fatalf("%v in\n%s", err, r.All)
	}
	c.shown(t, r, ids, points)
	assets, now := os.DirFS(l.Assets()), time.Now()
	c.compare(t, l, ids, points, &check.Files{Assets: assets, Host: os.DirFS(l.Host()), Now: now})
	c.compare(t, l, ids, points, &check.Files{Assets: keptFiles{assets}, Bundle: true, Now: now})
	return Failed(points)
}

// shown: bootlab verify takes what the script says, and tells each check that
// fails in text and in JSON.
func (c comparison) shown(t *testing.T, r Result, ids []string, points []Point) {
	t.Helper()
	if len(points) == 0 { // no condition holds; the whole script has other checks
		return
	}
	s := *c.stage
	s.Checks = slices.DeleteFunc(slices.Clone(s.Checks), func(one labs.Check) bool { return !slices.Contains(ids, one.ID) })
	stage := check.Judge(check.Stage{ID: s.ID, State: check.Verified}, &s, labs.Local,
		host.Result{Out: []byte(r.Out), Err: []byte(r.Err), Status: r.Status}, generator.Advice)
	if stage.State != check.Verified || len(stage.Checks) != len(points) {
		t.Errorf("%s: %s, %d checks of %d", stage.State, stage.Problem, len(stage.Checks), len(points))
		return
	}
	var text, js strings.Builder
	printer := &check.Printer{To: &text}
	printer.Stage(stage)
	if err := (&check.Report{Stages: []check.Stage{stage}}).WriteJSON(&js); err != nil || printer.Err() != nil {
		t.Fatal(err, printer.Err())
	}
	var told check.Report
	if err := json.Unmarshal([]byte(js.String()), &told); err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		in := told.Stages[0].Checks[i]
		if (in.Outcome == check.Passed) != p.OK || in.Found != p.Found || in.ID != p.ID {
			t.Errorf("in JSON it is %+v, not %+v", in, p)
		}
		if strings.Contains(text.String(), "FAILED  "+p.ID+": ") == p.OK {
			t.Errorf("%s is not told in\n%s", p.ID, text.String())
		}
	}
}

func (c comparison) compare(t *testing.T, l *Lab, ids []string, points []Point, files *check.Files) {
	t.Helper()
	d := &check.Declared{Plan: c.plan, Files: files, Place: l.Place, Values: generator.Values(c.plan)}
	results := d.Run([]check.Choice{{Stage: c.plan.Stage(c.stage.ID), Named: true}}).Stages[0].Checks
	c.told.Lock()
	defer c.told.Unlock()
	for _, one := range c.stage.Checks {
		p := slices.IndexFunc(points, func(p Point) bool { return p.ID == one.ID })
		r := slices.IndexFunc(results, func(r check.Result) bool { return r.ID == one.ID })
		switch {
		case one.Predicate != nil:
			if r >= 0 && results[r].Outcome != check.CannotTell {
				t.Errorf("%s has a verdict in Go: %s", one.ID, results[r].Outcome)
			}
		case !slices.Contains(ids, one.ID), p < 0 && r < 0:
		case r < 0 || p < 0 && !files.Bundle:
			t.Errorf("%s: counts in bash %v, in Go %v", one.ID, p >= 0, r >= 0)
		case p >= 0:
			c.agree(t, points[p], results[r], files.Bundle)
		}
	}
}

func (c comparison) agree(t *testing.T, p Point, r check.Result, bundle bool) {
	t.Helper()
	want := check.Failed
	if p.OK {
		want = check.Passed
	}
	switch {
	case bundle && r.Outcome == check.CannotTell:
		c.told.unknown++
	case r.Outcome != want:
		t.Errorf("%s (bundle: %v): %s in Go, %s in bash\nGo: %s%s\nbash: %s", p.ID, bundle, r.Outcome, want, r.Found, r.Problem, p.Found)
	case bundle:
		c.told.known++
	case p.OK:
		c.told.passed++
	default:
		c.told.failed++
	}
}
