package audit

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// source is a piece of the script as it stands there, on one line.
func (w *walk) source(n syntax.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return "?"
	}
	return w.script.actions.shown(strings.Join(strings.Fields(b.String()), " "))
}

// items expands the words of a command into its arguments.
func (w *walk) items(words []*syntax.Word) []item {
	var out []item
	open := len(w.parts)
	for _, word := range words {
		if x := w.script.actions.control1(word.Lit()); x != nil {
			w.open(x)
			continue
		}
		for _, braced := range w.braces(word) {
			for _, it := range w.wordItems(braced) {
				if it.line == 0 {
					it.line = int(word.Pos().Line())
				}
				if len(w.parts) > open {
					it.when, _ = it.when.and(w.path...)
				}
				out = append(out, it)
			}
		}
		w.bounded(len(out))
	}
	return out
}

// bounded refuses lists that no bootkube.sh has.
func (w *walk) bounded(n int) {
	if n > w.limits.Text/16 {
		w.refuse("a list of more than %d words", w.limits.Text/16)
	}
}

// braces expands {a,b}; sequences stay as they are.
func (w *walk) braces(word *syntax.Word) []*syntax.Word {
	syntax.SplitBraces(word)
	for i, part := range word.Parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok || br.Sequence {
			continue
		}
		var out []*syntax.Word
		for _, element := range br.Elems {
			one := &syntax.Word{}
			one.Parts = append(one.Parts, word.Parts[:i]...)
			one.Parts = append(one.Parts, element.Parts...)
			one.Parts = append(one.Parts, word.Parts[i+1:]...)
			out = append(out, w.braces(one)...)
			w.step()
			w.bounded(len(out))
		}
		return out
	}
	return []*syntax.Word{word}
}

// wordItems expands one word, with word splitting.
func (w *walk) wordItems(word *syntax.Word) []item {
	var out []item
	var current value
	started, quoted, line := false, false, 0
	flush := func() {
		if started {
			it := current.asItem()
			it.quoted, it.line = quoted, line
			out = append(out, it)
		}
		current, started, quoted, line = nil, false, false, 0
	}
	for _, part := range word.Parts {
		w.step()
		if list, ok := w.listPart(part); ok {
			for i, it := range list {
				if i > 0 || len(it.when) > 0 && len(current) == 0 {
					flush()
				}
				current, started, quoted, line = append(current, it.value.under(it.when)...), true, len(it.when) == 0, it.line
			}
			continue
		}
		switch p := part.(type) {
		case *syntax.Lit:
			current, started, quoted = append(current, w.literal(unescaped(p.Value))...), true, true
		case *syntax.SglQuoted:
			current, started, quoted = append(current, w.singleQuoted(p)...), true, true
		case *syntax.DblQuoted:
			current, started, quoted = append(current, w.parts1(p.Parts)...), true, true
		default:
			words, left, right := w.part(part).seenFrom(w.path).split()
			if !left {
				flush()
			}
			for i, v := range words {
				if i > 0 {
					flush()
				}
				current, started = append(current, v...), true
			}
			if !right {
				flush()
			}
		}
		w.check(current)
	}
	flush()
	return out
}

func (w *walk) check(v value) {
	if v.size() > w.limits.Text || len(v) > 512 {
		w.refuse("a value that is too long to follow")
	}
}

// listPart is a part of a word that is a list: "$@" or an array, in quotes or
// not.
func (w *walk) listPart(part syntax.WordPart) ([]item, bool) {
	switch p := part.(type) {
	case *syntax.DblQuoted:
		return w.listIn(p)
	case *syntax.ParamExp:
		return w.list(p)
	}
	return nil, false
}

// listIn is "${ARRAY[@]}" or "$@".
func (w *walk) listIn(p *syntax.DblQuoted) ([]item, bool) {
	if len(p.Parts) != 1 {
		return nil, false
	}
	param, ok := p.Parts[0].(*syntax.ParamExp)
	if !ok {
		return nil, false
	}
	return w.list(param)
}

// list is an expansion of all items of an array or of all arguments; the
// common ${A[@]+"${A[@]}"} too.
func (w *walk) list(p *syntax.ParamExp) ([]item, bool) {
	if p.Length || p.Excl || p.Slice != nil || p.Repl != nil {
		return nil, false
	}
	all := p.Index != nil && isAll(p.Index)
	name := p.Param.Value
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			if (all || w.variables[name].array) && p.Exp.Word != nil {
				return w.wordItems(p.Exp.Word), true
			}
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
			if all {
				return w.variables[name].items, true
			}
		}
		return nil, false
	}
	if name == "@" || name == "*" {
		return w.positional(), true
	}
	if all {
		v, known := w.variables[name]
		if !known {
			return []item{{value: plain("$" + name)}}, true
		}
		if !v.array {
			return []item{{value: v.value, quoted: true}}, true
		}
		return v.items, true
	}
	return nil, false
}

func isAll(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*")
}

func (w *walk) positional() []item {
	for i := len(w.frames) - 1; i >= 0; i-- {
		if w.frames[i].kind == frameFunction {
			return w.frames[i].arguments
		}
	}
	return nil
}

// quotedText expands a word as one text.
func (w *walk) quotedText(word *syntax.Word) value {
	if word == nil {
		return nil
	}
	return w.parts1(word.Parts)
}

func (w *walk) parts1(parts []syntax.WordPart) value {
	var out value
	for _, p := range parts {
		w.step()
		out = append(out, w.part(p)...)
		w.check(out)
	}
	return out
}

func (w *walk) part(part syntax.WordPart) value {
	switch p := part.(type) {
	case *syntax.Lit:
		return w.literal(unescaped(p.Value))
	case *syntax.SglQuoted:
		return w.singleQuoted(p)
	case *syntax.DblQuoted:
		if list, ok := w.listIn(p); ok {
			return listText(list)
		}
		return w.parts1(p.Parts)
	case *syntax.ParamExp:
		return w.param(p)
	case *syntax.CmdSubst:
		return w.substitution(p)
	}
	return whole(w.source(part))
}

// singleQuoted is '…', or $'…' with its escapes.
func (w *walk) singleQuoted(p *syntax.SglQuoted) value {
	if !p.Dollar {
		return w.literal(p.Value)
	}
	text, _, err := expand.Format(nil, p.Value, nil)
	if err != nil {
		return whole(w.source(p))
	}
	return w.literal(text)
}

func listText(list []item) value {
	var out value
	for i, it := range list {
		if i > 0 {
			out = append(out, piece{text: " ", when: it.when})
		}
		out = append(out, it.value.under(it.when)...)
	}
	return out
}

// literal is a text of the script; parts of the template within it become
// pieces with their condition.
func (w *walk) literal(text string) value {
	acts := w.script.actions
	if !strings.Contains(text, acts.prefix) {
		return plain(text)
	}
	var out value
	var open []guard
	for rest := text; rest != ""; {
		n := strings.Index(rest, acts.prefix)
		if n < 0 {
			n = len(rest)
		}
		under := guard{}
		for _, g := range open {
			under, _ = under.and(g...)
		}
		if n > 0 {
			out = append(out, piece{rest[:n], under})
			rest = rest[n:]
			continue
		}
		word, after := acts.first(rest)
		x := acts.at(word)
		rest = after
		switch {
		case x == nil:
			out = append(out, piece{word, under})
		case x.kind == actionValue:
			out = append(out, piece{"{{" + x.text + "}}", under})
		case x.kind == actionIf:
			open = append(open, guard{x.atom()})
		case x.kind == actionElse && len(open) > 0:
			open[len(open)-1] = open[len(open)-1].negation()
		case x.kind == actionEnd && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return out
}

// unescaped takes the backslashes out of an unquoted or double-quoted text.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if text[i] == '\n' {
				continue
			}
			if strings.IndexByte("$`\"\\ '*?[](){}&|;<>!#~", text[i]) < 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// opaque are variables whose value bootkube.sh gets when it runs, or that say
// how the installer wrote it.
func opaque(name string) bool { return "$"+name == inPlaceVariable }

func (w *walk) param(p *syntax.ParamExp) value {
	name := p.Param.Value
	if list, ok := w.list(p); ok {
		return listText(list)
	}
	v, known := w.lookup(name, p.Index)
	if p.Exp != nil && p.Slice == nil && p.Repl == nil && !p.Length && !p.Excl {
		empty := len(v) == 0
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if known && empty && (p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull) {
				return w.quotedText(p.Exp.Word)
			}
			if !known && isNumber(name) {
				return w.quotedText(p.Exp.Word)
			}
			return v
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			return v
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			if known && empty {
				return nil
			}
			return w.quotedText(p.Exp.Word)
		}
		return w.trimmed(p, v)
	}
	if p.Length || p.Excl || p.Slice != nil || p.Repl != nil || p.Exp != nil {
		return whole(w.source(p))
	}
	return v
}

// trimmed is ${NAME%suffix} or ${NAME#prefix} of a known text with a plain
// pattern; else the expansion as it stands.
func (w *walk) trimmed(p *syntax.ParamExp, v value) value {
	pattern := w.quotedText(p.Exp.Word).text()
	plainText := len(v) == 1 && len(v[0].when) == 0 && !strings.Contains(v[0].text, "$") && !strings.ContainsAny(pattern, "*?[$")
	switch p.Exp.Op {
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if plainText {
			return plain(strings.TrimSuffix(v[0].text, pattern))
		}
	case syntax.RemSmallPrefix, syntax.RemLargePrefix:
		if plainText {
			return plain(strings.TrimPrefix(v[0].text, pattern))
		}
	}
	return whole(w.source(p))
}

func isNumber(name string) bool {
	return name != "" && strings.Trim(name, "0123456789") == ""
}

// lookup is the value of a variable or argument; an unknown one stands for
// itself.
func (w *walk) lookup(name string, index syntax.ArithmExpr) (value, bool) {
	if isNumber(name) {
		args := w.positional()
		n := 0
		for _, c := range name {
			n = min(n*10+int(c-'0'), 1<<16)
		}
		if n == 0 || n > len(args) {
			return nil, false
		}
		return args[n-1].value.under(args[n-1].when), true
	}
	v, known := w.variables[name]
	if !known || opaque(name) {
		return plain("$" + name), false
	}
	if !v.array {
		return v.value, true
	}
	i := 0
	if word, ok := index.(*syntax.Word); ok && isNumber(word.Lit()) {
		for _, c := range word.Lit() {
			i = min(i*10+int(c-'0'), 1<<16)
		}
	} else if index != nil {
		return whole("$" + name + "[" + w.source(index) + "]"), false
	}
	if i >= len(v.items) {
		return nil, true
	}
	return v.items[i].value.under(v.items[i].when), true
}

func (w *walk) heredoc(r *syntax.Redirect) value {
	v := w.quotedText(r.Hdoc)
	if r.Op != syntax.DashHdoc {
		return v
	}
	out := make(value, len(v))
	for i, p := range v {
		lines := strings.Split(p.text, "\n")
		for j := range lines {
			if i == 0 || j > 0 {
				lines[j] = strings.TrimLeft(lines[j], "\t")
			}
		}
		out[i] = piece{strings.Join(lines, "\n"), p.when}
	}
	return out
}

// lines cuts a value at its line ends; empty lines are left out.
func (v value) lines() []value {
	var out []value
	var current value
	flush := func() {
		if strings.TrimSpace(current.text()) != "" {
			out = append(out, current)
		}
		current = nil
	}
	for _, p := range v {
		parts := strings.Split(p.text, "\n")
		for i, text := range parts {
			if i > 0 {
				flush()
			}
			if text != "" {
				current = append(current, piece{text, p.when})
			}
		}
	}
	flush()
	return out
}

// args expands the words of a command into its arguments, alternatives told
// apart.
func (w *walk) args(items []item) []arg {
	var out []arg
	for _, it := range items {
		w.step()
		out = append(out, it.alternatives(w.path)...)
	}
	return out
}

// onePath is a word that names a file, without the working directory.
func (w *walk) onePath(word *syntax.Word) string {
	return belowWork(w.quotedText(word).seenFrom(w.path).text())
}
