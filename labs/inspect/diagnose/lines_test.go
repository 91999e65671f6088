package diagnose

import (
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// The line that proves the cause of a public report leads to that cause.
func TestTheLineOfAReportLeadsToItsCause(t *testing.T) {
	d := labs.BuiltinDiagnosis().For(planOf(t, "compact", "4.21"))
	all, right := 0, 0
	for _, r := range reports(t) {
		lines, want := r.linesAndCauses()
		if len(lines) == 0 || len(want) == 0 {
			continue
		}
		all++
		if slices.ContainsFunc(lines, func(line string) bool {
			matches := MatchLine(d, line)
			return slices.ContainsFunc(matches[:min(5, len(matches))], func(m Match) bool { return slices.Contains(want, m.Symptom.ID) })
		}) {
			right++
			continue
		}
		t.Logf("%s: no line leads to %v", r.Name, want)
	}
	t.Logf("%d of %d", right, all)
	if all < 30 || right*10 < all*9 {
		t.Error("fewer than nine of ten lines lead to the cause")
	}
}

// linesAndCauses are the lines that a service or a unit printed when it failed, as in a
// journal, and the causes by their names.
func (r *report) linesAndCauses() (lines, want []string) {
	for _, w := range r.Want {
		if !strings.Contains(w, ":") && w != "healthy" && w != "in-progress" {
			want = append(want, w)
		}
	}
	for _, line := range textLines(r.Pull + r.Bootkube) {
		lines = append(lines, "Jan 02 05:08:00 bootstrap bootkube.sh[1843]: "+line)
	}
	for _, line := range textLines(r.Journal) {
		lines = append(lines, identifier.ReplaceAllString(line, "2026-01-02T05:08:00+0000 bootstrap $1[1843]: $3"))
	}
	return lines, want
}

func TestALineThatNothingKnows(t *testing.T) {
	d := labs.BuiltinDiagnosis()
	for _, line := range []string{"no such thing at all", "Error: something new", "", "systemd[1]: Started Bootstrap a Kubernetes cluster."} {
		if matches := MatchLine(d, line); len(matches) > 0 {
			t.Errorf("%q: %s by %q", line, matches[0].Symptom.ID, matches[0].Words)
		}
	}
}
