// Package secureshell is the SSH server of the tests. It stands in for a machine
// of a lab: a real ssh comes to it, and a test says what a command does there.
package secureshell

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Server lets core in with one key. The first fields are set before Start.
type Server struct {
	Listener net.Listener       // a free port of the loopback where it is nil
	HostKey  ed25519.PrivateKey // a new one where it is nil
	Login    ssh.PublicKey      // the key of core
	Run      func(*Command) (status int)

	Connections atomic.Int32 // how many there were up to now

	mu       sync.Mutex
	gone     bool
	accepted []net.Conn
}

// Command is what a client asks for, and its ends of it.
type Command struct {
	Line           string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Start serves until Close, which is at the end of the test at the latest.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	var err error
	if s.HostKey == nil {
		s.HostKey, _ = NewKey(tb)
	}
	if s.Listener == nil {
		if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(s.Close)
	host, err := ssh.NewSignerFromKey(s.HostKey)
	if err != nil {
		tb.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: s.admit}
	config.AddHostKey(host)
	go s.listen(config)
}

// Port is where it listens.
func (s *Server) Port() int { return s.Listener.Addr().(*net.TCPAddr).Port }

// Close is the machine gone, with all of its connections.
func (s *Server) Close() {
	s.Listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	for _, conn := range s.accepted {
		conn.Close()
	}
}

// admit says who may come in.
func (s *Server) admit(conn ssh.ConnMetadata, shown ssh.PublicKey) (*ssh.Permissions, error) {
	if conn.User() != "core" || !bytes.Equal(shown.Marshal(), s.Login.Marshal()) {
		return nil, fmt.Errorf("%s has no such key", conn.User())
	}
	return nil, nil
}

func (s *Server) listen(config *ssh.ServerConfig) {
	for {
		conn, err := s.Listener.Accept()
		if err != nil || !s.accept(conn) {
			return
		}
		go s.serve(conn, config)
	}
}

// accept keeps a connection for Close; one that comes too late is closed at once.
func (s *Server) accept(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		conn.Close()
		return false
	}
	s.Connections.Add(1)
	s.accepted = append(s.accepted, conn)
	return true
}

func (s *Server) serve(conn net.Conn, config *ssh.ServerConfig) {
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
		go s.session(channel, requests)
	}
}

// session does the one command that a session may ask for.
func (s *Server) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	for r := range requests {
		var asked struct{ Command string }
		isExec := r.Type == "exec" && ssh.Unmarshal(r.Payload, &asked) == nil
		r.Reply(isExec, nil)
		if !isExec {
			continue
		}
		go ssh.DiscardRequests(requests)
		status := s.Run(&Command{Line: asked.Command, Stdin: channel, Stdout: channel, Stderr: channel.Stderr()})
		channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
		return
	}
}
