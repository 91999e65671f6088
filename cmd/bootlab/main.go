// Command bootlab makes, from one lab.yaml, the scripts and the guide with
// which an OpenShift bootstrap is done by hand.
package main

import (
	"context"
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

// run executes one command line and returns the exit status. Errors are
// printed here and nowhere else.
func run(ctx context.Context, args []string, io cli.Streams) int {
	root := newRootCommand(io)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil {
		cli.PrintError(io.Err, err)
	}
	return cli.StatusOf(err)
}
