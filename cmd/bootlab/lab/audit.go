package lab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/audit"
)

// auditRequest is a parsed command line of audit.
type auditRequest struct {
	lab, script, release      string
	ignition, host, help, dir string
	format                    *cli.Format
}

func newAuditCommand(io cli.Streams) *cobra.Command {
	r := &auditRequest{}
	c := &cobra.Command{
		Use:   "audit [LAB] [FILE]",
		Short: "Compare a real bootkube.sh with the stage data",
		Long: `Read a real bootkube.sh (FILE, or - for standard input; the installer's
bootkube.sh.template too; the one in a bootstrap.ign; or the one on a bootstrap
node) and compare what it does with the stage data of a release: the release of LAB
or --release, otherwise the one that matches best. No part of the script is executed.`,
		Example: `  bootlab audit mylab --ignition bootstrap.ign
  bootlab audit bootkube.sh.template --output json
  bootlab audit --host core@192.168.126.10
  bootlab audit bootkube.sh --write-stage-data draft
  bootlab audit --render-help quay.io/okd/scos-release:4.20.0-okd-scos.1`,
		RunE: func(c *cobra.Command, args []string) error {
			for _, a := range args {
				if err := r.place(a); err != nil {
					return err
				}
			}
			return runAudit(io, r, c.CommandPath())
		},
	}
	f := c.Flags()
	f.StringVar(&r.release, "release", "", "compare with this release instead of looking for the one that fits best")
	f.StringVar(&r.ignition, "ignition", "", "read bootkube.sh from this bootstrap.ign")
	f.StringVar(&r.host, "host", "", "read bootkube.sh from this bootstrap node with ssh, as core@ADDRESS")
	f.StringVar(&r.help, "render-help", "", "instead, run the commands in this release image's images to list their flags")
	f.StringVar(&r.dir, "write-stage-data", "", "write a draft of stage data for review to this new directory")
	r.format = cli.FormatFlag(c, cli.Text, cli.JSON)
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "all is identical or a known variation", cli.ExitFound: "there are unknown differences",
		cli.ExitCannotTell: "nothing differs, but not every command could be asked"})
	return c
}

// place tells a lab from a script.
func (r *auditRequest) place(arg string) error {
	info, err := os.Stat(arg)
	target := &r.script
	if err == nil && info.IsDir() || filepath.Ext(arg) == ".yaml" {
		target = &r.lab
	}
	if *target != "" {
		return cli.Usage(cli.Hint(fmt.Errorf("both %s and %s: one lab and one script at most", *target, arg), "usage: bootlab audit [LAB] [FILE]"))
	}
	*target = arg
	return nil
}

func runAudit(io cli.Streams, r *auditRequest, command string) error {
	sources := 0
	for _, s := range []string{r.script, r.ignition, r.host, r.help} {
		if s != "" {
			sources++
		}
	}
	if sources != 1 || r.help != "" && r.dir != "" {
		return cli.Usage(cli.Hint(fmt.Errorf("want one of FILE, --ignition, --host and --render-help, found %d", sources), command+" --help shows examples"))
	}
	if err := r.findRelease(io); err != nil {
		return err
	}
	if r.help != "" {
		report, err := auditHelp(r.help, r.release)
		if err != nil {
			return err
		}
		return printAudit(io, r, report, "the images of "+r.help)
	}
	script, name, err := r.parse(io)
	if err != nil {
		return cli.AuditError(name, err)
	}
	report := r.compare(script)
	if r.dir != "" {
		if err := writeDraft(io, r.dir, script, report.Release); err != nil {
			return err
		}
	}
	return printAudit(io, r, report, name)
}

// findRelease takes the release from the lab, and refuses one that is not
// known.
func (r *auditRequest) findRelease(io cli.Streams) error {
	if r.lab != "" {
		// A release that is not known is no reason not to look: the nearest is
		// compared with.
		lab, problems := labs.LoadAuditedLab(r.lab, labs.Builtin())
		if errs := problems.Errors(); len(errs) > 0 {
			return problems
		}
		for _, warning := range problems {
			fmt.Fprintln(io.Err, warning)
		}
		if r.release == "" {
			r.release = labs.Builtin().Nearest(lab.Release.Version)
		}
	}
	known := labs.Builtin()
	if r.release != "" && known.Release(r.release) == nil {
		return cli.UnknownRelease(r.release, known)
	}
	return nil
}

func (r *auditRequest) parse(io cli.Streams) (script *audit.Script, name string, err error) {
	switch {
	case r.host != "":
		script, err = fromHost(r.host)
		return script, r.host, err
	case r.ignition != "":
		f, err := os.Open(r.ignition)
		if err != nil {
			return nil, r.ignition, err
		}
		defer f.Close()
		data, err := audit.FromIgnition(f)
		if err != nil {
			return nil, r.ignition, err
		}
		script, err = audit.Parse(bytes.NewReader(data), audit.DefaultLimits)
		return script, r.ignition, err
	case r.script == "-":
		script, err = audit.Parse(io.In, audit.DefaultLimits)
		return script, "standard input", err
	}
	f, err := os.Open(r.script)
	if err != nil {
		return nil, r.script, err
	}
	defer f.Close()
	script, err = audit.Parse(f, audit.DefaultLimits)
	return script, r.script, err
}

func (r *auditRequest) compare(s *audit.Script) *audit.Report {
	if r.release != "" {
		return audit.Compare(s, labs.Builtin(), r.release)
	}
	return audit.Detect(s, labs.Builtin())
}

// writeDraft writes a draft to a directory that is not there yet, so that
// nothing is overwritten.
func writeDraft(io cli.Streams, dir string, s *audit.Script, nearest string) error {
	files, err := audit.Draft(s, labs.Builtin(), nearest)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return cli.Hint(err, "name a directory that is not there yet")
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Text, 0o644); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(io.Err, "%s: %d files to review; what is new has no why, what has no key stands at the end as a comment\n", dir, len(files))
	return err
}

// errDifferent is what makes a report with unknown differences a failure.
var errDifferent = errors.New("not the bootkube.sh of the lesson")

func printAudit(io cli.Streams, r *auditRequest, report *audit.Report, name string) error {
	print := printReadable
	if r.format.Is(cli.JSON) {
		print = printJSON
	}
	if err := print(io.Out, report, name); err != nil {
		return err
	}
	switch unasked := report.NotCompared(); {
	case unasked > 0 && unasked == report.Unknown:
		return cli.CannotTell(fmt.Errorf("%s: %s could not be asked, and nothing else differs", name, cli.Counted(unasked, "command")))
	case report.Unknown > 0:
		return cli.Found(cli.Hint(fmt.Errorf("%s: %s from %s: %w", name, cli.Counted(report.Unknown, "unknown difference"), report.Release, errDifferent),
			"each says what it means; --release compares with another release, --write-stage-data drafts a new one"))
	}
	return nil
}

func printJSON(w io.Writer, report *audit.Report, name string) error {
	return cli.WriteJSON(w, struct {
		Script string `json:"script"`
		*audit.Report
	}{name, report})
}

func printReadable(w io.Writer, report *audit.Report, name string) error {
	var b strings.Builder
	how := "compared with " + report.Release
	if report.Detected {
		how = "fits " + report.Release + " best"
		if len(report.AsWell) > 0 {
			how += " (" + strings.Join(report.AsWell, ", ") + " as well)"
		}
	}
	fmt.Fprintf(&b, "%s %s: %d identical, %s, %s\n", cli.Visible(name), how, report.Identical,
		cli.Counted(report.Known, "known variation"), cli.Counted(report.Unknown, "unknown difference"))
	for _, f := range report.Findings {
		at := ""
		if f.Line > 0 {
			at = fmt.Sprintf(" line %d", f.Line)
		}
		fmt.Fprintf(&b, "\n%s: %s,%s %s\n", f.Kind, cli.Visible(f.Stage), at, cli.Visible(f.What))
		if f.Stage != strings.Join(f.Stages, ", ") && len(f.Stages) > 0 {
			fmt.Fprintf(&b, "  stages: %s\n", cli.Visible(strings.Join(f.Stages, ", ")))
		}
		fmt.Fprintf(&b, "  lesson: %s\n  script: %s\n  %s\n", orNothing(f.Expected), orNothing(f.Found), f.Meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orNothing(text string) string {
	if text == "" {
		return "nothing of the kind"
	}
	return cli.Visible(text)
}
