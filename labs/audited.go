package labs

import (
	"fmt"
	"strings"
)

// Audited says that a plan does not go by reviewed stage data alone: it is that
// of a known release, changed to what a script does that was not reviewed.
type Audited struct {
	// File is the base name of the audited file, SHA256 the hex sum of its bytes.
	File, SHA256 string
	// Nearest is the known release whose stage data was changed.
	Nearest string
	// Changes are the differences between the script and that stage data.
	Changes []AuditedChange
}

// AuditedChange is one difference that an audit found, and what became of it.
// Its texts come from the audited file and hold no control characters.
type AuditedChange struct {
	// Stages are the ids of the stages that it concerns; empty for what is done
	// around them, and for a stage that stage data does not have.
	Stages []string
	// Where names the stage, or the stages, as bootkube.sh does.
	Where           string
	What            string
	Expected, Found string
	// Line is the script's, 0 for what it lacks.
	Line    int
	Outcome AuditedOutcome
	// Reason says why it was not applied, or how it was.
	Reason string
}

// AuditedOutcome is what became of a difference.
type AuditedOutcome string

const (
	// Applied: scripts and pages do and say what the audited script does.
	Applied AuditedOutcome = "applied"
	// NotApplied: scripts and pages are those of the nearest release there.
	NotApplied AuditedOutcome = "not applied"
	// OfNoLab: the difference makes none in this lab.
	OfNoLab AuditedOutcome = "of no lab"
)

// With lists the changes of one outcome.
func (a *Audited) With(outcome AuditedOutcome) []AuditedChange {
	var out []AuditedChange
	for _, c := range a.Changes {
		if c.Outcome == outcome {
			out = append(out, c)
		}
	}
	return out
}

// Of lists the changes of one outcome that concern a stage.
func (a *Audited) Of(outcome AuditedOutcome, stage string) []AuditedChange {
	var out []AuditedChange
	for _, c := range a.With(outcome) {
		for _, id := range c.Stages {
			if id == stage {
				out = append(out, c)
			}
		}
	}
	return out
}

// Count says how many differences were applied and how many were not.
func (a *Audited) Count() string {
	applied := len(a.With(Applied))
	noun := "differences"
	if applied == 1 {
		noun = "difference"
	}
	return fmt.Sprintf("%d %s applied, %d not applied", applied, noun, len(a.With(NotApplied)))
}

// String tells a change in one line.
func (c AuditedChange) String() string {
	var b strings.Builder
	b.WriteString(c.Where)
	if c.Line > 0 {
		fmt.Fprintf(&b, ", line %d", c.Line)
	}
	b.WriteString(": " + c.What)
	if c.Reason != "" {
		b.WriteString(": " + c.Reason)
	}
	return b.String()
}
