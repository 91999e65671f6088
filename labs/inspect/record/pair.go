package record

import "time"

// Pair is a stage of two runs side by side: of each the last attempt that went
// well, else the last one; nil where there is none.
type Pair struct {
	Stage       string
	Here, Other *Span
}

// Pairs puts the stages of two runs side by side, in the order of the first run;
// those that only the second has stand behind what comes before them there.
func Pairs(here, other []*Span) []Pair {
	first, mine := stages(here)
	second, theirs := stages(other)
	behind, at := map[string][]string{}, "" // only the second has them; "" is the beginning
	for _, name := range second {
		if mine[name] != nil {
			at = name
		} else {
			behind[at] = append(behind[at], name)
		}
	}
	var pairs []Pair
	add := func(names ...string) {
		for _, name := range names {
			pairs = append(pairs, Pair{name, mine[name], theirs[name]})
		}
	}
	add(behind[""]...)
	for _, name := range first {
		add(name)
		add(behind[name]...)
	}
	return pairs
}

// Difference is how much longer the stage took here than other; not known
// unless both went well.
func (p Pair) Difference() (time.Duration, bool) {
	if p.Here == nil || p.Other == nil || p.Here.State != Succeeded || p.Other.State != Succeeded {
		return 0, false
	}
	here, known := p.Here.Took()
	other, knownToo := p.Other.Took()
	return here - other, known && knownToo
}

// stages are the names of stages, each once and in their order, and which span
// stands for each.
func stages(spans []*Span) (names []string, of map[string]*Span) {
	of = map[string]*Span{}
	for _, s := range spans {
		if s.Kind != Stage {
			continue
		}
		found := of[s.Name]
		if found == nil {
			names = append(names, s.Name)
		}
		if found == nil || s.State == Succeeded || found.State != Succeeded {
			of[s.Name] = s
		}
	}
	return names, of
}
