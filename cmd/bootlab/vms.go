package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"bootlab/labs"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

func newVMsCommand(io streams) *cobra.Command {
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
		Args: asUsage(cobra.NoArgs),
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(newVMsPlanCommand(io), newVMsUpCommand(io), newVMsStartCommand(io), newVMsStopCommand(io),
		newVMsRebootCommand(io), newVMsStatusCommand(io), newVMsConsoleCommand(io), newVMsSSHCommand(io), newVMsLogCommand(io), newVMsBalancerCommand(io),
		newVMsSnapshotCommand(io), newVMsRevertCommand(io), newVMsDownCommand(io), newVMsImageCommand(io))
	return c
}

// machinesOf opens a lab's machines on the host. With look nothing is locked or
// made.
type machinesOf struct {
	*provision.Provisioner
	close func()
}

// openMachines connects to libvirt. uri is libvirt's, empty for the system's.
func openMachines(io streams, path, uri string, look bool) (*machinesOf, error) {
	plan, err := loadPlan(io, path)
	if err != nil {
		return nil, err
	}
	if uri == "" {
		uri = labs.LibvirtURI
	}
	state, err := state.Open(filepath.Join(plan.Lab.Dir, "out"), look)
	if err != nil {
		return nil, vmsError(err)
	}
	host, err := libvirt.Connect(uri)
	if err != nil {
		state.Close()
		return nil, vmsError(err)
	}
	end := func() { host.Close(); state.Close() }
	p, err := provision.New(plan.Lab, host, state, plan.Lab.Dir)
	if err == nil {
		err = p.ChooseBalancer(nil)
	}
	if err != nil {
		end()
		return nil, vmsError(err)
	}
	return &machinesOf{p, end}, nil
}

func connectFlag(c *cobra.Command, uri *string) {
	c.Flags().StringVar(uri, "connect", labs.LibvirtURI, "libvirt connection")
}

// printStep tells what is being made or removed.
func printStep(io streams) provision.Told {
	return func(do string, t provision.Thing, done bool) {
		if !done {
			fmt.Fprintf(io.out, "%s %s %s\n", do, t.Kind, t.Name)
		}
	}
}

func encodeJSON(io streams, value any) error {
	encoder := json.NewEncoder(io.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
