package diagnose

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"bootlab/labs/inspect/host"
	"bootlab/labs/sample"
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

// keptReports names a directory, in the environment, that gets the bundle of each
// report, packed: for tests of programs that read bundles.
const keptReports = "BOOTLAB_KEEP_REPORTS"

// sameInMemory holds what a browser makes of a bundle, which it has packed and reads in
// memory, to what the command makes of it.
func sameInMemory(t *testing.T, r *report, dir string, want *Report) {
	t.Helper()
	name := filepath.Base(dir) + ".tar.gz"
	file := filepath.Join(t.TempDir(), name)
	pack(t, dir, file)
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := host.ReadBundle(t.Context(), name, bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Judge(bundle)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v; in memory it is %+v, want %+v", err, got, want)
	}
}

// Tests of other modules read the bundles of reports: they name a directory for them.
func TestReportsArePacked(t *testing.T) {
	to := cmp.Or(os.Getenv(keptReports), t.TempDir())
	for i, r := range sample.Of(t, 10, reports(t)) {
		folder := filepath.Join(to, fmt.Sprintf("%03d", i))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		dir := r.write(t, t.TempDir(), nil)
		file := filepath.Join(folder, filepath.Base(dir)+".tar.gz")
		pack(t, dir, file)
		bundle, err := host.OpenBundle(t.Context(), file)
		if err != nil || len(bundle.Notes) > 0 {
			t.Fatalf("%s: %v", r.Name, err)
		}
		bundle.Close()
	}
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
			dir := r.write(t, t.TempDir(), nil)
			got := judged(t, dir)
			sameInMemory(t, r, dir, got)
			outcome, verdict := r.outcome(got)
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
