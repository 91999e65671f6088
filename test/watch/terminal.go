package watch

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"bootlab/test/build"
)

// patience is how long something may take on a busy machine.
const patience = 20 * time.Second

// program is the file of bootlab.
func program(t *testing.T) string {
	t.Helper()
	file, err := build.Program{Package: "bootlab/cmd/bootlab"}.File()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// terminal is a pseudo-terminal with a program on it.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before unix.Termios
	ended  chan error

	mu     sync.Mutex
	output bytes.Buffer
}

// start runs bootlab on a terminal of its own.
func start(t *testing.T, size pty.Winsize, env []string, args ...string) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &size); err != nil {
		t.Fatal(err)
	}
	v := &terminal{t: t, master: master, slave: slave, ended: make(chan error, 1)}
	v.before = v.settings()
	v.cmd = exec.Command(program(t), args...)
	// Where CI is set, no terminal is thought to have colours.
	v.cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "COLORTERM=", "NO_COLOR=", "CI=", "HOME="+t.TempDir()), env...)
	v.cmd.Stdin, v.cmd.Stdout, v.cmd.Stderr = slave, slave, slave
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go v.read()
	go func() { v.ended <- v.cmd.Wait() }()
	t.Cleanup(func() {
		v.cmd.Process.Kill()
		slave.Close()
		master.Close()
	})
	return v
}

func (v *terminal) read() {
	data := make([]byte, 1<<16)
	for {
		n, err := v.master.Read(data)
		v.mu.Lock()
		v.output.Write(data[:n])
		v.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// settings are those of the terminal's line.
func (v *terminal) settings() unix.Termios {
	v.t.Helper()
	s, err := unix.IoctlGetTermios(int(v.slave.Fd()), unix.TCGETS)
	if err != nil {
		v.t.Fatal(err)
	}
	return *s
}

// raw is all that the program wrote so far, behind an offset.
func (v *terminal) raw(from int) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.output.String()[from:]
}

// mark is the end of what it wrote.
func (v *terminal) mark() int { return len(v.raw(0)) }

// sequences are what steers a terminal.
var sequences = regexp.MustCompile("\x1b(\\[[0-9;?]*[ -/]*[@-~]|[@-Z\\\\-_=>]|\\][^\x07\x1b]*(\x07|\x1b\\\\))")

// waitFor waits until a text was written behind a mark, and says how long that
// took.
func (v *terminal) waitFor(mark int, text string) time.Duration {
	v.t.Helper()
	begin := time.Now()
	for time.Since(begin) < patience {
		if strings.Contains(sequences.ReplaceAllString(v.raw(mark), ""), text) {
			return time.Since(begin)
		}
		time.Sleep(10 * time.Millisecond)
	}
	v.t.Fatalf("there is no %q in %q", text, v.raw(mark))
	return 0
}

func (v *terminal) press(keys string) {
	v.t.Helper()
	if _, err := v.master.WriteString(keys); err != nil {
		v.t.Fatal(err)
	}
}

// end waits until the program has ended.
func (v *terminal) end() error {
	v.t.Helper()
	select {
	case err := <-v.ended:
		return err
	case <-time.After(patience):
		v.t.Fatalf("it does not end: %q", v.raw(max(v.mark()-2000, 0)))
		return nil
	}
}
