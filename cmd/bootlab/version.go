package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(io streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of bootlab and of the Go that built it",
		Example: "  bootlab version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(io.out, version())
			return err
		},
	}
}

// version is what the Go toolchain wrote into the binary: the module's version,
// else the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "bootlab, built without build information"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "development"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			v += " (modified)"
		}
	}
	return "bootlab " + v + ", " + info.GoVersion
}
