package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
	"bootlab/vms"
	"bootlab/vms/access"
)

// Where is which of a lab's two forms a command looks at.
type Where struct {
	Local bool
}

// Flags adds its option to those of a command.
func (w *Where) Flags(c *cobra.Command) {
	c.Flags().BoolVar(&w.Local, "local", false, "use the local run on this workstation, even if the lab has machines")
}

// Hosts are the machines of a lab if it has any, else its local run.
func (w *Where) Hosts(lab *labs.Lab) (*host.Hosts, error) {
	if w.Local {
		return watch.Local(lab), nil
	}
	config, err := access.SSHConfig(lab)
	var problem *vms.Problem
	switch {
	case errors.As(err, &problem):
		return watch.Local(lab), nil
	case err != nil:
		return nil, err
	}
	return watch.Machines(lab, config), nil
}
