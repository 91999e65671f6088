package record

import (
	"slices"
	"time"
)

// Pair is a stage of two runs side by side: of each the last attempt that went
// well, else the last one; nil where there is none.
type Pair struct {
	Stage        string
	Here, Beside *Span
}

// Pairs puts the stages of two runs side by side, in the order of the first run;
// those that only the second has stand behind what comes before them there.
func Pairs(here, beside []*Span) []Pair {
	var names []string
	at := 0
	for _, s := range firsts(here) {
		names = append(names, s.Name)
	}
	for _, s := range firsts(beside) {
		if i := slices.Index(names, s.Name); i >= 0 {
			at = i + 1
			continue
		}
		names = slices.Insert(names, at, s.Name)
		at++
	}
	pairs := make([]Pair, len(names))
	for i, name := range names {
		pairs[i] = Pair{name, last(here, name), last(beside, name)}
	}
	return pairs
}

// Difference is how much longer the stage took here than beside; not known
// unless both went well.
func (p Pair) Difference() (time.Duration, bool) {
	if p.Here == nil || p.Beside == nil || p.Here.State != Succeeded || p.Beside.State != Succeeded {
		return 0, false
	}
	here, known := p.Here.Took()
	beside, knownToo := p.Beside.Took()
	return here - beside, known && knownToo
}

// firsts are the first spans of each stage, in their order.
func firsts(spans []*Span) []*Span {
	var out []*Span
	for _, s := range spans {
		if s.Kind == Stage && !slices.ContainsFunc(out, func(o *Span) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	return out
}

func last(spans []*Span, name string) *Span {
	var found *Span
	for _, s := range spans {
		if s.Kind == Stage && s.Name == name && (found == nil || s.State == Succeeded || found.State != Succeeded) {
			found = s
		}
	}
	return found
}
