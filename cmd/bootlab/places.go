package main

import (
	"errors"

	"github.com/spf13/cobra"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
	"bootlab/vms"
	"bootlab/vms/access"
)

// where is which of a lab's two forms a command looks at.
type where struct {
	local bool
}

func (w *where) flags(c *cobra.Command) {
	c.Flags().BoolVar(&w.local, "local", false, "look at the local run on this workstation, although the lab has machines")
}

// places are the machines of a lab if it has any, else its local run.
func (w *where) places(lab *labs.Lab) (*host.Places, error) {
	if w.local {
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
