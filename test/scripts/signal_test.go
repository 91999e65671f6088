package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
	"bootlab/test/registry"
)

// toScript sends a signal to the script alone, as kill or a supervisor does; what
// the script started is not asked.
func (s *Session) toScript(tb testing.TB, sig syscall.Signal) {
	tb.Helper()
	if err := syscall.Kill(s.cmd.Process.Pid, sig); err != nil {
		tb.Fatal(err)
	}
}

// endsBy waits for a script that a signal ended, as any program that has no trap.
func (s *Session) endsBy(t *testing.T, sig syscall.Signal) Result {
	t.Helper()
	r := s.Wait(t)
	if status := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != sig {
		t.Errorf("ended with %v, not by %v", s.cmd.ProcessState, sig)
	}
	r.Says(t, "error: interrupted")
	return r
}

// nothingRuns: no program of the session is left, and no container. An ordinary
// user's podman is two processes, and the inner one ends after the outer.
func (l *Lab) nothingRuns(t *testing.T, s *Session) {
	t.Helper()
	until(t, "the end of podman", func() bool { return len(s.podmanClients()) == 0 })
	if left := l.Env.Containers(t); len(left) > 0 {
		t.Errorf("containers are left: %v", left)
	}
}

// interruptedIn: the last entry of the record says that the stage was interrupted.
func (l *Lab) interruptedIn(t *testing.T, record string) {
	t.Helper()
	records := l.Records(t)
	last := records[len(records)-1]
	if last.Stage != record || last.Result != "failure" || !strings.Contains(last.ErrorMessage, "interrupted") {
		t.Errorf("recorded %+v", last)
	}
}

// TestASignalToAScriptEndsTheContainerThatItWaitsFor: the container is never let
// go, so a script that waits for its end does not end.
func TestASignalToAScriptEndsTheContainerThatItWaitsFor(t *testing.T) {
	// What begins tests may ignore HUP, as nohup does, and bash would inherit that: a
	// signal that this process takes is as usual again in what it starts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(fmt.Sprint(sig), func(t *testing.T) {
			eachAccount(t, func(t *testing.T, account podman.Account) {
				l, s, letGo := rendering(t, account, "middle")
				s.toScript(t, sig)
				s.endsBy(t, sig).Says(t, "hint: run render-etcd.sh again")
				l.nothingRuns(t, s)
				l.interruptedIn(t, "etcd-bootstrap")
				letGo()
				l.Must(t, "render-etcd.sh")
				complete(t, l)
			})
		})
	}
}

// TestATermEndsAPull: the command before it, which asks for the image, ended with
// a status of its own.
func TestATermEndsAPull(t *testing.T) {
	t.Parallel()
	l, reg := pulling(t)
	reg.Break(l.Release.ReleaseRepository, registry.Fault{Kind: "blobs", BytesPerSecond: 1})
	s := l.Start(t, "release-info.sh")
	until(t, "the pull", func() bool { return len(s.podmanClients()) > 0 && strings.Contains(s.said.String(), "Trying to pull") })
	s.toScript(t, syscall.SIGTERM)
	s.endsBy(t, syscall.SIGTERM)
	l.nothingRuns(t, s)
	l.interruptedIn(t, "release-info")
}

// TestATermReachesAProgramInASubstitution: the program is no child of the script, but
// of a subshell, which ends first.
func TestATermReachesAProgramInASubstitution(t *testing.T) {
	t.Parallel()
	l, dir := generated(t), t.TempDir()
	cmd := exec.Command("bash", "-c", `set -Eeuo pipefail
SCRIPTS="$1" ASSET_DIR="$2" HOST_ROOT="$2/host" STAGE=x RECORD=x MARKER=x.done NEXT=''
cd "$2"
source "${SCRIPTS}/lib/stage.sh"
open_log
record 'stage start'
answer="$(bash -c 'echo $$ > new && mv new pid && exec sleep 600' | cat)"
log "${answer}"`, "bash", filepath.Join(l.Dir, "out", "scripts"), dir)
	var pid int
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the program", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if syscall.Kill(pid, 0) == nil {
		t.Error("the program outlives the script")
	}
	records, err := ParseRecords(mustRead(t, filepath.Join(dir, "host/var/log/openshift/bootkube.json")))
	if err != nil || Last(records, "x") != "failure" {
		t.Errorf("%v, recorded %+v", err, records)
	}
}

func TestATermAtAPromptIsRecorded(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	s := l.Start(t, "render-etcd.sh", "--force", "--step")
	if _, more := s.Step(t); !more {
		t.Fatal("it shows no step")
	}
	s.toScript(t, syscall.SIGTERM)
	s.endsBy(t, syscall.SIGTERM)
	l.interruptedIn(t, "etcd-bootstrap")
}

// TestATermToTheChainEndsItsStage as Ctrl-C does, and no other stage begins.
func TestATermToTheChainEndsItsStage(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	l.Undo(t, stage(t, "render-scheduler"))
	letGo := l.hold(t, "middle")
	s := l.Start(t, chain, "--from=render-scheduler")
	l.held(t, "middle")
	s.toScript(t, syscall.SIGTERM)
	r := s.endsBy(t, syscall.SIGTERM)
	if strings.Contains(r.All, "render-ingress.sh") {
		t.Errorf("it went on:\n%s", r.All)
	}
	l.nothingRuns(t, s)
	l.interruptedIn(t, "kube-scheduler-bootstrap")
	letGo()
	l.Must(t, chain, "--from=render-scheduler")
	wholeChainGood(t, l)
}

// TestTheStatusOfAProgramIsNotTheStages: 3 and 4 are a stage's words for a check
// and for what is missing.
func TestTheStatusOfAProgramIsNotTheStages(t *testing.T) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local)
	for _, status := range []int{3, 4, 125} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			l := good.Apart(t)
			l.Wrap(t, "podman", fmt.Sprintf(`[ "$1" != run ] || exit %d; exec "$REAL" "$@"`, status))
			l.Run(t, "render-etcd.sh", "--force").Want(t, 1, "error: step 2 (Render into an empty etcd-bootstrap/) failed at line")
			if _, err := os.Stat(l.Asset("etcd-bootstrap.done")); err == nil {
				t.Error("it is marked as done")
			}
		})
	}
}
