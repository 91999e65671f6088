package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRootCommand(io streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "bootlab",
		Short: "Learn how an OpenShift cluster bootstraps, by doing it by hand",
		Long: `bootlab takes bootkube.sh apart. From one lab.yaml it writes one readable,
runnable, self-verifying script per stage, and a guide that explains each.`,
		Example: `  bootlab init mylab        # write a commented mylab/lab.yaml
  bootlab generate mylab    # write scripts and guide to mylab/out
  bootlab site serve mylab  # read the guide in a browser
  bootlab explain render-etcd`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return asUsageError(withHint(withNewFlag(c, err), c.CommandPath()+" --help lists the flags"))
	})
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"lab", "Make a lab:", labCommands(io)},
		{"guide", "Read about the bootstrap:", guideCommands(io)},
		{"inspect", "Look at a lab that runs, or at a bundle:", inspectCommands(io)},
		{"machines", "Run the machines of a lab:", machineCommands(io)},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersionCommand(io))
	for _, c := range root.Commands() {
		if c.Args != nil {
			c.Args = asUsage(c.Args)
		}
	}
	root.Args = asUsage(cobra.NoArgs)
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return root
}

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
