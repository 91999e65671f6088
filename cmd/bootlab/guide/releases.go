package guide

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

func newReleasesCommand(io cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "releases",
		Short: "List the releases whose bootkube.sh is known, and how well",
		Long: `List the minor releases that bootlab has stage data for: how well it is
established, where it was read, how long bootkube.sh is there as a template, and
the release images that were seen in public places.`,
		Example: "  bootlab releases",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(io.Out, releasesText(labs.Builtin()))
			return err
		},
	}
}

func releasesText(catalog *labs.Catalog) string {
	var b strings.Builder
	cli.Table(&b, func(row func(cells ...string)) {
		row("RELEASE", "CONFIDENCE", "LINES", "READ FROM")
		for _, r := range catalog.Releases {
			row(r.ID, r.Confidence, strconv.Itoa(r.Lines), strings.TrimSpace(r.Source+" "+r.Note))
		}
	})
	b.WriteString("\n")
	cli.Table(&b, func(row func(cells ...string)) {
		row("RELEASE", "DISTRIBUTION", "RELEASE IMAGE", "SEEN IN")
		for _, r := range catalog.Releases {
			for _, p := range r.PullSpecs {
				row(r.ID, p.Distribution, p.Image, p.Seen)
			}
		}
		row("any", "ocp", labs.OCPPullSpec, "OpenShift's documentation; needs a pull secret")
	})
	return b.String()
}

// withReleaseHint adds the nearest release to an error about one that is not
// known.
func withReleaseHint(err error) error {
	var unknown *labs.UnknownRelease
	if errors.As(err, &unknown) && unknown.Hint() != "" {
		return cli.Hint(err, unknown.Hint())
	}
	return err
}

// completeReleases offers the known releases on the command line.
func completeReleases(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return labs.Builtin().ReleaseIDs(), cobra.ShellCompDirectiveNoFileComp
}
