package audit

import (
	"regexp"
	"strings"
)

// Fact is one thing that bootkube.sh does, in the same words for a script and
// for stage data.
type Fact struct {
	// Kind is one of the kinds below.
	Kind string
	// Key is what the fact is about: a flag's name, the source of a copy.
	Key string
	// Value is what it says: a flag's value, the target of a copy.
	Value string
	// When is the condition, in words; empty is always.
	When string
	// Line is where the script does it; 0 in stage data.
	Line int
	// Of is the container that the fact belongs to.
	Of string
	// Empty: a flag's value is empty and was given all the same, as in --x=.
	Empty bool
}

// Kinds of facts.
const (
	factCondition = "condition" // of the whole stage
	factSkip      = "skip if"
	factMarker    = "marker"
	factRemove    = "remove first"
	factContainer = "container"
	factImage     = "image"
	factOption    = "podman option"
	factCommand   = "command"
	factFlag      = "flag"
	factCopy      = "copy"
	factMkdir     = "mkdir"
	factCall      = "call"
	factRetry     = "retry"
	factFailure   = "on failure"
	factLog       = "log line"
	factAsks      = "image of the payload"
	factComputed  = "variable"
	factShell     = "shell options"
	factOther     = "other command"
)

// newFact is a fact of no container.
func newFact(kind, key, value, when string, line int) Fact {
	return Fact{Kind: kind, Key: key, Value: value, When: when, Line: line}
}

func (f Fact) String() string {
	text := f.Kind
	if f.Key != "" {
		text += " " + f.Key
	}
	if f.Value != "" {
		switch f.Kind {
		case factCopy:
			text += " to " + f.Value
		case factFlag, factOption:
			text += "=" + f.Value
		default:
			text += ": " + f.Value
		}
	}
	if f.When != "" {
		text += " (when " + f.When + ")"
	}
	return text
}

// Stage is a stage of a script or of stage data, as facts.
type Stage struct {
	// ID is the stage's id in stage data; empty when it has none.
	ID string
	// Name is bootkube's.
	Name  string
	Line  int
	Facts []Fact
	// Notes tell what stage data says in words only.
	Notes string
	// places are the files that Notes name.
	places []string
}

func (s *Stage) add(f Fact) { s.Facts = append(s.Facts, f) }

// around is the name under which what no stage does is compared.
const around = "around the stages"

// factsOfRun are the facts of a container, below the conditions of its stage.
func factsOfRun(e event, stage guard) []Fact {
	c := containerOf(e)
	when := words(e.when, stage)
	name := ""
	for _, o := range c.options {
		if o.name == "--name" {
			name, e.line = o.value, max(e.line, o.line)
		}
	}
	var facts []Fact
	line := e.line
	add := func(kind, key, value, when string) {
		facts = append(facts, Fact{Kind: kind, Key: key, Value: value, When: when, Line: line, Of: name})
	}
	add(factContainer, name, "", when)
	add(factImage, "", c.image, "")
	var overlays []string
	for _, o := range c.options {
		source, _, _ := strings.Cut(o.value, ":")
		line = firstLine(o.line, e.line)
		switch {
		case o.name == "--name":
		case o.name == "--volume" && strings.Contains(o.value, ":O"):
			overlays = append(overlays, source)
		default:
			add(factOption, o.name, o.value, words(o.when, e.when))
		}
	}
	if len(overlays) > 0 {
		add(factOption, "overlay", strings.Join(overlays, " "), "")
	}
	line = e.line
	add(factCommand, "", strings.Join(c.command, " "), "")
	for _, f := range c.flags {
		line = firstLine(f.line, e.line)
		add(factFlag, f.name, f.value, words(f.when, e.when))
		facts[len(facts)-1].Empty = f.empty
	}
	return facts
}

// words gives a condition as text, without what holds anyway.
func words(g, known guard) string {
	rest, _ := g.without(known)
	return rest.String()
}

var variableName = regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z_0-9]*)\}?`)

// sentence puts parts of a condition in the order of a guard's words.
func sentence(parts []atom) string {
	g, _ := guard{}.and(parts...)
	return g.String()
}

func firstLine(lines ...int) int {
	for _, n := range lines {
		if n > 0 {
			return n
		}
	}
	return 0
}
