package main

import (
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
		return &usageError{&hintError{withNewFlag(c, err), c.CommandPath() + " --help lists the flags"}}
	})
	root.AddCommand(newInitCommand(io), newLabsCommand(io), newCheckCommand(io), newGenerateCommand(io),
		newExplainCommand(io), newReleasesCommand(io), newDiffCommand(io), newAuditCommand(io), newDiagnoseCommand(io), newConnectivityCommand(io), newGatherCommand(io), newMaskCommand(io), newWatchCommand(io), newVerifyCommand(io), newTimelineCommand(io), newCertificatesCommand(io), newSiteCommand(io), newDoctorCommand(io), newVMsCommand(io), newVersionCommand(io))
	for _, c := range root.Commands() {
		if c.Args != nil {
			c.Args = asUsage(c.Args)
		}
	}
	root.Args = asUsage(cobra.NoArgs)
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return root
}

// asUsage turns a complaint about arguments into a usage error with a hint.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{&hintError{err, "usage: " + c.UseLine()}}
		}
		return nil
	}
}
