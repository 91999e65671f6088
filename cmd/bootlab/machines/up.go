package machines

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/groundwork"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

func newVMsUpCommand(io cli.Streams) *cobra.Command {
	var uri string
	var prepare preparation
	c := &cobra.Command{
		Use:   "up LAB",
		Short: "Make the machines of a lab, and start the bootstrap",
		Long: `Make whatever is missing: network, load balancer, disks and machines, then start
the bootstrap. The masters are made and wait; bootlab vms start LAB masters
starts them when render-mco.sh is done. Run it again after an interruption: it
goes on.

It needs the Ignition files that make-ignition.sh writes, and a CoreOS image for
QEMU, qcow2 or raw: the one that bootlab vms image fetch got, or --image.

With --no-balancer there is no HAProxy, and nothing listens for the cluster on the
host. api and api-int then lead to the bootstrap, *.apps to the nodes with routers, by the
network's own name server; bootlab vms balancer LAB --without-bootstrap leads api
and api-int to the masters when the bootstrap is done. What is lost: nothing checks
whether a machine serves, so a master that is down is still answered with, and
a client has to try the next address. It holds until down; up without it goes on
with what the lab was made with.`,
		Example: "  bootlab vms up mylab\n  bootlab vms up mylab --image scos-qemu.x86_64.qcow2\n  bootlab vms up mylab --no-balancer",
		RunE: func(c *cobra.Command, args []string) error {
			return untilDone(c, io, args[0], uri, func(ctx context.Context, p *machinesOf) error {
				err := prepare.do(ctx, io, p.Provisioner)
				if err == nil {
					err = p.RememberConnection(p.uri)
				}
				if err == nil {
					progress := cli.NewProgress(io.Out)
					p.Uploaded = func(sent, size int64) {
						if progress.Bytes("upload", sent, size); sent == size {
							progress.End()
						}
					}
					err = p.Up(ctx, printStep(io))
					progress.End()
				}
				if err != nil && ctx.Err() != nil {
					return cli.Hint(errors.New("interrupted"), "what was made stays; bootlab vms up "+args[0]+" goes on, down takes it away")
				}
				if err != nil {
					return err
				}
				return startBootstrap(io, p.Provisioner, args[0])
			})
		},
	}
	connectFlag(c, &uri)
	prepare.flags(c)
	c.Flags().BoolVar(&prepare.skipDoctor, "skip-doctor", false, "go on with what stands in the way")
	return c
}

// untilDone opens the lab's machines for work that Ctrl-C ends.
func untilDone(c *cobra.Command, io cli.Streams, lab, uri string, work func(context.Context, *machinesOf) error) error {
	ctx, stop := cli.UntilInterrupted(c)
	defer stop()
	p, err := openMachines(io, lab, uri, false)
	if err != nil {
		return err
	}
	defer p.close()
	return cli.VmsError(work(ctx, p))
}

// startBootstrap starts it, unless it was taken away when its work was done.
func startBootstrap(io cli.Streams, p *provision.Provisioner, lab string) error {
	gone, err := p.BootstrapGone()
	if err != nil {
		return err
	}
	if gone {
		_, err := fmt.Fprintf(io.Out, "the bootstrap was removed and is not made again\nnext: bootlab vms start %s masters\n", lab)
		return err
	}
	boot, err := p.Chosen([]string{string(vms.Bootstrap)})
	if err != nil {
		return err
	}
	if _, err := p.Start(boot[0]); err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.Out, "%s runs\nnext: bootlab vms status %s\n", boot[0].Name, lab)
	return err
}

func newVMsDownCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "down LAB",
		Short: "Remove the machines of a lab, and prove it",
		Long: `Remove everything of a lab that is on this host, whatever lab.yaml says by now,
then look at the host again. Base images stay, for other labs; bootlab vms image
prune removes them. What others made is left alone.`,
		Example: "  bootlab vms down mylab",
		RunE: func(c *cobra.Command, args []string) error {
			return untilDone(c, io, args[0], uri, func(ctx context.Context, p *machinesOf) error {
				receipts, err := p.Down(ctx, printStep(io))
				if err != nil {
					return err
				}
				if err = printReceipt(io, receipts); err == nil {
					err = undoGround(ctx, io, p.State)
				}
				if ctx.Err() != nil && err != nil {
					return cli.Hint(errors.New("interrupted"), "bootlab vms down "+args[0]+" goes on where it ended")
				}
				return err
			})
		},
	}
	connectFlag(c, &uri)
	return c
}

func newVMsAdoptCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "adopt LAB",
		Short: "Take over machines that a lab made before it was moved",
		Long: `Take over what this lab, by its metadata.uid, made from another directory or from
another workstation: up, down and all others then treat it as their own. Nothing
on the host is changed. Do it only where the lab is no longer used from there: a
copy needs another metadata.uid and another name.`,
		Example: "  bootlab vms adopt mylab",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := openMachines(io, args[0], uri, false)
			if err != nil {
				return err
			}
			defer p.close()
			places, err := p.Adopt()
			if err != nil {
				return cli.VmsError(err)
			}
			if len(places) == 0 {
				return cli.Hint(errors.New("nothing of this lab was made from another place"), "bootlab vms status "+args[0]+" says what there is")
			}
			_, err = fmt.Fprintf(io.Out, "adopted what was made from %s\nnext: bootlab vms status %s\n", strings.Join(places, ", "), args[0])
			return err
		},
	}
	connectFlag(c, &uri)
	return c
}

// undoGround takes back what host prepare changed for a lab that is gone.
func undoGround(ctx context.Context, io cli.Streams, dir *state.Dir) error {
	made, err := groundwork.Made(dir)
	if err != nil || len(made) == 0 {
		return err
	}
	if err := groundwork.Trusted(made); err != nil {
		return err
	}
	fmt.Fprintln(io.Out, "taking back what bootlab host prepare changed:")
	return groundwork.Undo(ctx, dir, shell(io))
}

// printReceipt says of each thing what became of it.
func printReceipt(io cli.Streams, receipts []provision.Receipt) error {
	left := 0
	table := tabwriter.NewWriter(io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nKIND\tNAME\tWAS\tIS")
	for _, r := range receipts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Kind, r.Name, r.Before, r.After)
		if r.Left {
			left++
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if left > 0 {
		return cli.Hint(fmt.Errorf("%d things of the lab are still there", left), "each says why above; fix that and run down again")
	}
	fmt.Fprintln(io.Out, "nothing of the lab is left on this host")
	return nil
}

func newVMsPlanCommand(io cli.Streams) *cobra.Command {
	var xml bool
	var format *cli.Format
	c := &cobra.Command{
		Use:   "plan LAB",
		Short: "Show what up would make, without libvirt",
		Long: `Show names, addresses and sizes of the machines, and with --xml the definitions
that libvirt and HAProxy would get, each field explained. The same files are in
out/vms after bootlab generate, and the commands show how virsh takes them:
typed by hand they make the same machines, without the mark by which bootlab
knows its own. It needs no libvirt.`,
		Example: "  bootlab vms plan mylab\n  bootlab vms plan mylab --xml",
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := cli.LoadPlan(io, args[0])
			if err != nil {
				return err
			}
			if format.Is(cli.JSON) {
				return printPlanJSON(io, plan.Lab, xml)
			}
			if err := printMachines(io, vms.Machines(plan.Lab), plan.Lab.DomainName); err != nil {
				return err
			}
			printCommands(io, filepath.Join(plan.Lab.Dir, "out"), vms.Commands(plan.Lab))
			if !xml {
				return nil
			}
			files, err := vms.Files(plan.Lab)
			for _, f := range files {
				fmt.Fprintf(io.Out, "\n==> %s\n%s", f.Path, f.Text)
			}
			return err
		},
	}
	c.Flags().BoolVar(&xml, "xml", false, "show the definitions too")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

// plannedMachine and plannedFile are parts of what plan --output json writes.
type plannedMachine struct {
	Name    string `json:"name"`
	Role    string `json:"role"`
	Domain  string `json:"domain"`
	Address string `json:"address"`
	MAC     string `json:"mac"`
	CPUs    int    `json:"cpus"`
	Memory  int    `json:"memoryMiB"`
	Disk    int    `json:"diskGiB"`
}

type plannedFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

func printPlanJSON(io cli.Streams, lab *labs.Lab, xml bool) error {
	report := struct {
		Machines []plannedMachine `json:"machines"`
		Commands []string         `json:"commands"`
		Files    []plannedFile    `json:"files,omitempty"`
	}{}
	for _, m := range vms.Machines(lab) {
		report.Machines = append(report.Machines, plannedMachine{m.Name, string(m.Role), lab.DomainName(m.Name), m.Address, m.MAC, m.CPUs, m.Memory, m.Disk})
	}
	for _, c := range vms.Commands(lab) {
		report.Commands = append(report.Commands, c.Line)
	}
	if xml {
		files, err := vms.Files(lab)
		if err != nil {
			return err
		}
		for _, f := range files {
			report.Files = append(report.Files, plannedFile{f.Path, f.Text})
		}
	}
	return cli.WriteJSON(io.Out, report)
}

// printCommands shows what up would do as lines for a shell.
func printCommands(io cli.Streams, out string, commands []vms.Command) {
	fmt.Fprintf(io.Out, "\nthe same by hand, after bootlab generate:\n\nexport LIBVIRT_DEFAULT_URI=%s IMAGE=/PATH/TO/IMAGE.qcow2\ncd %s\n", labs.LibvirtURI, cli.ShellWord(out))
	for _, c := range commands {
		if c.Why != "" {
			fmt.Fprintf(io.Out, "# %s\n", c.Why)
		}
		fmt.Fprintln(io.Out, c.Line)
	}
}

func printMachines(io cli.Streams, machines []vms.Machine, domain func(string) string) error {
	memory, cpus, disk := 0, 0, 0
	table := tabwriter.NewWriter(io.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MACHINE\tADDRESS\tMAC\tCPUS\tMEMORY\tDISK\tDOMAIN")
	for _, m := range machines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d MiB\t%d GiB\t%s\n", m.Name, m.Address, m.MAC, m.CPUs, m.Memory, m.Disk, domain(m.Name))
		memory, cpus, disk = memory+m.Memory, cpus+m.CPUs, disk+m.Disk
	}
	fmt.Fprintf(table, "in all\t\t\t%d\t%d MiB\tup to %d GiB\t\n", cpus, memory, disk)
	return table.Flush()
}
