package watch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// localRun is a lab with a local run that the test writes.
type localRun struct {
	t        *testing.T
	dir      string
	assets   string
	records  string
	entries  []string
	lockFile *os.File
}

func newLocalRun(t *testing.T) *localRun {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mylab")
	if out, err := exec.Command(program(t), "init", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	work := filepath.Join(dir, "out", "work")
	r := &localRun{t: t, dir: dir, assets: filepath.Join(work, "assets"), records: filepath.Join(work, "host", "var", "log", "openshift")}
	for _, d := range []string{r.assets, filepath.Join(r.records, "bootlab")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// put writes a file beside its place and renames it, as the scripts do.
func (r *localRun) put(file, text string) {
	r.t.Helper()
	if err := errors.Join(os.WriteFile(file+".tmp", []byte(text), 0o644), os.Rename(file+".tmp", file)); err != nil {
		r.t.Fatal(err)
	}
}

// begin writes what a stage's script leaves when it begins: the lock, the record,
// the log.
func (r *localRun) begin(record, stage, log string) {
	r.t.Helper()
	lock, err := os.OpenFile(filepath.Join(r.assets, ".bootlab.lock"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		r.t.Fatal(err)
	}
	r.lockFile = lock
	r.t.Cleanup(func() { lock.Close() })
	r.record(record, "stage start", "")
	r.put(filepath.Join(r.records, "bootlab", stage+".log"), log+"\n")
}

// done writes what it leaves when it is done.
func (r *localRun) done(record, marker string) {
	r.t.Helper()
	r.put(filepath.Join(r.assets, marker), "")
	r.record(record, "stage end", `, "result": "success"`)
	r.lockFile.Close()
}

func (r *localRun) record(stage, phase, more string) {
	r.entries = append(r.entries, fmt.Sprintf("  {\n    \"timestamp\": %q,\n    \"stage\": %q,\n    \"phase\": %q%s\n  }", time.Now().UTC().Format("2006-01-02T15:04:05Z"), stage, phase, more))
	r.put(filepath.Join(r.records, "bootkube.json"), "[\n"+strings.Join(r.entries, ",\n")+"\n]\n")
}

var usual = pty.Winsize{Rows: 24, Cols: 80}

func TestTheScreenShowsWhatHappensAndLeavesTheTerminalAsItWas(t *testing.T) {
	r := newLocalRun(t)
	v := start(t, usual, nil, "watch", r.dir)
	v.waitFor(0, "nothing has been done yet")
	mark := v.mark()
	r.begin("make-pki", "make-pki", "==> making 60 certificates")
	t.Logf("a stage that begins is seen after %s", v.waitFor(mark, "making ready: make-pki runs"))
	v.waitFor(mark, "==> making 60 certificates")
	mark = v.mark()
	r.put(filepath.Join(r.records, "bootlab", "make-pki.log"), "==> kubelet-signer \x1b[2J\n")
	t.Logf("a line of a log is seen after %s", v.waitFor(mark, "kubelet-signer ?[2J"))
	mark = v.mark()
	r.done("make-pki", "make-pki.done")
	t.Logf("a stage that ends is seen after %s", v.waitFor(mark, "making ready: make-pki is done"))

	for _, size := range []struct {
		rows, cols uint16
		shows      string
	}{{60, 200, "make-pki: done after"}, {4, 20, "24x6 is needed"}, {12, 40, "make-pki is done"}, {24, 80, "d diagnose  ? help  arrows scroll"}} {
		mark = v.mark()
		if err := pty.Setsize(v.master, &pty.Winsize{Rows: size.rows, Cols: size.cols}); err != nil {
			t.Fatal(err)
		}
		v.waitFor(mark, size.shows)
	}
	mark = v.mark()
	v.press("?")
	v.waitFor(mark, "nothing stops but the looking")
	if v.settings() == v.before {
		t.Error("keys are not read one by one")
	}
	v.press("q")
	if err := v.end(); err != nil {
		t.Error(err)
	}
	v.restored()
}

// restored says whether the terminal is as it was.
func (v *terminal) restored() {
	v.t.Helper()
	if v.settings() != v.before {
		v.t.Error("the settings of the line are not as they were")
	}
	// What it wrote last may not have been read yet.
	for _, pair := range [][2]string{{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?2004h", "\x1b[?2004l"}} {
		on, off := -1, -1
		for begin := time.Now(); off <= on && time.Since(begin) < patience; time.Sleep(10 * time.Millisecond) {
			all := v.raw(0)
			on, off = strings.LastIndex(all, pair[0]), strings.LastIndex(all, pair[1])
		}
		if off <= on {
			v.t.Errorf("%q at %d, %q at %d", pair[0], on, pair[1], off)
		}
	}
}

func TestHoweverItIsLeftTheTerminalIsAsItWas(t *testing.T) {
	r := newLocalRun(t)
	for name, leave := range map[string]func(v *terminal){
		"Ctrl-C": func(v *terminal) { v.press("\x03") },
		"INT":    func(v *terminal) { v.cmd.Process.Signal(syscall.SIGINT) },
		"TERM":   func(v *terminal) { v.cmd.Process.Signal(syscall.SIGTERM) },
		"HUP":    func(v *terminal) { v.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			v := start(t, usual, nil, "watch", r.dir)
			v.waitFor(0, "nothing has been done yet")
			leave(v)
			if err := v.end(); err != nil {
				t.Error(err)
			}
			v.restored()
		})
	}
}

func TestWhatIsTypedAheadLeavesAtOnce(t *testing.T) {
	r := newLocalRun(t)
	for range 5 {
		v := start(t, usual, nil, "watch", r.dir)
		v.press("q")
		if err := v.end(); err != nil {
			t.Error(err)
		}
		v.restored()
	}
}

func TestAClosedTerminalEndsIt(t *testing.T) {
	r := newLocalRun(t)
	v := start(t, usual, nil, "watch", r.dir)
	v.waitFor(0, "nothing has been done yet")
	v.slave.Close()
	v.master.Close()
	v.end()
}

func TestATerminalThatIsNoScreenGetsLines(t *testing.T) {
	r := newLocalRun(t)
	for name, c := range map[string]struct{ env, args []string }{
		"dumb":  {[]string{"TERM=dumb"}, []string{"watch", r.dir}},
		"plain": {nil, []string{"watch", r.dir, "--plain"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := start(t, usual, c.env, c.args...)
			v.waitFor(0, "Z phase: nothing has been done yet\r\n")
			v.press("\x03")
			if err := v.end(); err != nil {
				t.Error(err)
			}
			if strings.Contains(v.raw(0), "\x1b") || v.settings() != v.before {
				t.Errorf("%q", v.raw(0))
			}
		})
	}
}

// colours are the sequences that set a colour of letters.
var colours = regexp.MustCompile("\x1b\\[([0-9;]*;)?3[0-9]m")

func TestColoursAreShownUnlessTheyAreNotWanted(t *testing.T) {
	r := newLocalRun(t)
	for value, want := range map[string]bool{"": true, "1": false} {
		v := start(t, usual, []string{"NO_COLOR=" + value}, "watch", r.dir)
		v.waitFor(0, "make-manifests")
		v.press("q")
		v.end()
		if got := colours.MatchString(v.raw(0)); got != want {
			t.Errorf("NO_COLOR=%s: colours %v in %q", value, got, v.raw(0))
		}
	}
}

// bubbletea asks the terminal for its background as soon as it is linked in, and
// so with every command, unless it is kept from it.
func TestACommandThatDrawsNothingLeavesTheTerminalAlone(t *testing.T) {
	v := start(t, usual, nil, "version")
	v.press("typed meanwhile")
	if err := v.end(); err != nil {
		t.Error(err)
	}
	v.waitFor(0, "bootlab ")
	if said := v.raw(0); strings.Contains(said, "\x1b") {
		t.Errorf("it asks the terminal: %q", said)
	}
	if err := syscall.SetNonblock(int(v.slave.Fd()), true); err != nil {
		t.Fatal(err)
	}
	v.press("\n")
	line := make([]byte, 100)
	time.Sleep(100 * time.Millisecond)
	n, err := syscall.Read(int(v.slave.Fd()), line)
	if err != nil || string(line[:n]) != "typed meanwhile\n" {
		t.Errorf("%q is left of what was typed: %v", line[:max(n, 0)], err)
	}
}
