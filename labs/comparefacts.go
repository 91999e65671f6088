package labs

import (
	"os"
	"reflect"
	"slices"
	"strings"
)

// Parts are what two releases are compared in, in the order of a report.
var Parts = []string{
	"option of every podman run", "image variable", "variable", "directory for all stages",
	"condition", "log line", "marker that skips it",
	"input", "step before the command", "directory removed first",
	"image", "container name", "volume", "podman option", "command", "flag", "repetition", "on failure",
	"directory", "copy", "step after the copies", "output", "marker",
	"stage that a repetition invalidates", "point in the container's output", "what is waited for", "usual failure",
	"script option", "check", "departure from bootkube.sh", "question", "exercise",
}

// prose are the parts whose text is for reading; that of the others is typed,
// or found as it stands.
var prose = []string{"condition", "step before the command", "repetition", "on failure", "step after the copies",
	"check", "departure from bootkube.sh", "question", "exercise"}

// fact is one item of a stage, or of what stands around the stages.
type fact struct {
	part string // of Parts
	key  string // the item's name among those of its part
	text string
	when *Condition // nil is always
	why  string
	Span
	stages []string // ids of the stages it concerns, where it is of none
}

func (f fact) item() *Item {
	return &Item{Text: oneLine(f.text), When: f.condition(), Why: oneLine(f.why), when: f.when}
}

func (f fact) condition() string {
	if f.when == nil {
		return ""
	}
	return f.when.Words(plainly)
}

// conditionOf is a condition, or nil where there is none.
func conditionOf(w *Condition) *Condition {
	if reflect.ValueOf(*w).IsZero() {
		return nil
	}
	return w
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// plainly leaves a name in a condition as it is.
func plainly(name string) string { return name }

// held are the facts that are true for a release.
func held(facts []fact, release string) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return !f.Holds(release) })
}

// without are the facts of a list that do not stand in the other in the same
// words.
func without(facts, other []fact) []fact {
	type words struct{ part, key, text, when, why string }
	of := func(f fact) words { return words{f.part, f.key, f.text, f.condition(), f.why} }
	there := map[words]int{}
	for _, f := range other {
		there[of(f)]++
	}
	var out []fact
	for _, f := range facts {
		if w := of(f); there[w] > 0 {
			there[w]--
		} else {
			out = append(out, f)
		}
	}
	return out
}

// facts are everything that can differ between releases in a stage.
func (s *Stage) facts() []fact {
	out := single("condition", s.When.Words(plainly))
	out = append(out, single("log line", s.Log)...)
	out = append(out, single("marker that skips it", s.SkipIf)...)
	out = append(out, files("input", s.Reads)...)
	out = append(out, notes("step before the command", s.Before)...)
	out = append(out, single("directory removed first", s.RemoveFirst)...)
	out = append(out, s.Run.facts()...)
	if s.Command != nil {
		out = append(append(out, single("command", s.Command.Line)...), flags(s.Command.Flags)...)
	}
	out = append(out, single("repetition", s.Retry)...)
	out = append(out, single("on failure", s.OnFailure)...)
	out = append(out, directories("directory", s.Mkdir)...)
	for _, c := range s.Copies {
		text := c.From + " -> " + c.To
		out = append(out, fact{"copy", text, text, conditionOf(&c.When), c.Why, c.Span, nil})
	}
	out = append(out, notes("step after the copies", s.After)...)
	out = append(out, files("output", s.Outputs)...)
	for _, m := range s.Markers {
		out = append(out, fact{"marker", m.File, m.File, nil, "", m.Span, nil})
	}
	for _, i := range s.Invalidates {
		out = append(out, fact{"stage that a repetition invalidates", i.Stage, i.Stage, nil, i.Why, i.Span, nil})
	}
	return append(out, s.lessons()...)
}

// lessons are the facts of a stage that are not bootkube.sh's: how it is
// watched, done by hand and taught.
func (s *Stage) lessons() []fact {
	var out []fact
	for _, st := range s.Steps {
		out = append(out, fact{"point in the container's output", st.ID, st.Line, conditionOf(&st.When), st.Text, st.Span, nil})
	}
	for _, g := range s.Gates {
		out = append(out, fact{"what is waited for", g.ID, strings.TrimSpace(g.Title + "; " + g.Question), nil, g.Why, g.Span, nil})
	}
	for _, f := range s.Failures {
		out = append(out, fact{"usual failure", f.ID, f.Message, nil, f.Cause, f.Span, nil})
	}
	out = append(out, options("script option", s.Options)...)
	for _, c := range s.Checks {
		out = append(out, fact{"check", c.ID, c.Title, conditionOf(&c.When), c.Why, c.Span, nil})
	}
	for _, d := range s.Differs {
		out = append(out, fact{"departure from bootkube.sh", d.ID, d.What, conditionOf(&d.When), d.Why, d.Span, nil})
	}
	for _, q := range s.Questions {
		out = append(out, fact{"question", q.ID, q.Ask, nil, "", q.Span, nil})
	}
	for _, e := range s.Exercises {
		out = append(out, fact{"exercise", e.ID, e.Do, nil, "", e.Span, nil})
	}
	return out
}

func (c *Container) facts() []fact {
	if c == nil {
		return nil
	}
	out := single("image", c.Image)
	out = append(out, single("container name", c.Name)...)
	out = append(out, single("volume", c.Volume)...)
	out = append(out, options("podman option", c.Options)...)
	out = append(out, single("command", c.Command)...)
	return append(out, flags(c.Flags)...)
}

// single is the one value that a stage has of a part, if it has one.
func single(part, value string) []fact {
	if value == "" {
		return nil
	}
	return []fact{{part: part, text: value}}
}

func files(part string, files []File) []fact {
	var out []fact
	for _, f := range files {
		out = append(out, fact{part, f.Path, f.Path, conditionOf(&f.When), f.Why, f.Span, nil})
	}
	return out
}

func notes(part string, notes []Note) []fact {
	var out []fact
	for _, n := range notes {
		out = append(out, fact{part, n.ID, n.Text, nil, "", n.Span, nil})
	}
	return out
}

func options(part string, options []Option) []fact {
	var out []fact
	for _, o := range options {
		out = append(out, fact{part, o.Option, o.Option, conditionOf(&o.When), o.Why, o.Span, nil})
	}
	return out
}

func flags(flags []Flag) []fact {
	var out []fact
	for _, f := range flags {
		out = append(out, fact{"flag", f.Flag, f.String(), conditionOf(&f.When), f.Why, f.Span, nil})
	}
	return out
}

func directories(part string, paths []string) []fact {
	var out []fact
	for _, p := range paths {
		out = append(out, fact{part: part, key: p, text: p})
	}
	return out
}

// facts are those of every podman run, and of what the stages share. They name
// the stages of a release that they concern.
func (b *Bootkube) facts(stages []*Stage) []fact {
	var out []fact
	for _, o := range options("option of every podman run", b.Podman) {
		o.stages = idsOf(stages, func(s *Stage) bool { return s.Run != nil })
		out = append(out, o)
	}
	for _, i := range b.Images {
		out = append(out, fact{"image variable", i.Variable, i.Variable + " (" + i.Name + ")", nil, i.Why, i.Span,
			idsOf(stages, func(s *Stage) bool { return s.Run != nil && s.Run.Image == i.Name || s.mentions(i.Variable) })})
	}
	for _, v := range b.Variables {
		out = append(out, fact{"variable", v.Name, v.Name, conditionOf(&v.When), v.Why, v.Span,
			idsOf(stages, func(s *Stage) bool { return s.mentions(v.Name) })})
	}
	return append(out, directories("directory for all stages", b.Mkdir)...)
}

func idsOf(stages []*Stage, wanted func(*Stage) bool) []string {
	return ids(slices.DeleteFunc(slices.Clone(stages), func(s *Stage) bool { return !wanted(s) }))
}

// mentions says whether a flag of the stage's container uses a shell variable.
func (s *Stage) mentions(variable string) bool {
	return s.Run != nil && slices.ContainsFunc(s.Run.Flags, func(f Flag) bool {
		found := false
		os.Expand(f.Value, func(name string) string {
			found = found || name == variable
			return ""
		})
		return found
	})
}

// Words tells a condition to people; name is called for every path and name in
// it. They follow upon what the condition is about.
func (w Condition) Words(name func(string) string) string {
	var out []string
	say := func(there bool, words string) {
		if there {
			out = append(out, words)
		}
	}
	list := func(items []string) string {
		named := make([]string, len(items))
		for i, item := range items {
			named[i] = name(item)
		}
		return strings.Join(named, " or ")
	}
	say(w.File != "", "if there is a file "+name(w.File))
	say(w.Dir != "", "if there is a directory "+name(w.Dir))
	say(w.NotEmpty != "", "if "+name(w.NotEmpty)+" holds something")
	say(w.InPlace != nil && bool(*w.InPlace), "in a bootstrap-in-place installation")
	say(w.InPlace != nil && !bool(*w.InPlace), "outside a bootstrap-in-place installation")
	say(w.ClusterProfile, "with a cluster profile")
	say(w.Distribution != "", "in "+name(w.Distribution))
	say(len(w.Topology) > 0, "with topology "+list(w.Topology))
	say(len(w.Platforms) > 0, "on "+list(w.Platforms))
	say(len(w.With) > 0, "where lab.yaml sets "+list(w.With))
	say(len(w.Without) > 0, "where lab.yaml does not set "+list(w.Without))
	if len(out) == 0 {
		return ""
	}
	return "only " + strings.Join(out, ", ")
}
