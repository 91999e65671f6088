package audit

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"bootlab/labs"
)

// Compare says what a script does and stage data of a release does not, and the
// other way round. The release must be one of the catalog's.
func Compare(s *Script, c *labs.Catalog, release string) *Report {
	e := expect(c, release)
	cmp := &comparison{
		script: s, expected: e,
		report:   &Report{Release: release, Sources: s.Sources},
		template: s.actions.hasControls(),
	}
	cmp.stages(s.stagesOf(e.names))
	if s.inPlace > 0 {
		cmp.add(Known, Finding{Stage: around, What: "in place", Line: s.inPlace, Found: strings.TrimPrefix(inPlaceVariable, "$") + "=true",
			Meaning: "this script was written for a bootstrap-in-place installation, which no lab is"})
	}
	cmp.report.finish()
	return cmp.report
}

// Detect compares a script with every release, and gives the report with the
// fewest unknown differences: of several equal ones the newest, which names the
// others.
func Detect(s *Script, c *labs.Catalog) *Report {
	var best *Report
	for _, id := range c.ReleaseIDs() {
		r := Compare(s, c, id)
		switch {
		case best == nil || r.separate < best.separate:
			best = r
		case r.separate == best.separate:
			r.AsWell = append(best.AsWell, best.Release)
			best = r
		}
	}
	best.Detected = true
	return best
}

func (a *actions) hasControls() bool {
	return slices.ContainsFunc(a.list, func(x action) bool { return x.kind == actionIf })
}

// comparison is one script against one release.
type comparison struct {
	script   *Script
	expected *expectation
	report   *Report
	template bool
}

func (c *comparison) stages(found []*Stage) {
	byName := map[string]*Stage{}
	for _, f := range found {
		byName[f.Name] = f
	}
	var common []string
	notes, places := "", []string{}
	for _, want := range c.expected.stages {
		notes += want.Notes
		places = append(places, want.places...)
		got := byName[want.Name]
		if got == nil {
			c.missingStage(want)
			continue
		}
		delete(byName, want.Name)
		if want.Name != around {
			common = append(common, want.Name)
		} else {
			want.Notes = notes
		}
		if runs(want) && runs(got) {
			c.report.runs = append(c.report.runs, want.Name)
		}
		c.stage(want, got)
	}
	c.places(found, places)
	for _, f := range found {
		if byName[f.Name] != nil {
			c.newStage(f)
		}
	}
	c.order(common, found)
}

// runs says whether a stage runs a container of its own.
func runs(s *Stage) bool {
	return slices.ContainsFunc(s.Facts, func(f Fact) bool { return f.Kind == factContainer && f.Key != "" })
}

func (c *comparison) add(kind string, f Finding) {
	f.Kind = kind
	f.Expected, f.Found = c.tidy(f.Expected), c.tidy(f.Found)
	c.report.Findings = append(c.report.Findings, f)
}

func (c *comparison) tidy(text string) string { return c.expected.shown(text) }

func (c *comparison) missingStage(want *Stage) {
	c.add(Unknown, Finding{Stage: want.Name, What: "stage", how: missingStage, Expected: want.Name + ", explained as " + want.ID,
		Meaning: "the lesson has a stage that this bootkube.sh does not run: leave " + want.ID + ".sh out, or take another release"})
}

func (c *comparison) newStage(f *Stage) {
	kind, meaning := Unknown, "the lesson has no stage for it: what it makes is missing in a bootstrap by hand"
	for _, fact := range f.Facts {
		if fact.Kind == factCondition && neverInALab(fact.Value) != "" {
			kind, meaning = Known, neverInALab(fact.Value)
		}
	}
	c.add(kind, Finding{Stage: f.Name, What: "stage", how: newStage, Line: f.Line, Found: f.Name, Meaning: meaning})
}

// neverInALab says why a condition holds in no lab; empty when it may.
func neverInALab(when string) string {
	for _, part := range strings.Split(when, " and ") {
		switch {
		case part == inPlace:
			return "only in a bootstrap-in-place installation, which no lab is"
		case part == profile:
			return "only where the installer sets a cluster profile, which no lab does"
		case strings.HasPrefix(part, installer):
			return "only where the installer's template says so: " + strings.TrimSpace(strings.TrimPrefix(part, installer))
		}
	}
	return ""
}

// order reports the stages that stand elsewhere.
func (c *comparison) order(want []string, found []*Stage) {
	lines := map[string]int{}
	var got []string
	for _, f := range found {
		if slices.Contains(want, f.Name) {
			got = append(got, f.Name)
			lines[f.Name] = f.Line
		}
	}
	for _, name := range moved(want, got) {
		c.add(Unknown, Finding{Stage: name, What: "order of stages", how: stageOrder, Line: lines[name],
			Expected: after(want, name), Found: after(got, name),
			Meaning: "stages read what earlier ones wrote: by hand, run them in the order of the script"})
	}
}

func after(list []string, name string) string {
	if i := slices.Index(list, name); i > 0 {
		return "after " + list[i-1]
	}
	return "first"
}

// moved are the fewest entries whose move turns one list into the other.
func moved(want, got []string) []string {
	length := make([][]int, len(want)+1)
	for i := range length {
		length[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if want[i] == got[j] {
				length[i][j] = 1 + length[i+1][j+1]
			}
		}
	}
	kept := map[string]bool{}
	for i, j := 0, 0; i < len(want) && j < len(got); {
		switch {
		case want[i] == got[j]:
			kept[want[i]] = true
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	var out []string
	for _, name := range got {
		if !kept[name] {
			out = append(out, name)
		}
	}
	return out
}

// places reports files that stage data tells of in words and that no command
// names.
func (c *comparison) places(found []*Stage, places []string) {
	for _, place := range places {
		named := false
		for _, st := range found {
			for _, f := range st.Facts {
				named = named || strings.Contains(f.Key+" "+f.Value, belowWork(place))
			}
		}
		if !named {
			c.add(Unknown, Finding{Stage: around, What: "told in words", how: inWords, Expected: place,
				Meaning: "the lesson tells that bootkube.sh deals with this file, and no command of this one does"})
		}
	}
}

// pair is a fact of stage data and the one of the script that it was found as.
type pair struct{ want, got int }

// matching is the facts of one stage on their way into pairs.
type matching struct {
	want, got []Fact
	pairs     []pair
	wantDone  []bool
	gotDone   []bool
}

func (m *matching) match(same func(want, got Fact) bool) {
	for i, w := range m.want {
		for j, g := range m.got {
			if !m.wantDone[i] && !m.gotDone[j] && w.Kind == g.Kind && same(w, g) {
				m.wantDone[i], m.gotDone[j] = true, true
				m.pairs = append(m.pairs, pair{i, j})
			}
		}
	}
}

func (c *comparison) stage(want, got *Stage) {
	m := &matching{want: want.Facts, got: sameContainer(want, got)}
	m.wantDone, m.gotDone = make([]bool, len(m.want)), make([]bool, len(m.got))
	m.match(func(w, g Fact) bool { return w.Of == g.Of && w.Key == g.Key && w.Value == g.Value && w.When == g.When })
	m.match(func(w, g Fact) bool { return w.Of == g.Of && w.Key == g.Key && w.Value == g.Value })
	m.match(func(w, g Fact) bool { return w.Of == g.Of && w.Key == g.Key && w.When == g.When && w.Kind != factLog })
	m.match(func(w, g Fact) bool { return w.Of == g.Of && w.Key == g.Key && w.Kind != factLog })
	m.match(func(w, g Fact) bool { return similar(w, g) })
	for _, p := range m.pairs {
		c.pair(want, m, p)
	}
	for i, done := range m.wantDone {
		if !done {
			c.missing(want, got, m.want[i])
		}
	}
	for j, done := range m.gotDone {
		if !done {
			c.extra(want, m.got[j])
		}
	}
	c.sequence(want, m)
}

// similar pairs what was renamed: the same value under another name.
func similar(w, g Fact) bool {
	if w.Of != g.Of {
		return false
	}
	switch w.Kind {
	case factFlag:
		return w.Value == g.Value && w.Value != "" && w.When == g.When
	case factCopy:
		return w.Value == g.Value && w.When == g.When && !strings.Contains(w.Key, "<")
	case factMarker, factRemove, factSkip:
		return w.When == g.When && g.Of == ""
	}
	return false
}

// sameContainer gives the script's container the name that stage data has, when
// only the name differs, so that one difference is reported and not all.
func sameContainer(want, got *Stage) []Fact {
	name, image := "", ""
	for _, f := range want.Facts {
		switch f.Kind {
		case factContainer:
			name = f.Key
		case factImage:
			image = f.Value
		}
	}
	other, there := "", false
	for _, f := range got.Facts {
		there = there || f.Kind == factContainer && f.Key == name
		if f.Kind == factImage && (other == "" || f.Value == image) && !notesMention(want.Notes, f) {
			other = f.Of
		}
	}
	if there || name == "" {
		return got.Facts
	}
	out := slices.Clone(got.Facts)
	for i := range out {
		if out[i].Of == other && out[i].Kind != factContainer {
			out[i].Of = name
		} else if out[i].Kind == factContainer && out[i].Key == other {
			out[i].Of = name
		}
	}
	return out
}

func (c *comparison) pair(st *Stage, m *matching, p pair) {
	w, g := m.want[p.want], m.got[p.got]
	switch {
	case w.Key == g.Key && w.Value == g.Value && w.When == g.When:
		c.report.Identical++
		return
	case strings.Contains(w.When, profile) && !c.template && g.When == "":
		c.report.Identical++
		return
	case w.Key == g.Key && w.Value == g.Value && g.When == "not "+inPlace && w.When == "" && c.otherwise(m, g):
		c.add(Known, Finding{Stage: st.Name, What: what(w), Line: g.Line, Expected: w.String(), Found: g.String(),
			Meaning: "something else in a bootstrap-in-place installation, which no lab is"})
		return
	}
	kind := Unknown
	if w.Kind == factContainer && w.Key != g.Key {
		w.Value, g.Value = "", ""
	}
	c.add(kind, Finding{Stage: st.Name, What: what(w), Line: g.Line, Expected: w.String(), Found: g.String(), Meaning: meaning(w.Kind, changed),
		how: changed, want: &m.want[p.want], got: &m.got[p.got]})
}

// otherwise says whether the script gives the same thing in place too, with
// another value.
func (c *comparison) otherwise(m *matching, g Fact) bool {
	for j, x := range m.got {
		if !m.gotDone[j] && x.Kind == g.Kind && x.Key == g.Key && x.When == inPlace {
			return true
		}
	}
	return false
}

func what(f Fact) string { return strings.TrimSpace(f.Kind + " " + f.Key) }

func (c *comparison) missing(want, got *Stage, f Fact) {
	switch {
	case f.Kind == factLog && notesMentionLog(want, got):
		c.report.Identical++
		return
	case strings.Contains(f.When, profile) && !c.template:
		return
	}
	c.add(Unknown, Finding{Stage: want.Name, What: what(f), Line: got.Line, Expected: f.String(), Meaning: meaning(f.Kind, missing), how: missing, want: &f})
}

// notesMentionLog says whether the stage logs another line, of which stage data tells.
func notesMentionLog(want, got *Stage) bool {
	for _, f := range got.Facts {
		if f.Kind == factLog && f.Key != "" && strings.Contains(want.Notes, f.Key) {
			return true
		}
	}
	return false
}

func (c *comparison) extra(st *Stage, f Fact) {
	switch {
	case f.Kind == factLog, f.Kind == factShell && st.Name != around:
		return
	case notesMention(st.Notes, f):
		c.report.Identical++
		return
	}
	kind, text := Unknown, meaning(f.Kind, added)
	if why := neverInALab(f.When); why != "" {
		kind, text = Known, why
	}
	c.add(kind, Finding{Stage: st.Name, What: what(f), Line: f.Line, Found: f.String(), Meaning: text, how: added, got: &f})
}

// notesMention says whether notes tell of a fact in words.
func notesMention(notes string, f Fact) bool {
	if notes == "" {
		return false
	}
	has := func(text string) bool { return text != "" && strings.Contains(notes, text) }
	switch f.Kind {
	case factContainer:
		return f.Key == "" && has(strings.TrimPrefix(f.Value, "output to "))
	case factImage:
		return f.Of == "" && f.Value == "$RELEASE_IMAGE_DIGEST" && has("release image")
	case factCommand:
		return f.Of == "" && has(f.Value)
	case factOption:
		switch {
		case f.Of != "":
			return false
		case f.Key == "--quiet" || f.Key == "--rm":
			return true
		case f.Key == "--network" && f.Value == "none":
			return has("without network")
		case f.Key == "--entrypoint":
			return has(f.Value + " as its entrypoint")
		}
	case factRemove:
		return strings.HasPrefix(f.Key, "/") && has(f.Key) && (f.When == "" || f.When == "not "+inPlace)
	}
	return false
}

// sequenceKinds are the facts whose order matters.
var sequenceKinds = []string{factRemove, factContainer, factCopy, factMarker}

// sequence reports what a stage does in another order, and flags that only
// stand elsewhere as known.
func (c *comparison) sequence(st *Stage, m *matching) {
	if st.Name == around {
		return
	}
	sort.Slice(m.pairs, func(i, j int) bool { return m.pairs[i].want < m.pairs[j].want })
	c.inOrder(st, m, func(f Fact) bool { return slices.Contains(sequenceKinds, f.Kind) }, Unknown,
		"one command reads what the other wrote, or a marker says done too early: by hand, keep to the script's order")
	c.inOrder(st, m, func(f Fact) bool { return f.Kind == factFlag }, Known, "flags mean the same in any order")
}

func (c *comparison) inOrder(st *Stage, m *matching, pick func(Fact) bool, kind, why string) {
	var want, got []string
	facts := map[string]Fact{}
	var found []pair
	for _, p := range m.pairs {
		if pick(m.want[p.want]) {
			want = append(want, fmt.Sprint(p.want))
			found = append(found, p)
			facts[fmt.Sprint(p.want)] = m.got[p.got]
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].got < found[j].got })
	for _, p := range found {
		got = append(got, fmt.Sprint(p.want))
	}
	label := func(list []string, id string) string {
		if i := slices.Index(list, id); i > 0 {
			return "after " + facts[list[i-1]].String()
		}
		return "first"
	}
	for _, id := range moved(want, got) {
		f := facts[id]
		c.add(kind, Finding{Stage: st.Name, What: "order of " + what(f), Line: f.Line, Expected: label(want, id), Found: label(got, id), Meaning: why, how: factOrder, got: &f})
	}
}
