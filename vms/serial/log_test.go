package serial

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// libvirt's log daemon puts a full log away and begins another one.
func TestAFollowedLogMayBePutAway(t *testing.T) {
	name := filepath.Join(t.TempDir(), "serial.log")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("one\ntw")
	file, err := openLog(name)
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{name: name, file: file, reader: bufio.NewReader(file)}
	defer func() { f.file.Close() }()
	var out strings.Builder
	step := func(want string) {
		t.Helper()
		if err := f.copy(&out, true); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("it wrote %q, want %q", out.String(), want)
		}
		if err := f.again(); err != nil {
			t.Fatal(err)
		}
	}
	step("one\n")
	write("o\n")
	step("one\ntwo\n")
	if err := os.Rename(name, name+".0"); err != nil {
		t.Fatal(err)
	}
	step("one\ntwo\n")
	write("three\nfo")
	step("one\ntwo\n")
	step("one\ntwo\nthree\n")
	if err := f.copy(&out, false); err != nil || out.String() != "one\ntwo\nthree\nfo" {
		t.Errorf("at the end %q, %v", out.String(), err)
	}
}

// The first boot of a machine that has printed much since stands in a piece of
// the log that was put away.
func TestIgnitionIsFoundInALogThatWasPutAway(t *testing.T) {
	noise := strings.Repeat("[  100.000000] a machine that talks a lot\r\n", 1000)
	for name, c := range map[string]struct {
		pieces     []string // oldest first; the last is the log itself
		state, why string
	}{
		"not put away":        {[]string{firstBootLine + filesLine}, "done", ""},
		"once":                {[]string{firstBootLine + filesLine + noise, noise}, "done", ""},
		"as often as is kept": {[]string{firstBootLine + filesLine + noise, noise, noise, noise}, "done", ""},
		"in the middle":       {[]string{firstBootLine + fetchedLine, filesLine + noise}, "done", ""},
		"within a line":       {[]string{firstBootLine + filesLine[:50], filesLine[50:]}, "done", ""},
		"failed":              {[]string{firstBootLine + badHashLine + failedLine, emergencyLine + noise}, "failed", "hash verification failed"},
		"recreated since":     {[]string{firstBootLine + filesLine + noise, noise + firstBootLine + fetchedLine}, "under way", ""},
		"older than is kept":  {[]string{noise, noise, noise, noise}, "-", ""},
	} {
		log := filepath.Join(t.TempDir(), "serial.log")
		for i, text := range c.pieces {
			file := log
			if back := len(c.pieces) - 2 - i; back >= 0 {
				file = fmt.Sprintf("%s.%d", log, back)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := End(log, Kept)
		if err != nil || string(all) != strings.Join(c.pieces, "") {
			t.Errorf("%s: %v, or the pieces are not in order", name, err)
		}
		if state, why := Ignition(all); state != c.state || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, %q; wanted %q, %q", name, state, why, c.state, c.why)
		}
	}
}

func TestTheEndOfALogIsBounded(t *testing.T) {
	log := filepath.Join(t.TempDir(), "serial.log")
	if _, err := End(log, 10); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a log: %v", err)
	}
	for file, text := range map[string]string{log: "abcd", log + ".0": "efgh", log + ".1": "ijkl"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int64]string{0: "", 1: "d", 4: "abcd", 6: "ghabcd", 8: "efghabcd", 11: "jklefghabcd", 100: "ijklefghabcd"} {
		if got, err := End(log, limit); err != nil || string(got) != want {
			t.Errorf("%d bytes: %q, %v; wanted %q", limit, got, err, want)
		}
	}
	// One that is missing in between: what is older than the gap tells nothing
	// about what came after it.
	if err := os.Remove(log + ".0"); err != nil {
		t.Fatal(err)
	}
	if got, err := End(log, 100); err != nil || string(got) != "abcd" {
		t.Errorf("with a gap: %q, %v", got, err)
	}
}
