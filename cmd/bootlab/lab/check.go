package lab

import (
	"fmt"
	stdio "io"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

func newCheckCommand(io cli.Streams) *cobra.Command {
	var from cli.FromAudit
	var format *cli.Format
	c := &cobra.Command{
		Use:   "check LAB",
		Short: "List all errors in a lab.yaml",
		Long: `Read LAB (a directory with a lab.yaml, or the file) as generate would, and
report all problems together, each with its line, what is allowed and a hint.
With --from-audit, also show what generate would apply of that file.`,
		Example: "  bootlab check mylab\n  bootlab check mylab --from-audit bootkube.sh\n  bootlab check mylab --output json",
		RunE: func(_ *cobra.Command, args []string) error {
			if format.Is(cli.JSON) {
				return checkAsJSON(io, args[0], from)
			}
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
	from.Flags(c)
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

// checkedLab is what --output json writes. New keys may be added.
type checkedLab struct {
	Lab          string         `json:"lab"`
	Distribution string         `json:"distribution,omitempty"`
	Release      string         `json:"release,omitempty"`
	Topology     string         `json:"topology,omitempty"`
	Domain       string         `json:"domain,omitempty"`
	Applied      *string        `json:"applied,omitempty"`
	Problems     []labs.Problem `json:"problems"`
}

// checkAsJSON writes all problems, the warnings among them, and ends as the
// readable form does.
func checkAsJSON(io cli.Streams, path string, from cli.FromAudit) error {
	report := checkedLab{Lab: path, Problems: []labs.Problem{}}
	report.Problems = append(report.Problems, from.Problems(path)...)
	quiet := cli.Streams{In: io.In, Out: io.Out, Err: stdio.Discard} // the warnings stand in the report
	plan, err := cli.LoadPlanFrom(quiet, path, from)
	if err == nil {
		report.Distribution, report.Release = plan.Lab.Release.Distribution, plan.Version()
		report.Topology, report.Domain = plan.Lab.Topology, plan.Lab.Domain()
		if plan.Audited != nil {
			count := plan.Audited.Count()
			report.Applied = &count
		}
	}
	if written := cli.WriteJSON(io.Out, report); err == nil {
		err = written
	}
	return err
}
