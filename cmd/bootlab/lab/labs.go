package lab

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

// exampleLab is a line of labs --output json.
type exampleLab struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

func newLabsCommand(io cli.Streams) *cobra.Command {
	var format *cli.Format
	c := &cobra.Command{
		Use:     "labs",
		Short:   "List the labs that bootlab init can start from",
		Example: "  bootlab labs\n  bootlab labs --output json",
		RunE: func(*cobra.Command, []string) error {
			all := []exampleLab{}
			for _, e := range labs.ExampleList() {
				all = append(all, exampleLab{e.Name, e.About})
			}
			if format.Is(cli.JSON) {
				return cli.WriteJSON(io.Out, all)
			}
			for _, e := range all {
				if _, err := fmt.Fprintf(io.Out, "%-16s %s\n", e.Name, e.About); err != nil {
					return err
				}
			}
			return nil
		},
	}
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}
