package guide

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator"
	"bootlab/labs"
)

func newDiffCommand(io cli.Streams) *cobra.Command {
	var stage string
	var format *cli.Format
	c := &cobra.Command{
		Use:   "diff FROM TO",
		Short: "Show how bootkube.sh differs between two releases",
		Long: `Show what differs between bootkube.sh of two releases, with the reason if it is
known: stages, flags, images, copies, conditions, and what the checks and the
guide make of them. FROM may be the newer one.`,
		Example: `  bootlab diff 4.16 4.20
  bootlab diff 4.14 main --stage render-config
  bootlab diff 4.20 4.21 --output json`,
		ValidArgsFunction: completeDiff,
		RunE: func(_ *cobra.Command, args []string) error {
			comparison, err := compare(args[0], args[1], stage)
			if err != nil {
				return err
			}
			text, err := diffFormats[format.String()](comparison)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(io.Out, text)
			return err
		},
	}
	c.Flags().StringVar(&stage, "stage", "", "only this stage, by its name here or in bootkube.sh")
	format = cli.FormatFlag(c, cli.Text, "markdown", cli.JSON)
	return c
}

// completeDiff offers releases, of which diff takes two.
func completeDiff(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cli.Releases(c, args, toComplete)
}

// compare compares two releases, in one stage or, where none is named, in all.
func compare(from, to, stage string) (*labs.Comparison, error) {
	catalog := labs.Builtin()
	comparison, err := labs.Compare(catalog, from, to)
	if err != nil || stage == "" {
		return comparison, withReleaseHint(err)
	}
	comparison, err = comparison.ForStage(catalog, stage)
	if err != nil {
		return nil, cli.Unknown(err, stage, catalog.Bootkube.Order, "stages: "+strings.Join(catalog.Bootkube.Order, " "))
	}
	return comparison, nil
}

var diffFormats = map[string]func(*labs.Comparison) (string, error){
	cli.Text:   func(c *labs.Comparison) (string, error) { return diffText(c), nil },
	"markdown": diffMarkdown,
	cli.JSON:   diffJSON,
}

func diffJSON(c *labs.Comparison) (string, error) {
	var b strings.Builder
	err := cli.WriteJSON(&b, c)
	return b.String(), err
}

func diffMarkdown(c *labs.Comparison) (string, error) {
	name := func(id string) string { return "`" + id + "`" }
	return "# " + diffTitle(c) + "\n\n" + generator.ChangesMarkdown(c, name), nil
}

// diffTitle names the releases, and how well each is known.
func diffTitle(c *labs.Comparison) string {
	known := func(id string) string {
		return id + " (confidence " + labs.Builtin().Release(id).Confidence + ")"
	}
	return "bootkube.sh: from " + known(c.From) + " to " + known(c.To)
}

// signs stand before what was added, removed, changed and moved.
var signs = map[labs.ChangeKind]string{labs.Added: "+", labs.Removed: "-", labs.Changed: "~", labs.Moved: ">"}

func diffText(c *labs.Comparison) string {
	d := &textDiff{Comparison: c}
	d.line("%s", diffTitle(c))
	if len(c.Around)+len(c.Stages) == 0 {
		d.line("\nno difference is known")
	}
	if len(c.Around) > 0 {
		d.line("\naround the stages")
	}
	d.changes(c.Around)
	for _, s := range c.Stages {
		d.stage(s)
	}
	return d.text.String()
}

// textDiff collects a comparison as text.
type textDiff struct {
	*labs.Comparison
	text strings.Builder
}

func (d *textDiff) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

func (d *textDiff) stage(s labs.StageChange) {
	name := s.ID
	if s.Bootkube != "" && s.Bootkube != s.ID {
		name += " (" + s.Bootkube + ")"
	}
	d.line("\n%s %s: %s%s", signs[s.Kind], name, s.Title, d.tag(s.Release))
	if s.Kind == labs.Moved {
		d.line("  behind %s, no longer behind %s", orTheStart(s.After), orTheStart(s.Before))
	}
	if s.Why != "" {
		d.line("    %s", strings.ReplaceAll(s.Why, "\n", "\n    "))
	}
	d.changes(s.Changes)
}

func (d *textDiff) changes(all []labs.Change) {
	for _, c := range all {
		d.line("  %s %s%s", signs[c.Kind], c.Words(func(text string) string { return text }), d.tag(c.Release))
		switch reason := c.Reason(); {
		case reason == "":
		case c.Kind == labs.Removed:
			d.line("      in %s: %s", d.From, reason)
		default:
			d.line("      %s", reason)
		}
	}
}

// tag says which release brought a change, where more than one could have.
func (d *textDiff) tag(release string) string {
	if release == "" || d.Neighbours() {
		return ""
	}
	return "  [" + release + "]"
}

func orTheStart(stage string) string {
	if stage == "" {
		return "the start"
	}
	return stage
}
