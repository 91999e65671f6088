package audit

import "mvdan.cc/sh/v3/syntax"

// set gives a variable a value, whatever the conditions.
func (w *walk) set(name string, v variable) { w.variables[name] = v }

// assign gives a variable a value under the present conditions.
func (w *walk) assign(name string, v value) {
	old := w.variables[name]
	old.value = old.value.changed(v, w.path)
	old.array, old.items = false, nil
	w.check(old.value)
	w.variables[name] = old
}

func (w *walk) assignment(a *syntax.Assign) {
	w.step()
	if a.Name == nil || a.Naked && a.Value == nil && a.Array == nil {
		return
	}
	name := a.Name.Value
	if opaque(name) && len(w.path) == 0 && a.Value != nil && a.Value.Lit() == "true" {
		w.script.inPlace = w.line
	}
	switch {
	case a.Array != nil:
		w.assignArray(name, a)
	case a.Index != nil:
		// One entry of an array: as good as a new one at its end.
		v := w.variables[name]
		v.array = true
		v.items = append(append([]item{}, v.items...), item{value: w.quotedText(a.Value), when: w.path, quoted: true})
		w.set(name, v)
	case a.Append && w.variables[name].array:
		w.set(name, variable{array: true, items: append(append([]item{}, w.variables[name].items...), item{value: w.quotedText(a.Value), when: w.path, quoted: true})})
	case a.Append:
		old, _ := w.lookup(name, nil)
		w.assign(name, append(append(value{}, old.seenFrom(w.path)...), w.quotedText(a.Value)...))
	default:
		w.assign(name, w.quotedText(a.Value).seenFrom(w.path))
	}
}

func (w *walk) assignArray(name string, a *syntax.Assign) {
	var words []*syntax.Word
	for _, e := range a.Array.Elems {
		if e.Value != nil {
			words = append(words, e.Value)
		}
	}
	now := w.items(words)
	old := w.variables[name]
	if !old.array && len(old.value) > 0 {
		old.items = []item{{value: old.value, quoted: true}}
	}
	var kept []item
	for _, it := range old.items {
		if !a.Append {
			when, possible := it.when.and(w.path.negation()...)
			if !possible || len(w.path) == 0 {
				continue
			}
			it.when = when
		}
		kept = append(kept, it)
	}
	for _, it := range now {
		if when, possible := it.when.and(w.path...); possible {
			it.when = when
			kept = append(kept, it)
		}
	}
	w.bounded(len(kept))
	w.set(name, variable{array: true, items: kept})
}

// declare is declare, local, readonly or export.
func (w *walk) declare(c *syntax.DeclClause) {
	for _, a := range c.Args {
		if a.Name == nil {
			continue
		}
		if c.Variant.Value == "local" {
			w.localise(a.Name.Value)
		}
		if a.Naked && a.Value == nil {
			continue
		}
		w.assignment(a)
	}
}

// localise keeps the value that a variable has outside of a function.
func (w *walk) localise(name string) {
	for i := len(w.frames) - 1; i >= 0; i-- {
		f := w.frames[i]
		if f.kind != frameFunction {
			continue
		}
		if _, done := f.local[name]; done {
			return
		}
		if f.local == nil {
			f.local = map[string]*variable{}
		}
		if v, known := w.variables[name]; known {
			f.local[name] = &v
		} else {
			f.local[name] = nil
		}
		delete(w.variables, name)
		return
	}
}
