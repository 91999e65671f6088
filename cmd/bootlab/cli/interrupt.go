package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"bootlab/vms"
)

// VmsError gives the hint of a problem the form that all commands print.
func VmsError(err error) error {
	var unknown *vms.UnknownMachine
	if errors.As(err, &unknown) {
		return Unknown(err, unknown.Word, append(unknown.Known, "masters", "workers", "all"), unknown.Hint())
	}
	var p *vms.Problem
	if errors.As(err, &p) && p.Hint != "" {
		return Hint(err, p.Hint)
	}
	return err
}

// UntilInterrupted ends with Ctrl-C, so that a command can say what is left. A
// second Ctrl-C ends the program at once.
func UntilInterrupted(c *cobra.Command) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// ErrInterrupted is the error of a command that only looks at things.
var ErrInterrupted = errors.New("interrupted")
