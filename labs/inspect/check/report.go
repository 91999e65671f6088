// Package check verifies what stages leave: by the scripts' own --verify, on a lab
// or as a bundle of ours kept it. Of a bundle that no script of ours has seen it
// tells what can be told of certificates and of the structure of manifests. What a
// check is called, why it is asked and what to do stands in the stage data alone.
package check

import (
	"slices"

	"bootlab/labs"
)

// Outcome is what became of a check.
type Outcome string

// The outcomes of a check.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	// CouldNotRun: the script did not come to say what became of it.
	CouldNotRun Outcome = "could not run"
	// CannotTell: what was looked at does not hold what the check is about.
	CannotTell Outcome = "cannot be checked"
)

// State is how far a stage was verified.
type State string

// The states of a stage.
const (
	Verified State = "verified"
	// NotDone: neither its marker nor a record of it is there.
	NotDone State = "not done yet"
	// Broken: its script could not be run, or contradicts itself.
	Broken State = "could not run"
)

// Report is the result of a verification. Its JSON is stable: keys are added,
// and none is renamed or gets another meaning while version is 1.
//
//	version  1
//	lab      name of the lab
//	release  as lab.yaml names it
//	from     the bundle that was looked at; empty for the lab itself
//	stages   in the order of the plan: id, title, script (as it is called), on
//	         (the machine, or the bundle), state ("verified", "not done yet",
//	         "could not run"), problem and hint (why it is not verified), checks
//	checks   in the order of the stage data: id, title, outcome ("passed",
//	         "failed", "could not run", "cannot be checked"), expected, found
//	         (what a failed check saw), why, hint, problem (why there is no
//	         verdict)
//	summary  how many checks have each outcome (passed, failed, couldNotRun,
//	         cannotTell), stages that could not run (broken) or are not done yet
//	         (notDone), and good: every check that was asked for passed
//
// Texts that a script printed are as it printed them.
type Report struct {
	Version int     `json:"version"`
	Lab     string  `json:"lab"`
	Release string  `json:"release"`
	From    string  `json:"from,omitempty"`
	Stages  []Stage `json:"stages"`
	Summary Summary `json:"summary"`
}

// Stage is a stage in a report.
type Stage struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Script  string   `json:"script"`
	On      string   `json:"on"`
	State   State    `json:"state"`
	Problem string   `json:"problem,omitempty"`
	Hint    string   `json:"hint,omitempty"`
	Checks  []Result `json:"checks"`
}

// Result is a check in a report.
type Result struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Outcome  Outcome `json:"outcome"`
	Expected string  `json:"expected"`
	Found    string  `json:"found,omitempty"`
	Why      string  `json:"why,omitempty"`
	Hint     string  `json:"hint"`
	Problem  string  `json:"problem,omitempty"`
}

// Summary counts.
type Summary struct {
	Passed      int  `json:"passed"`
	Failed      int  `json:"failed"`
	CouldNotRun int  `json:"couldNotRun"`
	CannotTell  int  `json:"cannotTell"`
	Broken      int  `json:"broken"`
	NotDone     int  `json:"notDone"`
	Good        bool `json:"good"`
}

// Advice says a hint as it helps in a place.
type Advice func(labs.Place, string) string

func newReport(p *labs.Plan, from string) *Report {
	return &Report{Version: 1, Lab: p.Lab.Metadata.Name, Release: p.Version(), From: from, Stages: []Stage{}}
}

// newResult is a check as the stage data has it, without a verdict.
func newResult(c *labs.Check, place labs.Place, advice Advice) Result {
	hint := c.Hint
	if advice != nil {
		hint = advice(place, hint)
	}
	return Result{ID: c.ID, Title: c.Title, Expected: c.Expect, Why: c.Why, Hint: hint}
}

func newStage(s *labs.Stage, on string) Stage {
	return Stage{ID: s.ID, Title: s.Title, Script: s.Call(), On: on, State: Verified, Checks: []Result{}}
}

// sum counts what the stages say.
func (r *Report) sum() {
	s := Summary{}
	for _, stage := range r.Stages {
		switch stage.State {
		case Broken:
			s.Broken++
		case NotDone:
			s.NotDone++
		}
		for _, c := range stage.Checks {
			switch c.Outcome {
			case Passed:
				s.Passed++
			case Failed:
				s.Failed++
			case CouldNotRun:
				s.CouldNotRun++
			case CannotTell:
				s.CannotTell++
			}
		}
	}
	s.Good = s.Passed > 0 && s.Bad() == 0 && s.CannotTell == 0
	r.Summary = s
}

// Bad is how much failed or could not run.
func (s Summary) Bad() int { return s.Failed + s.CouldNotRun + s.Broken }

// Asked is how many checks and stages there is something to say about.
func (s Summary) Asked() int { return s.Passed + s.CannotTell + s.Bad() }

// find gives the place of a check among results, -1 if it is not there.
func find(results []Result, id string) int {
	return slices.IndexFunc(results, func(r Result) bool { return r.ID == id })
}
