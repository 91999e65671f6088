package check

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"bootlab/labs"
)

// Plain is a text without what steers a terminal: control characters, those that
// turn the direction of writing, and bytes that are no text. Lines stay.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case r == utf8.RuneError, labs.Hidden(r):
			return '?'
		}
		return r
	}, text)
}

// Printer writes a report for people.
type Printer struct {
	To     io.Writer
	Colour bool
	err    error
}

// The colours of outcomes, as terminals have them.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *Printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.To, format, args...)
	}
}

func (p *Printer) in(colour, text string) string {
	if !p.Colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Stage writes one stage. Err tells of a write that failed.
func (p *Printer) Stage(s Stage) {
	switch s.State {
	case NotDone:
		p.printf("%s: %s\n", s.ID, p.in(yellow, string(NotDone)))
		p.part("because", s.Problem)
		return
	case Broken:
		p.printf("%s, on %s: %s\n", s.ID, Plain(s.On), p.in(red, strings.ToUpper(string(Broken))))
		p.part("problem", s.Problem)
		p.part("hint", s.Hint)
	default:
		p.printf("%s, on %s: %s\n", s.ID, Plain(s.On), Plain(s.Title))
	}
	for _, c := range s.Checks {
		if s.State != Broken || c.Outcome != CouldNotRun { // of those all is said
			p.check(c)
		}
	}
}

// words are how outcomes stand before a check, all of one length.
var words = map[Outcome]struct{ text, colour string }{
	Passed:      {"ok     ", green},
	Failed:      {"FAILED ", red},
	CouldNotRun: {"NOT RUN", red},
	CannotTell:  {"unknown", yellow},
}

// check writes one check; of one that passed only its title.
func (p *Printer) check(c Result) {
	word := words[c.Outcome]
	p.printf("  %s %s: %s\n", p.in(word.colour, word.text), Plain(c.ID), Plain(c.Title))
	p.details(c)
}

// details are what there is to be said of a check that does not pass.
func (p *Printer) details(c Result) {
	switch c.Outcome {
	case Failed:
		p.part("expected", c.Expected)
		p.part("found", c.Found)
		p.part("why", c.Why)
		p.part("hint", c.Hint)
	case CouldNotRun, CannotTell:
		p.part("problem", c.Problem)
	}
}

// part writes a text of one or several lines behind its name.
func (p *Printer) part(name, text string) {
	text = strings.TrimRight(Plain(text), "\n ")
	if text == "" {
		return
	}
	p.printf("          %-9s %s\n", name+":", strings.ReplaceAll(text, "\n", "\n                    "))
}

// Summary writes the last line.
func (p *Printer) Summary(r *Report) {
	s := r.Summary
	parts := []string{counted(s.Passed, "check") + " passed"}
	for _, more := range []struct {
		number int
		text   string
	}{
		{s.Failed, fmt.Sprintf("%d failed", s.Failed)},
		{s.CouldNotRun, fmt.Sprintf("%d not run", s.CouldNotRun)},
		{s.CannotTell, fmt.Sprintf("%d cannot be checked", s.CannotTell)},
		{s.Broken, counted(s.Broken, "stage") + " could not run"},
		{s.NotDone, counted(s.NotDone, "stage") + " not done yet"},
	} {
		if more.number > 0 {
			parts = append(parts, more.text)
		}
	}
	p.printf("%s: %s\n", counted(len(r.Stages), "stage"), strings.Join(parts, ", "))
}

// Changes writes what changed at a time, a line each, and what there is to be
// said of what does not pass.
func (p *Printer) Changes(at time.Time, changes []Change) {
	stamp := at.Format("2006-01-02 15:04:05")
	for _, c := range changes {
		what := c.Stage.ID
		if c.Check != nil {
			what += " " + Plain(c.Check.ID)
		}
		was := ""
		if c.Was != "" && c.Was != c.Is() {
			was = c.Was + " -> "
		}
		p.printf("%s %s: %s%s\n", stamp, what, was, c.Is())
		switch {
		case c.Check == nil:
			p.part("problem", c.Stage.Problem)
			p.part("hint", c.Stage.Hint)
		case c.Check.Outcome != Passed:
			p.details(*c.Check)
		}
	}
}

// Err is the first error of writing.
func (p *Printer) Err() error { return p.err }

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// WriteJSON writes a report as [Report] describes it.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Hostname string      `xml:"hostname,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitVerdict `xml:"failure,omitempty"`
	Error   *junitVerdict `xml:"error,omitempty"`
	Skipped *junitVerdict `xml:"skipped,omitempty"`
}

type junitVerdict struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a report as continuous integration reads it: a suite a
// stage, a case a check. What could not run is an error, what cannot be told or
// is not done yet is skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	all := junitSuites{Name: "bootlab verify " + Plain(r.Lab)}
	for _, s := range r.Stages {
		suite := junitStage(s)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Skipped += suite.Skipped
		all.Suites = append(all.Suites, suite)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitStage(s Stage) junitSuite {
	suite := junitSuite{Name: Plain(s.ID), Hostname: Plain(s.On)}
	if s.State != Verified {
		whole := junitCase{Class: suite.Name, Name: Plain(s.Script) + " --verify"}
		verdict := &junitVerdict{Message: Plain(s.Problem), Text: Plain(s.Hint)}
		if s.State == Broken {
			whole.Error = verdict
			suite.Errors++
		} else {
			verdict.Message = strings.TrimSuffix(string(NotDone)+": "+verdict.Message, ": ")
			whole.Skipped = verdict
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, whole)
	}
	for _, c := range s.Checks {
		one := junitCase{Class: suite.Name, Name: Plain(c.ID) + ": " + Plain(c.Title)}
		switch c.Outcome {
		case Failed:
			one.Failure = &junitVerdict{"expected " + Plain(c.Expected),
				"found: " + Plain(c.Found) + "\nhint: " + Plain(c.Hint)}
			suite.Failures++
		case CouldNotRun:
			one.Error = &junitVerdict{Message: Plain(c.Problem)}
			suite.Errors++
		case CannotTell:
			one.Skipped = &junitVerdict{Message: Plain(c.Problem)}
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, one)
	}
	suite.Tests = len(suite.Cases)
	return suite
}
