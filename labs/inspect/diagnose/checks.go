package diagnose

import (
	"slices"
	"strings"

	"bootlab/labs"
	"bootlab/labs/inspect/check"
)

// FailedCheck is a check of a stage that failed, and what it saw.
type FailedCheck struct {
	Stage    string `json:"stage"`
	ID       string `json:"id"`
	Title    string `json:"title"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Hint     string `json:"hint"`
}

// checkedLayers are the layers whose stages leave files that stay as they are: a
// check of them fails at any later time for the same reason. What later stages
// check is asked by the layers themselves.
var checkedLayers = []string{"host", "image", "render"}

// Checked says whether the failed checks of a stage count.
func Checked(stage string) bool { return layerOf(stage) != "" }

func layerOf(stage string) string {
	for _, layer := range labs.BuiltinDiagnosis().Layers {
		if slices.Contains(checkedLayers, layer.ID) && slices.Contains(layer.Stages, stage) {
			return layer.ID
		}
	}
	return ""
}

// Count takes in what the checks of stages say. A check that failed is a finding: a
// walk that found nothing wrong ends with the layer of its stage, and with a cause
// that is not known.
func (r *Report) Count(checks *check.Report) {
	for _, s := range checks.Stages {
		for _, c := range s.Checks {
			if c.Outcome == check.Failed && Checked(s.ID) && !(r.finished() && asksTime(s.ID, c.ID)) {
				r.FailedChecks = append(r.FailedChecks, FailedCheck{Stage: s.ID, ID: c.ID, Title: c.Title, Expected: c.Expected, Found: c.Found, Hint: c.Hint})
			}
		}
	}
	if len(r.FailedChecks) == 0 || r.Verdict == Proven || r.Verdict == Unknown {
		return
	}
	c := r.FailedChecks[0]
	line, _, _ := strings.Cut(c.Found, "\n")
	r.Verdict, r.Layer = Unknown, layerOf(c.Stage)
	r.Lead = &Lead{Line: clean(line), Service: "check " + c.ID, Stage: c.Stage}
	r.Likely, r.Evidence = nil, nil
}

// finished says whether the handover is done: certificates of 24 hours may end then.
func (r *Report) finished() bool {
	return slices.ContainsFunc(r.Layers, func(a Answer) bool { return a.Layer == "finished" && a.Answer == "yes" })
}

// asksTime says whether a check is about how long certificates are valid.
func asksTime(stage, id string) bool {
	s := labs.Builtin().Stage(stage)
	return s != nil && slices.ContainsFunc(s.Checks, func(c labs.Check) bool { return c.ID == id && c.Fresh != nil })
}
