package lab

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
)

func newCheckCommand(io cli.Streams) *cobra.Command {
	var from cli.FromAudit
	c := &cobra.Command{
		Use:   "check LAB",
		Short: "Say everything that is wrong with a lab.yaml",
		Long: `Read LAB (a directory with a lab.yaml, or the file) as generate would, and
report all problems together, each with its line, what is allowed and a hint.
With --from-audit, say too what generate would apply of that file.`,
		Example: "  bootlab check mylab\n  bootlab check mylab --from-audit bootkube.sh",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			plan, err := cli.LoadPlanFrom(io, args[0], from)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.Out, "%s is right: %s %s, %s, %s\n", args[0], plan.Lab.Release.Distribution,
				plan.Version(), plan.Lab.Topology, plan.Lab.Domain())
			if err != nil {
				return err
			}
			return printApplied(io.Out, plan)
		},
	}
	from.Flags(c.Flags())
	return c
}
