// Package inspect has the commands that look at a lab that runs, or at what is kept
// of one.
package inspect

import (
	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
)

// Commands are those of this group, as they stand in the help.
func Commands(io cli.Streams) []*cobra.Command {
	return []*cobra.Command{newVerifyCommand(io), newTimelineCommand(io), newWatchCommand(io), newDiagnoseCommand(io), newGatherCommand(io), newMaskCommand(io), newConnectivityCommand(io), newCertificatesCommand(io)}
}
