package scripts

import (
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/podman"
)

// BenchmarkChain measures what the render scripts add to the podman commands in
// them: the whole chain first, then stage by stage, with the same images at
// hand. Real operators take seconds where stand-ins take a moment, and what the
// scripts add stays the same: so milliseconds are told, and no part of a whole.
func BenchmarkChain(b *testing.B) {
	account := podman.Accounts(b)[0]
	l := Good(b, account, labs.Local).Apart(b)
	l.Must(b, chain, "--force", "--from=copy-manifests") // images are here from now on
	var renders []*labs.Stage
	for _, s := range chainStages(b, release, labs.Local) {
		if s.Kind == "render" {
			renders = append(renders, s)
		}
	}
	b.Run("all", func(b *testing.B) { l.measure(b, len(renders), chain, "--force", "--from="+renders[0].ID) })
	for _, s := range renders {
		b.Run(s.ID, func(b *testing.B) { l.measure(b, 1, s.ScriptName(), "--force") })
	}
}

// measure times a script of some stages, and the podman commands of it alone.
func (l *Lab) measure(b *testing.B, stages int, script string, args ...string) {
	b.Helper()
	var scripts, bare time.Duration
	for range b.N {
		start := time.Now()
		l.Must(b, script, args...)
		scripts += time.Since(start)
		bare += l.bare(b, commands(l.Must(b, script, append([]string{"--dry-run"}, args...)...).Out))
	}
	// What was rendered without a script is like what the script rendered, but
	// no one copied it.
	l.Must(b, script, args...)
	perRun := func(d time.Duration) float64 { return float64(d.Milliseconds()) / float64(b.N) }
	b.ReportMetric(perRun(scripts), "script-ms")
	b.ReportMetric(perRun(bare), "podman-ms")
	b.ReportMetric(perRun(scripts-bare)/float64(stages), "added-ms/stage")
	b.ReportMetric(0, "ns/op") // of the two together: says nothing
}

// bare runs the containers among shown commands, and what removes the
// directories that they make; only containers are timed.
func (l *Lab) bare(b *testing.B, shown []string) time.Duration {
	b.Helper()
	var took time.Duration
	for _, command := range shown {
		isRun := strings.HasPrefix(command, "podman run ")
		if !isRun && !strings.Contains(command, "rm --recursive ") {
			continue
		}
		cmd := l.Env.Command("bash", "-c", command)
		cmd.Dir = l.Assets()
		start := time.Now()
		finish(b, cmd).Want(b, 0)
		if isRun {
			took += time.Since(start)
		}
	}
	return took
}
