package inspect

import (
	"errors"
	"fmt"
	stdio "io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/connectivity"
)

func newConnectivityCommand(io cli.Streams) *cobra.Command {
	var from string
	var format *cli.Format
	var place cli.Where
	c := &cobra.Command{
		Use:   "connectivity LAB",
		Short: "Check from every machine the ports that it needs now",
		Long: `Check from the workstation, the bootstrap node and each reachable master whether
they can connect to the ports that they need: directly, and through the load
balancer. A port must be open when its static pod, unit or container runs on that
machine. Ports of components that do not run yet are not expected.`,
		Example: "  bootlab connectivity mylab\n  bootlab connectivity mylab --from-node master-0\n  bootlab connectivity mylab --output json",
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := cli.LoadPlan(io, args[0])
			if err != nil {
				return err
			}
			if err := isAsker(plan.Lab, from); err != nil {
				return err
			}
			places, err := place.Hosts(plan.Lab)
			if err != nil {
				return cli.VmsError(err)
			}
			if places.Local {
				return cli.Hint(errors.New("this lab has no machines to ask from"), "bootlab vms up makes them")
			}
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			report := connectivity.Ask(ctx, plan, places, from)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case !report.Asked():
				return cli.CannotTell(cli.Hint(fmt.Errorf("no machine could be asked: %s", reasons(report)), "bootlab vms status says which machines run"))
			case format.Is(cli.JSON):
				err = cli.WriteJSON(io.Out, report)
			default:
				printPaths(io.Out, report)
			}
			if err == nil && len(report.Broken()) > 0 {
				return cli.Found(nil)
			}
			return err
		},
	}
	c.Flags().StringVar(&from, "from-node", "", "check only from this machine, or from the workstation")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "all ports that must be open are open", cli.ExitFound: "a port that must be open is closed",
		cli.ExitCannotTell: "no machine could be asked"})
	return c
}

// isAsker refuses names of machines that cannot be asked.
func isAsker(lab *labs.Lab, name string) error {
	names := []string{labs.AskerWorkstation, lab.Machines.Bootstrap.Name}
	for _, m := range lab.Machines.Masters {
		names = append(names, m.Name)
	}
	if name == "" || slices.Contains(names, name) {
		return nil
	}
	return cli.Unknown(fmt.Errorf("--from-node %q is none of the machines to ask from", name), name, names, "they are "+strings.Join(names, ", "))
}

// printPaths writes what is broken first, then what is open or waits.
func printPaths(w stdio.Writer, r *connectivity.Report) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tFROM\tTO\tPORT\tCOMPONENT\tSTATE\tBECAUSE")
	for _, p := range r.Paths {
		mark := "ok"
		switch {
		case p.Broken():
			mark = "BROKEN"
		case p.State == connectivity.NotAsked:
			mark = "?"
		case !p.Expected && p.State != connectivity.Open:
			mark = "not yet"
			if r.BootstrapDone && p.Because == "the bootstrap is done" {
				mark = "over"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark, p.From, p.To, p.Address+":"+p.Port, p.Component, p.State, p.Because)
	}
	t.Flush()
	for _, name := range slices.Sorted(maps.Keys(r.Unreached)) {
		fmt.Fprintf(w, "\n%s cannot be asked: %s\n", name, r.Unreached[name])
	}
	broken := len(r.Broken())
	switch {
	case broken == 0 && len(r.Unreached) > 0:
		fmt.Fprintln(w, "\nAll that has to be open now is open, as far as machines could be asked.")
		return
	case broken == 0:
		fmt.Fprintln(w, "\nAll that has to be open now is open.")
		return
	}
	fmt.Fprintf(w, "\n%d of %d ways that have to be open now are not. refused: nothing listens there; no answer: a firewall, or no such machine; closed at once: the load balancer has no backend for it.\n", broken, expected(r))
}

// reasons are those for which machines could not be asked.
func reasons(r *connectivity.Report) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Unreached)) {
		all = append(all, name+": "+r.Unreached[name])
	}
	return strings.Join(all, "; ")
}

func expected(r *connectivity.Report) (n int) {
	for _, p := range r.Paths {
		if p.Expected {
			n++
		}
	}
	return n
}
