package check

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// someReport has every outcome and every state, and texts that do harm.
func someReport() *Report {
	r := &Report{Version: 1, Lab: "mylab", Release: "4.21", Stages: []Stage{
		{ID: "render-etcd", Title: "Render etcd", Script: "render-etcd.sh", On: "bootstrap", State: Verified, Checks: []Result{
			{ID: "one", Title: "all is there", Outcome: Passed, Expected: "a", Hint: "b"},
			{ID: "two", Title: "it is private", Outcome: Failed, Expected: "mode 0600", Why: "others read it",
				Found: "x\x1b]0;owned\a: 0644\r\n\x00\x9b31m \u202eexe.txt\xff\n]]> & <b>", Hint: "chmod"},
			{ID: "three", Title: "unknown", Outcome: CannotTell, Expected: "c", Hint: "d", Problem: "cannot be checked in a bundle: modes"},
		}},
		{ID: "render-kcm", Title: "Render kcm", Script: "render-kcm.sh", On: "bootstrap", State: NotDone, Checks: []Result{}},
		{ID: "verify-api", Title: "Verify", Script: "verify-api.sh", On: "boot\x1b[2Jstrap", State: Broken, Problem: "it gave up: \x1b[2Jgone", Hint: "run it", Checks: []Result{
			{ID: "four", Title: "answers", Outcome: CouldNotRun, Expected: "e", Hint: "f", Problem: "its script did not tell of it"}}},
	}}
	r.sum()
	return r
}

func texts(t *testing.T) map[string]string {
	t.Helper()
	r := someReport()
	out := map[string]string{}
	var text, watch, js, junit bytes.Buffer
	p := &Printer{To: &text}
	for _, s := range r.Stages {
		p.Stage(s)
	}
	p.Summary(r)
	w := &Printer{To: &watch}
	w.Changes(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Changes(nil, r))
	if err := r.WriteJSON(&js); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteJUnit(&junit); err != nil {
		t.Fatal(err)
	}
	out["report.txt"], out["changes.txt"], out["report.json"], out["report.xml"] = text.String(), watch.String(), js.String(), junit.String()
	return out
}

func TestFormsOfAReport(t *testing.T) {
	for name, got := range texts(t) {
		file := filepath.Join("testdata", name)
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != got {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

func TestNoFormSteersATerminal(t *testing.T) {
	for name, got := range texts(t) {
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) && name != "report.json" {
				t.Errorf("%s holds %q", name, r)
			}
		}
	}
	// JSON escapes what it holds, and gives it back.
	js := texts(t)["report.json"]
	if strings.ContainsAny(js, "\x1b\a\x00\r") {
		t.Error("report.json holds a control character")
	}
	var back Report
	if err := json.Unmarshal([]byte(js), &back); err != nil || !strings.Contains(back.Stages[0].Checks[1].Found, "\x1b]0;owned\a") {
		t.Errorf("%v: %q", err, back.Stages[0].Checks[1].Found)
	}
}

func TestJUnitIsRead(t *testing.T) {
	var back junitSuites
	if err := xml.Unmarshal([]byte(texts(t)["report.xml"]), &back); err != nil {
		t.Fatal(err)
	}
	if back.Tests != 6 || back.Failures != 1 || back.Errors != 2 || back.Skipped != 2 || len(back.Suites) != 3 {
		t.Errorf("%+v", back)
	}
	if found := back.Suites[0].Cases[1].Failure; found == nil || !strings.Contains(found.Text, "]]> & <b>") {
		t.Errorf("%+v", found)
	}
}

func TestColourIsOnlyWhereItIsWanted(t *testing.T) {
	var plain, coloured bytes.Buffer
	for _, s := range someReport().Stages {
		(&Printer{To: &plain}).Stage(s)
		(&Printer{To: &coloured, Colour: true}).Stage(s)
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(coloured.String(), "\x1b[31mFAILED \x1b[0m") {
		t.Errorf("%q\n%q", plain.String(), coloured.String())
	}
}

func TestOnlyChangesAreTold(t *testing.T) {
	before, now := someReport(), someReport()
	if changes := Changes(before, now); len(changes) != 0 {
		t.Errorf("%+v", changes)
	}
	now.Stages[0].Checks[1].Outcome = Passed
	now.Stages[1].State = Verified
	changes := Changes(before, now)
	if len(changes) != 2 || changes[0].Was != "failed" || changes[0].Is() != "passed" || changes[1].Was != "not done yet" || changes[1].Check != nil {
		t.Errorf("%+v", changes)
	}
	// The same outcome for another cause is news.
	now = someReport()
	now.Stages[0].Checks[1].Found = "another file"
	if changes := Changes(before, now); len(changes) != 1 {
		t.Errorf("%+v", changes)
	}
}

func TestOnlyAllThatPassedIsGood(t *testing.T) {
	for _, c := range []struct {
		state    State
		outcomes []Outcome
		good     bool
	}{
		{Verified, []Outcome{Passed}, true},
		{Verified, []Outcome{Passed, Failed}, false},
		{Verified, []Outcome{Passed, CouldNotRun}, false},
		{Verified, []Outcome{Passed, CannotTell}, false},
		{Broken, []Outcome{Passed}, false},
		{NotDone, nil, false},
		{Verified, nil, false},
	} {
		r := &Report{Stages: []Stage{{State: c.state}}}
		for _, o := range c.outcomes {
			r.Stages[0].Checks = append(r.Stages[0].Checks, Result{Outcome: o})
		}
		if r.sum(); r.Summary.Good != c.good {
			t.Errorf("%+v: %+v", c, r.Summary)
		}
	}
}
