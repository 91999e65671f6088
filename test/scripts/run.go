package scripts

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/test/podman"
)

// limit is how long a script may take; the slowest makes some thirty keys.
const limit = 5 * time.Minute

// Result is how a script ended.
type Result struct {
	Status   int
	Out, Err string
	All      string // both, as they came
}

// command prepares a script of the lab.
func (l *Lab) command(script string, args ...string) *exec.Cmd {
	return l.inside(append([]string{filepath.Join(l.Scripts(), script)}, args...))
}

// inside prepares a process where the lab's scripts run.
func (l *Lab) inside(words []string) *exec.Cmd {
	if l.Place == labs.OnNode {
		words = append([]string{"unshare", "--mount", "bash", "-c", intoNode, "bash", l.Host()}, words...)
	}
	if l.Place == labs.Workstation && l.ControlPlane != nil {
		words = append([]string{"unshare", "--mount", "bash", "-c", intoWorkstation, "bash", filepath.Join(l.Dir, "node")}, words...)
	}
	switch {
	case l.ControlPlane != nil:
		words = append([]string{"nsenter", "--net=" + l.ControlPlane.Network.Path()}, words...)
	case l.Cluster != nil:
		words = append([]string{"nsenter", "--net=" + l.Cluster.Network()}, words...)
	}
	cmd := l.Env.Command(words[0], words[1:]...)
	cmd.Env = append(cmd.Env, "PATH="+l.path())
	return cmd
}

// path is where the lab's scripts find programs: what a test wrapped comes first,
// and a node has the stand-in of systemctl.
func (l *Lab) path() string {
	dirs := []string{l.Env.Bin}
	if l.ControlPlane != nil {
		dirs = append(dirs, l.ControlPlane.Bin)
	}
	if l.Place == labs.OnNode {
		dirs = append(dirs, standIns)
	}
	return strings.Join(append(dirs, podman.SystemPath), ":")
}

// standIns holds the stand-in of systemctl, and a crictl of a node without pods.
var standIns, _ = filepath.Abs("testdata")

// Exec runs any program to its end where the lab's scripts run, as oc on the
// bootstrap node.
func (l *Lab) Exec(tb testing.TB, words ...string) Result {
	tb.Helper()
	return finish(tb, l.inside(words))
}

// Run runs a script to its end, with nothing on its standard input.
func (l *Lab) Run(tb testing.TB, script string, args ...string) Result {
	tb.Helper()
	return finish(tb, l.command(script, args...))
}

// RunStage runs the script of a stage, with the arguments that choose the stage.
func (l *Lab) RunStage(tb testing.TB, s *labs.Stage, args ...string) Result {
	tb.Helper()
	words := append(strings.Fields(s.Call()), args...)
	return l.Run(tb, words[0], words[1:]...)
}

// RunWith runs a script with other environment variables, as PATH=x.
func (l *Lab) RunWith(tb testing.TB, variables []string, script string, args ...string) Result {
	tb.Helper()
	cmd := l.command(script, args...)
	cmd.Env = append(cmd.Env, variables...)
	return finish(tb, cmd)
}

func finish(tb testing.TB, cmd *exec.Cmd) Result {
	tb.Helper()
	var out, complaint, all locked
	cmd.Stdout, cmd.Stderr = tee{&out, &all}, tee{&complaint, &all}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err := cmd.Wait()
	if !timer.Stop() {
		tb.Fatalf("%s took more than %s and said\n%s", strings.Join(cmd.Args, " "), limit, all.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), complaint.String(), all.String()}
}

// Must is Run for a script that has to succeed.
func (l *Lab) Must(tb testing.TB, script string, args ...string) Result {
	tb.Helper()
	r := l.Run(tb, script, args...)
	r.Want(tb, 0)
	return r
}

// Want compares the status and looks for texts in what was said.
func (r Result) Want(tb testing.TB, status int, texts ...string) {
	tb.Helper()
	if r.Status != status {
		tb.Errorf("status %d, not %d:\n%s", r.Status, status, r.All)
	}
	r.Says(tb, texts...)
}

// Says looks for texts in what was said.
func (r Result) Says(tb testing.TB, texts ...string) {
	tb.Helper()
	for _, text := range texts {
		if !strings.Contains(r.All, text) {
			tb.Errorf("nothing was said of %q:\n%s", text, r.All)
		}
	}
}

// locked is a buffer for more than one writer.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *locked) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(data)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

type tee [2]*locked

func (t tee) Write(data []byte) (int, error) {
	t[0].Write(data)
	return t[1].Write(data)
}
