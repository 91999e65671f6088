package machines

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

func newVMsCommand(io cli.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "vms",
		Short: "Make, run and remove the virtual machines of a lab",
		Long: `Make the machines of a lab with libvirt: network, disks, machines and load
balancer. Everything that is made carries a mark; nothing without it is changed
or removed. What was interrupted goes on when the command is run again.`,
		Example: `  bootlab vms plan mylab
  bootlab vms up mylab --image scos-qemu.x86_64.qcow2
  bootlab vms status mylab
  bootlab vms start mylab masters
  bootlab vms down mylab`,
	}
	c.AddCommand(newVMsPlanCommand(io), newVMsUpCommand(io), newVMsStartCommand(io), newVMsStopCommand(io),
		newVMsRebootCommand(io), newVMsStatusCommand(io), newVMsConsoleCommand(io), newVMsSSHCommand(io), newVMsLogCommand(io), newVMsBalancerCommand(io),
		newVMsSnapshotCommand(io), newVMsSnapshotsCommand(io), newVMsRevertCommand(io), newVMsDownCommand(io), newVMsAdoptCommand(io), newVMsImageCommand(io))
	return c
}

// machinesOf opens a lab's machines on the host. With look nothing is locked or
// made.
type machinesOf struct {
	*provision.Provisioner
	uri   string // of libvirt
	close func()
}

// openMachines connects to libvirt. uri is what was asked for; see
// [provision.Connection].
func openMachines(io cli.Streams, path, uri string, look bool) (*machinesOf, error) {
	plan, err := cli.LoadPlan(io, path)
	if err != nil {
		return nil, err
	}
	state, err := state.Open(filepath.Join(plan.Lab.Dir, "out"), look)
	if err != nil {
		return nil, cli.VmsError(err)
	}
	var host libvirt.Host
	if uri, err = provision.Connection(state, uri); err == nil {
		host, err = libvirt.Connect(uri)
	}
	if err != nil {
		state.Close()
		return nil, cli.VmsError(err)
	}
	end := func() { host.Close(); state.Close() }
	p, err := provision.New(plan.Lab, host, state, plan.Lab.Dir)
	if err == nil {
		err = p.ChooseBalancer(nil)
	}
	if err != nil {
		end()
		return nil, cli.VmsError(err)
	}
	return &machinesOf{p, uri, end}, nil
}

func connectFlag(c *cobra.Command, uri *string) {
	c.Flags().StringVar(uri, "connect", "", "libvirt connection (default the one that up was told, or "+labs.LibvirtURI+")")
}

// printStep tells what is being made or removed.
func printStep(io cli.Streams) provision.Progress {
	return func(do string, t provision.Thing, done bool) {
		if !done {
			fmt.Fprintf(io.Out, "%s %s %s\n", do, t.Kind, t.Name)
		}
	}
}
