package machines

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/doctor"
	"bootlab/vms/groundwork"
	"bootlab/vms/state"
)

func newHostCommand(io cli.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "host",
		Short: "Prepare this host for the machines of a lab, and undo it",
		Long: `Change what a lab needs of this host beside libvirt: rules of firewalld, names,
ports 80 and 443. Each change is shown as the commands that make it, is made when
you agree, and is undone exactly.`,
		Example: "  bootlab host prepare mylab --dry-run\n  bootlab host prepare mylab\n  bootlab host undo mylab",
	}
	c.AddCommand(newHostPrepareCommand(io), newHostUndoCommand(io))
	return c
}

func newHostPrepareCommand(io cli.Streams) *cobra.Command {
	var yes, dry bool
	c := &cobra.Command{
		Use:   "prepare LAB",
		Short: "Open the firewall, the names and the ports that a lab needs",
		Long: `Look for what the machines of a lab need and this host lacks, show the commands
that change it, and run them when you agree:

- firewalld: the load balancer's ports, for the lab's network alone, for good
- Docker: rules that let the lab's bridge through, until the next boot
- ports 80 and 443: for everybody, since HAProxy runs as you
- names: api and the usual names below *.apps, in NetworkManager's dnsmasq, else
  in /etc/hosts

What is changed is written down first. bootlab host undo takes it back, and so
does bootlab vms down.`,
		Example: "  bootlab host prepare mylab",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			lab, dir, err := openGround(io, args[0], dry)
			if err != nil {
				return err
			}
			defer dir.Close()
			p, connect, end, err := tryMachines(lab, "")
			if err != nil {
				return cli.VmsError(err)
			}
			defer end()
			facts, err := doctor.Look(ctx, p, connect, func(r vms.Role) string { return ignitionFile(lab.Dir, r) })
			if err != nil {
				return cli.VmsError(err)
			}
			changes := groundwork.Plan(lab, facts.Ground(), !p.NoBalancer)
			if len(changes) == 0 {
				_, err := fmt.Fprintf(io.Out, "this host lacks nothing that prepare could change\nnext: bootlab doctor %s\n", args[0])
				return err
			}
			printChanges(io, changes, func(c groundwork.Change) []string { return c.Do })
			if dry {
				return nil
			}
			if !yes && !agreed(io) {
				return cli.Hint(errors.New("nothing was changed"), "answer yes, or run the commands yourself")
			}
			if err := groundwork.Make(ctx, dir, changes, shell(io)); err != nil {
				return cli.VmsError(err)
			}
			_, err = fmt.Fprintf(io.Out, "done; it is undone by: bootlab host undo %s\nnext: bootlab doctor %s\n", args[0], args[0])
			return err
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "run the commands without asking")
	c.Flags().BoolVar(&dry, "dry-run", false, "show the commands, and change nothing")
	return c
}

func newHostUndoCommand(io cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "undo LAB",
		Short: "Take back what prepare changed",
		Long: `Run the commands that take back what bootlab host prepare changed for this lab,
last change first. What fails stays written down, and the next undo goes on with it.`,
		Example: "  bootlab host undo mylab",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			_, dir, err := openGround(io, args[0], false)
			if err != nil {
				return err
			}
			defer dir.Close()
			made, err := groundwork.Made(dir)
			if err == nil {
				err = groundwork.Trusted(made)
			}
			if err != nil {
				return cli.VmsError(err)
			}
			if len(made) == 0 {
				_, err := fmt.Fprintln(io.Out, "nothing was changed on this host for this lab")
				return err
			}
			if err := groundwork.Undo(ctx, dir, shell(io)); err != nil {
				return cli.VmsError(err)
			}
			_, err = fmt.Fprintln(io.Out, "this host is as it was before")
			return err
		},
	}
}

// openGround opens a lab and its state; look locks nothing.
func openGround(io cli.Streams, path string, look bool) (*labs.Lab, *state.Dir, error) {
	plan, err := cli.LoadPlan(io, path)
	if err != nil {
		return nil, nil, err
	}
	dir, err := state.Open(filepath.Join(plan.Lab.Dir, "out"), look)
	return plan.Lab, dir, cli.VmsError(err)
}

func printChanges(io cli.Streams, changes []groundwork.Change, lines func(groundwork.Change) []string) {
	for _, c := range changes {
		fmt.Fprintf(io.Out, "# %s\n%s\n\n", c.Why, strings.Join(lines(c), "\n"))
	}
}

// agreed asks on the terminal, or whatever stands in its place.
func agreed(io cli.Streams) bool {
	fmt.Fprint(io.Out, "run these commands? [y/N] ")
	answer, _ := bufio.NewReader(io.In).ReadString('\n')
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

func shell(io cli.Streams) groundwork.Shell {
	return groundwork.Shell{In: io.In, Out: io.Out, Err: io.Err, Root: os.Geteuid() == 0}
}
