package lab

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

func newLabsCommand(io cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:     "labs",
		Short:   "List the labs that bootlab init can start from",
		Example: "  bootlab labs",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, e := range labs.ExampleList() {
				if _, err := fmt.Fprintf(io.Out, "%-16s %s\n", e.Name, e.About); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
