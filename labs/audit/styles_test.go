package audit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
)

// stagesOfRelease copies the stages of a release, without what belongs to
// others.
func stagesOfRelease(c *labs.Catalog, release string) []*labs.Stage {
	var out []*labs.Stage
	for _, s := range c.Stages {
		if s.Bootkube == "" || !s.Holds(release) {
			continue
		}
		mine := *s
		mine.Markers = held(s.Markers, release, func(m labs.Marker) labs.Span { return m.Span })
		mine.Copies = held(s.Copies, release, func(c labs.Copy) labs.Span { return c.Span })
		mine.Mkdir = slices.Clone(s.Mkdir)
		if s.Run != nil {
			run := *s.Run
			run.Flags = held(run.Flags, release, func(f labs.Flag) labs.Span { return f.Span })
			run.Options = held(run.Options, release, func(o labs.Option) labs.Span { return o.Span })
			mine.Run = &run
		}
		if s.Command != nil {
			command := *s.Command
			command.Flags = held(command.Flags, release, func(f labs.Flag) labs.Span { return f.Span })
			mine.Command = &command
		}
		out = append(out, &mine)
	}
	return out
}

func held[T any](list []T, release string, span func(T) labs.Span) []T {
	var out []T
	for _, x := range list {
		if span(x).Holds(release) {
			out = append(out, x)
		}
	}
	return out
}

func parsed(t testing.TB, text string) *Script {
	t.Helper()
	s, err := Parse(strings.NewReader(text), DefaultLimits)
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return s
}

func TestScriptsInEveryStyleAreIdentical(t *testing.T) {
	c := labs.Builtin()
	releases := c.ReleaseIDs()
	for r, release := range releases {
		for i, s := range styles {
			// Each style meets one release, and each release as many styles; in the
			// complete run it meets one of three, and the newest.
			meets := (i+r)%len(releases) == 0
			if sample.All() {
				meets = (i+r)%3 == 0 || release == "main"
			}
			if !meets {
				continue
			}
			text := writeScript(c.Bootkube, release, stagesOfRelease(c, release), s)
			r := Compare(parsed(t, text), c, release)
			if len(r.Findings) > 0 || r.Identical < 200 {
				t.Fatalf("%s, %s: %d identical, and:\n%s\n%s", release, s, r.Identical, findings(r), text)
			}
		}
	}
}

func findings(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s:%d %s\n  want %s\n  got  %s\n", f.Kind, f.Stage, f.Line, f.What, f.Expected, f.Found)
	}
	return b.String()
}

// mutation changes one thing in the stages of a release.
type mutation struct {
	name  string
	stage int
	do    func(stages []*labs.Stage) []*labs.Stage
}

// mutations are all changes that the tests know, for every thing they fit.
func mutations(stages []*labs.Stage) []mutation {
	var out []mutation
	add := func(i int, name string, do func(s *labs.Stage)) {
		out = append(out, mutation{stages[i].Bootkube + ": " + name, i, func(all []*labs.Stage) []*labs.Stage {
			do(all[i])
			return all
		}})
	}
	for i, s := range stages {
		if s.Run != nil {
			containerMutations(s.Run, func(name string, do func(*labs.Container)) {
				add(i, name, func(s *labs.Stage) { do(s.Run) })
			})
		}
		if s.Kind == "patch" {
			flagMutations(s.Command.Flags, func(name string, do func(*[]labs.Flag)) {
				// The test's own scripts give the flags of oc always.
				if strings.HasPrefix(name, "another condition") {
					return
				}
				add(i, name, func(s *labs.Stage) { do(&s.Command.Flags) })
			})
		}
		stageMutations(s, func(name string, do func(*labs.Stage)) { add(i, name, do) })
		if i > 0 && s.Kind != "check" && stages[i-1].Kind != "check" {
			out = append(out, mutation{s.Bootkube + ": swapped with the one before", i, func(all []*labs.Stage) []*labs.Stage {
				all[i], all[i-1] = all[i-1], all[i]
				return all
			}})
		}
		out = append(out, mutation{s.Bootkube + ": removed", i, func(all []*labs.Stage) []*labs.Stage {
			return append(all[:i:i], all[i+1:]...)
		}})
	}
	return out
}

func containerMutations(r *labs.Container, add func(string, func(*labs.Container))) {
	flagMutations(r.Flags, func(name string, do func(*[]labs.Flag)) {
		add(name, func(r *labs.Container) { do(&r.Flags) })
	})
	add("another image", func(r *labs.Container) {
		if r.Image == "etcd" {
			r.Image = "pod"
		} else {
			r.Image = "etcd"
		}
	})
	add("another command", func(r *labs.Container) { r.Command += "er" })
	add("another container name", func(r *labs.Container) { r.Name += "-x" })
	add("another volume", func(r *labs.Container) { r.Volume = "/srv:/assets:z" })
	add("one option more", func(r *labs.Container) { r.Options = append(r.Options, labs.Option{Option: "--privileged"}) })
	for i, o := range r.Options {
		if !o.When.ClusterProfile && !strings.HasPrefix(o.Option, "overlay") && o.Option != "--quiet" && o.Option != "--attach=stderr --rm" {
			add("without "+o.Option, func(r *labs.Container) { r.Options = append(r.Options[:i:i], r.Options[i+1:]...) })
		}
	}
}

func flagMutations(flags []labs.Flag, add func(string, func(*[]labs.Flag))) {
	for i, f := range flags {
		add("without "+f.Flag, func(fs *[]labs.Flag) { *fs = append((*fs)[:i:i], (*fs)[i+1:]...) })
		add("renamed "+f.Flag, func(fs *[]labs.Flag) { (*fs)[i].Flag += "-x" })
		add("another value of "+f.Flag, func(fs *[]labs.Flag) { (*fs)[i].Value = strings.Trim((*fs)[i].Value, `"`) + "x" })
		add("another condition of "+f.Flag, func(fs *[]labs.Flag) {
			if (*fs)[i].When.InPlace != nil {
				(*fs)[i].When = labs.Condition{}
			} else {
				(*fs)[i].When.File += "tls/other"
			}
		})
	}
	add("one flag more", func(fs *[]labs.Flag) { *fs = append(*fs, labs.Flag{Flag: "--surprise", Value: "x"}) })
}

func stageMutations(s *labs.Stage, add func(string, func(*labs.Stage))) {
	for i, c := range s.Copies {
		add("without copy "+c.From, func(s *labs.Stage) { s.Copies = append(s.Copies[:i:i], s.Copies[i+1:]...) })
		add("copy from elsewhere "+c.From, func(s *labs.Stage) { s.Copies[i].From = "other/" + s.Copies[i].From })
		add("copy to elsewhere "+c.From, func(s *labs.Stage) { s.Copies[i].To = "other/" })
		add("copy recursively or not "+c.From, func(s *labs.Stage) { s.Copies[i].Recursive = !s.Copies[i].Recursive })
		add("another condition of copy "+c.From, func(s *labs.Stage) {
			s.Copies[i].When = labs.Condition{NotEmpty: "elsewhere", Platforms: c.When.Platforms}
		})
		if i > 0 && len(c.When.Platforms) == 0 && len(s.Copies[i-1].When.Platforms) == 0 {
			add("copies swapped "+c.From, func(s *labs.Stage) { s.Copies[i], s.Copies[i-1] = s.Copies[i-1], s.Copies[i] })
		}
	}
	for i, m := range s.Markers {
		add("another marker "+m.File, func(s *labs.Stage) { s.Markers[i].File = "other-" + m.File })
	}
	for i, dir := range s.Mkdir {
		add("without mkdir "+dir, func(s *labs.Stage) { s.Mkdir = append(s.Mkdir[:i:i], s.Mkdir[i+1:]...) })
	}
	if s.RemoveFirst != "" {
		add("removes nothing", func(s *labs.Stage) { s.RemoveFirst = "" })
		add("removes another directory", func(s *labs.Stage) { s.RemoveFirst += "-x" })
	}
	if s.Log != "" && len(s.Markers) > 0 {
		add("another log line", func(s *labs.Stage) { s.Log = "Something else" })
	}
	if s.Retry != "" {
		add("another wait", func(s *labs.Stage) { s.Retry = "every 77 seconds" })
	}
	if s.SkipIf != "" {
		add("another reason to skip", func(s *labs.Stage) { s.SkipIf = "other.done" })
	}
	if s.When.InPlace != nil {
		add("in place or not", func(s *labs.Stage) { other := !*s.When.InPlace; s.When.InPlace = &other })
	}
	if s.Kind != "check" {
		add("another name", func(s *labs.Stage) { s.Bootkube += "-x" })
	}
}

// TestEveryMutationIsFoundAndNothingElse changes one thing at a time, in every
// release, each time in another style.
func TestEveryMutationIsFoundAndNothingElse(t *testing.T) {
	c := labs.Builtin()
	tried, met := 0, map[string]bool{}
	for r, release := range c.ReleaseIDs() {
		all := mutations(stagesOfRelease(c, release))
		for _, i := range chosen(all, nth(r, release), r, met) {
			m := all[i]
			s := styles[(i*7+r*31)%len(styles)]
			original := stagesOfRelease(c, release)
			name := original[m.stage].Bootkube
			text := writeScript(c.Bootkube, release, m.do(stagesOfRelease(c, release)), s)
			report := Compare(parsed(t, text), c, release)
			tried++
			if problem := misses(report, original, m, name); problem != "" {
				t.Errorf("%s, %s (%s): %s:\n%s", release, m.name, s, problem, findings(report))
			}
		}
	}
	if least := map[bool]int{false: 250, true: 2000}[sample.All()]; tried < least {
		t.Errorf("only %d mutations were tried, not %d", tried, least)
	}
	t.Logf("%d mutations", tried)
}

// nth says that a release meets each nth mutation: in the complete run the oldest
// and the newest meet all and those between a third, else a ninth and a 36th.
func nth(r int, release string) int {
	n := 3
	if r == 0 || release == "main" {
		n = 1
	}
	if !sample.All() {
		n *= map[int]int{1: 9, 3: 12}[n]
	}
	return n
}

// chosen are the places of each nth mutation, counted from a first one, and of
// the mutations whose kind was not met before.
func chosen(all []mutation, n, first int, met map[string]bool) []int {
	var out []int
	for i, m := range all {
		if !met[m.kind()] || (i+first)%n == 0 {
			out = append(out, i)
		}
		met[m.kind()] = true
	}
	return out
}

// kind is what the mutation does, to whichever stage, flag or file: the words
// of its name that are words.
func (m mutation) kind() string {
	_, what, _ := strings.Cut(m.name, ": ")
	return strings.Join(slices.DeleteFunc(strings.Fields(what), func(word string) bool {
		return strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
	}), " ")
}

// misses says what is wrong with the report of a mutation.
func misses(r *Report, stages []*labs.Stage, m mutation, name string) string {
	if r.Unknown == 0 {
		return "not found"
	}
	near := []string{name, name + "-x"}
	if m.stage > 0 {
		near = append(near, stages[m.stage-1].Bootkube)
	}
	for _, f := range r.Findings {
		byWords := f.Stage == around && strings.HasSuffix(m.name, ": removed")
		if !slices.Contains(near, f.Stage) && !byWords {
			return "finds something in " + f.Stage
		}
	}
	if r.Unknown > 3 && !strings.HasSuffix(m.name, "removed") && !strings.Contains(m.name, "<platform>") {
		return fmt.Sprintf("finds %d things", r.Unknown)
	}
	return ""
}

func TestTheReleaseIsDetected(t *testing.T) {
	c := labs.Builtin()
	for i, release := range c.ReleaseIDs() {
		r := Detect(parsed(t, writeScript(c.Bootkube, release, stagesOfRelease(c, release), styles[i*17])), c)
		if r.Release != release && !slices.Contains(r.AsWell, release) || r.Unknown != 0 {
			t.Errorf("%s is taken for %s, as well %v, with %d unknown", release, r.Release, r.AsWell, r.Unknown)
		}
	}
}

func TestEqualScriptsGiveEqualReports(t *testing.T) {
	c := labs.Builtin()
	text := writeScript(c.Bootkube, "4.16", stagesOfRelease(c, "4.16"), styles[3])
	a, b := Compare(parsed(t, text), c, "4.20"), Compare(parsed(t, text), c, "4.20")
	if !reflect.DeepEqual(a, b) || a.Unknown == 0 {
		t.Errorf("not repeatable: %+v\n%+v", a, b)
	}
}
