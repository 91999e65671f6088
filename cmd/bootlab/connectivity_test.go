package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConnectivityWantsMachinesAndRightWords(t *testing.T) {
	dir := newLab(t)
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{dir}, exitFailed, "no machines to ask from"},
		{[]string{dir, "--from-node", "no-machine"}, exitUsage, "workstation, bootstrap"},
		{[]string{dir, "--output", "xml"}, exitUsage, "none of text, json"},
		{[]string{}, exitUsage, "usage:"},
	} {
		_, stderr, status := bootlab(append([]string{"connectivity"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: status %d, nothing of %q in %s", c.args, status, c.says, stderr)
		}
	}
}

// No machine that could be asked is no good news.
func TestConnectivityFailsWhenNobodyCanBeAsked(t *testing.T) {
	dir := newLab(t)
	file := filepath.Join(dir, "out", "work", "vms", "ssh_config")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("Host *\n  HostName 127.0.0.1\n  Port 1\n  UserKnownHostsFile /dev/null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := bootlab("connectivity", dir, "--from-node", "bootstrap")
	if status != exitUnseen || !strings.Contains(stderr, "no machine could be asked") || !strings.Contains(stderr, "bootstrap:") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
