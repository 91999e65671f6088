package guide

import (
	"strings"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

// diagnoses are what is known of hangs: first that of the plan, then that of
// every release and topology.
func (e *explainer) diagnoses() []*labs.Diagnosis {
	return []*labs.Diagnosis{labs.BuiltinDiagnosis().For(e.plan), labs.BuiltinDiagnosis()}
}

// symptom tells a cause that diagnose names, by its id.
func (e *explainer) symptom(what string) bool {
	for i, d := range e.diagnoses() {
		for _, layer := range d.Layers {
			for j := range layer.Symptoms {
				if s := &layer.Symptoms[j]; s.ID == what {
					e.describeSymptom(layer, s)
					e.elsewhere(i > 0, s.Span)
					return true
				}
			}
		}
	}
	return false
}

func (e *explainer) describeSymptom(layer *labs.Layer, s *labs.Symptom) {
	e.line("%s: %s", s.ID, s.Title)
	if s.Warning {
		e.line("\nA warning: it slows or threatens, and stops nothing by itself.")
	}
	e.line("\nIt looks like this: %s\n\n%s\n\nSee it:", unfolded(s.Seen), unfolded(s.Cause))
	cli.PrintIndented(&e.text, "  ", s.Command)
	e.line("\nFix: %s\n\nLayer %s: %s", unfolded(s.Fix), layer.ID, layer.Ask)
	if s.Stage != "" {
		e.line("Stage %s", s.Stage)
	}
	e.line("In the guide: %s", s.Address())
	e.line("Source: %s", s.Source)
}

// layer tells a question of the walk, with the causes below it.
func (e *explainer) layer(what string) bool {
	for i, d := range e.diagnoses() {
		for _, layer := range d.Layers {
			if layer.ID != what {
				continue
			}
			e.line("%s: %s\n\n%s %s\n\nWhat can be wrong:", layer.ID, layer.Title, layer.Ask, unfolded(layer.Why))
			for _, s := range layer.Symptoms {
				if !strings.Contains(s.ID, "/") {
					e.line("  %s\n      %s", s.ID, s.Title)
				}
			}
			if len(layer.Stages) > 0 {
				e.line("\nAnd the usual failures of: %s", strings.Join(layer.Stages, " "))
			}
			if layer.Page != "" {
				e.line("\nMore of it: bootlab explain %s", layer.Page)
			}
			e.elsewhere(i > 0, layer.Span)
			return true
		}
	}
	return false
}

// elsewhere says that a thing is not of this plan, and in which releases it is.
func (e *explainer) elsewhere(is bool, span labs.Span) {
	if !is {
		return
	}
	from, to := span.Since, span.Until
	switch {
	case from != "" && to != "":
		e.line("\nNot in release %s: only from %s to %s.", e.plan.Version(), from, to)
	case from != "":
		e.line("\nNot in release %s: only from %s on.", e.plan.Version(), from)
	case to != "":
		e.line("\nNot in release %s: only up to %s.", e.plan.Version(), to)
	default:
		e.line("\nNot in a lab of topology %s.", e.plan.Lab.Topology)
	}
}

// chapter tells where a chapter of the guide is.
func (e *explainer) chapter(what string) bool {
	c := labs.BuiltinGuide().Chapter(what)
	if c == nil {
		return false
	}
	e.line("%s: %s\n\n%s\n\nA chapter of the guide: guide/%s.md in the output directory, or bootlab site.", c.ID, c.Title, c.Summary, c.ID)
	return true
}

func unfolded(text string) string { return strings.Join(strings.Fields(text), " ") }
