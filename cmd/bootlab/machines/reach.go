package machines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/vms"
	"bootlab/vms/access"
	"bootlab/vms/provision"
)

func newVMsConsoleCommand(io cli.Streams) *cobra.Command {
	var uri string
	c := &cobra.Command{
		Use:   "console LAB MACHINE",
		Short: "Open a machine's serial console",
		Long: `Open the serial console, where firmware, Ignition and the emergency shell write
and read. It is virsh console: Ctrl and ] leave it, and Enter shows a prompt
that was printed before. What was printed so far: bootlab vms log.`,
		Example: "  bootlab vms console mylab bootstrap",
		RunE: func(_ *cobra.Command, args []string) error {
			p, m, err := openMachine(io, args, uri)
			if err != nil {
				return err
			}
			running, err := p.Running(m)
			p.close()
			if err != nil {
				return cli.VmsError(err)
			}
			if !running {
				return cli.Hint(fmt.Errorf("%s does not run", m.Name), "bootlab vms start "+args[0]+" "+m.Name)
			}
			return become("virsh", "apt-get install libvirt-clients, or dnf install libvirt-client",
				"--connect", p.uri, "console", p.Lab.DomainName(m.Name))
		},
	}
	connectFlag(c, &uri)
	return c
}

func newVMsSSHCommand(io cli.Streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ssh LAB MACHINE [COMMAND...]",
		Short: "Log in to a machine, or run a command there",
		Long: `Run ssh with the lab's own configuration, key and list of known machines: up made
each machine's key, so the first login already knows the machine's key. The user
is core, who may sudo. The exit status is that of the command. It is the same as
ssh -F mylab/out/work/vms/ssh_config MACHINE.`,
		Example: "  bootlab vms ssh mylab bootstrap\n  bootlab vms ssh mylab bootstrap sudo journalctl --unit=bootkube",
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := cli.LoadPlan(io, args[0])
			if err != nil {
				return err
			}
			m, err := oneMachine(vms.Machines(plan.Lab), args[1])
			if err != nil {
				return cli.VmsError(err)
			}
			config, err := access.SSHConfig(plan.Lab)
			if err != nil {
				return cli.VmsError(err)
			}
			return become("ssh", "apt-get install openssh-client, or dnf install openssh-clients",
				append([]string{"-F", config, "--", m.Name}, args[2:]...)...)
		},
	}
	// Whatever follows the machine is the command's.
	c.Flags().SetInterspersed(false)
	return c
}

func newVMsLogCommand(io cli.Streams) *cobra.Command {
	var uri string
	var follow bool
	c := &cobra.Command{
		Use:   "log LAB MACHINE",
		Short: "Show what a machine's serial port printed",
		Long: `Show what firmware, kernel and Ignition printed on the serial port since the
machine was made, without what would steer a terminal. libvirt keeps the log,
for root: an ordinary user needs sudo.`,
		Example: "  bootlab vms log mylab bootstrap\n  bootlab vms log mylab master-0 --follow",
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			p, m, err := openMachine(io, args, uri)
			if err != nil {
				return err
			}
			defer p.close()
			return cli.VmsError(p.WriteLog(ctx, m, io.Out, follow))
		},
	}
	connectFlag(c, &uri)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what is printed, until Ctrl-C")
	return c
}

// openMachine opens a lab for looking, and finds the machine that the second
// argument names.
func openMachine(io cli.Streams, args []string, uri string) (*machinesOf, vms.Machine, error) {
	p, err := openMachines(io, args[0], uri, true)
	if err != nil {
		return nil, vms.Machine{}, err
	}
	m, err := oneMachine(vms.Machines(p.Lab), args[1])
	if err != nil {
		p.close()
		return nil, m, cli.VmsError(err)
	}
	return p, m, nil
}

func oneMachine(all []vms.Machine, name string) (vms.Machine, error) {
	chosen, err := provision.Choose(all, []string{name})
	if err != nil {
		return vms.Machine{}, err
	}
	if len(chosen) != 1 {
		return vms.Machine{}, &vms.Problem{Message: fmt.Sprintf("%s means %d machines, and this takes one", name, len(chosen)), Hint: "name one, as " + chosen[0].Name}
	}
	return chosen[0], nil
}

// become goes on as another program: terminal, signals and exit status are that
// one's own.
func become(name, install string, args ...string) error {
	program, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) {
		return cli.Hint(errors.New(name+" is not installed"), install)
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, syscall.Exec(program, append([]string{name}, args...), os.Environ()))
}
