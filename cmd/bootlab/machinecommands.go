package main

import "github.com/spf13/cobra"

// machineCommands run the machines of a lab, and look whether this host can.
func machineCommands(io streams) []*cobra.Command {
	return []*cobra.Command{newDoctorCommand(io), newVMsCommand(io)}
}
