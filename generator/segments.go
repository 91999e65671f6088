package generator

import (
	"regexp"
	"strings"
)

// Segment is a piece of a script: an explanation and the code below it. Either
// may be empty.
type Segment struct {
	Docs string // text of the comment lines, without their marks
	Code string
}

var (
	commentLine = regexp.MustCompile(`^\s*#( |$)`)
	hereDoc     = regexp.MustCompile(`<<-?\s*(['"]?)([A-Za-z_][A-Za-z0-9_]*)['"]?`)
)

// Segments cuts a script where an explanation begins. A comment inside a here
// document is part of the code, and so is a directive for shellcheck, which is
// left out. A setting may hold any text and begins none.
func Segments(script string) []Segment {
	var out []Segment
	var current Segment
	end := "" // word that ends the here document we are in
	for i, text := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		isComment := end == "" && i > 0 && commentLine.MatchString(text)
		switch {
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
		} else if m := hereDoc.FindStringSubmatch(text); m != nil && end == "" && !strings.HasPrefix(text, "readonly ") {
			end = m[2]
		}
	}
	return append(out, current)
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
