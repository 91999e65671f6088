package diagnose

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"bootlab/labs"
	"bootlab/labs/diagnose"
	"bootlab/labs/host"
	"bootlab/test/podman"
)

// sshNode is a real ssh client's way to an ssh server on loopback, as bootlab
// writes it down for a lab.
type sshNode struct {
	work string // out/work of the lab
	key  ssh.PublicKey
	port int
}

func pair(t *testing.T) (ed25519.PrivateKey, ssh.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return private, key
}

// newSSHNode writes key, known hosts and ssh_config for a server on a port that
// is known to have that host key.
func newSSHNode(t *testing.T, port int, hostKey ssh.PublicKey) *sshNode {
	t.Helper()
	if _, err := exec.LookPath("ssh"); err != nil {
		podman.Unavailable(t, "no ssh on this machine")
	}
	n := &sshNode{work: t.TempDir(), port: port}
	private, public := pair(t)
	n.key = public
	block, err := ssh.MarshalPrivateKey(private, "test")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(n.work, "vms")
	known := "bootstrap " + string(ssh.MarshalAuthorizedKey(hostKey))
	config := fmt.Sprintf("Host bootstrap\n  HostName 127.0.0.1\n  Port %d\n  HostKeyAlias bootstrap\n  User core\n  IdentityFile \"%s\"\n"+
		"  IdentitiesOnly yes\n  UserKnownHostsFile \"%s\"\n  StrictHostKeyChecking yes\n  ConnectTimeout 10\n",
		port, filepath.Join(dir, "key"), filepath.Join(dir, "known_hosts"))
	if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "key"), pem.EncodeToMemory(block), 0o600),
		os.WriteFile(filepath.Join(dir, "known_hosts"), []byte(known), 0o600),
		os.WriteFile(filepath.Join(dir, "ssh_config"), []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	return n
}

// serve lets core in if it has the key, and answers each command with a text.
func serve(t *testing.T, listener net.Listener, hostKey ed25519.PrivateKey, lets func(ssh.PublicKey) bool, answer func(command string) string) {
	t.Helper()
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !lets(key) {
			return nil, errors.New("no")
		}
		return nil, nil
	}}
	signer, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	config.AddHostKey(signer)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go session(conn, config, answer)
		}
	}()
}

func session(conn net.Conn, config *ssh.ServerConfig, answer func(string) string) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		for r := range asked {
			r.Reply(r.Type == "exec", nil)
			if r.Type == "exec" {
				fmt.Fprint(channel, answer(string(r.Payload)))
				channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
				channel.Close()
			}
		}
	}
}

// judgedNode looks at the bootstrap node alone.
func (n *sshNode) judged(t *testing.T) *diagnose.Report {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "ha", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Metadata.Name = "of-the-tests" // whose console nobody has
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	d := labs.BuiltinDiagnosis().For(plan)
	d.Layers = slices.DeleteFunc(d.Layers, func(l *labs.Layer) bool { return l.ID != "node" })
	d.Evidence = slices.DeleteFunc(d.Evidence, func(e *labs.Evidence) bool {
		return !slices.Contains([]string{"bootstrap-ssh", "bootstrap-console", "clock", "hostname"}, e.ID)
	})
	places := &host.Places{Here: host.Local{}, Work: n.work, AssetDir: "/opt/openshift",
		Bootstrap: host.Node{Machine: "bootstrap", Config: filepath.Join(n.work, "vms", "ssh_config")}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := diagnose.Walk(d, lab, false, places.Collect(ctx, lab, d.Evidence, nil))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhyTheNodeIsNotReached is real ssh against a real server.
func TestWhyTheNodeIsNotReached(t *testing.T) {
	t.Parallel()
	hostKey, hostPublic := pair(t)
	_, strange := pair(t)
	for name, c := range map[string]struct {
		known  ssh.PublicKey
		lets   bool
		damage func(n *sshNode) error
		ahead  time.Duration
		cause  string
	}{
		"it answers":             {known: hostPublic, lets: true},
		"nobody listens":         {cause: "not-started"},
		"another host key":       {known: strange, lets: true, cause: "ssh-host-key"},
		"another login key":      {known: hostPublic, cause: "ssh-key"},
		"no ssh_config":          {known: hostPublic, lets: true, damage: func(n *sshNode) error { return os.Remove(filepath.Join(n.work, "vms", "ssh_config")) }, cause: "ssh-no-config"},
		"its clock is far ahead": {known: hostPublic, lets: true, ahead: 5 * time.Hour, cause: "clock-wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			known := c.known
			if known == nil {
				listener.Close()
				known = hostPublic
			}
			n := newSSHNode(t, listener.Addr().(*net.TCPAddr).Port, known)
			if c.known != nil {
				lets := func(key ssh.PublicKey) bool {
					return c.lets && string(key.Marshal()) == string(n.key.Marshal())
				}
				serve(t, listener, hostKey, lets, func(string) string {
					return fmt.Sprintf("%d then\n", time.Now().Add(c.ahead).Unix())
				})
			}
			if c.damage != nil {
				if err := c.damage(n); err != nil {
					t.Fatal(err)
				}
			}
			r := n.judged(t)
			if c.cause == "" {
				wantVerdict(t, r, diagnose.Healthy, "")
				return
			}
			wantCause(t, r, c.cause)
			if shown := strings.Join(r.Cause.Shown[0].Lines, " "); shown == "" {
				t.Error("it shows nothing")
			}
		})
	}
}
