package diagnose

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/host"
)

// JudgeWhole judges a bundle of which no lab is known by all that it says itself: by
// the walk, and by the checks of what the stages left. It gives the evidence too that
// the walk looked at.
func JudgeWhole(b *host.Bundle) (*Report, []host.Found, error) {
	r, found, err := examine(b)
	if err != nil {
		return nil, nil, err
	}
	return r, found, r.CountBundle(r.Subject.Plan, b)
}

// CountBundle takes the checks of a bundle into its report. Of a bundle that no lab
// is known of, what our scripts said counts; where they said nothing, so does what a
// release that is known leaves in any lab.
func (r *Report) CountBundle(plan *labs.Plan, b *host.Bundle) error {
	declared, err := check.OfBundle(plan, b)
	if err != nil {
		return nil // without assets there is nothing to check
	}
	if r.Subject != nil && declared.TAP == nil {
		if r.Subject.KnowsRelease() {
			r.Count(declared.Run(inAnyLab(declared, plan)))
		}
		return nil
	}
	chosen, err := check.Choose(plan, nil, func(s *labs.Stage) bool { return declared.Here(s) && Checked(s.ID) })
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
		if !Checked(s.ID) {
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
