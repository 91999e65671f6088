package inspect

import (
	"context"
	"fmt"
	stdio "io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator/overlay"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
)

// checkPatience is how long the checks of one stage may take when diagnose asks.
const checkPatience = 30 * time.Second

// countLive asks the scripts of a lab, where the walk found nothing wrong.
func countLive(ctx context.Context, r *diagnose.Report, plan *labs.Plan, places *host.Hosts) error {
	out, err := filepath.Abs(filepath.Join(plan.Lab.Dir, "out"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, "scripts")); err != nil || (r.Verdict != diagnose.Healthy && r.Verdict != diagnose.NotReached) {
		return nil // nothing was generated, or there is a finding already
	}
	live := &check.Live{Plan: plan, Hosts: places, Out: out, NodeScripts: overlay.Scripts, Advice: labs.Advice, Timeout: checkPatience}
	chosen, err := check.Choose(plan, nil, func(s *labs.Stage) bool { return live.Here(s) && diagnose.Checked(s.ID) })
	if err != nil {
		return err
	}
	r.Count(live.Run(ctx, chosen, nil))
	return nil
}

// printFailedChecks lists what verify would call failed.
func printFailedChecks(w stdio.Writer, r *diagnose.Report) {
	if len(r.FailedChecks) == 0 {
		return
	}
	fmt.Fprintln(w, "  failed checks:")
	for _, c := range r.FailedChecks {
		fmt.Fprintf(w, "    %s: %s\n", c.Stage, c.Title)
		cli.PrintIndented(w, "      found: ", plainLine(c.Found))
		cli.PrintIndented(w, "      hint: ", plainLine(c.Hint))
	}
}

// plainLine is a text of several lines as one.
func plainLine(text string) string { return strings.Join(strings.Fields(text), " ") }
