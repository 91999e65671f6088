// Command bootlab makes, from one lab.yaml, the scripts and the guide with
// which an OpenShift bootstrap is done by hand.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"bootlab/labs"
	"bootlab/labs/inspect/check"
)

func main() {
	// A command lives for milliseconds: collecting garbage costs more of them
	// than the few megabytes it frees.
	debug.SetGCPercent(400)
	os.Exit(run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// streams are the files a command reads and writes, so that tests can give
// their own.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// Exit statuses: what was asked for is done; something is wrong with what was
// given or found; the command line is.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitFound  = 3 // something was looked for, and it is there: a failed check, a cause
)

// exitUnseen: what was asked for cannot be told.
const exitUnseen = 5

// unseenError ends a command with that status after it has printed what is missing.
type unseenError struct{}

func (unseenError) Error() string { return "it cannot be told" }

// foundError ends a command with status 3 after it has printed what it found; run
// prints nothing more.
type foundError struct{}

func (foundError) Error() string { return "something was found" }

// run executes one command line and returns the exit status. Errors are
// printed here and nowhere else.
func run(args []string, io streams) int {
	root := newRootCommand(io)
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDone
	}
	if errors.As(err, new(unseenError)) {
		return exitUnseen
	}
	if errors.As(err, new(foundError)) {
		return exitFound
	}
	printError(io.err, err)
	if errors.As(err, new(*usageError)) {
		return exitUsage
	}
	return exitFailed
}

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

// hintError is an error that says what to do about it.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

// usageError is a wrong command line.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }
