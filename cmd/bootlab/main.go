// Command bootlab makes, from one lab.yaml, the scripts and the guide with
// which an OpenShift bootstrap is done by hand.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"bootlab/cmd/bootlab/cli"
)

func main() {
	// A command lives for milliseconds: collecting garbage costs more of them
	// than the few megabytes it frees.
	debug.SetGCPercent(400)
	os.Exit(run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
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

// run executes one command line and returns the exit status. Errors are
// printed here and nowhere else.
func run(ctx context.Context, args []string, io cli.Streams) int {
	root := newRootCommand(io)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if errors.As(err, new(cli.UnseenError)) {
		return exitUnseen
	}
	if errors.As(err, new(cli.FoundError)) {
		return exitFound
	}
	cli.PrintError(io.Err, err)
	if errors.As(err, new(*cli.UsageError)) {
		return exitUsage
	}
	return exitFailed
}
