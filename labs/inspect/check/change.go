package check

// Change is what is another thing than it was in the report before.
type Change struct {
	Stage Stage
	// Check is nil when the stage as a whole has another state.
	Check *Result
	// Was is what it was; empty if it was not there.
	Was string
}

// Is is what it is now.
func (c Change) Is() string {
	if c.Check != nil {
		return string(c.Check.Outcome)
	}
	return string(c.Stage.State)
}

// Changes compares two reports of the same stages. A check whose outcome is the
// same, but which found another thing, has changed too. Without an earlier report
// the changes are the checks that did not pass. A stage that could not run is one
// change.
func Changes(before, now *Report) []Change {
	was := map[string]Stage{}
	if before != nil {
		for _, s := range before.Stages {
			was[s.ID] = s
		}
	}
	var out []Change
	for _, s := range now.Stages {
		old, there := was[s.ID]
		if there && (old.State != s.State || old.Problem != s.Problem) || before == nil && s.State == Broken {
			out = append(out, Change{Stage: s, Was: string(old.State)})
		}
		for i := range s.Checks {
			c := &s.Checks[i]
			first := Result{}
			if at := find(old.Checks, c.ID); at >= 0 {
				first = old.Checks[at]
			}
			same := first.Outcome == c.Outcome && first.Found == c.Found && first.Problem == c.Problem
			if same || c.Outcome == CouldNotRun && s.State == Broken || before == nil && c.Outcome == Passed {
				continue
			}
			out = append(out, Change{s, c, string(first.Outcome)})
		}
	}
	return out
}
