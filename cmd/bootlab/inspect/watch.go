package inspect

import (
	"context"
	"errors"
	"fmt"
	stdio "io"
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	_ "bootlab/cmd/bootlab/background"
	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/record"
	"bootlab/labs/inspect/watch"
)

// How often a lab is looked at unless told: files of this workstation cost
// nothing, machines have better things to do.
const (
	localInterval    = 250 * time.Millisecond
	machinesInterval = 2 * time.Second
)

// shortestInterval keeps looking from becoming all that happens.
const shortestInterval = 100 * time.Millisecond

func newWatchCommand(io cli.Streams) *cobra.Command {
	var interval time.Duration
	var plain bool
	var place cli.Where
	c := &cobra.Command{
		Use:   "watch LAB",
		Short: "Watch a bootstrap on one live screen",
		Long: `Show on one screen how far the bootstrap is: stages, units, static pods, etcd
members, the API, certificate requests, masters, revisions and operators. In a
local run it shows the stages and the output of the running one. It changes nothing
on any machine.

Without a terminal, with --plain or TERM=dumb it prints one line per change,
each with its time in UTC. NO_COLOR=1 turns colours off.

Keys: q or Ctrl-C ends it, d runs bootlab diagnose, arrows, PgUp and PgDn scroll,
? shows help.`,
		Example: "  bootlab watch mylab\n  bootlab watch mylab --local\n  bootlab watch mylab --plain | tee changes.txt",
		RunE: func(c *cobra.Command, args []string) error {
			if interval != 0 && interval < shortestInterval {
				return cli.Usage(cli.Hint(fmt.Errorf("interval %s is too short", interval), "--interval 100ms is the shortest"))
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			plan, err := cli.LoadPlan(io, args[0])
			if err != nil {
				return err
			}
			watch, end, err := openWatch(io, plan, &place, &interval)
			if err != nil {
				return err
			}
			defer end()
			if plain || !drawsOn(io) {
				return watchPlainly(ctx, io.Out, watch, interval)
			}
			return watchOnScreen(ctx, io, plan, watch, &place, interval)
		},
	}
	c.Flags().DurationVar(&interval, "interval", 0, "time between two looks at the API; what costs less is looked at more often (default 2s, 250ms in a local run)")
	c.Flags().BoolVar(&plain, "plain", false, "one line per change, no screen")
	place.Flags(c)
	return c
}

// openWatch makes ready to look at the lab's machines, or at its local run.
func openWatch(io cli.Streams, plan *labs.Plan, place *cli.Where, interval *time.Duration) (*watch.Watch, func(), error) {
	places, err := place.Hosts(plan.Lab)
	if err != nil {
		return nil, nil, cli.VmsError(err)
	}
	if *interval == 0 {
		*interval = machinesInterval
		if places.Local {
			*interval = localInterval
		}
	}
	var durations record.Durations
	if file, err := record.DurationsFile(); err == nil {
		// What usually happens is a help, and no more.
		if durations, err = record.ReadDurations(file); err != nil {
			fmt.Fprintf(io.Err, "warning: no usual durations: %v\n", err)
		}
	}
	end := watch.Share(places)
	return watch.NewWatch(plan, places, durations), end, nil
}

// drawsOn says whether there is a terminal that a screen can be drawn on, and
// whose keys can be read.
func drawsOn(io cli.Streams) bool {
	in, isFile := io.In.(*os.File)
	out, isFileToo := io.Out.(*os.File)
	name := os.Getenv("TERM")
	return isFile && isFileToo && name != "" && name != "dumb" && term.IsTerminal(in.Fd()) && term.IsTerminal(out.Fd())
}

// watchPlainly prints changes until it is interrupted, or its reader is gone.
func watchPlainly(ctx context.Context, out stdio.Writer, w *watch.Watch, interval time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var failed error
	before := &watch.Status{}
	w.Run(ctx, interval, func(now *watch.Status) {
		for _, change := range watch.Changes(before, now) {
			if _, err := fmt.Fprintf(out, "%s %s: %s\n", change.At.UTC().Format(time.RFC3339), change.Where, change.Text); err != nil {
				failed = err
				stop()
				return
			}
		}
		before = now
	})
	return failed
}

// watchOnScreen draws until it is left. The terminal is as it was before, then.
func watchOnScreen(ctx context.Context, io cli.Streams, plan *labs.Plan, w *watch.Watch, place *cli.Where, interval time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	m := newWatchModel(ctx, w, interval, newPaint(lipgloss.NewRenderer(io.Out)))
	m.diagnose = func(ctx context.Context) []string { return causeLines(ctx, io, plan, place) }
	program := tea.NewProgram(m, tea.WithInput(io.In), tea.WithOutput(io.Out), tea.WithAltScreen(), tea.WithoutSignalHandler())
	go func() {
		<-ctx.Done()
		program.Quit()
	}()
	_, err := program.Run()
	// What still looks is stopped, and not left behind.
	stop()
	m.looks.close()
	if errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	return err
}
