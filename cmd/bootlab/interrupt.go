package main

import (
	"bootlab/vms"
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// vmsError gives the hint of a problem the form that all commands print.
func vmsError(err error) error {
	var p *vms.Problem
	if errors.As(err, &p) && p.Hint != "" {
		return withHint(err, p.Hint)
	}
	return err
}

// untilInterrupted ends with Ctrl-C, so that a command can say what is left. A
// second Ctrl-C ends the program at once.
func untilInterrupted(c *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// errInterrupted is the error of a command that only looks at things.
var errInterrupted = errors.New("interrupted")
