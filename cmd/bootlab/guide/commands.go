// Package guide has the commands that explain: in the terminal and as a site.
package guide

import (
	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
)

// Commands are those of this group, as they stand in the help.
func Commands(io cli.Streams) []*cobra.Command {
	return []*cobra.Command{newExplainCommand(io), newReleasesCommand(io), newDiffCommand(io), newSiteCommand(io)}
}
