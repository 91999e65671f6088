package audit

import (
	"sort"
	"strings"
)

// atom is one thing that a condition asks. All commands of a script are
// thought of with the atoms that must hold for them to run.
type atom struct {
	kind string
	arg  string
	not  bool
	all  guard // of kind neverAll: not all of these hold
}

// Kinds of atoms. The names of those that stage data knows are the words that
// the facts use.
const (
	isFile     = "file"
	isDir      = "directory"
	exists     = "exists"
	notEmpty   = "not empty"
	inPlace    = "in place"
	profile    = "a cluster profile"
	installer  = "the installer's" // a condition of its template
	succeeds   = "succeeds"
	isSet      = "is set"
	otherTest  = "test"
	neverAll   = "not all of"
	eachEntry  = "for each"
	sourceFile = "can be read"
)

// guard is a conjunction of atoms, sorted, none twice.
type guard []atom

func (a atom) String() string {
	text := a.kind
	if a.arg != "" {
		text += " " + a.arg
	}
	if a.kind == neverAll {
		text += " (" + a.all.String() + ")"
	}
	if a.not {
		return "not " + text
	}
	return text
}

func (g guard) String() string {
	var parts []string
	for _, a := range g {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " and ")
}

// never is a condition that cannot hold.
var never = atom{kind: otherTest, arg: "never"}

func (a atom) same(b atom) bool {
	return a.kind == b.kind && a.arg == b.arg && a.not == b.not && (a.kind != neverAll || a.all.equal(b.all))
}

func (a atom) negated() atom {
	if a.kind == neverAll && len(a.all) == 1 {
		return a.all[0]
	}
	a.not = !a.not
	return a
}

// has says whether an atom is among those of a guard.
func (g guard) has(a atom) bool {
	for _, b := range g {
		if a.same(b) {
			return true
		}
	}
	return false
}

// equal says whether two guards are the same, atom by atom.
func (g guard) equal(h guard) bool {
	if len(g) != len(h) {
		return false
	}
	for i := range g {
		if !g[i].same(h[i]) {
			return false
		}
	}
	return true
}

// and joins guards into one, simplified; possible is false when it can never
// hold.
func (g guard) and(more ...atom) (joined guard, possible bool) {
	if len(more) == 0 {
		return g, true
	}
	all := append(append(guard{}, g...), more...)
	out := make(guard, 0, len(all))
	for _, a := range all {
		if a.same(never) {
			return nil, false
		}
		if a.negated().same(never) {
			continue
		}
		a, keep, possible := a.given(all)
		if !possible || keep && all.has(a.negated()) {
			return nil, false
		}
		if keep && !out.has(a) {
			out = append(out, a)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].before(out[j]) })
	if len(out) == 0 {
		return nil, true
	}
	return out, true
}

// before is the order of atoms in a guard: as they read, what is negated last.
func (a atom) before(b atom) bool {
	switch {
	case a.not != b.not:
		return b.not
	case a.kind != b.kind:
		return a.kind < b.kind
	case a.arg != b.arg:
		return a.arg < b.arg
	}
	return a.kind == neverAll && a.String() < b.String()
}

// given simplifies a "not all of" by what is known to hold.
func (a atom) given(known guard) (simpler atom, keep, possible bool) {
	if a.kind != neverAll || a.not {
		return a, true, true
	}
	var left guard
	for _, b := range a.all {
		switch {
		case known.has(b.negated()):
			return a, false, true
		case !known.has(b):
			left = append(left, b)
		}
	}
	switch len(left) {
	case 0:
		return a, false, false
	case 1:
		return left[0].negated(), true, true
	}
	return atom{kind: neverAll, all: left}, true, true
}

// negation is a guard that holds when g does not.
func (g guard) negation() guard {
	if len(g) == 1 {
		return guard{g[0].negated()}
	}
	return guard{{kind: neverAll, all: g}}
}

// without takes away what is known anyway; possible is false when the rest
// contradicts it.
func (g guard) without(known guard) (rest guard, possible bool) {
	if len(g) == 0 {
		return nil, true
	}
	joined, possible := known.and(g...)
	for _, a := range joined {
		if !known.has(a) {
			rest = append(rest, a)
		}
	}
	return rest, possible
}

// drop leaves out the atoms that a function picks.
func (g guard) drop(pick func(atom) bool) guard {
	var out guard
	for _, a := range g {
		if !pick(a) {
			out = append(out, a)
		}
	}
	return out
}
