package scripts

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"bootlab/test/registry"
)

// terminal makes a terminal: what is written to the first file is typed, what is
// read from it is shown; a program gets the second.
func terminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	var number, locked uint32
	for request, value := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, keyboard.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	screen, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	return keyboard, screen
}

// startIn starts a script as the foreground program of a terminal.
func (l *Lab) startIn(t *testing.T, screen, keyboard *os.File, script string, args ...string) *Session {
	t.Helper()
	s := &Session{cmd: l.command(script, args...), stdin: keyboard, lines: make(chan string, 10000), ended: make(chan struct{})}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = screen, screen, screen
	s.cmd.SysProcAttr.Setpgid = false // setsid makes the group
	s.cmd.SysProcAttr.Setsid, s.cmd.SysProcAttr.Setctty = true, true
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.scan(keyboard)
	go func() {
		s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.signal(syscall.SIGKILL)
		<-s.ended
	})
	return s
}

// TestCtrlCInATerminalEndsAPull: the terminal sends the signal to the programs of
// its foreground, and timeout must have left podman among them.
func TestCtrlCInATerminalEndsAPull(t *testing.T) {
	t.Parallel()
	l, reg := pulling(t)
	reg.Break(l.Release.ReleaseRepository, registry.Fault{Kind: "blobs", BytesPerSecond: 1})
	keyboard, screen := terminal(t)
	s := l.startIn(t, screen, keyboard, "release-info.sh")
	until(t, "the pull", func() bool { return len(s.podmanClients()) > 0 && strings.Contains(s.said.String(), "Trying to pull") })
	if _, err := keyboard.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	if status := s.cmd.ProcessState.ExitCode(); status != 1 {
		t.Errorf("status %d", status)
	}
	l.nothingRuns(t, s)
	l.interruptedIn(t, "release-info")
	reg.Fix()
	l.Must(t, "release-info.sh")
}
