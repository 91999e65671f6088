package vms

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALogDoesNotSteerTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\r\n":                     "plain\ttext\n",
		"[\x1b[0;32m  OK  \x1b[0m] Started\n": "[  OK  ] Started\n",
		"\x1b[2J\x1b[1;1H\x1b[?7lboot":        "boot",
		"\x1b]0;a title\a!\x1b]0;open\nnext":  "!\nnext",
		"\x1b(B\x1bMdone\x00\x07\u009b31m":    "done31m",
		"ü and 漢\n":                           "ü and 漢\n",
		"cut off \x1b[":                       "cut off ",
	} {
		if got := PlainText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

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
