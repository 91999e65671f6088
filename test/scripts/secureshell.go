package scripts

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// sshMachine stands in for the SSH server of a machine of the lab: it lets core
// in with one key, knows one command, and answers with what a test says.
type sshMachine struct {
	command string

	mu     sync.Mutex
	answer string
}

// say sets the answer to the command.
func (m *sshMachine) say(answer string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = answer
}

// newSSHKey makes a key pair.
func newSSHKey(tb testing.TB) (ed25519.PrivateKey, ssh.PublicKey) {
	tb.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		tb.Fatal(err)
	}
	return private, key
}

// startSSH lets a machine listen on its port 22, for who has the key.
func startSSH(tb testing.TB, c *controlplane.ControlPlane, address, command string, key ssh.PublicKey) *sshMachine {
	tb.Helper()
	private, _ := newSSHKey(tb)
	host, err := ssh.NewSignerFromKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(conn ssh.ConnMetadata, shown ssh.PublicKey) (*ssh.Permissions, error) {
		if conn.User() != "core" || string(shown.Marshal()) != string(key.Marshal()) {
			return nil, fmt.Errorf("%s has no such key", conn.User())
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	listener, err := c.Network.Listen(address + ":22")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { listener.Close() })
	m := &sshMachine{command: command}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go m.serve(conn, config)
		}
	}()
	return m
}

// serve answers on one connection.
func (m *sshMachine) serve(conn net.Conn, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for r := range requests {
			var exec struct{ Command string }
			if r.Type != "exec" || ssh.Unmarshal(r.Payload, &exec) != nil {
				r.Reply(false, nil)
				continue
			}
			r.Reply(true, nil)
			m.run(channel, exec.Command)
		}
	}
}

// run knows one command to the letter; systemctl is-active is true only for
// active.
func (m *sshMachine) run(channel ssh.Channel, command string) {
	m.mu.Lock()
	answer := m.answer
	m.mu.Unlock()
	status := struct{ Status uint32 }{3}
	if command != m.command {
		answer, status.Status = "unknown command: "+command+"\n", 127
	}
	channel.Write([]byte(answer))
	channel.SendRequest("exit-status", false, ssh.Marshal(status))
	channel.Close()
}

// startSSHAgent serves a key at a socket, whose path is given.
func startSSHAgent(tb testing.TB, account podman.Account, key ed25519.PrivateKey) string {
	tb.Helper()
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		tb.Fatal(err)
	}
	socket := filepath.Join(podman.TempDir(tb, account), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go agent.ServeAgent(ring, conn)
		}
	}()
	return socket
}
