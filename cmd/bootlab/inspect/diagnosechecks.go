package inspect

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	stdio "io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/generator"
	"bootlab/generator/overlay"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/host"
)

// checkPatience is how long the checks of one stage may take when diagnose asks.
const checkPatience = 30 * time.Second

// countBundled takes the checks of a bundle into its report. Of a bundle that no
// lab is known of, what our scripts said counts; where they said nothing, so does what
// a release that is known leaves in any lab.
func countBundled(r *diagnose.Report, plan *labs.Plan, b *host.Bundle, alone bool) error {
	declared, err := fromBundle(plan, b)
	if err != nil {
		return nil // without assets there is nothing to check
	}
	if alone && declared.TAP == nil {
		if r.Subject.KnowsRelease() {
			r.Count(declared.Run(inAnyLab(declared, plan)))
		}
		return nil
	}
	chosen, err := check.Choose(plan, nil, func(s *labs.Stage) bool { return declared.Here(s) && diagnose.Checked(s.ID) })
	if err != nil {
		return err
	}
	r.Count(declared.Run(chosen))
	return nil
}

// errMaybeElsewhere is why a file that is missing in an installer's bundle is no
// finding.
var errMaybeElsewhere = errors.New("this build of the release may not have it")

// inAnyLab are the checks that need nothing but the files in a bundle: that a
// certificate has its CA, and that what was rendered has its form. Names, addresses and
// times are of a lab, and a file that is missing may be so on purpose.
func inAnyLab(declared *check.Declared, plan *labs.Plan) []check.Choice {
	declared.Values, declared.Files.Incomplete = nil, errMaybeElsewhere
	declared.Files.Now = whenSigned(declared.Files)
	var chosen []check.Choice
	for _, s := range plan.Stages {
		if !diagnose.Checked(s.ID) {
			continue
		}
		mine := *s
		mine.Checks = nil
		for _, c := range s.Checks {
			if c.Chain != nil || c.Bundle != nil || c.Objects != nil || c.Images != nil {
				mine.Checks = append(mine.Checks, c)
			}
		}
		// What the workstation makes leaves no marker on the node, and is there.
		chosen = append(chosen, check.Choice{Stage: &mine, Named: s.Bootkube == ""})
	}
	return chosen
}

// whenSigned is a time at which the certificates of the asset directory are valid: that
// some live for a day is judged elsewhere.
func whenSigned(files *check.Files) time.Time {
	latest := time.Time{}
	names, _ := fs.Glob(files.Assets, "tls/*.crt")
	for _, name := range names {
		text, err := fs.ReadFile(files.Assets, name)
		block, _ := pem.Decode(text)
		if err != nil || block == nil {
			continue
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && c.NotBefore.After(latest) {
			latest = c.NotBefore
		}
	}
	if latest.IsZero() {
		return files.Now
	}
	return latest
}

// countLive asks the scripts of a lab, where the walk found nothing wrong.
func countLive(ctx context.Context, r *diagnose.Report, plan *labs.Plan, places *host.Hosts) error {
	out, err := filepath.Abs(filepath.Join(plan.Lab.Dir, "out"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(out, "scripts")); err != nil || (r.Verdict != diagnose.Healthy && r.Verdict != diagnose.NotReached) {
		return nil // nothing was generated, or there is a finding already
	}
	live := &check.Live{Plan: plan, Hosts: places, Out: out, NodeScripts: overlay.Scripts, Advice: generator.Advice, Timeout: checkPatience}
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
