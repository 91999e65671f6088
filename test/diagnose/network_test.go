package diagnose

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"bootlab/labs/inspect/host"
	"bootlab/test/controlplane"
	"bootlab/test/secureshell"
)

// inside runs lines of bash in a network of a test's own.
type inside struct {
	network *controlplane.Network
	name    string
	files   map[string]string // of /etc, in the place of this machine's
}

func (h inside) Name() string { return h.name }

func (h inside) Run(ctx context.Context, line string, _ int) (host.Result, error) {
	words := []string{"bash", "--noprofile", "--norc", "-s"}
	if len(h.files) > 0 {
		script := ""
		for file, other := range h.files {
			script += "mount --bind " + other + " " + file + " && "
		}
		words = append([]string{"unshare", "--mount", "bash", "-c", script + `exec "$@"`, "-"}, words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(line+"\n"), &out, &complaint
	if err := h.network.Start(cmd); err != nil {
		return host.Result{}, err
	}
	err := cmd.Wait()
	r := host.Result{Out: out.Bytes(), Err: complaint.Bytes(), Status: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	return r, err
}

func (inside) ReadFile(context.Context, string, int) ([]byte, error) { return nil, os.ErrNotExist }
func (inside) List(context.Context, string) ([]string, error)        { return nil, os.ErrNotExist }

// secureShell is an SSH server on loopback that does what it is told, in a network
// and with a root directory of its own: a machine of a lab.
type secureShell struct {
	network *controlplane.Network
	root    string // its HOST_ROOT
	port    int
}

// startSSH starts it for who has the key.
func startSSH(t *testing.T, n *controlplane.Network, key ssh.PublicKey) *secureShell {
	t.Helper()
	s := &secureShell{network: n, root: t.TempDir()}
	server := &secureshell.Server{Login: key, Run: s.run}
	server.Start(t)
	s.port = server.Port()
	return s
}

// run takes the lines for bash from the client. The root that they set is none of
// this machine's, so its own is put in its place.
func (s *secureShell) run(c *secureshell.Command) (status int) {
	var lines bytes.Buffer
	lines.ReadFrom(c.Stdin)
	cmd := exec.Command("bash", "--noprofile", "--norc", "-s")
	cmd.Stdin = strings.NewReader(strings.Replace(lines.String(), "HOST_ROOT=''", "HOST_ROOT='"+s.root+"'", 1))
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	if s.network.Start(cmd) == nil {
		cmd.Wait()
	}
	return cmd.ProcessState.ExitCode()
}

// holds puts a static pod onto the machine, or takes it away.
func (s *secureShell) holds(t *testing.T, pod string, there bool) {
	t.Helper()
	file := filepath.Join(s.root, "etc", "kubernetes", "manifests", pod)
	err := os.Remove(file)
	if there {
		if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
			err = os.WriteFile(file, nil, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sshKey makes a key in a file for the client.
func sshKey(t *testing.T) (file string, public ssh.PublicKey) {
	t.Helper()
	private, public := secureshell.NewKey(t)
	file = filepath.Join(t.TempDir(), "key")
	secureshell.WriteKey(t, file, private)
	return file, public
}

// sshConfig is the ssh_config by which machines of these names are reached.
func sshConfig(t *testing.T, key string, ports map[string]int) string {
	t.Helper()
	var b strings.Builder
	for name, port := range ports {
		fmt.Fprintf(&b, "Host %s\n  HostName 127.0.0.1\n  Port %d\n  User core\n  IdentityFile %s\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n", name, port, key)
	}
	file := filepath.Join(t.TempDir(), "ssh_config")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// listens listens in a network, and takes connections.
func listens(t *testing.T, n *controlplane.Network, address string) net.Listener {
	t.Helper()
	listener, err := n.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				conn.Read(make([]byte, 1)) // until the other side goes
				conn.Close()
			}()
		}
	}()
	return listener
}
