package state

import (
	"os"
	"strings"
	"testing"
)

func TestOneAtATimeAndOnlyForTheUser(t *testing.T) {
	out := t.TempDir()
	s, err := Open(out, false)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.Path("")); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
	if _, err := Open(out, false); err == nil || !strings.Contains(err.Error(), "another bootlab vms") {
		t.Errorf("a second one was let in: %v", err)
	}
	if looker, err := Open(out, true); err != nil {
		t.Errorf("one that only looks was not let in: %v", err)
	} else {
		looker.Close()
	}
	s.Close()
	if s, err = Open(out, false); err != nil {
		t.Errorf("the lock was not given back: %v", err)
	}
	s.Close()
}
