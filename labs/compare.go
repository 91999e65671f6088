package labs

import (
	"fmt"
	"slices"
	"strings"
)

// Comparison is how bootkube.sh and the stages around it differ between two
// releases, whatever the lab. Its form in JSON is for other programs and stays.
type Comparison struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Around are the changes outside of single stages.
	Around []Change `json:"around"`
	// Stages are those that differ, in the order they run; one that is gone
	// stands where it was.
	Stages []StageChange `json:"stages"`
}

// ChangeKind says what became of a stage, or of an item.
type ChangeKind string

// What can become of an item, and Moved, which only a stage can be.
const (
	Added   ChangeKind = "added"
	Removed ChangeKind = "removed"
	Changed ChangeKind = "changed"
	Moved   ChangeKind = "moved"
)

// StageChange is a stage that differs. An added or a removed one is not told
// item by item.
type StageChange struct {
	Kind     ChangeKind `json:"kind"`
	ID       string     `json:"id"`
	Bootkube string     `json:"bootkube,omitempty"`
	Title    string     `json:"title"`
	Why      string     `json:"why,omitempty"` // of a stage that is added or removed
	// Before and After name the stage that a moved one followed and follows.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Release is the first in which it is so, of the newer side of the two;
	// empty when only items of the stage changed.
	Release string   `json:"release,omitempty"`
	Changes []Change `json:"changes,omitempty"`
}

// Change is an item that differs: Was in From, Is in To. One of them is missing
// when the item was added or removed.
type Change struct {
	Kind    ChangeKind `json:"kind"`
	Part    string     `json:"part"` // of Parts
	Was     *Item      `json:"was,omitempty"`
	Is      *Item      `json:"is,omitempty"`
	Release string     `json:"release"` // as in StageChange
	// Stages are the ids of the stages that a change outside of them concerns.
	Stages []string `json:"stages,omitempty"`
}

// Item is something a release has: a flag, a copy, a check.
type Item struct {
	Text string `json:"text"`
	When string `json:"when,omitempty"` // the condition in words
	Why  string `json:"why,omitempty"`
	when *Condition
}

// Words tells what differs, without sign and reason: the part, the item as it is
// or was, and what is new in it. code is called for what is typed or found as
// it stands, such as paths.
func (c Change) Words(code func(string) string) string {
	item := c.Is
	if item == nil {
		item = c.Was
	}
	text := func(i *Item) string {
		if slices.Contains(prose, c.Part) {
			return ": " + i.Text
		}
		return " " + code(i.Text)
	}
	condition := func(i *Item) string {
		if i.when == nil {
			return ""
		}
		return i.when.Words(code)
	}
	if c.Kind != Changed {
		return c.Part + text(item) + behindComma(condition(item))
	}
	out := c.Part + text(c.Was)
	if c.Was.Text != c.Is.Text {
		out += ", now" + text(c.Is)
	}
	switch {
	case c.Was.When == c.Is.When:
		return out
	case c.Is.When == "":
		return out + ", now always"
	}
	return out + ", now " + condition(c.Is)
}

// Reason is the reason for the item as it is, or was.
func (c Change) Reason() string {
	if c.Is != nil {
		return c.Is.Why
	}
	return c.Was.Why
}

func behindComma(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

// edition is what a catalog has for one release.
type edition struct {
	release string
	stages  []*Stage
	around  []fact
}

func (c *Catalog) edition(release string) *edition {
	e := &edition{release: release, stages: c.StagesOf(release)}
	e.around = held(c.Bootkube.facts(e.stages), release)
	return e
}

// StagesOf are the stages of a release in any lab, in the order they run.
func (c *Catalog) StagesOf(release string) []*Stage {
	return slices.DeleteFunc(slices.Clone(c.Stages), func(s *Stage) bool { return !s.Holds(release) })
}

func (e *edition) stage(id string) *Stage {
	i := slices.IndexFunc(e.stages, func(s *Stage) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	return e.stages[i]
}

// Compare tells how the release to differs from the release from; from may be
// the newer one. A release that is not known is an [UnknownRelease].
func Compare(c *Catalog, from, to string) (*Comparison, error) {
	for _, id := range []string{from, to} {
		if _, err := c.Known(id); err != nil {
			return nil, err
		}
	}
	return compareEditions(c.edition(from), c.edition(to)), nil
}

func compareEditions(from, to *edition) *Comparison {
	turn := turning{from.release, to.release}
	out := &Comparison{From: from.release, To: to.release, Around: changes(from.around, to.around, turn), Stages: []StageChange{}}
	moved := movedStages(ids(from.stages), ids(to.stages))
	for _, s := range mergeStages(from.stages, to.stages) {
		was, is := from.stage(s.ID), to.stage(s.ID)
		change := StageChange{Kind: Changed, ID: s.ID, Bootkube: s.Bootkube, Title: s.Title}
		switch {
		case was == nil || is == nil:
			change.Kind, change.Why, change.Release = Added, strings.TrimSpace(s.Why), turn.release(s.Span)
			if is == nil {
				change.Kind = Removed
			}
		default:
			change.Changes = stageChanges(was, is, turn)
			if slices.Contains(moved, s.ID) {
				change.Kind, change.Release = Moved, turn.newer()
				change.Before, change.After = predecessor(from.stages, s.ID), predecessor(to.stages, s.ID)
			}
		}
		if change.Kind != Changed || len(change.Changes) > 0 {
			out.Stages = append(out.Stages, change)
		}
	}
	return out
}

func stageChanges(was, is *Stage, turn turning) []Change {
	old := was.facts()
	now := old
	if was == is { // of one catalog: what holds in both releases is the same
		old = slices.DeleteFunc(old, func(f fact) bool { return f.Holds(turn.from) && f.Holds(turn.to) })
		now = slices.Clone(old)
	} else {
		now = is.facts()
	}
	return changes(held(old, turn.from), held(now, turn.to), turn)
}

// changes are the differences of two lists of facts, in the order of Parts. What
// neither list shares with the other is matched by part and key: one key may
// stand for several items, each with its own condition.
func changes(was, is []fact, turn turning) []Change {
	out := []Change{}
	was, is = without(was, is), without(is, was)
	matched := make([]bool, len(is))
	for _, w := range was {
		change := Change{Kind: Removed, Part: w.part, Was: w.item(), Release: turn.release(w.Span), Stages: w.stages}
		for i, now := range is {
			if !matched[i] && w.part == now.part && w.key == now.key {
				matched[i] = true
				change.Kind, change.Is, change.Stages, change.Release = Changed, now.item(), now.stages, turn.release(w.Span, now.Span)
				break
			}
		}
		out = append(out, change)
	}
	for i, now := range is {
		if !matched[i] {
			out = append(out, Change{Kind: Added, Part: now.part, Is: now.item(), Release: turn.release(now.Span), Stages: now.stages})
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int { return slices.Index(Parts, a.Part) - slices.Index(Parts, b.Part) })
	return out
}

// turning is the way between two releases, in either direction.
type turning struct{ from, to string }

// newer is the newer of the two releases.
func (t turning) newer() string {
	if age(t.from) > age(t.to) {
		return t.from
	}
	return t.to
}

// release is the first release on the way that begins or ends one of the spans.
func (t turning) release(spans ...Span) string {
	first, last := min(age(t.from), age(t.to)), max(age(t.from), age(t.to))
	for _, s := range spans {
		if since := age(s.Since); since > first && since <= last {
			return s.Since
		}
		if until := age(s.Until); until >= first && until < last {
			return releaseOrder[until+1]
		}
	}
	return t.newer()
}

// mergeStages are the stages of both in one order: that of to, each stage of
// from alone behind the one that it followed.
func mergeStages(from, to []*Stage) []*Stage {
	out := slices.Clone(to)
	at := 0
	for _, s := range from {
		if i := slices.IndexFunc(out, func(o *Stage) bool { return o.ID == s.ID }); i >= 0 {
			at = i + 1
			continue
		}
		out = slices.Insert(out, at, s)
		at++
	}
	return out
}

func ids(stages []*Stage) []string {
	var out []string
	for _, s := range stages {
		out = append(out, s.ID)
	}
	return out
}

// movedStages are the fewest stages that have to be put elsewhere so that those
// of both lists stand in one order.
func movedStages(from, to []string) []string {
	from, to = shared(from, to), shared(to, from)
	kept := longestCommon(from, to)
	return slices.DeleteFunc(from, func(id string) bool { return slices.Contains(kept, id) })
}

// shared are the items of a list that stand in the other too.
func shared(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return !slices.Contains(other, item) })
}

// longestCommon is a longest list whose items stand in both lists in its order.
func longestCommon(a, b []string) []string {
	if slices.Equal(a, b) { // which is so between all known releases
		return a
	}
	best := make([][][]string, len(a)+1)
	for i := range best {
		best[i] = make([][]string, len(b)+1)
	}
	for i, x := range a {
		for j, y := range b {
			switch longest := best[i][j+1]; {
			case x == y:
				best[i+1][j+1] = append(slices.Clip(best[i][j]), x)
			case len(best[i+1][j]) > len(longest):
				best[i+1][j+1] = best[i+1][j]
			default:
				best[i+1][j+1] = longest
			}
		}
	}
	return best[len(a)][len(b)]
}

// predecessor is the stage that stands before another; empty for the first.
func predecessor(stages []*Stage, id string) string {
	before := ""
	for _, s := range stages {
		if s.ID == id {
			break
		}
		before = s.ID
	}
	return before
}

// Neighbours says whether no known release lies between the two.
func (c *Comparison) Neighbours() bool {
	distance := age(c.From) - age(c.To)
	return -1 <= distance && distance <= 1
}

// Of is what the comparison says of one stage: its own changes, and behind them
// those around the stages that concern it. It is nil when there are none.
func (c *Comparison) Of(stage *Stage) *StageChange {
	out := StageChange{Kind: Changed, ID: stage.ID, Bootkube: stage.Bootkube, Title: stage.Title}
	found := false
	for _, s := range c.Stages {
		if s.ID == stage.ID {
			out, found = s, true
		}
	}
	out.Changes = slices.Clone(out.Changes)
	for _, a := range c.Around {
		if slices.Contains(a.Stages, stage.ID) {
			out.Changes, found = append(out.Changes, a), true
		}
	}
	if !found {
		return nil
	}
	return &out
}

// ForStage cuts the comparison down to one stage, named by its id or by its name in
// bootkube.sh.
func (c *Comparison) ForStage(catalog *Catalog, name string) (*Comparison, error) {
	stage := catalog.named(name)
	if stage == nil {
		return nil, fmt.Errorf("there is no stage %s", quote(name))
	}
	if !stage.Holds(c.From) && !stage.Holds(c.To) {
		return nil, fmt.Errorf("stage %s is neither in %s nor in %s", stage.ID, c.From, c.To)
	}
	out := &Comparison{From: c.From, To: c.To, Around: []Change{}, Stages: []StageChange{}}
	if change := c.Of(stage); change != nil {
		out.Stages = append(out.Stages, *change)
	}
	return out, nil
}

// named returns the stage of an id, or of a name in bootkube.sh.
func (c *Catalog) named(name string) *Stage {
	for _, s := range c.Stages {
		if s.ID == name || name != "" && s.Bootkube == name {
			return s
		}
	}
	return nil
}
