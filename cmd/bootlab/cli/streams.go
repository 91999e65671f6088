// Package cli is what commands share: streams, errors with a hint, opening a lab,
// and the forms of numbers and tables.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/labs"
	"bootlab/labs/inspect/check"
)

// Streams are the files a command reads and writes, so that tests can give
// their own.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// UnseenError ends a command with that status after it has printed what is missing.
type UnseenError struct{}

// Error is for errors that wrap it.
func (UnseenError) Error() string { return "it cannot be told" }

// FoundError ends a command with status 3 after it has printed what it found; run
// prints nothing more.
type FoundError struct{}

// Error is for errors that wrap it.
func (FoundError) Error() string { return "something was found" }

// PrintError gives an error and its hint, lower case, each on its own line;
// problems of a file come with their own lines. Any of it may quote what a
// machine said.
func PrintError(w io.Writer, err error) {
	var problems labs.Problems
	if errors.As(err, &problems) {
		fmt.Fprintln(w, Harmless(problems.Error()))
		return
	}
	fmt.Fprintf(w, "error: %s\n", Harmless(err.Error()))
	var hinted *hintError
	if errors.As(err, &hinted) {
		fmt.Fprintf(w, "  hint: %s\n", Harmless(hinted.hint))
	}
}

// Harmless is a text without what would control a terminal; lines and tabs stay.
func Harmless(text string) string {
	cells := strings.Split(text, "\t")
	for i, cell := range cells {
		cells[i] = check.Plain(cell)
	}
	return strings.Join(cells, "\t")
}

// Hint is an error that says what to do about it.
func Hint(err error, hint string) error { return &hintError{err, hint} }

type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// Usage is an error about a wrong command line.
func Usage(err error) error { return &UsageError{err} }

// UsageError is a wrong command line.
type UsageError struct{ err error }

// Error is what is wrong.
func (e *UsageError) Error() string { return e.err.Error() }

// Unwrap is the same, with its hint.
func (e *UsageError) Unwrap() error { return e.err }

// AsUsage turns a complaint about arguments into a usage error with a hint.
func AsUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return Usage(Hint(err, "usage: "+c.UseLine()))
		}
		return nil
	}
}
