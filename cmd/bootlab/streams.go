package main

import (
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// streams are the files a command reads and writes, so that tests can give
// their own.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// unseenError ends a command with that status after it has printed what is missing.
type unseenError struct{}

func (unseenError) Error() string { return "it cannot be told" }

// foundError ends a command with status 3 after it has printed what it found; run
// prints nothing more.
type foundError struct{}

func (foundError) Error() string { return "something was found" }

// printError gives an error and its hint, lower case, each on its own line;
// problems of a file come with their own lines. Any of it may quote what a
// machine said.
func printError(w io.Writer, err error) {
	var problems labs.Problems
	if errors.As(err, &problems) {
		fmt.Fprintln(w, harmless(problems.Error()))
		return
	}
	fmt.Fprintf(w, "error: %s\n", harmless(err.Error()))
	var hinted *hintError
	if errors.As(err, &hinted) {
		fmt.Fprintf(w, "  hint: %s\n", harmless(hinted.hint))
	}
}

// harmless is a text without what would control a terminal; lines and tabs stay.
func harmless(text string) string {
	cells := strings.Split(text, "\t")
	for i, cell := range cells {
		cells[i] = check.Plain(cell)
	}
	return strings.Join(cells, "\t")
}

// withHint is an error that says what to do about it.
func withHint(err error, hint string) error { return &hintError{err, hint} }

type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// asUsageError is an error about a wrong command line.
func asUsageError(err error) error { return &usageError{err} }

// usageError is a wrong command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// asUsage turns a complaint about arguments into a usage error with a hint.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return asUsageError(withHint(err, "usage: "+c.UseLine()))
		}
		return nil
	}
}
