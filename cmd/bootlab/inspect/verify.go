package inspect

import (
	"context"
	"errors"
	"fmt"
	stdio "io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator/overlay"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/host"
)

// verifyRequest is a command line of verify.
type verifyRequest struct {
	cli.Where
	lab             string
	words           []string
	from            string
	format          *cli.Format
	partial, passed bool
	watch           int // seconds; 0 is once
	timeout         time.Duration
}

// junit is the format that CI systems show as the result of tests.
const junit = "junit"

func newVerifyCommand(io cli.Streams) *cobra.Command {
	r := &verifyRequest{}
	c := &cobra.Command{
		Use:   "verify LAB [STAGE|FROM..TO|all]...",
		Short: "Run the checks of a lab's stages",
		Long: `Run the checks of stages: those of one, of a range in the order they run (A..B,
A.. or ..B), or of all. Each script runs with --verify where it belongs, on this
machine or on the bootstrap node, and all run to the end. A stage without a marker
and without a record is not done yet: verify checks it only when you name it alone.

With --from verify runs nothing. A bundle of bootlab gather contains the results of
the scripts at that time, and verify reports them. A bundle of openshift-install
gather bootstrap contains certificates and the structure of manifests. All other
checks report that they cannot run there, and the result is not a success, unless
you give --partial.`,
		Example: `  bootlab verify mylab
  bootlab verify mylab render-etcd
  bootlab verify mylab copy-manifests..render-mco --output junit
  bootlab verify mylab --watch --until-passed
  bootlab verify mylab --from log-bundle-20260102030405.tar.gz --partial`,
		RunE: func(c *cobra.Command, args []string) error {
			r.lab, r.words = args[0], args[1:]
			if err := r.refuse(c); err != nil {
				return err
			}
			ctx, stop := cli.UntilInterrupted(c)
			defer stop()
			return runVerify(ctx, io, r)
		},
	}
	r.flags(c)
	cli.SetEnds(c, cli.Ends{cli.ExitDone: "all passed", cli.ExitFailed: "error, or nothing is done yet", cli.ExitFound: "a check failed",
		cli.ExitCannotTell: "no check failed, but some could not run"})
	return c
}

func (r *verifyRequest) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&r.from, "from", "", "check the contents of this bundle (a directory or .tar.gz), instead of the lab")
	f.BoolVar(&r.partial, "partial", false, "with --from: checks that a bundle cannot answer are not a failure")
	r.format = cli.FormatFlag(c, cli.Text, cli.JSON, junit)
	f.IntVar(&r.watch, "watch", 0, "repeat every so many seconds, and print what changed; Ctrl-C ends it")
	f.Lookup("watch").NoOptDefVal = "5"
	f.BoolVar(&r.passed, "until-passed", false, "with --watch: end when every stage is done and every check passes")
	f.DurationVar(&r.timeout, "timeout", 2*time.Minute, "how long one script may take")
	r.Where.Flags(c)
}

// refuse says which flags do not go together.
func (r *verifyRequest) refuse(c *cobra.Command) error {
	watching := c.Flags().Changed("watch")
	wrong, hint := "", ""
	switch {
	case watching && r.watch < 1:
		wrong, hint = fmt.Sprintf("--watch=%d is no number of seconds", r.watch), "--watch alone is every 5 seconds, --watch=30 every 30"
	case watching && !r.format.Is(cli.Text):
		wrong, hint = "--watch tells changes as text", "without --watch, --output "+r.format.String()+" gives one report"
	case watching && r.from != "", r.Local && r.from != "":
		wrong, hint = "a bundle does not change, and is of one place", "--from goes with neither --watch nor --local"
	case r.partial && r.from == "":
		wrong, hint = "--partial is for --from", "a lab is there as a whole"
	case r.passed && !watching:
		wrong, hint = "--until-passed is for --watch", "bootlab verify "+r.lab+" --watch --until-passed"
	case r.timeout <= 0:
		wrong, hint = "--timeout "+r.timeout.String()+" is no time", "as 90s or 5m"
	}
	if wrong != "" {
		return cli.Usage(cli.Hint(errors.New(wrong), hint))
	}
	return nil
}

func runVerify(ctx context.Context, io cli.Streams, r *verifyRequest) error {
	plan, err := cli.LoadPlan(io, r.lab)
	if err != nil {
		return err
	}
	if plan.Lab.Release.StandIn() {
		fmt.Fprintf(io.Err, "note: %s is a demo: its release image and operators are stand-ins made by bootlab\n", cli.Visible(r.lab))
	}
	if r.from != "" {
		return r.bundle(ctx, io, plan)
	}
	places, err := r.Hosts(plan.Lab)
	if err != nil {
		return cli.VmsError(err)
	}
	out, err := filepath.Abs(filepath.Join(plan.Lab.Dir, "out"))
	if err != nil {
		return err
	}
	live := &check.Live{Plan: plan, Hosts: places, Out: out, NodeScripts: overlay.Scripts, Advice: labs.Advice, Timeout: r.timeout}
	if _, err := os.Stat(filepath.Join(out, "scripts")); err != nil {
		return cli.Hint(fmt.Errorf("%s has no scripts: %w", r.lab, err), "bootlab generate "+r.lab)
	}
	chosen, err := r.choose(plan, live.Here)
	if err != nil {
		return err
	}
	if r.watch > 0 {
		return r.watchOver(ctx, io, live, chosen)
	}
	printer := &check.Printer{To: io.Out, Colour: colourful(io.Out)}
	var told func(check.Stage)
	if r.format.Is(cli.Text) {
		told = printer.Stage
	}
	report := live.Run(ctx, chosen, told)
	if ctx.Err() != nil {
		return cli.Hint(errors.New("interrupted"), "nothing was changed; the verdict is not complete")
	}
	err = r.end(io, printer, report)
	if r.format.Is(cli.Text) && report.Summary.Asked() > 0 {
		warnOfEnds(ctx, io, plan, places)
	}
	return err
}

// warnOfEnds tells of certificates that have ended or soon will. That there are
// none to be read is for bootlab certificates to say.
func warnOfEnds(ctx context.Context, io cli.Streams, plan *labs.Plan, places *host.Hosts) {
	all, _, err := collectCertificates(ctx, plan, places)
	if err != nil {
		return
	}
	ends := newCertificatesReport(plan, places, all, time.Now().UTC())
	for _, e := range ends.endings {
		if e.Level != host.EndsInDays {
			fmt.Fprint(io.Err, ends.warning(e))
		}
	}
}

// choose gives usage errors for words that mean no stage.
func (r *verifyRequest) choose(plan *labs.Plan, here func(*labs.Stage) bool) ([]check.Choice, error) {
	chosen, err := check.Choose(plan, r.words, here)
	var unknown *check.UnknownStage
	switch {
	case errors.As(err, &unknown):
		return nil, cli.Unknown(err, unknown.Word, append([]string{"all"}, unknown.Known...), "a stage, FROM..TO or all; stages are "+strings.Join(unknown.Known, " "))
	case err != nil:
		return nil, cli.Usage(cli.Hint(err, "bootlab explain STAGE says where a stage runs"))
	}
	return chosen, nil
}

// bundle checks what a bundle kept.
func (r *verifyRequest) bundle(ctx context.Context, io cli.Streams, plan *labs.Plan) error {
	b, err := host.OpenBundle(ctx, r.from)
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	if err != nil {
		return cli.Hint(err, "bootlab gather and openshift-install gather bootstrap make bundles")
	}
	defer b.Close()
	for _, note := range b.Notes {
		fmt.Fprintf(io.Err, "warning: %s: %s\n", cli.Visible(r.from), cli.Visible(note))
	}
	declared, err := fromBundle(plan, b)
	if err != nil {
		return err
	}
	chosen, err := r.choose(plan, declared.Here)
	if err != nil {
		return err
	}
	report := declared.Run(chosen)
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	printer := &check.Printer{To: io.Out, Colour: colourful(io.Out)}
	if r.format.Is(cli.Text) {
		for _, s := range report.Stages {
			printer.Stage(s)
		}
	}
	return r.end(io, printer, report)
}

// fromBundle are the checks of a bundle.
func fromBundle(plan *labs.Plan, b *host.Bundle) (*check.Declared, error) {
	declared, err := check.OfBundle(plan, b)
	if errors.Is(err, check.ErrNoAssets) {
		err = cli.Hint(err, "the bootstrap node could not be reached when it was gathered, or there was nothing yet")
	}
	return declared, err
}

// end writes the report, as far as it is not written, and says how it ended.
func (r *verifyRequest) end(io cli.Streams, printer *check.Printer, report *check.Report) error {
	var err error
	switch {
	case r.format.Is(cli.JSON):
		err = report.WriteJSON(io.Out)
	case r.format.Is(junit):
		err = report.WriteJUnit(io.Out)
	default:
		printer.Summary(report)
		err = printer.Err()
	}
	if err != nil {
		return err
	}
	return r.verdict(report)
}

// verdict is the error of a report that is no success.
func (r *verifyRequest) verdict(report *check.Report) error {
	s := report.Summary
	switch {
	case s.Failed > 0:
		return cli.Found(nil)
	case s.Bad() > 0, s.CannotTell > 0 && !r.partial, s.Passed == 0 && s.CannotTell > 0:
		return cli.CannotTell(nil)
	case s.Asked() == 0:
		return cli.Hint(errors.New("nothing was checked: none of these stages is done yet"), "name one alone to check it all the same")
	}
	return nil
}

// watchOver verifies again and again, and tells changes.
func (r *verifyRequest) watchOver(ctx context.Context, io cli.Streams, live *check.Live, chosen []check.Choice) error {
	printer := &check.Printer{To: io.Out, Colour: colourful(io.Out)}
	var before *check.Report
	for {
		report := live.Run(ctx, chosen, nil)
		if ctx.Err() != nil && before != nil {
			return r.verdict(before) // the round that was interrupted says nothing
		}
		if changes := check.Changes(before, report); len(changes) > 0 || before == nil {
			printer.Changes(time.Now(), changes)
			printer.Summary(report)
		}
		if err := printer.Err(); err != nil {
			return err
		}
		before = report
		if r.passed && report.Summary.Good && report.Summary.NotDone == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return r.verdict(report)
		case <-time.After(time.Duration(r.watch) * time.Second):
		}
	}
}

// colourful says whether colours are wanted: on a terminal that has them, unless
// NO_COLOR says no (no-color.org).
func colourful(w stdio.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	return isatty.IsTerminal(file.Fd())
}
