package audit

import (
	"slices"
	"strings"

	"bootlab/labs"
)

// copied applies a copy.
func (a *application) copied(st *labs.Stage, f Finding) verdict {
	at := -1
	if f.want != nil {
		at = a.copyAt(st, f.want)
	}
	switch {
	case f.got == nil && at < 0:
		return ofNoLab
	case !a.follows(st, usesCopies):
		return refused(byHand)
	case f.got == nil:
		st.Copies = slices.Delete(st.Copies, at, at+1)
		return done
	}
	now, v := a.newCopy(f.got)
	switch {
	case v == ofNoLab && at >= 0:
		st.Copies = slices.Delete(st.Copies, at, at+1)
		return verdict{labs.Applied, "it is made only where no lab is, so it is left out"}
	case v != done:
		return v
	case at < 0:
		st.Copies = slices.Insert(st.Copies, a.placeOf(st, f.got), now)
		return done
	}
	old := st.Copies[at]
	before := old.From + " to " + old.To
	if old.Recursive {
		before += " recursively"
	}
	now.Why = a.whyNow(before, old.Why)
	st.Copies[at] = now
	return done
}

// copyAt is the place of a copy of stage data, -1 where the plan has none.
func (a *application) copyAt(st *labs.Stage, want *Fact) int {
	return slices.IndexFunc(st.Copies, func(c labs.Copy) bool {
		return c.From == want.Key && copyTarget(c) == want.Value && a.known.when(c.When) == want.When
	})
}

// copyTarget is the value of a copy's fact.
func copyTarget(c labs.Copy) string {
	if c.Recursive {
		return c.To + " recursively"
	}
	return c.To
}

// placeOf is where a new copy stands: behind the one that it follows in the
// script.
func (a *application) placeOf(st *labs.Stage, got *Fact) int {
	place := 0
	for _, f := range a.facts(a.nameOf(st), factCopy) {
		if f == *got {
			return place
		}
		if i := slices.IndexFunc(st.Copies, func(c labs.Copy) bool { return c.From == f.Key && copyTarget(c) == f.Value }); i >= 0 {
			place = i + 1
		}
	}
	return len(st.Copies)
}

func (a *application) nameOf(st *labs.Stage) string { return st.Bootkube }

func (a *application) newCopy(got *Fact) (labs.Copy, verdict) {
	target, recursive := strings.CutSuffix(got.Value, " recursively")
	from, v := a.pathOf(got.Key, plainGlobs)
	if v != done {
		return labs.Copy{}, v
	}
	to, v := a.pathOf(target, plainPath)
	if v != done {
		return labs.Copy{}, v
	}
	when, v := conditionOf(got.When)
	return labs.Copy{From: from, To: to, Recursive: recursive, When: when, Why: a.why()}, v
}

// mkdir applies a directory that is made before the copies.
func (a *application) mkdir(st *labs.Stage, f Finding) verdict {
	if !a.follows(st, usesMkdir) {
		return refused(byHand)
	}
	if f.got == nil {
		st.Mkdir = slices.DeleteFunc(st.Mkdir, func(dir string) bool { return belowWork(dir) == f.want.Key })
		return done
	}
	dir, v := a.pathOf(f.got.Key, plainPath)
	switch {
	case v != done:
		return v
	case f.got.When != "":
		return refused("a script makes its directories always")
	case f.how == added:
		st.Mkdir = append(st.Mkdir, dir)
	case f.want.Key != f.got.Key:
		return refused("one directory in the place of another")
	}
	return done
}

// factOrder brings the copies of a stage into the script's order. What else may
// stand elsewhere has its place in every script.
func (a *application) factOrder(st *labs.Stage, moved *Fact) verdict {
	if moved.Kind != factCopy || !a.follows(st, usesCopies) {
		return refused("a script of a stage removes, runs, copies and marks in this order")
	}
	place, begun, ended := map[string]int{}, false, false
	for i, f := range a.sequence(a.nameOf(st)) {
		switch f.Kind {
		case factCopy:
			if ended || st.Run != nil && !begun {
				return refused("a script of a stage runs its container, then copies, then marks")
			}
			place[f.Key+" "+f.Value] = i
		case factContainer:
			begun = begun || st.Run != nil && f.Key == st.Run.Name
		case factMarker:
			ended = true
		}
	}
	slices.SortStableFunc(st.Copies, func(c, d labs.Copy) int {
		i, known := place[c.From+" "+copyTarget(c)]
		j, too := place[d.From+" "+copyTarget(d)]
		if !known || !too {
			return 0
		}
		return i - j
	})
	return done
}

// sequence is what a stage of the script does, in its order.
func (a *application) sequence(stage string) []Fact {
	for _, st := range a.found {
		if st.Name == stage {
			return st.Facts
		}
	}
	return nil
}
