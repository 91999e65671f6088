package watch

import (
	"fmt"
	"time"

	"bootlab/labs/inspect/host"
)

// Change is one thing that stands otherwise than before.
type Change struct {
	At    time.Time
	Where string // the row's or the stage's kind, as "masters"
	Text  string
	Mood  Mood
	First bool
}

// Changes are what is otherwise in the second of two snapshots, in the order of
// the screen. What was never seen before is a change too, and is called first;
// what could not be seen this time is none.
func Changes(before, after *Status) []Change {
	c := &comparison{at: after.At}
	c.first = before.At.IsZero()
	if before.Phase != after.Phase && after.Phase != "" {
		c.add("phase", after.Phase, Plain)
	}
	for i := range after.Rows {
		row := &after.Rows[i]
		old := before.Row(row.ID)
		if old == nil {
			old = &Row{}
		}
		c.row(old, row)
	}
	c.first = len(before.Stages) == 0
	c.stages(before.Stages, after.Stages)
	c.first = before.Ends.At.IsZero()
	if before.Ends != after.Ends && !after.Ends.At.IsZero() {
		c.add("certificates", after.Ends.String(), after.Ends.Mood())
	}
	return c.all
}

type comparison struct {
	at    time.Time
	first bool
	all   []Change
}

func (c *comparison) add(where, text string, mood Mood) {
	c.all = append(c.all, Change{c.at, where, text, mood, c.first})
}

// row compares facts. That a machine does not answer is a fact of the machines,
// and is not told again in each row that lacks something.
func (c *comparison) row(before, after *Row) {
	if after.Seen.IsZero() || after.Problem != "" {
		return
	}
	c.first = before.Seen.IsZero()
	old := map[string]Fact{}
	for _, f := range before.Facts {
		old[f.Name] = f
	}
	for _, f := range after.Facts {
		was, known := old[f.Name]
		delete(old, f.Name)
		switch {
		case !known:
			c.add(after.Title, f.String(), f.Mood)
		case was.Value != f.Value:
			c.add(after.Title, f.String()+" (was "+was.Value+")", f.Mood)
		}
	}
	for _, f := range before.Facts {
		if _, gone := old[f.Name]; gone && f.Name != "" {
			c.add(after.Title, f.Name+": gone (was "+f.Value+")", Plain)
		}
	}
}

// String is the fact in words.
func (f Fact) String() string {
	if f.Name == "" {
		return f.Value
	}
	return f.Name + ": " + f.Value
}

func (c *comparison) stages(before, after []Stage) {
	old := map[string]*Stage{}
	for i := range before {
		old[before[i].Name] = &before[i]
	}
	for i := range after {
		s := &after[i]
		was := old[s.Name]
		if was == nil {
			was = &Stage{State: NotBegun}
		}
		if s.State != was.State || s.Attempt != was.Attempt {
			c.add("stage", s.sentence(), s.State.Mood())
		}
	}
}

// sentence is a stage and its state in a sentence.
func (s *Stage) sentence() string {
	text := s.Name + ": " + string(s.State)
	if s.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", s.Attempt)
	}
	if took, known := s.Took(); known && (s.State == Done || s.State == Failed) {
		text += " after " + took.String()
	}
	if s.State == Failed && s.Error != "" {
		text += ": " + s.Error
	}
	return text
}

// Took is how long the stage was; not known without both ends.
func (s *Stage) Took() (time.Duration, bool) {
	if s.Start.IsZero() || s.End.IsZero() || s.End.Before(s.Start) {
		return 0, false
	}
	return s.End.Sub(s.Start), true
}

// Mood is what the state means.
func (s StageState) Mood() Mood {
	switch s {
	case Done:
		return Good
	case Runs:
		return Working
	case Failed, CutOff, Invalidated:
		return Bad
	}
	return Plain
}

// String is the end in words.
func (e Ending) String() string {
	if e.Level == host.NotYet {
		return "not valid yet, look at the clocks: " + e.What
	}
	return "the next end is at " + e.At.UTC().Format("15:04 on 2 January 2006") + ": " + e.What
}

// Mood is what the end means.
func (e Ending) Mood() Mood {
	switch e.Level {
	case host.HasEnded, host.NotYet, host.EndsNow:
		return Bad
	case host.EndsSoon:
		return Working
	}
	return Plain
}
