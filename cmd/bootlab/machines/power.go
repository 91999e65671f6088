package machines

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/vms"
	"bootlab/vms/provision"
)

func newVMsStartCommand(io cli.Streams) *cobra.Command {
	var uri string
	var overcommit bool
	c := &cobra.Command{
		Use:   "start LAB [MACHINE...]",
		Short: "Start machines of a lab",
		Long: `Start machines by name, or masters, workers, all. The masters' time is when
render-mco.sh is done: from then on the Machine Config Server answers.

None is started when they do not all have room in memory: what running machines
may still take counts too.`,
		Example: "  bootlab vms start mylab masters",
		RunE: func(_ *cobra.Command, args []string) error {
			room := (*provision.Provisioner).Room
			if overcommit {
				room = nil
			}
			return eachChosen(io, args, uri, room, func(p *provision.Provisioner, m vms.Machine) (string, error) {
				started, err := p.Start(m)
				if !started {
					return "runs already", err
				}
				return "started", err
			})
		},
	}
	connectFlag(c, &uri)
	c.Flags().BoolVar(&overcommit, "overcommit", false, "start them even if memory may run out")
	return c
}

func newVMsStopCommand(io cli.Streams) *cobra.Command {
	var uri string
	var force bool
	var patience time.Duration
	c := &cobra.Command{
		Use:   "stop LAB [MACHINE...]",
		Short: "Shut machines of a lab down",
		Long: `Ask machines to shut down, and wait until they have. A cluster whose machines
stop within its first day may come back with certificates that have ended.`,
		Example: "  bootlab vms stop mylab",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			return eachChosen(io, args, uri, nil, func(p *provision.Provisioner, m vms.Machine) (string, error) {
				stopped, err := p.Stop(ctx, m, patience, force)
				if ctx.Err() != nil && err != nil {
					return "", &vms.Problem{Message: "interrupted", Hint: m.Name + " was asked and may still shut down: bootlab vms status " + args[0]}
				}
				if !stopped {
					return "does not run", err
				}
				return "stopped", err
			})
		},
	}
	connectFlag(c, &uri)
	c.Flags().BoolVar(&force, "force", false, "cut the power of those that do not shut down in time")
	c.Flags().DurationVar(&patience, "timeout", 2*time.Minute, "how long to wait for each")
	return c
}

func newVMsRebootCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:     "reboot LAB MACHINE...",
		Short:   "Restart machines of a lab",
		Example: "  bootlab vms reboot mylab master-0",
		RunE: func(_ *cobra.Command, args []string) error {
			return eachChosen(io, args, uri, nil, func(p *provision.Provisioner, m vms.Machine) (string, error) {
				return "reboots", p.Reboot(m)
			})
		},
	}
	connectFlag(c, &uri)
	return c
}

// eachChosen does something to the machines that a command line means; first, if there
// is any, is asked about all of them before.
func eachChosen(io cli.Streams, args []string, uri string, first func(*provision.Provisioner, []vms.Machine) error, do func(*provision.Provisioner, vms.Machine) (string, error)) error {
	p, err := openMachines(io, args[0], uri, false)
	if err != nil {
		return err
	}
	defer p.close()
	chosen, err := p.Chosen(args[1:])
	if err != nil {
		return cli.VmsError(err)
	}
	if first != nil {
		if err := first(p.Provisioner, chosen); err != nil {
			return cli.VmsError(err)
		}
	}
	for _, m := range chosen {
		result, err := do(p.Provisioner, m)
		if err != nil {
			return cli.VmsError(err)
		}
		fmt.Fprintf(io.Out, "%s %s\n", m.Name, result)
	}
	return nil
}

func newVMsStatusCommand(io cli.Streams) *cobra.Command {
	var uri string
	var format *cli.Format
	c := &cobra.Command{
		Use:   "status LAB",
		Short: "Say how the machines of a lab stand",
		Long: `Say of each machine whether it runs, whether Ignition ended well, and who answers
on it: ssh, the API and the Machine Config Server.`,
		Example: "  bootlab vms status mylab\n  bootlab vms status mylab --output json",
		RunE: func(c *cobra.Command, args []string) error {
			p, err := openMachines(io, args[0], uri, true)
			if err != nil {
				return err
			}
			defer p.close()
			return printStatus(c.Context(), io, p.Provisioner, format)
		},
	}
	connectFlag(c, &uri)
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func printStatus(ctx context.Context, io cli.Streams, p *provision.Provisioner, format *cli.Format) error {
	all, err := p.Status(ctx)
	if err != nil {
		return cli.VmsError(err)
	}
	host, err := p.Around()
	if err != nil {
		return cli.VmsError(err)
	}
	if format.Is(cli.JSON) {
		return cli.WriteJSON(io.Out, struct {
			provision.Surroundings
			Machines []provision.Status `json:"machines"`
		}{host, all})
	}
	table := tabwriter.NewWriter(io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MACHINE\tADDRESS\tSTATE\tIGNITION\tSSH\tAPI\tMCS")
	for _, s := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Address, s.State, s.Ignition, s.SSH, s.API, s.MCS)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, s := range all {
		if s.Why != "" {
			fmt.Fprintf(io.Out, "%s: %s\n", s.Name, s.Why)
		}
	}
	fmt.Fprintln(io.Out, surroundings(host))
	if ends := IgnitionClock(p.Lab.Dir, all, time.Now()); ends != "" {
		fmt.Fprintln(io.Out, ends)
	}
	if host.Next != "" {
		fmt.Fprintf(io.Out, "next: %s\n", host.Next)
	}
	return nil
}

// surroundings says how network and load balancer stand, or what a lab has in its
// place.
func surroundings(host provision.Surroundings) string {
	if host.Balancer != provision.NoBalancer {
		return fmt.Sprintf("network %s, load balancer %s", host.Network, host.Balancer)
	}
	text := fmt.Sprintf("network %s, no load balancer", host.Network)
	var machines []string
	for _, l := range host.API {
		if m := cmp.Or(l.Machine, l.Address); !slices.Contains(machines, m) {
			machines = append(machines, m)
		}
	}
	if len(machines) > 0 {
		text += ": api and api-int lead to " + strings.Join(machines, ", ")
	}
	return text
}
