package scripts

import (
	"crypto/ed25519"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"bootlab/test/controlplane"
	"bootlab/test/podman"
	"bootlab/test/secureshell"
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
	return secureshell.NewKey(tb)
}

// startSSH lets a machine listen on its port 22, for who has the key.
func startSSH(tb testing.TB, c *controlplane.ControlPlane, address, command string, key ssh.PublicKey) *sshMachine {
	tb.Helper()
	listener, err := c.Network.Listen(address + ":22")
	if err != nil {
		tb.Fatal(err)
	}
	m := &sshMachine{command: command}
	server := &secureshell.Server{Listener: listener, Login: key, Run: m.run}
	server.Start(tb)
	return m
}

// run knows one command to the letter; systemctl is-active is true only for
// active.
func (m *sshMachine) run(c *secureshell.Command) (status int) {
	if c.Line != m.command {
		fmt.Fprintf(c.Stdout, "unknown command: %s\n", c.Line)
		return 127
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprint(c.Stdout, m.answer)
	return 3
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
