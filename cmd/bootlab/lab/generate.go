package lab

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator"
	"bootlab/labs"
	"bootlab/templates"
	"bootlab/vms"
)

func newGenerateCommand(io cli.Streams) *cobra.Command {
	var out string
	var force bool
	var from cli.FromAudit
	var format *cli.Format
	c := &cobra.Command{
		Use:   "generate LAB",
		Short: "Write the scripts and the guide of a lab",
		Long: `Write scripts and guide of LAB (a directory with a lab.yaml, or the file) to
LAB/out. The same lab gives the same bytes. A file that was edited by hand stops
the whole command; with --force it is kept as NAME.edited beside the new one.

With --from-audit the scripts and the guide follow a bootkube.sh that nobody
reviewed, for example of a release that bootlab does not support yet or of a fork.
They use the stage data of the nearest supported release, changed to what the file
does. bootlab prints what it could not apply, and also names it at its place. Every
script and every page says what it was made from.`,
		Example: `  bootlab generate mylab
  bootlab generate mylab --to /srv/mylab
  bootlab generate mylab --from-audit bootkube.sh.template`,
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := cli.LoadPlanFrom(io, args[0], from)
			if err != nil {
				return err
			}
			return runGenerate(io, plan, out, generator.Options{Commands: cli.Reference(c.Root())}, force, format)
		},
	}
	cli.ToFlag(c, &out, "DIR", " (default LAB/out)")
	c.Flags().BoolVar(&force, "force", false, "replace files that were edited by hand, and keep them as NAME.edited")
	from.Flags(c)
	format = cli.FormatFlag(c, cli.Text, cli.JSON)
	return c
}

func runGenerate(io cli.Streams, plan *labs.Plan, out string, opts generator.Options, force bool, format *cli.Format) error {
	if out == "" {
		out = filepath.Join(plan.Lab.Dir, "out")
	}
	var err error
	if opts.LabDir, err = relative(out, plan.Lab.Dir); err != nil {
		return err
	}
	output, err := generator.Render(plan, templates.FS, opts)
	if err != nil {
		return err
	}
	if err := addMachines(output, plan.Lab); err != nil {
		return err
	}
	report, err := output.Write(out, generator.WriteOptions{Force: force})
	if err != nil {
		return cli.WriteError(out, err)
	}
	if format.Is(cli.JSON) {
		return cli.WriteWritten(io, out, report)
	}
	if err := printApplied(io.Out, plan); err != nil {
		return err
	}
	return printReport(io, out, report)
}

// addMachines puts the definitions of the lab's machines beside scripts and
// guide.
func addMachines(output *generator.Output, lab *labs.Lab) error {
	files, err := vms.Files(lab)
	for _, f := range files {
		output.Files = append(output.Files, generator.File{Path: f.Path, Mode: 0o644, Data: []byte(f.Text)})
	}
	slices.SortFunc(output.Files, func(a, b generator.File) int { return strings.Compare(a.Path, b.Path) })
	return err
}

// relative leads from one directory to another, with slashes. The scripts walk
// that way from where they really are, so links are followed first.
func relative(from, to string) (string, error) {
	from, err := physical(from)
	if err != nil {
		return "", err
	}
	if to, err = physical(to); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	return filepath.ToSlash(rel), err
}

// physical is the absolute path without links; what is not there yet stays as
// it is named.
func physical(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for dir := path; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest), nil
		}
		if dir == filepath.Dir(dir) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

func printReport(io cli.Streams, out string, r *generator.Report) error {
	_, err := fmt.Fprintf(io.Out, "%s: %d files written, %d unchanged, %d removed\n", out, len(r.Written), len(r.Unchanged), len(r.Removed))
	for _, kept := range r.Kept {
		fmt.Fprintf(io.Out, "kept your edits as %s\n", filepath.Join(out, kept))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.Out, `
read: %[1]s
run:  %[2]s/make-pki.sh --step
each script says at its end which one is next
`, filepath.Join(out, "README.md"), filepath.Join(out, "scripts"))
	return err
}

// printApplied says what became of the differences of an audited file.
func printApplied(w io.Writer, plan *labs.Plan) error {
	a := plan.Audited
	if a == nil {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "made from %s (sha256 %s) and stage data of %s: %s\n", a.File, a.SHA256, a.Nearest, a.Count())
	for _, c := range a.With(labs.NotApplied) {
		fmt.Fprintf(&b, "not applied: %s\n", cli.Visible(c.String()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
