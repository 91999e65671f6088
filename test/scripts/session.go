package scripts

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Session is a running script, its standard input held by the test.
type Session struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string
	said  locked
	ended chan struct{}
}

// Start starts a script.
func (l *Lab) Start(tb testing.TB, script string, args ...string) *Session {
	tb.Helper()
	s := &Session{cmd: l.command(script, args...), lines: make(chan string, 10000), ended: make(chan struct{})}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	// A pipe of our own: what a killed script leaves running keeps it open, and
	// waiting for the script must not wait for that.
	read, write, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = write, write
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	write.Close()
	go s.scan(read)
	go func() {
		s.cmd.Wait()
		close(s.ended)
	}()
	tb.Cleanup(func() {
		s.signal(syscall.SIGKILL)
		<-s.ended
		read.Close()
	})
	return s
}

func (s *Session) scan(from io.Reader) {
	defer close(s.lines)
	scanner := bufio.NewScanner(from)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		io.WriteString(&s.said, scanner.Text()+"\n")
		s.lines <- scanner.Text()
	}
}

// shown is how a script announces its next step, behind the question of the one
// before, and how --dry-run prints it.
var shown = regexp.MustCompile(`^(?:(?:.*, q stop: )?==> [0-9]+\. (.+)|\{ # [0-9]+ '(.+)')$`)

// announced is the step that a line announces.
func announced(line string) (what string, ok bool) {
	m := shown.FindStringSubmatch(line)
	if m == nil {
		return "", false
	}
	return m[1] + strings.ReplaceAll(m[2], `'\''`, "'"), true
}

// Step waits for the next command that a script with --step shows; false when
// it ends before.
func (s *Session) Step(tb testing.TB) (command string, more bool) {
	tb.Helper()
	timeout := time.After(limit)
	for {
		select {
		case line, open := <-s.lines:
			if !open {
				return "", false
			}
			if what, ok := announced(line); ok {
				return what, true
			}
		case <-timeout:
			tb.Fatalf("no step within %s; it said\n%s", limit, s.said.String())
		}
	}
}

// Enter lets the shown command run.
func (s *Session) Enter() { io.WriteString(s.stdin, "\n") }

// Wait waits for the end of the script and gives its status.
func (s *Session) Wait(tb testing.TB) Result {
	tb.Helper()
	s.stdin.Close()
	select {
	case <-s.ended:
	case <-time.After(limit):
		tb.Fatalf("still running after %s; it said\n%s", limit, s.said.String())
	}
	for range 100 { // what its logger still holds
		if len(s.lines) == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return Result{Status: s.cmd.ProcessState.ExitCode(), All: s.said.String()}
}

// Kill ends the script, and nothing that it started, as kill -9 does.
func (s *Session) Kill(tb testing.TB) {
	tb.Helper()
	if err := syscall.Kill(s.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		tb.Fatal(err)
	}
	<-s.ended
}

// KillGroup ends the script and all that it started in its group, as kill -9 on
// the group does. A container is in another.
func (s *Session) KillGroup() {
	s.signal(syscall.SIGKILL)
	<-s.ended
}

// Interrupt does what Ctrl-C does in a terminal: it reaches the whole group.
func (s *Session) Interrupt() { s.signal(syscall.SIGINT) }

func (s *Session) signal(sig syscall.Signal) { syscall.Kill(-s.cmd.Process.Pid, sig) }

// KillPodman ends the podman clients of the script, as kill -9 does, and gives
// their number; what runs in the container goes on. An ordinary user's podman is
// two processes, of which the inner asks the container to end when the outer
// dies: so both are stopped before either is killed.
func (s *Session) KillPodman(tb testing.TB) int {
	tb.Helper()
	clients := s.podmanClients()
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for i := len(clients) - 1; i >= 0; i-- {
			syscall.Kill(clients[i], sig)
		}
	}
	return len(clients)
}

// podmanClients are the processes named podman in the script's group, oldest
// first.
func (s *Session) podmanClients() []int {
	var clients []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		data, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(data), "(")
		name, rest, _ := strings.Cut(rest, ") ")
		fields := strings.Fields(rest) // state, parent, group, ...
		if len(fields) > 2 && name == "podman" && fields[2] == strconv.Itoa(s.cmd.Process.Pid) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			clients = append(clients, pid)
		}
	}
	slices.Sort(clients)
	return clients
}

// patience is how long a test waits for what has to come, on a machine that has
// other things to do as well.
const patience = 3 * time.Minute

// until waits for something to become true. Asking may start a program, so it
// asks less and less often.
func until(tb testing.TB, what string, true func() bool) {
	tb.Helper()
	pause := 50 * time.Millisecond
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if true() {
			return
		}
		pause = min(pause*5/4, 500*time.Millisecond)
	}
	tb.Fatalf("%s did not happen within %s", what, patience)
}
