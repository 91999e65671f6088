package main

import "github.com/spf13/cobra"

// inspectCommands look at a lab that runs, or at what is kept of one.
func inspectCommands(io streams) []*cobra.Command {
	return []*cobra.Command{newVerifyCommand(io), newTimelineCommand(io), newWatchCommand(io), newDiagnoseCommand(io), newGatherCommand(io), newMaskCommand(io), newConnectivityCommand(io), newCertificatesCommand(io)}
}
