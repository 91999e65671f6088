package diagnose

import (
	"regexp"
	"strings"
	"time"
)

// unitJournals are the journals of units of which systemd tells how they ended, and
// which keep no record of stages.
var unitJournals = map[string]string{
	"crio.service":                "crio-journal",
	"crio-configure.service":      "crio-configure-journal",
	"kubelet.service":             "kubelet-journal",
	"release-image-pivot.service": "release-image-pivot-journal",
	"node-image-pull.service":     "node-image-journal",
	"node-image-overlay.service":  "node-image-journal",
	"node-image-finish.service":   "node-image-journal",
}

var (
	unitBegins = regexp.MustCompile(`systemd\[1\]: (Starting|Started) `)
	exitStatus = regexp.MustCompile(`: Main process exited|: Failed with result|Failed at step EXEC|: Job \S+/start failed with result`)
)

// stands is how long a unit has to run before its last failure is over.
const stands = 2 * time.Minute

// failedUnit is what a unit printed in its last try if that failed: a unit that was
// started again and has run since is well.
func failedUnit(unit, journal string) []string {
	lines := textLines(journal)
	var begins []int
	failed := -1
	for i, line := range lines {
		switch {
		case unitBegins.MatchString(line) && !strings.Contains(line, "Failed"):
			if len(begins) == 0 || failed > begins[len(begins)-1] {
				begins = append(begins, i)
			}
		case strings.Contains(line, unit+": ") && exitStatus.MatchString(line):
			failed = i
		}
	}
	if failed < 0 {
		return nil
	}
	first := 0
	for _, begin := range begins {
		if begin < failed {
			first = begin
		}
	}
	// Of units without a header the failure belongs to the lines just before it.
	if last := lines[len(lines)-1]; last != lines[failed] && len(begins) > 0 && begins[len(begins)-1] > failed {
		from, to := timeOf(lines[begins[len(begins)-1]]), timeOf(last)
		if from.IsZero() || to.Sub(from) > stands {
			return nil
		}
	}
	return lines[first : failed+1]
}

// timeOf is when a line of a journal was written; zero if it does not say.
func timeOf(line string) time.Time {
	if len(line) < 19 {
		return time.Time{}
	}
	t, err := time.Parse("2006-01-02T15:04:05", line[:19])
	if err != nil {
		return time.Time{}
	}
	return t
}

// unitFailures are the units that failed when they were last tried.
func (b *bench) unitFailures() map[string]*failure {
	all := map[string]*failure{}
	for unit, journal := range unitJournals {
		for _, it := range b.had(journal) {
			if lines := failedUnit(unit, string(it.Text)); len(lines) > 0 {
				all[unit] = &failure{service: strings.TrimSuffix(unit, ".service"), lines: lines, from: it}
			}
		}
	}
	for _, it := range b.had("bootkube-journal") {
		if lines := neverStarted(string(it.Text)); len(lines) > 0 {
			all["bootkube.service"] = &failure{service: "bootkube", lines: lines, from: it}
		}
	}
	return all
}

// neverStarted is what systemd says of a unit that it does not start, because
// another unit that it needs failed; nothing if it was started since.
func neverStarted(journal string) []string {
	var last []string
	for line := range strings.Lines(journal) {
		switch {
		case strings.Contains(line, "systemd[1]: Dependency failed for "), strings.Contains(line, "/start failed with result 'dependency'"):
			last = append(last, strings.TrimRight(line, "\n"))
		case unitBegins.MatchString(line):
			last = nil
		}
	}
	return last
}

// pivotFailure is the last try of the change to the release's operating system, on
// OKD up to 4.18, if it failed. It pulls images, and keeps its record in no place
// that other releases know.
//
// Source: openshift/installer bootstrap-pivot.sh.template, 4.8 to 4.18.
func (b *bench) pivotFailure() []failure {
	if f := b.units["release-image-pivot.service"]; f != nil {
		return []failure{*f}
	}
	return nil
}
