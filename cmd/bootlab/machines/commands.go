// Package machines has the commands that run the machines of a lab.
package machines

import (
	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
)

// Commands are those of this group, as they stand in the help.
func Commands(io cli.Streams) []*cobra.Command {
	return []*cobra.Command{newDoctorCommand(io), newHostCommand(io), newVMsCommand(io)}
}
