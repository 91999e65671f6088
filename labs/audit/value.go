package audit

import "strings"

// value is a text whose parts may depend on conditions.
type value []piece

type piece struct {
	text string
	when guard
}

// item is an entry of an array, or an argument before its alternatives are
// told apart.
type item struct {
	value  value
	when   guard
	quoted bool // counts even when it is empty
	line   int
}

// arg is an argument of a command: a text, and when it is given.
type arg struct {
	text string
	when guard
	line int
}

// variable is a scalar, or an array when it has been used as one.
type variable struct {
	value value
	items []item
	array bool
}

func plain(text string) value {
	if text == "" {
		return nil
	}
	return value{{text: text}}
}

func (v value) size() int {
	n := 0
	for _, p := range v {
		n += len(p.text) + 1
	}
	return n
}

// under puts a condition on all pieces, leaving out those that contradict it.
func (v value) under(g guard) value {
	return v.each(func(when guard) (guard, bool) { return when.and(g...) })
}

// each puts another condition on each piece, and leaves out what is not possible.
// Neighbours often have the same one, which is asked for once.
func (v value) each(condition func(when guard) (now guard, possible bool)) value {
	var out value
	var when guard
	possible := true
	for i, p := range v {
		if i == 0 || !p.when.equal(v[i-1].when) {
			when, possible = condition(p.when)
		}
		if possible {
			out = append(out, piece{p.text, when})
		}
	}
	return out
}

// seenFrom is the value where some conditions are known to hold.
func (v value) seenFrom(path guard) value {
	return v.each(func(when guard) (guard, bool) { return when.without(path) })
}

// changed is what a variable holds after an assignment that is made only when
// g holds.
func (v value) changed(now value, g guard) value {
	if len(g) == 0 {
		return now
	}
	// A value that was only made longer keeps what it had.
	seen, same := v.seenFrom(g), 0
	for same < len(seen) && same < len(now) && seen[same].text == now[same].text && seen[same].when.equal(now[same].when) {
		same++
	}
	if same == len(seen) {
		return append(append(value{}, v...), now[same:].under(g)...)
	}
	return append(now.under(g), v.under(g.negation())...)
}

// text is the value without its conditions, for what is only shown.
func (v value) text() string {
	var b strings.Builder
	for _, p := range v {
		b.WriteString(p.text)
	}
	return b.String()
}

// maxChoices is how many conditions one argument may depend on and still be
// told apart into its alternatives.
const maxChoices = 4

// alternatives are the texts that an item can become.
func (it item) alternatives(path guard) []arg {
	base, possible := it.when.without(path)
	if !possible {
		return nil
	}
	known, _ := path.and(base...)
	pieces := it.value.seenFrom(known)
	var choices guard
	for _, p := range pieces {
		choices = appendChoices(choices, p.when)
	}
	if len(choices) > maxChoices {
		when, _ := base.and(atom{kind: otherTest, arg: "several conditions"})
		return []arg{{pieces.text(), when, it.line}}
	}
	var out []arg
	for n := range 1 << len(choices) {
		when := base
		ok := true
		for i, a := range choices {
			if n>>i&1 == 0 {
				a = a.negated()
			}
			if when, ok = when.and(a); !ok {
				break
			}
		}
		if !ok {
			continue
		}
		text := ""
		for _, p := range pieces {
			if rest, possible := p.when.without(when); possible && len(rest) == 0 {
				text += p.text
			}
		}
		if text != "" || it.quoted {
			out = append(out, arg{text, when, it.line})
		}
	}
	return merged(out)
}

// appendChoices collects the plain atoms of a guard, as not negated.
func appendChoices(choices guard, g guard) guard {
	for _, a := range g {
		if a.kind == neverAll {
			choices = appendChoices(choices, a.all)
			continue
		}
		a.not = false
		if !choices.has(a) {
			choices = append(choices, a)
		}
	}
	return choices
}

// merged joins alternatives that are the same text whether one atom holds or
// not.
func merged(args []arg) []arg {
	for again := true; again; {
		again = false
	pairs:
		for i := range args {
			for j := i + 1; j < len(args); j++ {
				if when, ok := joined(args[i], args[j]); ok {
					args[i].when = when
					args = append(args[:j], args[j+1:]...)
					again = true
					break pairs
				}
			}
		}
	}
	return args
}

func joined(a, b arg) (guard, bool) {
	if a.text != b.text || len(a.when) != len(b.when) {
		return nil, false
	}
	var apart guard
	for _, x := range a.when {
		if !b.when.has(x) {
			apart = append(apart, x)
		}
	}
	if len(apart) != 1 || !b.when.has(apart[0].negated()) {
		return nil, false
	}
	return a.when.drop(func(x atom) bool { return x.same(apart[0]) }), true
}

// split cuts a value at white space, as the shell does outside of quotes.
// glued says whether the value begins and ends within a word.
func (v value) split() (words []value, gluedLeft, gluedRight bool) {
	var current value
	flush := func() {
		if len(current) > 0 {
			words, current = append(words, current), nil
		}
	}
	first := true
	for _, p := range v {
		for len(p.text) > 0 {
			n := strings.IndexAny(p.text, " \t\n")
			switch {
			case n < 0:
				current = append(current, p)
				p.text = ""
			case n > 0:
				current = append(current, piece{p.text[:n], p.when})
				p.text = p.text[n:]
			default:
				flush()
				p.text = p.text[1:]
				if first {
					gluedLeft = false
				}
			}
			if first {
				gluedLeft = n != 0
				first = false
			}
			gluedRight = len(current) > 0
		}
	}
	flush()
	return words, gluedLeft, gluedRight
}

// asItem hoists a condition that all pieces of a word share.
func (v value) asItem() item {
	if len(v) == 0 {
		return item{}
	}
	for _, p := range v[1:] {
		if !p.when.equal(v[0].when) {
			return item{value: v}
		}
	}
	return item{value: plain(v.text()), when: v[0].when}
}
