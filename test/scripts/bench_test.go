package scripts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/podman"
)

// BenchmarkChain measures what the render scripts add to the podman commands of
// their steps, which are those that --dry-run prints: the whole chain first, then
// stage by stage, with the same images at hand. podman-ms is all of them, run-ms the
// podman run among them. Real operators take seconds where stand-ins take a moment, and what the
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
	b.Run("all", func(b *testing.B) { l.measure(b, renders, chain, "--force", "--from="+renders[0].ID) })
	for _, s := range renders {
		b.Run(s.ID, func(b *testing.B) { l.measure(b, []*labs.Stage{s}, s.ScriptName(), "--force") })
	}
}

// measure times a script that does some stages, and the containers of it alone.
func (l *Lab) measure(b *testing.B, stages []*labs.Stage, script string, args ...string) {
	b.Helper()
	commands := l.podmanOfSteps(b, script, args...)
	var scripts, bare, runs time.Duration
	for range b.N {
		start := time.Now()
		l.Must(b, script, args...)
		scripts += time.Since(start)
		for _, s := range stages {
			// Off root only podman may remove what the CVO writes.
			finish(b, l.Env.Command("bash", "-c", `rm -rf "$1" 2> /dev/null || podman unshare rm -rf "$1"`, "bash", l.Asset(s.RemoveFirst))).Want(b, 0)
		}
		for _, command := range commands {
			cmd := l.Env.Command("bash", "-c", command)
			cmd.Dir = l.Assets()
			start = time.Now()
			finish(b, cmd).Want(b, 0)
			bare += time.Since(start)
			if strings.Contains(command, " run ") {
				runs += time.Since(start)
			}
		}
	}
	// What was rendered without a script is like what the script rendered, but
	// no one copied it.
	l.Must(b, script, args...)
	perRun := func(d time.Duration) float64 { return float64(d.Milliseconds()) / float64(b.N) }
	b.ReportMetric(perRun(scripts), "script-ms")
	b.ReportMetric(perRun(bare), "podman-ms")
	b.ReportMetric(perRun(runs), "run-ms")
	b.ReportMetric(perRun(scripts-bare)/float64(len(stages)), "added-ms/stage")
	b.ReportMetric(0, "ns/op") // of the two together: says nothing
}

// podmanOfSteps are the podman commands in the steps of a script, as bash takes them.
// The library asks for containers, the steps do not.
func (l *Lab) podmanOfSteps(b *testing.B, script string, args ...string) []string {
	b.Helper()
	file := filepath.Join(l.Env.Dir, "tmp", "runs")
	l.Wrap(b, "podman", fmt.Sprintf(`[[ $1 == container ]] || { printf '%%q ' "$REAL" "$@" && echo; } >> %s
exec "$REAL" "$@"`, file))
	l.Must(b, script, args...)
	text, err := os.ReadFile(file)
	if err := errors.Join(err, os.Remove(file), os.Remove(filepath.Join(l.Env.Bin, "podman"))); err != nil {
		b.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
