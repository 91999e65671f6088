// Package lab has the commands that make a lab: from lab.yaml to scripts and guide,
// and the comparison with a real bootkube.sh.
package lab

import (
	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
)

// Commands are those of this group, as they stand in the help.
func Commands(io cli.Streams) []*cobra.Command {
	return []*cobra.Command{newInitCommand(io), newLabsCommand(io), newCheckCommand(io), newGenerateCommand(io), newAuditCommand(io), newDemoCommand(io)}
}
