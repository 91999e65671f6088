package guide

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

func newReleasesCommand(io cli.Streams) *cobra.Command {
	var format *cli.Format
	c := &cobra.Command{
		Use:   "releases",
		Short: "List the supported releases, with their sources",
		Long: `List the minor releases that bootlab has stage data for: the confidence in the data,
its source, the length of the bootkube.sh template, and the release images that
were found in public registries.`,
		Example: "  bootlab releases\n  bootlab releases --output json",
		RunE: func(*cobra.Command, []string) error {
			if format.Is(cli.JSON) {
				return cli.WriteJSON(io.Out, listReleases(labs.Builtin()))
			}
			_, err := fmt.Fprint(io.Out, releasesText(labs.Builtin()))
			return err
		},
	}
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

// listedRelease is a release in releases --output json.
type listedRelease struct {
	ID         string        `json:"id"`
	Confidence string        `json:"confidence"`
	Lines      int           `json:"lines"`
	Source     string        `json:"source"`
	Note       string        `json:"note,omitempty"`
	Images     []listedImage `json:"images"`
}

// listedImage is a release image that was seen in a public place.
type listedImage struct {
	Distribution string `json:"distribution"`
	Image        string `json:"image"`
	Seen         string `json:"seen"`
}

func listReleases(catalog *labs.Catalog) []listedRelease {
	all := []listedRelease{}
	for _, r := range catalog.Releases {
		listed := listedRelease{r.ID, r.Confidence, r.Lines, r.Source, r.Note, []listedImage{}}
		for _, p := range r.PullSpecs {
			listed.Images = append(listed.Images, listedImage(p))
		}
		all = append(all, listed)
	}
	return all
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

// withReleaseHint makes an error about a release that is not known one of usage,
// with the nearest release.
func withReleaseHint(err error) error {
	var unknown *labs.UnknownRelease
	if errors.As(err, &unknown) {
		return cli.Usage(cli.Hint(err, cmp.Or(unknown.Hint(), "bootlab releases lists them")))
	}
	return err
}
