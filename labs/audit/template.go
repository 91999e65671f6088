package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// actions holds the actions of the installer's template. In the shell text
// each has become a word without meaning, so that lines keep their numbers and
// the shell can be parsed with both sides of every {{if}} in it.
type actions struct {
	prefix string
	list   []action
}

// action is one {{ }}: a value, or the beginning, the middle or the end of a
// part that depends on a condition.
type action struct {
	kind string // value, if, else, end
	text string // what stands between the braces
}

const (
	actionValue = "VALUE"
	actionIf    = "IF"
	actionElse  = "ELSE"
	actionEnd   = "END"
)

var actionText = regexp.MustCompile(`(?s)\{\{-?(.*?)-?\}\}`)

// withoutActions replaces the template's actions. A text without any comes
// back as it is.
func withoutActions(text string) (string, *actions, error) {
	a := &actions{prefix: "BOOTLAB_ACTION"}
	for strings.Contains(text, a.prefix) {
		a.prefix += "_X"
		if len(a.prefix) > 100 {
			return "", nil, &Refusal{Message: "is full of names that begin with BOOTLAB_ACTION", Hint: "rename them"}
		}
	}
	var out strings.Builder
	var open []int // the line of each part that is not closed yet
	chained := []int{}
	last := 0
	for _, m := range actionText.FindAllStringSubmatchIndex(text, -1) {
		whole, inner := text[m[0]:m[1]], strings.TrimSpace(text[m[2]:m[3]])
		out.WriteString(text[last:m[0]])
		last = m[1]
		line := 1 + strings.Count(text[:m[0]], "\n")
		word, _, _ := strings.Cut(inner, " ")
		switch {
		case strings.HasPrefix(inner, "/*"):
			out.WriteString(strings.Repeat("\n", strings.Count(whole, "\n")))
		case word == "if" || word == "with" || word == "range":
			open, chained = append(open, line), append(chained, 1)
			a.controls(&out, text[last:], []action{{actionIf, inner}})
		case word == "else" && len(open) > 0:
			next := []action{{actionElse, ""}}
			if rest := strings.TrimSpace(strings.TrimPrefix(inner, "else")); rest != "" {
				chained[len(chained)-1]++
				next = append(next, action{actionIf, rest})
			}
			a.controls(&out, text[last:], next)
		case word == "end" && len(open) > 0:
			a.controls(&out, text[last:], slices.Repeat([]action{{actionEnd, ""}}, chained[len(chained)-1]))
			open, chained = open[:len(open)-1], chained[:len(chained)-1]
		case word == "else" || word == "end":
			return "", nil, &Refusal{Line: line, Message: "{{" + inner + "}} without an {{if}}", Hint: "give the whole template"}
		case isValue(inner):
			out.WriteString(a.value(inner, strings.Count(whole, "\n")))
		default:
			out.WriteString(whole)
		}
	}
	if len(open) > 0 {
		return "", nil, &Refusal{Line: open[len(open)-1], Message: "an {{if}} without its {{end}}", Hint: "give the whole template"}
	}
	out.WriteString(text[last:])
	return out.String(), a, nil
}

// controls writes the placeholders of a part's beginning, middle or end, each a
// word of its own; on a line of its own within a command that goes on over
// several lines, that line goes on too.
func (a *actions) controls(out *strings.Builder, after string, list []action) {
	before := out.String()
	start := strings.LastIndexByte(before, '\n') + 1
	for _, x := range list {
		a.list = append(a.list, x)
		fmt.Fprintf(out, " %s_%s_%d_ ", a.prefix, x.kind, len(a.list)-1)
	}
	rest, _, _ := strings.Cut(after, "\n")
	alone := strings.TrimSpace(rest) == "" && a.onlyControls(before[start:])
	if alone && start > 1 && strings.HasSuffix(strings.TrimRight(before[:start-1], " \t"), `\`) {
		out.WriteString(`\`)
	}
}

// onlyControls says whether a line holds nothing but placeholders yet.
func (a *actions) onlyControls(line string) bool {
	for _, word := range strings.Fields(line) {
		if a.control1(word) == nil {
			return false
		}
	}
	return true
}

func (a *actions) value(inner string, lines int) string {
	if s, err := strconv.Unquote(inner); err == nil {
		return s
	}
	a.list = append(a.list, action{actionValue, inner})
	return fmt.Sprintf("%s_%s_%d_%s", a.prefix, actionValue, len(a.list)-1, strings.Repeat("\n", lines))
}

// isValue says whether braces hold a template's value, and are not the shell's.
func isValue(inner string) bool {
	t := parse.New("action")
	t.Mode = parse.SkipFuncCheck
	_, err := t.Parse("{{"+inner+"}}", "{{", "}}", map[string]*parse.Tree{})
	return inner != "" && err == nil
}

// control1 is the action that a word stands for, when it is not a value.
func (a *actions) control1(word string) *action {
	if x := a.at(word); x != nil && x.kind != actionValue {
		return x
	}
	return nil
}

// at is the action that a whole word stands for.
func (a *actions) at(word string) *action {
	if !strings.HasPrefix(word, a.prefix+"_") || !strings.HasSuffix(word, "_") {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(word, a.prefix+"_"), "_"), "_")
	if len(parts) != 2 {
		return nil
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil || n < 0 || n >= len(a.list) || a.list[n].kind != parts[0] {
		return nil
	}
	return &a.list[n]
}

// atom is the condition of a part.
func (x *action) atom() atom {
	switch strings.TrimSpace(strings.TrimPrefix(x.text, "if")) {
	case ".BootstrapInPlace":
		return atom{kind: inPlace}
	case ".ClusterProfile":
		return atom{kind: profile}
	}
	return atom{kind: installer, arg: x.text}
}

// shown puts the actions back into a text.
func (a *actions) shown(text string) string {
	if !strings.Contains(text, a.prefix) {
		return text
	}
	return regexp.MustCompile(a.prefix+`_[A-Z]+_\d+_`).ReplaceAllStringFunc(text, func(word string) string {
		if x := a.at(word); x != nil {
			return "{{" + x.text + "}}"
		}
		return word
	})
}

var placeholder = regexp.MustCompile(`^[A-Z_]+_[A-Z]+_\d+_`)

// first cuts the placeholder off that a text begins with.
func (a *actions) first(text string) (word, rest string) {
	word = placeholder.FindString(text)
	if word == "" {
		word = a.prefix
	}
	return word, text[len(word):]
}
