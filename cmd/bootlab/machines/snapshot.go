package machines

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/vms"
	"bootlab/vms/doctor"
	"bootlab/vms/provision"
)

func newVMsSnapshotCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "snapshot LAB NAME [MACHINE...]",
		Short: "Take a snapshot of machines, disk and memory",
		Long: `Take a snapshot of all machines of a lab, or of those that are named. They stand
still meanwhile: the members of etcd must be of one moment. If one cannot be
taken, none is kept. Snapshots lie in the disks and go with them.`,
		Example: "  bootlab vms snapshot mylab before-masters",
		RunE: func(_ *cobra.Command, args []string) error {
			return withSnapshot(io, args, uri, func(p *provision.Provisioner, machines []vms.Machine) error {
				if err := p.Snapshot(args[1], machines, func(m vms.Machine) { fmt.Fprintf(io.Out, "snapshot of %s\n", m.Name) }); err != nil {
					return err
				}
				_, err := fmt.Fprintf(io.Out, "taken; back to it: bootlab vms revert %s %s\n", args[0], args[1])
				return err
			})
		},
	}
	connectFlag(c, &uri)
	return c
}

func newVMsRevertCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "revert LAB NAME [MACHINE...]",
		Short: "Bring machines back to a snapshot",
		Long: `Bring all machines of a lab, or those that are named, back to a snapshot. None is
touched unless all of them have it. What happened since is lost. A machine that
ran goes on with the time of then until its clock is set, and certificates go by
the real time: a bootstrap's first ones last a day.`,
		Example: "  bootlab vms revert mylab before-masters",
		RunE: func(_ *cobra.Command, args []string) error {
			return withSnapshot(io, args, uri, func(p *provision.Provisioner, machines []vms.Machine) error {
				if over, err := doctor.CertificatesOver(ignitionFile(p.Lab.Dir, vms.Bootstrap), time.Now()); err == nil && over {
					fmt.Fprintln(io.Err, "warning: the first certificates of this lab have ended; a bootstrap that is not done by then cannot go on")
				}
				if err := p.Revert(args[1], machines, func(m vms.Machine) { fmt.Fprintf(io.Out, "revert %s\n", m.Name) }); err != nil {
					return err
				}
				_, err := fmt.Fprintf(io.Out, "all are as in %s\n", args[1])
				return err
			})
		},
	}
	connectFlag(c, &uri)
	return c
}

func newVMsSnapshotsCommand(io cli.Streams) *cobra.Command {
	var uri, remove string
	var format *cli.Format
	c := &cobra.Command{
		Use:   "snapshots LAB [MACHINE...]",
		Short: "List the snapshots of machines, or delete one",
		Long: `List the snapshots of all machines of a lab, or of those that are named, oldest
first. With --delete a snapshot is removed from each of them that has it: that
takes as long as QEMU needs to free it, and gives its room in the disk back.`,
		Example: "  bootlab vms snapshots mylab\n  bootlab vms snapshots mylab --delete before-masters",
		RunE: func(_ *cobra.Command, args []string) error {
			if remove == "" {
				return listSnapshots(io, args, uri, format)
			}
			return withSnapshot(io, append([]string{args[0], remove}, args[1:]...), uri, func(p *provision.Provisioner, machines []vms.Machine) error {
				return p.DeleteSnapshot(remove, machines, func(m vms.Machine) { fmt.Fprintf(io.Out, "delete %s of %s\n", remove, m.Name) })
			})
		},
	}
	connectFlag(c, &uri)
	c.Flags().StringVar(&remove, "delete", "", "remove the snapshot of this name")
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func listSnapshots(io cli.Streams, args []string, uri string, format *cli.Format) error {
	p, err := openMachines(io, args[0], uri, true)
	if err != nil {
		return err
	}
	defer p.close()
	chosen, err := p.Chosen(args[1:])
	if err != nil {
		return cli.VmsError(err)
	}
	lists, err := p.SnapshotLists(chosen)
	if err != nil {
		return cli.VmsError(err)
	}
	if format.Is(cli.JSON) {
		return cli.WriteJSON(io.Out, lists)
	}
	for _, l := range lists {
		fmt.Fprintf(io.Out, "%s: %s\n", l.Machine, cmp.Or(strings.Join(l.Snapshots, ", "), "none"))
	}
	return nil
}

var snapshotName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// withSnapshot opens the machines of LAB NAME [MACHINE...], those of the lab
// that are there where none is named.
func withSnapshot(io cli.Streams, args []string, uri string, do func(*provision.Provisioner, []vms.Machine) error) error {
	// It ends up in file names and in XML.
	if !snapshotName.MatchString(args[1]) {
		return cli.Usage(cli.Hint(fmt.Errorf("%q is no name for a snapshot", args[1]), "letters, digits, dots, dashes and underscores, as before-masters"))
	}
	p, err := openMachines(io, args[0], uri, false)
	if err != nil {
		return err
	}
	defer p.close()
	chosen, err := p.Chosen(args[2:])
	if err != nil {
		return cli.VmsError(err)
	}
	return cli.VmsError(do(p.Provisioner, chosen))
}
