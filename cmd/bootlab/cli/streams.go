// Package cli is what commands share: streams, errors with a hint, opening a lab,
// and the forms of numbers and tables.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

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

// PrintError gives an error and its hint, lower case, each on its own line;
// problems of a file come with their own lines. Any of it may quote what a
// machine said. It says nothing where a command's report says all.
func PrintError(w io.Writer, err error) {
	if saidAlready(err) {
		return
	}
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
