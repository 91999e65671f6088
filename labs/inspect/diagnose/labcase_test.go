package diagnose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/itchyny/gojq"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// evening is when recorded evidence was collected.
var evening = time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)

// evidence is what was collected, by the id of the evidence; that of one master
// by ID@MASTER. Behind failed stands what a line complained that did not end well.
type evidence map[string]string

// failed marks the complaint of evidence whose line ended with another status
// than 0, and that status.
const failed = "\x00failed "

// change is something that is not as in a healthy lab.
type change func(t *testing.T, e evidence)

// recorded is a lab that is broken: the healthy one, changed.
type recorded struct {
	example, release string // ha and 4.21 unless told
	changes          []change
}

// cases are those that prove each symptom, by layer and symptom.
var cases = map[string]map[string]recorded{}

// edit changes a JSON document by a jq program.
func edit(id, program string) change {
	return func(t *testing.T, e evidence) {
		t.Helper()
		query, err := gojq.Parse(program)
		if err != nil {
			t.Fatal(program, err)
		}
		var before any
		if err := json.Unmarshal([]byte(e[id]), &before); err != nil {
			t.Fatal(id, err)
		}
		after, ok := query.Run(before).Next()
		if err, failed := after.(error); !ok || failed {
			t.Fatal(id, program, err)
		}
		text, err := gojq.Marshal(after)
		if err != nil || string(text) == "null" {
			t.Fatal(id, program, err)
		}
		e[id] = string(text)
	}
}

// says makes evidence say another text.
func says(id, text string) change {
	return func(_ *testing.T, e evidence) { e[id] = text }
}

// adds puts lines behind a text.
func adds(id, text string) change {
	return func(_ *testing.T, e evidence) { e[id] += text }
}

// fails makes the line of evidence end with a status and a complaint.
func fails(id string, status int, complaint string) change {
	return func(_ *testing.T, e evidence) { e[id] = failed + string(rune(status)) + complaint }
}

// without cuts a text at the first place where it has those words.
func without(id, words string) change {
	return func(t *testing.T, e evidence) {
		t.Helper()
		before, _, ok := strings.Cut(e[id], words)
		if !ok {
			t.Fatalf("%s does not have %q", id, words)
		}
		e[id] = before
	}
}

// swaps puts words in the place of others.
func swaps(id, before, after string) change {
	return func(t *testing.T, e evidence) {
		t.Helper()
		if !strings.Contains(e[id], before) {
			t.Fatalf("%s does not have %q", id, before)
		}
		e[id] = strings.ReplaceAll(e[id], before, after)
	}
}

// gone takes evidence away, as if no machine could be asked.
func gone(ids ...string) change {
	return func(_ *testing.T, e evidence) {
		for _, id := range ids {
			delete(e, id)
		}
	}
}

// healthy is the evidence of a lab whose bootstrap is complete.
func healthy(t *testing.T) evidence {
	t.Helper()
	names, err := filepath.Glob("testdata/healthy/*")
	if err != nil || len(names) == 0 {
		t.Fatal("no healthy evidence", err)
	}
	e := evidence{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := filepath.Base(name)
		e[strings.TrimSuffix(base, filepath.Ext(base))] = string(text)
	}
	return e
}

// planOf resolves a shipped lab in a release.
func planOf(t testing.TB, example, release string) *labs.Plan {
	t.Helper()
	if p, ok := plans.Load(example + " " + release); ok {
		return p.(*labs.Plan)
	}
	lab, problems := labs.LoadLabFS(labs.Examples, example, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = release
	p, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	plans.Store(example+" "+release, p)
	return p
}

// plans are those that a test has asked for, by lab and release. All tests share
// them and leave them as they are.
var plans sync.Map

// found is the evidence as it comes from the machines.
func (e evidence) found(d *labs.Diagnosis, lab *labs.Lab) []host.Found {
	var all []host.Found
	e.fillRecords()
	for _, ev := range d.Evidence {
		nodes := []string{""}
		if ev.On == labs.OnMasters {
			nodes = nil
			for _, m := range lab.Machines.Masters {
				nodes = append(nodes, m.Name)
			}
		}
		for _, node := range nodes {
			all = append(all, e.one(ev, node))
		}
	}
	return all
}

func (e evidence) one(ev *labs.Evidence, node string) host.Found {
	f := host.Found{Evidence: ev, Node: node, At: evening, Problem: "it was not recorded"}
	text, ok := e[ev.ID+"@"+node]
	if !ok {
		text, ok = e[ev.ID]
	}
	if !ok {
		return f
	}
	f.Had, f.Problem = true, ""
	if complaint, bad := strings.CutPrefix(text, failed); bad {
		runes := []rune(complaint)
		f.Status, f.Complaint = int(runes[0]), string(runes[1:])
	} else {
		f.Text = []byte(text)
	}
	return f
}

// walk judges the recorded lab by the layers that are named.
func (r recorded) walk(t *testing.T, layers ...string) *Report {
	t.Helper()
	if r.example == "" {
		r.example = "ha"
	}
	if r.release == "" {
		r.release = "4.21"
	}
	e := healthy(t)
	for _, c := range r.changes {
		c(t, e)
	}
	p := planOf(t, r.example, r.release)
	d := labs.BuiltinDiagnosis().For(p)
	d.Layers = slices.DeleteFunc(d.Layers, func(l *labs.Layer) bool { return !slices.Contains(layers, l.ID) })
	report, err := Walk(d, p.Lab, false, e.found(d, p.Lab))
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// proveAll wants each case of a layer to be proven, and nothing else.
func proveAll(t *testing.T, layer string) {
	warnings, harmless := map[string]bool{}, map[string]bool{}
	for _, l := range labs.BuiltinDiagnosis().Layers {
		for _, s := range l.Symptoms {
			warnings[s.ID], harmless[s.ID] = s.Warning, s.Harmless
		}
	}
	for id, c := range cases[layer] {
		t.Run(id, func(t *testing.T) {
			r := c.walk(t, layer)
			if harmless[id] {
				if len(r.Harmless) != 1 || r.Harmless[0].ID != id || r.Cause != nil || len(r.Warnings) > 0 {
					t.Errorf("%s, harmless %+v, warnings %+v, cause %+v", r.Verdict, r.Harmless, r.Warnings, r.Cause)
				}
				return
			}
			if warnings[id] {
				if len(r.Warnings) != 1 || r.Warnings[0].ID != id || r.Cause != nil {
					t.Errorf("%s, warnings %+v, cause %+v", r.Verdict, r.Warnings, r.Cause)
				}
				return
			}
			if r.Cause == nil || r.Cause.ID != id || len(r.Warnings) > 0 {
				t.Fatalf("%s, warnings %v, cause %+v", r.Verdict, r.Warnings, r.Cause)
			}
			for _, shown := range r.Cause.Shown {
				if len(shown.Lines) == 0 || strings.TrimSpace(shown.Lines[0]) == "" {
					t.Errorf("%s shows nothing", shown.Evidence)
				}
			}
		})
	}
}
