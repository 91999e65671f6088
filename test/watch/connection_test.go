package watch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
)

// look is a glance at a machine, and how long it took.
func look(t *testing.T, p *host.Hosts) ([]host.Found, time.Duration, error) {
	t.Helper()
	evidence := []*labs.Evidence{
		{ID: "one", On: labs.OnBootstrap, Form: labs.TextForm, Run: "echo 1", Limit: 4, Seconds: 5},
		{ID: "two", On: labs.OnBootstrap, Form: labs.TextForm, Run: "echo two >&2; exit 2", Limit: 4, Seconds: 5},
	}
	start := time.Now()
	found, err := p.Glance(context.Background(), &labs.Lab{}, "", evidence)
	return found, time.Since(start), err
}

// needSSH skips where there is no ssh, but for in CI.
func needSSH(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("there is no ssh here")
	}
}

func TestAllLooksAtAMachineGoOverOneConnection(t *testing.T) {
	needSSH(t)
	m := newMachine(t)
	alone := &host.Hosts{Here: host.Local{}, Bootstrap: host.Node{Machine: "bootstrap", Config: m.config}}
	_, took, err := look(t, alone)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("with a connection of its own a look takes %s", took)
	before := m.connections.Load()

	shared := &host.Hosts{Here: host.Local{}, Bootstrap: host.Node{Machine: "bootstrap", Config: m.config}}
	end := watch.Share(shared)
	dir := filepath.Dir(shared.Bootstrap.(host.Node).Config)
	for range 5 {
		found, took, err := look(t, shared)
		if err != nil {
			t.Fatal(err)
		}
		if string(found[0].Text) != "1\n" || found[1].Status != 2 || found[1].Complaint != "two" {
			t.Errorf("%+v", found)
		}
		t.Logf("over one connection it takes %s", took)
	}
	if n := m.connections.Load() - before; n != 1 {
		t.Errorf("%d connections", n)
	}
	// The machine goes away in the middle: that is said, and soon.
	m.vanish()
	if _, took, err := look(t, shared); !errors.Is(err, host.ErrUnreachable) {
		t.Errorf("after %s: %v", took, err)
	}
	end()
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left behind", dir)
	}
}

// recordedNode is the environment in which the commands of a node say what
// labs/inspect/watch/testdata/node has recorded.
func recordedNode(t *testing.T) (env []string, said string) {
	t.Helper()
	from := filepath.Join("..", "..", "labs", "inspect", "watch", "testdata", "node")
	bin, said := t.TempDir(), t.TempDir()
	if err := errors.Join(os.CopyFS(said, os.DirFS(filepath.Join(from, "said"))), os.CopyFS(bin, os.DirFS(filepath.Join(from, "bin")))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"said", "jq"} {
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"crictl", "curl", "getent", "journalctl", "oc", "ss", "systemctl"} {
		if err := os.Symlink("said", filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "SAID=" + said}, said
}

func TestALabOfMachinesIsWatchedOverSSH(t *testing.T) {
	needSSH(t)
	env, said := recordedNode(t)
	m := newMachine(t, env...)
	r := newLocalRun(t)
	config, err := os.ReadFile(m.config)
	if err != nil {
		t.Fatal(err)
	}
	vms := filepath.Join(r.dir, "out", "work", "vms")
	if err := errors.Join(os.MkdirAll(vms, 0o700), os.WriteFile(filepath.Join(vms, "ssh_config"), config, 0o600)); err != nil {
		t.Fatal(err)
	}
	temporary := t.TempDir()
	v := start(t, usual, []string{"TMPDIR=" + temporary}, "watch", r.dir, "--plain", "--interval", "200ms")
	for _, text := range []string{"units: kubelet: running", "etcd: master-1: learner", "API: api-int: Failed to connect", "operators: network: degraded (RolloutHung)"} {
		v.waitFor(0, text)
	}
	mark := v.mark()
	states, err := os.ReadFile(filepath.Join(said, "systemctl"))
	if err != nil {
		t.Fatal(err)
	}
	r.put(filepath.Join(said, "systemctl"), strings.Replace(string(states), "SubState=running\nResult=success\nExecMainStatus=0\nNRestarts=2", "SubState=running\nResult=success\nExecMainStatus=0\nNRestarts=3", 1))
	t.Logf("a restart is seen after %s", v.waitFor(mark, "units: bootkube: running, 3 restarts (was running, 2 restarts)"))
	mark = v.mark()
	m.vanish()
	v.waitFor(mark, "machines: bootstrap: ")
	v.press("\x03")
	if err := v.end(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
