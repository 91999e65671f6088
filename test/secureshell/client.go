package secureshell

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
)

// NewKey makes a key pair.
func NewKey(tb testing.TB) (ed25519.PrivateKey, ssh.PublicKey) {
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

// WriteKey writes a key into a file for the client.
func WriteKey(tb testing.TB, file string, key ed25519.PrivateKey) {
	tb.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		tb.Fatal(err)
	}
	write(tb, file, pem.EncodeToMemory(block))
}

// WriteConfig writes into a directory what ssh needs to come to the machine
// "bootstrap" at a port of the loopback: key, known_hosts with this host key, and
// the ssh_config, whose path is given. It is what bootlab vms up writes, with a port.
func WriteConfig(tb testing.TB, dir string, port int, key ed25519.PrivateKey, host ssh.PublicKey) string {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	identity, known, config := filepath.Join(dir, "key"), filepath.Join(dir, "known_hosts"), filepath.Join(dir, "ssh_config")
	WriteKey(tb, identity, key)
	write(tb, known, append([]byte("bootstrap "), ssh.MarshalAuthorizedKey(host)...))
	write(tb, config, fmt.Appendf(nil, `Host bootstrap
  HostName 127.0.0.1
  Port %d
  HostKeyAlias bootstrap
  User core
  IdentityFile "%s"
  IdentitiesOnly yes
  UserKnownHostsFile "%s"
  StrictHostKeyChecking yes
  ConnectTimeout 10
`, port, identity, known))
	return config
}

func write(tb testing.TB, file string, text []byte) {
	tb.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		tb.Fatal(err)
	}
}
