package labs

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Problem is one thing that is wrong in a YAML file, with all that its
// author needs to fix it.
type Problem struct {
	File    string `json:"file"`              // path as the user gave it
	Line    int    `json:"line,omitempty"`    // 1-based line in File; 0 when the file as a whole is meant
	Column  int    `json:"column,omitempty"`  // 1-based character in that line; 0 when the line as a whole is meant
	Excerpt string `json:"excerpt,omitempty"` // that line, without its end
	Path    string `json:"path,omitempty"`    // where in the document, as networking.machineNetwork[0].cidr
	Message string `json:"message"`           // what is wrong
	Allowed string `json:"allowed,omitempty"` // what is allowed, empty when Message says it all
	Hint    string `json:"hint,omitempty"`    // what to do, empty when it is plain
	Warning bool   `json:"warning"`           // true when the lab can be generated all the same
}

// String gives the problem in up to five lines: place and message, the line of
// the file itself with a caret below it, what is allowed, a hint.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(visible(p.File))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Path != "" {
		b.WriteString(visible(p.Path) + ": ")
	}
	b.WriteString(visible(p.Message))
	if p.Excerpt != "" {
		fmt.Fprintf(&b, "\n  %4d | %s", p.Line, printable(p.Excerpt))
		if before := []rune(p.Excerpt); p.Column > 0 && p.Column <= min(len(before)+1, longestExcerpt) {
			width := runewidth.StringWidth(visible(string(before[:p.Column-1])))
			b.WriteString("\n       | " + strings.Repeat(" ", width) + "^")
		}
	}
	if p.Allowed != "" {
		b.WriteString("\n  allowed: " + p.Allowed)
	}
	if p.Hint != "" {
		b.WriteString("\n  hint: " + p.Hint)
	}
	return b.String()
}

// longestExcerpt is how many characters of a line a message repeats.
const longestExcerpt = 160

// printable is a line of a file, visible and short.
func printable(line string) string { return clip(visible(line), longestExcerpt) }

// visible shows what cannot be seen, and keeps a text from playing tricks on a
// terminal.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == '\n', Hidden(r):
			return '\uFFFD'
		}
		return r
	}, text)
}

// clip shortens a text to a number of characters.
func clip(text string, longest int) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}

// quote repeats a value of a file in a message: in quotes, visible, short, and
// not at all when it may be a secret.
func quote(value string) string {
	if looksSecret(value) {
		return "this value"
	}
	return strconv.Quote(clip(value, 60))
}

// Problems is everything that is wrong, in the order of the file.
type Problems []Problem

// Error gives all problems, each in its own lines.
func (ps Problems) Error() string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = p.String()
	}
	return strings.Join(parts, "\n")
}

// Err returns the errors among the problems as one error, nil if there are
// only warnings or nothing at all.
func (ps Problems) Err() error {
	if errs := ps.Errors(); len(errs) > 0 {
		return errs
	}
	return nil
}

// Errors returns the problems that are no warnings, nil if there are none.
func (ps Problems) Errors() Problems { return ps.filter(false) }

// Warnings returns the problems that are warnings, nil if there are none.
func (ps Problems) Warnings() Problems { return ps.filter(true) }

func (ps Problems) filter(warning bool) Problems {
	var out Problems
	for _, p := range ps {
		if p.Warning == warning {
			out = append(out, p)
		}
	}
	return out
}

// sorted returns the problems by file and line; problems of one line keep
// their order.
func (ps Problems) sorted() Problems {
	out := append(Problems(nil), ps...)
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].File != out[j].File {
			return out[i].File < out[j].File
		}
		return out[i].Line < out[j].Line
	})
	return out
}
