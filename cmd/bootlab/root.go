package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/cmd/bootlab/guide"
	"bootlab/cmd/bootlab/inspect"
	"bootlab/cmd/bootlab/lab"
	"bootlab/cmd/bootlab/machines"
)

func newRootCommand(io cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "bootlab",
		Short: "Learn how an OpenShift cluster bootstraps, by doing it by hand",
		Long: `bootlab splits bootkube.sh into its stages. From one lab.yaml it writes one
readable, runnable script with checks for each stage, and a guide that explains them.`,
		Example: `  bootlab init mylab        # write a commented mylab/lab.yaml
  bootlab generate mylab    # write scripts and guide to mylab/out
  bootlab site serve mylab  # read the guide in a browser
  bootlab explain render-etcd`,
		Version:       cli.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"lab", "Make a lab:", lab.Commands(io)},
		{"guide", "Read about the bootstrap:", guide.Commands(io)},
		{"inspect", "Look at a lab that runs, or at a bundle:", inspect.Commands(io)},
		{"machines", "Run the machines of a lab:", machines.Commands(io)},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersionCommand(io))
	cli.OneHabit(root)
	return root
}

func newVersionCommand(io cli.Streams) *cobra.Command {
	var format *cli.Format
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of bootlab and of the Go that built it",
		Example: "  bootlab version\n  bootlab version --output json",
		RunE: func(*cobra.Command, []string) error {
			if format.Is(cli.JSON) {
				return cli.WriteJSON(io.Out, cli.ThisBuild())
			}
			_, err := fmt.Fprintln(io.Out, cli.Version())
			return err
		},
	}
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}
