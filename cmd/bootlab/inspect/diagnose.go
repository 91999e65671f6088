package inspect

import (
	"context"
	"fmt"
	stdio "io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
	"bootlab/vms"
)

// markdown is the format for reports of errors.
const markdown = "markdown"

func newDiagnoseCommand(io cli.Streams) *cobra.Command {
	var from string
	var format *cli.Format
	var place cli.Where
	c := &cobra.Command{
		Use:   "diagnose LAB|BUNDLE",
		Short: "Find out why a bootstrap hangs",
		Long: `Check from the bottom up: is the node up, is the release image there, do kubelet,
etcd and API work, do the names resolve to them, do masters join, does the hand-over
end? diagnose stops at the first proven cause and shows the proof. A layer that
cannot be seen does not stop it. If nothing is wrong, it also reads the checks of the
stages, and a failed check is a finding. It changes nothing on any machine.

A bundle of bootlab gather, or of openshift-install gather bootstrap, needs no
lab: domain, release and platform come from the bundle, and diagnose prints what it
assumes. LAB --from BUNDLE uses the names and addresses of the lab instead.`,
		Example: "  bootlab diagnose mylab\n  bootlab diagnose log-bundle-20260102030405.tar.gz\n  bootlab diagnose log-bundle-20260102030405.tar.gz --output markdown\n  bootlab diagnose mylab --from log-bundle-20260102030405.tar.gz",
		RunE: func(c *cobra.Command, args []string) error {
			if from != "" && place.Local {
				return cli.Usage(cli.Hint(fmt.Errorf("--from and --local exclude each other"), "a bundle knows whether it is of a local run"))
			}
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			report, err := diagnosed(ctx, io, args[0], &place, from)
			if err != nil {
				return err
			}
			switch {
			case format.Is(cli.JSON):
				err = cli.WriteJSON(io.Out, report)
			case format.Is(markdown):
				report.WriteMarkdown(io.Out)
			default:
				printWalk(io.Out, report)
			}
			switch {
			case err != nil:
				return err
			case report.Verdict == diagnose.Proven || report.Verdict == diagnose.Unknown:
				return cli.Found(nil)
			case report.Verdict == diagnose.Unseen:
				return cli.CannotTell(nil)
			}
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "a gathered bundle, packed or a directory, instead of the machines")
	format = cli.FormatFlag(c, cli.Text, markdown, cli.JSON)
	place.Flags(c)
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "all is well or nothing is wrong yet", cli.ExitFound: "a cause is proven, or something is wrong and its cause is unknown",
		cli.ExitCannotTell: "the evidence is not enough"})
	return c
}

// diagnosed judges a lab, or a bundle of which no lab is known.
func diagnosed(ctx context.Context, io cli.Streams, path string, place *cli.Where, from string) (*diagnose.Report, error) {
	bundle, err := isBundle(path)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if bundle {
		if from != "" || place.Local {
			return nil, cli.Usage(cli.Hint(fmt.Errorf("%s is a bundle already", path), "leave --from and --local out"))
		}
		return judgedAlone(ctx, io, path)
	}
	plan, err := cli.LoadPlan(io, path)
	if err != nil {
		return nil, err
	}
	return judged(ctx, io, plan, place, from)
}

// isBundle tells a bundle from a lab: a lab is a directory with lab.yaml, a bundle
// an archive or a directory with what gathering makes.
func isBundle(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || (!info.IsDir() && filepath.Base(path) == labs.LabFile) {
		return false, nil // what is wrong with a lab, loading it says
	}
	if !info.IsDir() {
		return true, nil
	}
	has := func(name string) bool { _, err := os.Stat(filepath.Join(path, name)); return err == nil }
	lab, bundle := has(labs.LabFile), has("bootstrap") || has("rendered-assets")
	switch {
	case lab && bundle:
		return false, cli.Hint(fmt.Errorf("%s is a lab and a bundle", path), "move lab.yaml, or bootstrap/ and rendered-assets/, to a directory of their own")
	case !lab && !bundle:
		if nested, _ := filepath.Glob(filepath.Join(path, "log-bundle-*", "*")); len(nested) > 0 {
			return true, nil
		}
	}
	return bundle, nil
}

// judgedAlone judges a bundle by what it says itself.
func judgedAlone(ctx context.Context, io cli.Streams, file string) (*diagnose.Report, error) {
	bundle, err := host.OpenBundle(ctx, file)
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	if err != nil {
		return nil, cli.Hint(err, "it takes what bootlab gather or openshift-install gather bootstrap wrote, packed or as a directory")
	}
	defer bundle.Close()
	report, _, err := diagnose.JudgeWhole(bundle)
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	for _, note := range bundle.Notes {
		fmt.Fprintf(io.Err, "note: %s\n", vms.PlainText(note))
	}
	return report, err
}

// judged collects the evidence and walks over it.
func judged(ctx context.Context, io cli.Streams, plan *labs.Plan, place *cli.Where, from string) (*diagnose.Report, error) {
	d := labs.BuiltinDiagnosis().For(plan)
	if from != "" {
		return judgedFrom(ctx, io, from, d, plan)
	}
	places, err := place.Hosts(plan.Lab)
	if err != nil {
		return nil, cli.VmsError(err)
	}
	found := places.Collect(ctx, plan.Lab, d.Evidence, nil)
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	report, err := diagnose.Walk(d, plan.Lab, places.Local, found)
	if err == nil {
		err = countLive(ctx, report, plan, places)
	}
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	return report, err
}

// judgedFrom walks over the evidence that a bundle keeps. What is wrong with the
// bundle is told, and does not keep it from being judged.
func judgedFrom(ctx context.Context, io cli.Streams, file string, d *labs.Diagnosis, plan *labs.Plan) (*diagnose.Report, error) {
	bundle, err := host.OpenBundle(ctx, file)
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	if err != nil {
		return nil, cli.Hint(err, "--from takes what bootlab gather or openshift-install gather bootstrap wrote, packed or as a directory")
	}
	defer bundle.Close()
	lab := plan.Lab
	report, err := diagnose.Walk(d, lab, bundle.Local(), bundle.Found(d.Evidence, lab))
	if err == nil {
		err = report.CountBundle(plan, bundle)
	}
	if ctx.Err() != nil {
		return nil, cli.ErrInterrupted
	}
	for _, note := range bundle.Notes {
		fmt.Fprintf(io.Err, "note: %s\n", vms.PlainText(note))
	}
	if s, err := diagnose.SubjectOf(bundle); err == nil && s.Domain != "" && s.Domain != lab.Domain() {
		fmt.Fprintf(io.Err, "note: the bundle is of the lab %s, not of %s\nhint: bootlab diagnose %s judges it by itself\n", vms.PlainText(s.Domain), lab.Domain(), file)
	}
	return report, err
}

func printWalk(w stdio.Writer, r *diagnose.Report) {
	printSubject(w, r.Subject)
	for _, a := range r.Layers {
		fmt.Fprintf(w, "%-16s %s\n", a.Answer, a.Ask)
	}
	fmt.Fprintln(w)
	for i := range r.Harmless {
		fmt.Fprintf(w, "Harmless: %s\n", r.Harmless[i].Title)
		cli.PrintIndented(w, "  ", r.Harmless[i].Cause)
		printExhibits(w, r.Harmless[i].Shown)
		fmt.Fprintln(w)
	}
	for i := range r.Warnings {
		fmt.Fprintf(w, "Warning: %s\n", r.Warnings[i].Title)
		printCause(w, &r.Warnings[i])
	}
	if r.Cause != nil {
		fmt.Fprintf(w, "Cause: %s\n", r.Cause.Title)
		printCause(w, r.Cause)
		printFailedChecks(w, r)
		return
	}
	if limit := r.Limit(); limit != "" {
		fmt.Fprintf(w, "%s\n\n", vms.PlainText(limit))
	}
	fmt.Fprintln(w, r.Verdict.Words())
	printLead(w, r)
	printFailedChecks(w, r)
	switch r.Verdict {
	case diagnose.Unknown:
		printExhibits(w, r.Evidence)
	case diagnose.Unseen:
		if r.Subject == nil {
			printExhibits(w, r.Missing)
		}
	}
}

// printSubject says whose bootstrap it is, and what is assumed.
func printSubject(w stdio.Writer, s *diagnose.Subject) {
	if s == nil {
		return
	}
	for _, known := range [][2]string{{"domain", s.Domain}, {"release", s.Release}, {"platform", s.Platform}} {
		if known[1] != "" {
			fmt.Fprintf(w, "%-9s %s\n", known[0], vms.PlainText(known[1]))
		}
	}
	for _, assumed := range s.Assumed {
		fmt.Fprintf(w, "assumed   %s\n", vms.PlainText(assumed))
	}
	fmt.Fprintln(w)
}

// printLead says where to begin when the cause is not known.
func printLead(w stdio.Writer, r *diagnose.Report) {
	if l := r.Lead; l != nil {
		where := l.Service
		if l.Stage != "" {
			where += ", stage " + l.Stage
		}
		if l.At != "" {
			where += ", " + l.At
		}
		fmt.Fprintf(w, "  failed: %s\n    | %s\n", where, l.Line)
	}
	if len(r.Likely) > 0 {
		fmt.Fprintln(w, "  most likely, and what would show it:")
	}
	for _, c := range r.Likely {
		fmt.Fprintf(w, "    %s (%s)\n", c.Title, c.Address)
		cli.PrintIndented(w, "      ", c.Command)
	}
}

func printCause(w stdio.Writer, c *diagnose.Cause) {
	cli.PrintIndented(w, "  ", c.Cause)
	printExhibits(w, c.Shown)
	fmt.Fprintln(w, "  see it:")
	cli.PrintIndented(w, "    ", c.Command)
	fmt.Fprintln(w, "  fix it:")
	cli.PrintIndented(w, "    ", c.Fix)
	fmt.Fprintf(w, "  read: %s in the guide (out/guide, or bootlab site)", c.Address)
	if c.Page != "" {
		fmt.Fprintf(w, "; bootlab explain %s", c.Page)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w)
}

func printExhibits(w stdio.Writer, all []diagnose.Exhibit) {
	for _, e := range all {
		node := ""
		if e.Node != "" {
			node = " of " + e.Node
		}
		fmt.Fprintf(w, "  %s%s:\n", e.Title, node)
		for _, line := range e.Lines {
			fmt.Fprintf(w, "    | %s\n", line)
		}
	}
}
