package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// node stands in for a machine: evidence lines run here, in bash, and the
// commands in them print what is recorded in a directory.
type node struct {
	host.Local
	name, bin, said string
	// gone: it cannot be reached.
	gone bool
}

func (n *node) Name() string { return n.name }

func (n *node) Run(ctx context.Context, line string, limit int) (host.Result, error) {
	if n.gone {
		return host.Result{}, fmt.Errorf("%w: ssh: connect to host %s port 22: Connection refused", host.ErrUnreachable, n.name)
	}
	return n.Local.Run(ctx, fmt.Sprintf("export PATH='%s':\"$PATH\" SAID='%s'\n%s", n.bin, n.said, line), limit)
}

// commands are what the evidence lines call on a node.
var commands = []string{"crictl", "curl", "getent", "journalctl", "oc", "ss", "systemctl"}

// newNodes makes a bootstrap node and masters that say what testdata/node has.
func newNodes(t *testing.T, plan *labs.Plan) (*host.Hosts, *node) {
	t.Helper()
	bin, said, root := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{"said", "jq"} {
		put(t, filepath.Join(bin, name), read1(t, "testdata/node/bin/"+name), 0o755)
	}
	for _, name := range commands {
		if err := os.Symlink("said", filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(said, os.DirFS("testdata/node/said")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "assets", "etcd-bootstrap.done"), "", 0o644)
	for _, pod := range []string{"etcd-member-pod.yaml", "kube-apiserver-pod.yaml", ".kube-scheduler-pod.yaml.bootlab"} {
		put(t, filepath.Join(root, "etc/kubernetes/manifests", pod), "", 0o644)
	}
	bootstrap := &node{name: "bootstrap", bin: bin, said: said}
	hosts := &host.Hosts{Here: host.Local{}, Bootstrap: bootstrap, Masters: map[string]host.Host{},
		AssetDir: filepath.Join(root, "assets"), Root: root}
	for _, m := range plan.Lab.Machines.Masters {
		hosts.Masters[m.Name] = &node{name: m.Name, bin: bin, said: said, gone: m.Name == "master-2"}
	}
	return hosts, bootstrap
}

func read1(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
}

func loadPlan(t *testing.T, example string) *labs.Plan {
	t.Helper()
	catalog := labs.Builtin()
	lab, problems := labs.LoadLab(filepath.Join("..", "..", "examples", example, "lab.yaml"), catalog)
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(problems)
	}
	plan, err := catalog.Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
