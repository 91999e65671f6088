package main

import "github.com/spf13/cobra"

// labCommands make a lab, and compare its stages with a bootkube.sh.
func labCommands(io streams) []*cobra.Command {
	return []*cobra.Command{newInitCommand(io), newLabsCommand(io), newCheckCommand(io), newGenerateCommand(io), newAuditCommand(io)}
}
