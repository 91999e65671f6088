package guide

import (
	"regexp"
	"strings"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
)

// linesExplained is how many causes are told of a line.
const linesExplained = 5

// port tells what listens on a port, and the causes that name it.
func (e *explainer) port(what string) bool {
	for _, p := range labs.BuiltinGuide().Ports {
		if p.Number == what {
			e.line("port %s: %s on %s\n    %s, asked by %s", p.Number, p.Component, strings.Join(p.On, ", "), p.Why, p.From)
		}
	}
	if e.text.Len() > 0 {
		e.naming(what)
	}
	return e.text.Len() > 0
}

// unit tells where the journal of a unit is, and the causes that name it.
func (e *explainer) unit(what string) bool {
	name := strings.TrimSuffix(what, ".service")
	for _, ev := range labs.BuiltinDiagnosis().Evidence {
		if strings.Contains(ev.Run, "--unit="+name+".service") {
			e.line("%s.service: %s\n    in a bundle: %s", name, ev.Title, ev.File)
		}
	}
	if e.text.Len() > 0 {
		e.line("    by hand: journalctl --unit=%s.service", name)
		e.naming(name)
	}
	return e.text.Len() > 0
}

// naming lists the causes and stages whose texts name a thing.
func (e *explainer) naming(what string) {
	word := regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(what) + `($|[^\w-])`)
	var causes []string
	for _, layer := range e.diagnoses()[0].Layers {
		for _, s := range layer.Symptoms {
			if !strings.Contains(s.ID, "/") && word.MatchString(s.Title+" "+s.Seen+" "+s.Cause+" "+s.Command) {
				causes = append(causes, "  "+s.ID+"\n      "+s.Title)
			}
		}
	}
	if len(causes) > 0 {
		e.line("\nCauses that name it:\n%s", strings.Join(causes, "\n"))
	}
	var stages []string
	for _, s := range e.plan.Stages {
		if word.MatchString(s.Title + " " + s.Why) {
			stages = append(stages, s.ID)
		}
	}
	if len(stages) > 0 {
		e.line("\nStages that name it: %s", strings.Join(stages, " "))
	}
}

// said leads from a line of a log to the causes that know it.
func (e *explainer) said(what string) bool {
	for i, d := range e.diagnoses() {
		matches := diagnose.MatchLine(d, what)
		if len(matches) == 0 {
			continue
		}
		e.line("Causes that know this line, the closest first. One line alone proves none of them:")
		for _, m := range matches[:min(len(matches), linesExplained)] {
			e.line("\n%s: %s\n    known by: %s\n    %s\n    see it:", m.Symptom.ID, m.Symptom.Title, m.Words, unfolded(m.Symptom.Cause))
			cli.PrintIndented(&e.text, "      ", m.Symptom.Command)
			if m.Symptom.Stage != "" {
				e.line("    stage: %s", m.Symptom.Stage)
			}
			e.elsewhere(i > 0, m.Symptom.Span)
		}
		e.line("\nMore of one: bootlab explain ID. A bundle is judged whole by bootlab diagnose BUNDLE.")
		return true
	}
	return false
}
