package machines

import (
	"fmt"
	stdio "io"
	"path/filepath"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/vms/doctor"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

func newDoctorCommand(io cli.Streams) *cobra.Command {
	var uri string
	var format *cli.Format
	var prepare preparation
	c := &cobra.Command{
		Use:   "doctor LAB",
		Short: "Check whether this host can run the machines of a lab",
		Long: `Look at everything that bootlab vms up needs: libvirt, processor, memory, disk,
addresses, ports, image, Ignition files and their certificates. What is no good
is printed with its remedy. If nothing is marked failed, up works. Nothing is
changed; to prove KVM a machine with a disk of 1 MiB runs for a moment.`,
		Example: "  bootlab doctor mylab\n  bootlab doctor mylab --output json",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			plan, err := cli.LoadPlan(io, args[0])
			if err != nil {
				return err
			}
			p, connect, end, err := tryMachines(plan.Lab, uri)
			if err != nil {
				return cli.VmsError(err)
			}
			defer end()
			facts, err := prepare.look(ctx, p, connect)
			if err != nil {
				return cli.VmsError(err)
			}
			findings, err := doctor.Judge(facts)
			if err != nil {
				return err
			}
			return printDiagnosis(io, args[0], findings, format)
		},
	}
	connectFlag(c, &uri)
	prepare.flags(c)
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "bootlab vms up can run", cli.ExitFound: "a check failed"})
	return c
}

// tryMachines is [openMachines] for one who also goes on without libvirt;
// connect says why it does not answer.
func tryMachines(lab *labs.Lab, uri string) (p *provision.Provisioner, connect error, end func(), err error) {
	state, err := state.Open(filepath.Join(lab.Dir, "out"), true)
	if err != nil {
		return nil, nil, nil, err
	}
	if uri, err = provision.Connection(state, uri); err != nil {
		return nil, nil, nil, err
	}
	end = func() {}
	host, connect := libvirt.Connect(uri)
	if connect == nil {
		end = func() { host.Close() }
	}
	p, err = provision.New(lab, host, state, lab.Dir)
	return p, connect, end, err
}

func printDiagnosis(io cli.Streams, lab string, findings []doctor.Finding, format *cli.Format) error {
	failed := 0
	if format.Is(cli.JSON) {
		if err := cli.WriteJSON(io.Out, findings); err != nil {
			return err
		}
		failed = printFindings(stdio.Discard, findings, false)
	} else {
		failed = printFindings(io.Out, findings, true)
	}
	if failed > 0 {
		return cli.Found(cli.Hint(fmt.Errorf("%s failed: bootlab vms up cannot run", cli.Counted(failed, "check")), "fix what is marked failed, and run doctor again"))
	}
	if format.Is(cli.Text) {
		fmt.Fprintf(io.Out, "all checks passed; next: bootlab vms up %s\n", lab)
	}
	return nil
}

// printFindings writes findings and what to do about them, with all also those
// that are well, and says how many failed.
func printFindings(w stdio.Writer, findings []doctor.Finding, all bool) (failed int) {
	for _, f := range findings {
		if f.Level == doctor.Failed {
			failed++
		}
		if f.Level == doctor.OK && !all {
			continue
		}
		fmt.Fprintf(w, "%-8s %s: %s\n", f.Level, f.Title, f.Found)
		if f.Fix != "" {
			fmt.Fprintf(w, "         fix: %s\n", f.Fix)
		}
	}
	return failed
}
