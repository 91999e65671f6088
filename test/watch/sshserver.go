package watch

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
)

// machine stands in for a machine of the lab: an SSH server on the loopback that
// lets core in with one key, and runs bash as itself where sudo bash is asked for.
type machine struct {
	config      string   // an ssh_config that names it "bootstrap"
	env         []string // what commands find there, beside the test's own
	connections atomic.Int32
	listener    net.Listener
	mu          sync.Mutex
	open        []net.Conn
}

// newMachine starts one.
func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	dir := t.TempDir()
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	host, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	user, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{env: env, config: filepath.Join(dir, "ssh_config")}
	m.listener, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.vanish)
	port := m.listener.Addr().(*net.TCPAddr).Port
	for name, text := range map[string]string{
		"key":         string(pem.EncodeToMemory(block)),
		"known_hosts": "bootstrap " + string(ssh.MarshalAuthorizedKey(host.PublicKey())),
		"ssh_config": fmt.Sprintf("Host bootstrap\n  HostName 127.0.0.1\n  Port %d\n  HostKeyAlias bootstrap\n  User core\n  IdentityFile \"%[2]s/key\"\n"+
			"  IdentitiesOnly yes\n  UserKnownHostsFile \"%[2]s/known_hosts\"\n  StrictHostKeyChecking yes\n  ConnectTimeout 10\n", port, dir),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if c.User() != "core" || string(key.Marshal()) != string(user.Marshal()) {
			return nil, fmt.Errorf("%s has no such key", c.User())
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	go m.listen(config)
	return m
}

func (m *machine) listen(config *ssh.ServerConfig) {
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			return
		}
		m.connections.Add(1)
		m.mu.Lock()
		m.open = append(m.open, conn)
		m.mu.Unlock()
		go m.serve(conn, config)
	}
}

// vanish is the machine gone, with all of its connections.
func (m *machine) vanish() {
	m.listener.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.open {
		c.Close()
	}
}

func (m *machine) serve(conn net.Conn, config *ssh.ServerConfig) {
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, requests, err := c.Accept()
		if err != nil {
			return
		}
		go m.session(channel, requests)
	}
}

func (m *machine) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for r := range requests {
		if r.Type != "exec" {
			r.Reply(r.Type == "env", nil)
			continue
		}
		r.Reply(true, nil)
		cmd := exec.Command("bash", "--noprofile", "--norc", "-s")
		cmd.Env = append(os.Environ(), m.env...)
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return
		}
		go func() {
			io.Copy(in, channel)
			in.Close()
		}()
		cmd.Wait()
		channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(cmd.ProcessState.ExitCode())}))
		return
	}
}
