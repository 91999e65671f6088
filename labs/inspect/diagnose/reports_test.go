package diagnose

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"bootlab/labs/inspect/host"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// reports are all of testdata/reports.
func reports(t testing.TB) []*report {
	t.Helper()
	files, err := filepath.Glob("testdata/reports/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no reports", err)
	}
	var all []*report
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var some []*report
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		if err := d.Decode(&some); err != nil {
			t.Fatal(file, err)
		}
		for _, r := range some {
			if seen[r.Name] || r.Source == "" || len(r.Want) == 0 {
				t.Fatalf("%s: %q stands twice, or lacks source or want", file, r.Name)
			}
			seen[r.Name] = true
			all = append(all, r)
		}
	}
	return all
}

// heldBack says whether a report was not looked at until proofs were written: the hash
// of its name decides, so nobody chooses.
func (r *report) heldBack() bool {
	sum := sha256.Sum256([]byte(r.Name))
	return sum[0]%2 == 0
}

// judged is what diagnose makes of a bundle.
func judged(t testing.TB, dir string) *Report {
	t.Helper()
	bundle, err := host.OpenBundle(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer bundle.Close()
	report, err := Judge(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// How a verdict stands to what is wanted.
const (
	right      = "right"
	wrong      = "wrong cause"
	allClear   = "false all-clear"
	falseAlarm = "false alarm"
	silent     = "silent"
)

// outcome compares a verdict with what the report wants.
func (r *report) outcome(got *Report) (outcome, verdict string) {
	verdict = string(got.Verdict) + " at " + got.Layer
	if got.Cause != nil {
		verdict = got.Cause.ID
	}
	well := got.Verdict == Healthy || got.Verdict == NotReached
	for _, want := range r.Want {
		kind, rest, _ := strings.Cut(want, ":")
		switch {
		case got.Cause != nil && got.Cause.ID == want,
			kind == "healthy" && got.Verdict == Healthy,
			kind == "in-progress" && got.Verdict == NotReached,
			kind == "harmless" && (got.Verdict == NotReached || got.Verdict == Healthy) && slices.ContainsFunc(got.Harmless, func(c Cause) bool { return c.ID == rest }),
			kind == "platform" && !well && got.Cause == nil && got.Subject.Foreign() && got.Subject.Platform == rest,
			kind == "unknown" && got.Verdict == Unknown && got.Layer == rest:
			return right, verdict
		}
	}
	wantsWell := slices.ContainsFunc(r.Want, func(w string) bool {
		return w == "healthy" || w == "in-progress" || strings.HasPrefix(w, "harmless:")
	})
	switch {
	case wantsWell && (got.Cause != nil || got.Verdict == Unknown):
		return falseAlarm, verdict
	case wantsWell:
		return silent, verdict
	case got.Cause != nil:
		return wrong, verdict
	case well:
		return allClear, verdict
	}
	return silent, verdict
}

// score counts outcomes.
type score map[string]int

func (s score) all() int {
	all := 0
	for _, n := range s {
		all += n
	}
	return all
}

func (s score) String() string {
	out := fmt.Sprintf("%d of %d right", s[right], s.all())
	for _, o := range []string{wrong, allClear, falseAlarm, silent} {
		out += fmt.Sprintf(", %d %s", s[o], o)
	}
	return out
}

// The causes of public reports are named out of bundles in the installer's
// layout: nine of ten, none wrong, never a false all-clear, no alarm on a healthy
// one. Half of the reports were held back until the proofs were written.
func TestPublicReportsAreJudged(t *testing.T) {
	scores := map[bool]score{true: {}, false: {}}
	for _, r := range reports(t) {
		t.Run(r.Name, func(t *testing.T) {
			outcome, verdict := r.outcome(judged(t, r.write(t, t.TempDir(), nil)))
			scores[r.heldBack()][outcome]++
			switch outcome {
			case wrong, allClear, falseAlarm:
				t.Errorf("%s: %s, want %s", outcome, verdict, strings.Join(r.Want, " or "))
			case silent:
				t.Logf("%s (%s): %s, want %s", outcome, r.Name, verdict, strings.Join(r.Want, " or "))
			}
		})
	}
	for heldBack, name := range map[bool]string{false: "seen while proofs were written", true: "held back"} {
		s := scores[heldBack]
		t.Logf("%s: %s", name, s)
		if all := s.all(); s[right]*10 < all*9 {
			t.Errorf("%s: fewer than nine of ten are right", name)
		}
	}
}
