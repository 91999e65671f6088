package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs/inspect/connectivity"
)

func TestConnectivityWantsMachinesAndRightWords(t *testing.T) {
	dir := newLab(t)
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{dir}, exitFailed, "no machines to ask from"},
		{[]string{dir, "--from-node", "no-machine"}, exitUsage, "workstation bootstrap"},
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
	if status != exitFailed || !strings.Contains(stderr, "no machine could be asked") || !strings.Contains(stderr, "bootstrap:") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestConnectivityTellsWhatIsBrokenFromWhatIsNotYet(t *testing.T) {
	r := &connectivity.Report{Unreached: map[string]string{"master-1": "no route"}, Paths: []*connectivity.Path{
		{From: "workstation", To: "bootstrap", Address: "192.0.2.1", Port: "6443", Component: "kube-apiserver", State: connectivity.Refused, Expected: true, Because: "pod kube-apiserver-pod.yaml on bootstrap"},
		{From: "workstation", To: "bootstrap", Address: "192.0.2.1", Port: "22623", Component: "machine-config-server", State: connectivity.Refused, Because: "nothing there opens it yet"},
		{From: "bootstrap", To: "master-0", Address: "192.0.2.2", Port: "22", Component: "sshd", State: connectivity.Open, Expected: true, Because: "always on master-0"},
	}}
	var out strings.Builder
	printPaths(&out, r)
	for i, want := range []string{"BROKEN ", "not yet ", "ok "} {
		if line := strings.Split(out.String(), "\n")[i+1]; !strings.HasPrefix(line, want) {
			t.Errorf("line %d is %q, not %q", i+1, line, want)
		}
	}
	for _, want := range []string{"master-1 cannot be asked: no route", "1 of 2 ways"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing of %q in\n%s", want, out.String())
		}
	}
}
