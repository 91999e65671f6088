package audit

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substitution is $(…): what audit knows becomes a text of one form, whatever
// the script's way to write it; all else stands for itself.
func (w *walk) substitution(c *syntax.CmdSubst) value {
	if len(c.Stmts) != 1 {
		return whole(w.source(c))
	}
	return w.answer(c.Stmts[0], c)
}

// answer is the output of a command.
func (w *walk) answer(s *syntax.Stmt, c *syntax.CmdSubst) value {
	w.step()
	if b, ok := s.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.OrStmt || b.Op == syntax.AndStmt) {
		return w.answer(b.X, c)
	}
	if b, ok := s.Cmd.(*syntax.Block); ok && len(b.Stmts) == 1 {
		return w.answer(b.Stmts[0], c)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return whole(w.source(c))
	}
	items := w.items(call.Args)
	if len(items) == 0 {
		return nil
	}
	name := items[0].value.seenFrom(w.path).text()
	if body := w.functions[name]; body != nil {
		return w.answerOf(body, items[1:], c)
	}
	args := w.args(items)
	if len(args) == 0 {
		return nil
	}
	switch name {
	case "cat":
		if len(args) == 1 && len(s.Redirs) == 1 && s.Redirs[0].Hdoc != nil {
			return trimmedEnd(w.heredoc(s.Redirs[0]))
		}
	case "echo", "printf":
		return w.echoed(args[1:])
	case "pwd":
		return plain(workingDirectory)
	case "image_for":
		return plain(w.image(args[1:]))
	case "podman":
		if len(args) > 1 && args[1].text == "run" {
			if payload := imageQuestion(args[2:]); payload != "" {
				return plain(w.image([]arg{{text: payload}}))
			}
		}
	case "mktemp":
		return plain(temporary)
	case "oc":
		w.mirrors(args)
		return plain(w.compute(unbroken(releaseQuestion(args))))
	}
	return whole("$(" + listOf(args) + ")")
}

// temporary stands for whatever mktemp gives.
const temporary = "$(mktemp)"

// answerOf is the output of a function that is one command.
func (w *walk) answerOf(body *syntax.Stmt, arguments []item, c *syntax.CmdSubst) (out value) {
	block, ok := body.Cmd.(*syntax.Block)
	if !ok || len(block.Stmts) == 0 {
		return whole(w.source(c))
	}
	w.enterCall()
	w.framed(&frame{kind: frameFunction, arguments: arguments, line: w.line}, func() {
		last := len(block.Stmts) - 1
		w.statements(block.Stmts[:last])
		out = w.answer(block.Stmts[last], c)
	})
	w.depth--
	return out
}

func trimmedEnd(v value) value {
	out := append(value{}, v...)
	for n := len(out) - 1; n >= 0; n-- {
		out[n].text = strings.TrimRight(out[n].text, "\n")
		if out[n].text != "" {
			break
		}
	}
	return out
}

func (w *walk) echoed(args []arg) value {
	var out value
	for len(args) > 0 && (args[0].text == "-n" || args[0].text == "%s" || args[0].text == `%s\n`) {
		args = args[1:]
	}
	for i, a := range args {
		if i > 0 {
			out = append(out, piece{" ", a.when})
		}
		out = append(out, piece{a.text, a.when})
	}
	return out
}

func listOf(args []arg) string {
	var parts []string
	for _, a := range args {
		parts = append(parts, a.text)
	}
	return strings.Join(parts, " ")
}

func (w *walk) compute(text string) string {
	if _, known := w.script.computed[text]; !known {
		w.script.computed[text] = computation{line: w.line, when: w.path}
	}
	return text
}

// releaseQuestion is a call of oc in the words of stage data. The release that
// is asked and the mirror's flag are what every such call has.
func releaseQuestion(args []arg) string {
	var words, extra []string
	path := ""
	for i := 1; i < len(args); i++ {
		switch text := args[i].text; {
		case text == "-o" || text == "--output":
			if i+1 < len(args) {
				i++
				path = args[i].text
			}
		case strings.HasPrefix(text, "-o=") || strings.HasPrefix(text, "--output="):
			_, path, _ = strings.Cut(text, "=")
		case strings.HasPrefix(text, "-ojsonpath="):
			path = text[2:]
		case text == "" || text == "$RELEASE_IMAGE_DIGEST" || mirrorFlag(text):
		case strings.HasPrefix(text, "-"):
			extra = append(extra, text)
		default:
			words = append(words, text)
		}
	}
	text := "oc " + strings.Join(words, " ")
	if expr, ok := strings.CutPrefix(path, "jsonpath="); ok {
		text += ", jsonpath " + expr
	} else if path != "" {
		text += ", output " + path
	}
	for _, x := range extra {
		text += ", " + x
	}
	return "$(" + text + ")"
}

// mirrors notes the flags that lead oc to a mirror, once each.
func (w *walk) mirrors(args []arg) {
	for _, a := range args {
		if !mirrorFlag(a.text) {
			continue
		}
		f := Fact{Kind: factComputed, Key: mirrorVariable, Value: a.text, When: a.when.String(), Line: w.line}
		known := false
		for _, m := range w.script.mirrors {
			known = known || m.Value == f.Value && m.When == f.When
		}
		if !known {
			w.script.mirrors = append(w.script.mirrors, f)
		}
	}
}

// mirrorVariable is the variable of stage data that says how oc finds mirrors.
const mirrorVariable = "MIRROR_FLAG"

func mirrorFlag(text string) bool {
	return strings.HasPrefix(text, "--icsp-file=") || strings.HasPrefix(text, "--idms-file=")
}

// unbroken writes a text that stands for a value which only a running script
// learns, so that the shell's word splitting does not cut it.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

// broken is the text again, for people.
func broken(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// whole is a value of which only the script's own words are known.
func whole(text string) value { return plain(unbroken(text)) }
