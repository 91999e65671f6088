//go:build cgo && libvirt_dlopen

package vms

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

// answeringOC stands in for oc and a cluster whose bootstrap is complete.
const answeringOC = `#!/bin/bash
# stand-in: a cluster that says its bootstrap is complete
case "$*" in
  *'get configmap bootstrap'*) echo complete ;;
  *'get etcds cluster'*) echo '{"status":{"conditions":[{"type":"EtcdBootstrapMemberRemoved","status":"True"}]}}' ;;
  *'get --raw /readyz'*) echo ok ;;
  *) echo "the stand-in does not know: $*" >&2; exit 1 ;;
esac
`

// remover is a lab whose generated remove-bootstrap.sh can run.
func remover(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	works(t, "generate", dir)
	assets := filepath.Join(dir, "out", "work", "assets")
	for file, text := range map[string]string{"tools/oc": answeringOC, "install/auth/kubeconfig": "apiVersion: v1\nkind: Config\n"} {
		file = filepath.Join(assets, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, filepath.Join(dir, "out", "scripts", "remove-bootstrap.sh"))
}

// serverStates asks the load balancer for the state of each server, by BACKEND/SERVER.
func serverStates(t *testing.T, dir string) map[string]string {
	t.Helper()
	conn, err := net.Dial("unix", filepath.Join(dir, "out", filepath.FromSlash(labs.BalancerSocket)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("show stat\n")); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if columns := strings.Split(lines.Text(), ","); len(columns) > 17 {
			out[columns[0]+"/"+columns[1]] = columns[17]
		}
	}
	return out
}

// The script and the provisioner were written apart: here one takes away what
// the other made.
func TestRemoveBootstrapFindsWhatUpMade(t *testing.T) {
	available(t)
	for _, program := range []string{"socat", "jq", "virsh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program + " on this machine")
		}
	}
	dir, image := newLab(t, shape{name: "leaving"}), haltingDisk(t)
	up(t, dir, image)
	before := serverStates(t, dir)
	if before["api/bootstrap"] == "" || before["machine-config-server/bootstrap"] == "" {
		t.Fatalf("the load balancer has %v", before)
	}

	if a := said(t, remover(t, dir)); a.status != 0 {
		t.Fatalf("status %d\n%s%s", a.status, a.out, a.err)
	}
	states := serverStates(t, dir)
	for _, server := range []string{"api/bootstrap", "machine-config-server/bootstrap"} {
		if states[server] != "MAINT" {
			t.Errorf("%s is %q", server, states[server])
		}
	}
	if domains := virsh(t, "", "list", "--all", "--name"); strings.Contains(domains, "leaving-bootstrap") || !strings.Contains(domains, "bootlab-leaving-master-2") {
		t.Errorf("domains are:\n%s", domains)
	}
	if volumes := virsh(t, "", "vol-list", "bootlab-leaving"); strings.Contains(volumes, "leaving-bootstrap") || !strings.Contains(volumes, "bootlab-leaving-master-2.qcow2") {
		t.Errorf("volumes are:\n%s", volumes)
	}

	// The host boots again, say, on another day: up brings back what is missing, and
	// that is no bootstrap any more, nor anything that it would need.
	old := time.Now().Add(-30 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "out/work/assets/ignition/bootstrap.ign"), old, old); err != nil {
		t.Fatal(err)
	}
	a := works(t, "vms", "up", dir, "--emulate", "--image", image)
	if !strings.Contains(a.out, "the bootstrap was removed and is not made again") || strings.Contains(a.err, "certificates") || strings.Contains(virsh(t, "", "list", "--all", "--name"), "leaving-bootstrap") {
		t.Errorf("up said:\n%s", a.out)
	}
	if a := works(t, "vms", "start", dir, "--overcommit"); !strings.Contains(a.out, "master-2 started") {
		t.Errorf("start said:\n%s", a.out)
	}
}
