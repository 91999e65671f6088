package generator

import (
	"regexp"
	"strings"
)

// Segment is a piece of a script: an explanation and the code below it. Either
// may be empty.
type Segment struct {
	Step string // number and title, if the code is all that a step of a script runs
	Docs string // text of the comment lines, without their marks
	Code string
}

var (
	hereDoc     = regexp.MustCompile(`(?:^|[^<])<<-?\s*(['"]?)([A-Za-z_][A-Za-z0-9_]*)['"]?`)
	settingLine = regexp.MustCompile(`^(readonly |[A-Z][A-Z0-9_]*\+?=\$?')`)
	directive   = regexp.MustCompile(`^\s*# shellcheck `)
	stepBegin   = regexp.MustCompile(`^if step ([0-9]+) '(.*)'; then$`)
	stepEnd     = regexp.MustCompile(`^fi( 9>&-)?$`)
)

// Segments cuts a script where an explanation begins, and where a step begins and
// ends. A comment inside a here document or a step is part of the code. Directives
// for shellcheck are left out. A setting may hold any text and begins nothing.
func Segments(script string) []Segment {
	var out []Segment
	var current Segment
	end := "" // word that ends the here document we are in
	for i, text := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		var step []string
		if strings.HasPrefix(text, "if step ") {
			step = stepBegin.FindStringSubmatch(text)
		}
		isComment := end == "" && i > 0 && current.Step == "" && isCommentLine(text)
		switch {
		case end == "" && (step != nil || current.Step != "" && stepEnd.MatchString(text)):
			if current != (Segment{}) {
				out = append(out, current)
			}
			current = Segment{}
			if step != nil {
				current.Step = step[1] + ": " + strings.ReplaceAll(step[2], `'\''`, "'")
			}
			continue
		case current.Step != "" && end == "" && directive.MatchString(text):
			continue
		case isComment && strings.Contains(text, "# shellcheck "):
			continue
		case isComment && strings.TrimSpace(current.Code) != "":
			out = append(out, current)
			current = Segment{}
		}
		if isComment {
			text = strings.TrimPrefix(strings.TrimSpace(text), "#")
			current.Docs += strings.TrimPrefix(text, " ") + "\n"
			continue
		}
		current.Code += text + "\n"
		if end != "" && strings.TrimSpace(text) == end {
			end = ""
		} else if end == "" && strings.Contains(text, "<<") && !settingLine.MatchString(text) {
			if m := hereDoc.FindStringSubmatch(text); m != nil {
				end = m[2]
			}
		}
	}
	return append(out, current)
}

// isCommentLine says whether a line is a comment: a # before a space or alone.
func isCommentLine(text string) bool {
	docs, found := strings.CutPrefix(strings.TrimSpace(text), "#")
	return found && (docs == "" || docs[0] == ' ')
}

var flagNote = regexp.MustCompile(`^(--[a-z0-9-]+): (.*)$`)

// prose makes markdown of an explanation: what is said of a command's flags, a
// flag after the other, becomes a list.
func prose(docs string) string {
	var out []string
	inList := false
	for _, line := range strings.Split(docs, "\n") {
		m := flagNote.FindStringSubmatch(line)
		switch {
		case m != nil && !inList:
			out = append(out, "", "- `"+m[1]+"`: "+m[2])
		case m != nil:
			out = append(out, "- `"+m[1]+"`: "+m[2])
		case inList && line != "":
			out = append(out, "  "+line)
			continue
		default:
			out = append(out, line)
		}
		inList = m != nil
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}
