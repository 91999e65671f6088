package secureshell

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// dial comes in, from a client that asks for this host key.
func dial(t *testing.T, s *Server, user string, key ed25519.PrivateKey, host ssh.PublicKey) (*ssh.Client, error) {
	t.Helper()
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return ssh.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port()), &ssh.ClientConfig{User: user, Timeout: 10 * time.Second,
		Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(host)})
}

func TestOneKeyOfOneUserIsLetIn(t *testing.T) {
	t.Parallel()
	key, login := NewKey(t)
	stranger, _ := NewKey(t)
	hostKey, host := NewKey(t)
	s := &Server{HostKey: hostKey, Login: login}
	s.Start(t)
	for _, c := range []struct {
		user string
		key  ed25519.PrivateKey
		in   bool
	}{{"core", key, true}, {"core", stranger, false}, {"root", key, false}} {
		client, err := dial(t, s, c.user, c.key, host)
		if (err == nil) != c.in {
			t.Errorf("%s: %v", c.user, err)
		}
		if err == nil {
			client.Close()
		}
	}
	if _, err := dial(t, s, "core", key, login); err == nil {
		t.Error("it shows a host key that is not its own")
	}
	if n := s.Connections.Load(); n != 4 {
		t.Errorf("%d connections", n)
	}
}

func TestACommandHasItsStreamsAndItsStatus(t *testing.T) {
	t.Parallel()
	key, login := NewKey(t)
	hostKey, host := NewKey(t)
	s := &Server{HostKey: hostKey, Login: login, Run: func(c *Command) int {
		in, _ := io.ReadAll(c.Stdin)
		fmt.Fprintf(c.Stdout, "%s: %s", c.Line, in)
		fmt.Fprint(c.Stderr, "complaint")
		return 3
	}}
	s.Start(t)
	client, err := dial(t, s, "core", key, host)
	if err != nil {
		t.Fatal(err)
	}
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var out, complaint strings.Builder
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader("lines"), &out, &complaint
	var exit *ssh.ExitError
	if err := session.Run("sudo bash"); !errors.As(err, &exit) || exit.ExitStatus() != 3 {
		t.Errorf("it ends with %v", err)
	}
	if out.String() != "sudo bash: lines" || complaint.String() != "complaint" {
		t.Errorf("it says %q and %q", &out, &complaint)
	}
}

func TestCloseTakesTheConnectionsAlong(t *testing.T) {
	t.Parallel()
	key, login := NewKey(t)
	hostKey, host := NewKey(t)
	s := &Server{HostKey: hostKey, Login: login}
	s.Start(t)
	client, err := dial(t, s, "core", key, host)
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { client.Wait(); close(gone) }()
	s.Close()
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		t.Error("the connection is still there")
	}
	if _, err := dial(t, s, "core", key, host); err == nil {
		t.Error("it still listens")
	}
}
