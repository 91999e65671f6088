package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The exit statuses of bootlab. 4 is one of the scripts alone: something is
// missing on this host, or an earlier stage has not run yet.
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitFound      = 3
	ExitCannotTell = 5
)

// Status is a line of the table of exit statuses.
type Status struct {
	Code    int
	Meaning string
}

// Statuses is that table. The help and docs/command-line.md print it.
var Statuses = []Status{
	{ExitDone, "done: what was asked for is done, or all is well"},
	{ExitFailed, "error: a file, a machine or a program is missing, wrong or does not answer"},
	{ExitUsage, "usage: the command line is wrong, or names something that is not known"},
	{ExitFound, "found: a check failed, a cause is proven, something differs, a certificate has ended"},
	{ExitCannotTell, "cannot tell: nothing wrong was found, but not everything could be looked at"},
}

// StatusOf is the exit status of an error that a command returned.
func StatusOf(err error) int {
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, new(*FoundError)):
		return ExitFound
	case errors.As(err, new(*CannotTellError)):
		return ExitCannotTell
	case errors.As(err, new(*UsageError)):
		return ExitUsage
	}
	return ExitFailed
}

// FoundError ends a command that found what it looks for.
type FoundError struct{ err error }

// Found is the end of a command that found something. err is nil where the report
// says all of it.
func Found(err error) error { return &FoundError{err} }

// Error is what was found.
func (e *FoundError) Error() string { return textOf(e.err, "something was found") }

// Unwrap is the same, with its hint.
func (e *FoundError) Unwrap() error { return e.err }

// CannotTellError ends a command that could not look at everything.
type CannotTellError struct{ err error }

// CannotTell is the end of a command that could not look at everything. err is
// nil where the report says all of it.
func CannotTell(err error) error { return &CannotTellError{err} }

// Error is what could not be looked at.
func (e *CannotTellError) Error() string { return textOf(e.err, "it cannot be told") }

// Unwrap is the same, with its hint.
func (e *CannotTellError) Unwrap() error { return e.err }

func textOf(err error, otherwise string) string {
	if err == nil {
		return otherwise
	}
	return err.Error()
}

// saidAlready is true of the end of a command whose report says all of it.
func saidAlready(err error) bool {
	var found *FoundError
	var cannot *CannotTellError
	return errors.As(err, &found) && found.err == nil || errors.As(err, &cannot) && cannot.err == nil
}

// Ends says what the statuses of a command mean: those of [Statuses] that are not
// named here keep their general meaning, and 3 and 5 only commands have that name
// them.
type Ends map[int]string

const endsAnnotation = "exit status "

// SetEnds adds its statuses to a command, for its help.
func SetEnds(c *cobra.Command, ends Ends) {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	for code, meaning := range ends {
		c.Annotations[endsAnnotation+fmt.Sprint(code)] = meaning
	}
}

// endsText is the sentence about its statuses in a command's help.
func endsText(c *cobra.Command) string {
	general := map[int]string{ExitDone: "done", ExitFailed: "error", ExitUsage: "usage"}
	var parts []string
	for _, s := range Statuses {
		meaning := c.Annotations[endsAnnotation+fmt.Sprint(s.Code)]
		if meaning == "" {
			meaning = general[s.Code]
		}
		if meaning != "" {
			parts = append(parts, fmt.Sprintf("%d %s", s.Code, meaning))
		}
	}
	return fold("Exit status: "+strings.Join(parts, ", ")+".", 80)
}

// fold breaks a text into lines of at most that many characters.
func fold(text string, width int) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// newStatusTopic is the help topic with the whole table.
func newStatusTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Every command ends with one of these statuses. Its own help says what they mean\nthere.\n\n")
	for _, s := range Statuses {
		fmt.Fprintf(&b, "  %d  %s\n", s.Code, s.Meaning)
	}
	b.WriteString("\nThe generated scripts have a table of their own: SCRIPT --help prints it.")
	return &cobra.Command{Use: "exit-status", Short: "What the exit statuses of all commands mean", Long: b.String()}
}
