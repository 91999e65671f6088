package main

import "github.com/spf13/cobra"

// guideCommands explain: in the terminal, and as a site.
func guideCommands(io streams) []*cobra.Command {
	return []*cobra.Command{newExplainCommand(io), newReleasesCommand(io), newDiffCommand(io), newSiteCommand(io)}
}
