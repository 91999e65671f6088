package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootlab/labs"
)

func newCheckCommand(io streams) *cobra.Command {
	return &cobra.Command{
		Use:   "check LAB",
		Short: "Say everything that is wrong with a lab.yaml",
		Long: `Read LAB (a directory with a lab.yaml, or the file) as generate would, and
report all problems together, each with its line, what is allowed and a hint.`,
		Example: "  bootlab check mylab",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := loadPlan(io, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s is right: %s %s, %s, %s\n", args[0], plan.Lab.Release.Distribution,
				plan.Release.ID, plan.Lab.Topology, plan.Lab.Domain())
			return err
		},
	}
}

// loadPlan reads a lab and resolves it. Warnings are printed, problems are the
// error.
func loadPlan(io streams, path string) (*labs.Plan, error) {
	catalog := labs.Builtin()
	lab, problems := labs.LoadLab(path, catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, problems
	}
	for _, warning := range problems {
		fmt.Fprintln(io.err, warning)
	}
	return catalog.Resolve(lab)
}
