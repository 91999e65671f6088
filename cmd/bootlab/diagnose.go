package main

import (
	"context"
	"encoding/json"
	"fmt"
	stdio "io"
	"strings"

	"github.com/spf13/cobra"

	"bootlab/labs"
	"bootlab/labs/diagnose"
	"bootlab/labs/host"
	"bootlab/vms"
)

func newDiagnoseCommand(io streams) *cobra.Command {
	var from, format string
	var place where
	c := &cobra.Command{
		Use:   "diagnose LAB",
		Short: "Say why a bootstrap hangs",
		Long: `Walk from the ground upwards: is the node up, is the release image there, do
kubelet, etcd and API work, do names lead to them, do masters come, does the
handover end? The walk stops at the first cause that is proven, and shows by
what. Nothing is changed on any machine. A bundle of bootlab gather, or of
openshift-install gather bootstrap, is judged the same way with --from.

Exit status: 0 all is well or nothing is wrong yet, 1 error, 2 usage, 3 a cause
is proven, or something is wrong for a cause that is not known.`,
		Example: "  bootlab diagnose mylab\n  bootlab diagnose mylab --from log-bundle-20260102030405.tar.gz\n  bootlab diagnose mylab --output json",
		Args:    asUsage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return &usageError{&hintError{fmt.Errorf("output %q is none of text, json", format), "--output text"}}
			}
			if from != "" && place.local {
				return &usageError{&hintError{fmt.Errorf("--from and --local exclude each other"), "a bundle knows whether it is of a local run"}}
			}
			ctx, stop := untilInterrupted(c)
			defer stop()
			plan, err := loadPlan(io, args[0])
			if err != nil {
				return err
			}
			report, err := judged(ctx, io, plan, &place, from)
			if err != nil {
				return err
			}
			if format == "json" {
				err = writeJSON(io.out, report)
			} else {
				printWalk(io.out, report)
			}
			if err == nil && (report.Verdict == diagnose.Proven || report.Verdict == diagnose.Unknown || report.Verdict == diagnose.Unseen) {
				return foundError{}
			}
			return err
		},
	}
	c.Flags().StringVar(&from, "from", "", "a gathered bundle, packed or a directory, in place of the machines")
	c.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	place.flags(c)
	return c
}

// judged collects the evidence and walks over it.
func judged(ctx context.Context, io streams, plan *labs.Plan, place *where, from string) (*diagnose.Report, error) {
	d := labs.BuiltinDiagnosis().For(plan)
	if from != "" {
		found, local, err := foundIn(ctx, io, from, d, plan.Lab)
		if err != nil {
			return nil, err
		}
		return diagnose.Walk(d, plan.Lab, local, found)
	}
	places, err := place.places(plan.Lab)
	if err != nil {
		return nil, vmsError(err)
	}
	found := places.Collect(ctx, plan.Lab, d.Evidence, nil)
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	return diagnose.Walk(d, plan.Lab, places.Local, found)
}

// foundIn is the evidence that a bundle keeps. What is wrong with the bundle is
// told, and does not keep it from being judged.
func foundIn(ctx context.Context, io streams, file string, d *labs.Diagnosis, lab *labs.Lab) (_ []host.Found, local bool, _ error) {
	bundle, err := host.OpenBundle(ctx, file)
	if ctx.Err() != nil {
		return nil, false, errInterrupted
	}
	if err != nil {
		return nil, false, &hintError{err, "--from takes what bootlab gather or openshift-install gather bootstrap wrote, packed or as a directory"}
	}
	defer bundle.Close()
	found := bundle.Found(d.Evidence, lab)
	if ctx.Err() != nil {
		return nil, false, errInterrupted
	}
	for _, note := range bundle.Notes {
		fmt.Fprintf(io.err, "note: %s\n", vms.PlainText(note))
	}
	if bundle.Index != nil && bundle.Index.Lab["domain"] != lab.Domain() {
		fmt.Fprintf(io.err, "note: the bundle is of the lab %s, not of %s\n", vms.PlainText(bundle.Index.Lab["domain"]), lab.Domain())
	}
	return found, bundle.Local(), nil
}

// writeJSON writes a value for other programs.
func writeJSON(w stdio.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// verdicts are the last words of a report.
var verdicts = map[diagnose.Verdict]string{
	diagnose.Healthy:    "All is well.",
	diagnose.Unknown:    "Cause not known. What there is to look at:",
	diagnose.NotReached: "Nothing is wrong so far; it has not got further yet.",
	diagnose.Unseen:     "It cannot be seen whether this works. What is missing:",
}

func printWalk(w stdio.Writer, r *diagnose.Report) {
	for _, a := range r.Layers {
		fmt.Fprintf(w, "%-16s %s\n", a.Answer, a.Ask)
	}
	fmt.Fprintln(w)
	for i := range r.Warnings {
		fmt.Fprintf(w, "Warning: %s\n", r.Warnings[i].Title)
		printCause(w, &r.Warnings[i])
	}
	if r.Cause != nil {
		fmt.Fprintf(w, "Cause: %s\n", r.Cause.Title)
		printCause(w, r.Cause)
		return
	}
	fmt.Fprintln(w, verdicts[r.Verdict])
	switch r.Verdict {
	case diagnose.Unknown:
		printExhibits(w, r.Evidence)
	case diagnose.Unseen:
		printExhibits(w, r.Missing)
	}
}

func printCause(w stdio.Writer, c *diagnose.Cause) {
	printIndented(w, "  ", c.Cause)
	printExhibits(w, c.Shown)
	fmt.Fprintln(w, "  see it:")
	printIndented(w, "    ", c.Command)
	fmt.Fprintln(w, "  fix it:")
	printIndented(w, "    ", c.Fix)
	if c.Page != "" {
		fmt.Fprintf(w, "  read: bootlab explain %s\n", c.Page)
	}
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

func printIndented(w stdio.Writer, indent, text string) {
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		fmt.Fprint(w, indent, strings.TrimRight(line, "\n"), "\n")
	}
}
