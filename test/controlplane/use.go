package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Kubectl runs the real kubectl as the administrator, through localhost, and
// gives what it wrote.
func (c *ControlPlane) Kubectl(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := c.kubectl("", args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Apply applies objects written as YAML. What a subresource holds, as status
// does, is set by its own means: see SetStatus.
func (c *ControlPlane) Apply(tb testing.TB, objects string) {
	tb.Helper()
	if _, err := c.kubectl(objects, "apply", "--server-side", "--force-conflicts", "--filename=-"); err != nil {
		tb.Fatal(err)
	}
}

// Etcdctl runs the real etcdctl with the API server's client certificate,
// against the running members.
func (c *ControlPlane) Etcdctl(tb testing.TB, args ...string) string {
	tb.Helper()
	out, err := c.etcdctl(args...)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// Members are etcd's.
func (c *ControlPlane) Members(tb testing.TB) []Member {
	tb.Helper()
	list, err := c.memberList()
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// StartEtcd starts the bootstrap member and waits until it is healthy. Its data
// outlive StopEtcd.
func (c *ControlPlane) StartEtcd(tb testing.TB) { fatal(tb, c.startBootstrapMember()) }

// StopEtcd ends the bootstrap member as kill -9 does.
func (c *ControlPlane) StopEtcd(tb testing.TB) { c.StopMember(tb, bootstrapMember) }

// StopMember ends a member as kill -9 does; etcd still counts it.
func (c *ControlPlane) StopMember(tb testing.TB, name string) {
	tb.Helper()
	c.mu.Lock()
	p := c.members[name]
	c.mu.Unlock()
	if p == nil {
		tb.Fatalf("no member %s was started", name)
	}
	p.kill()
}

// AddMaster adds a master's member to etcd: as a learner, with a vote once it is
// in sync.
func (c *ControlPlane) AddMaster(tb testing.TB, name string) { fatal(tb, c.addMember(name)) }

// RemoveBootstrapMember takes the bootstrap's member out. The API server then
// has no etcd any more, as on a bootstrap node: MoveAPIServer helps.
func (c *ControlPlane) RemoveBootstrapMember(tb testing.TB) {
	fatal(tb, c.removeMember(bootstrapMember))
}

// StartAPIServer starts the API server and waits until it is ready.
func (c *ControlPlane) StartAPIServer(tb testing.TB) { fatal(tb, c.startAPIServer()) }

// MoveAPIServer starts the API server again with the members that are running
// now, which stands for the ones on the masters taking over.
func (c *ControlPlane) MoveAPIServer(tb testing.TB) {
	c.StopAPIServer(tb)
	c.StartAPIServer(tb)
}

// StopAPIServer ends the API server as kill -9 does; its port refuses.
func (c *ControlPlane) StopAPIServer(testing.TB) {
	c.mu.Lock()
	p := c.api
	c.api = nil
	c.mu.Unlock()
	p.kill()
	c.client.CloseIdleConnections()
}

// FreezeAPIServer stops the API server in the middle of its work: its port takes
// connections and nothing answers. Thaw lets it go on.
func (c *ControlPlane) FreezeAPIServer(tb testing.TB) (thaw func()) {
	tb.Helper()
	p := c.server()
	fatal(tb, p.cmd.Process.Signal(syscall.SIGSTOP))
	return func() { p.cmd.Process.Signal(syscall.SIGCONT) }
}

// AnswerGarbage puts something in the API server's place that speaks no TLS:
// every connection is answered with the text and closed. The API server must be
// stopped before; restore frees the port.
func (c *ControlPlane) AnswerGarbage(tb testing.TB, text string) (restore func()) {
	tb.Helper()
	listener, err := c.Network.Listen("0.0.0.0:6443")
	fatal(tb, err)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Write([]byte(text))
			conn.Close()
		}
	}()
	return func() { listener.Close() }
}

// The API server's certificates, by the end of their file's name. Which one it
// shows, the name that a client asks for decides.
const (
	ForLocalhost = "localhost-server"   // localhost
	ForAPI       = "lb-server"          // api.DOMAIN
	ForAPIInt    = "internal-lb-server" // api-int.DOMAIN
)

// signerOf is the lab's signer of each.
var signerOf = map[string]string{ForLocalhost: "localhost-signer", ForAPI: "lb-signer", ForAPIInt: "lb-signer"}

// ServeExpired lets the API server show a certificate of the lab's own signer
// that ended an hour ago. Restore brings the right one back.
func (c *ControlPlane) ServeExpired(tb testing.TB, certificate string) (restore func()) {
	tb.Helper()
	signer, err := LoadAuthority(c.path("tls/kube-apiserver-" + signerOf[certificate]))
	fatal(tb, err)
	return c.serveFrom(tb, certificate, signer, time.Now().Add(-time.Hour))
}

// ServeStranger lets it show one with the right names, of an unknown CA.
func (c *ControlPlane) ServeStranger(tb testing.TB, certificate string) (restore func()) {
	tb.Helper()
	signer, err := NewAuthority("stranger")
	fatal(tb, err)
	return c.serveFrom(tb, certificate, signer, time.Time{})
}

func (c *ControlPlane) serveFrom(tb testing.TB, certificate string, signer *Authority, end time.Time) (restore func()) {
	tb.Helper()
	before := c.shown(tb, certificate)
	l := Leaf{
		Subject: pkix.Name{CommonName: "system:kube-apiserver", Organization: []string{"kube-master"}},
		Names:   before.DNSNames, NotAfter: end, Usage: before.ExtKeyUsage,
	}
	for _, ip := range before.IPAddresses {
		l.Names = append(l.Names, ip.String())
	}
	if !end.IsZero() {
		l.NotBefore = end.Add(-24 * time.Hour)
	}
	pair, err := signer.Issue(l)
	fatal(tb, err)
	return c.Serve(tb, certificate, pair)
}

// Serve lets the API server show a certificate in place of one of its own, and
// waits until it does. Restore brings the lab's own back.
func (c *ControlPlane) Serve(tb testing.TB, certificate string, pair Pair) (restore func()) {
	tb.Helper()
	file := c.path("tls/kube-apiserver-" + certificate)
	crt, err := os.ReadFile(file + ".crt")
	fatal(tb, err)
	key, err := os.ReadFile(file + ".key")
	fatal(tb, err)
	show := func(p Pair) {
		fatal(tb, p.write(file))
		want, _ := pem.Decode(p.Certificate)
		c.client.CloseIdleConnections()
		fatal(tb, c.server().until("showing the certificate", func() error {
			if shown := c.shown(tb, certificate); want == nil || string(shown.Raw) != string(want.Bytes) {
				return fmt.Errorf("it shows the one with serial %v", shown.SerialNumber)
			}
			return nil
		}))
	}
	show(pair)
	return func() { show(Pair{crt, key}) }
}

// shown is what the API server shows to a client that asks for the name of one
// of its certificates.
func (c *ControlPlane) shown(tb testing.TB, certificate string) *x509.Certificate {
	tb.Helper()
	name := map[string]string{ForLocalhost: "localhost", ForAPI: "api." + c.keys.Domain, ForAPIInt: "api-int." + c.keys.Domain}[certificate]
	if name == "" {
		tb.Fatalf("no certificate %s", certificate)
	}
	raw, err := c.Dial("127.0.0.1:6443")
	fatal(tb, err)
	conn := tls.Client(raw, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fatal(tb, conn.Handshake())
	return conn.ConnectionState().PeerCertificates[0]
}

// SetName changes the address that a name below the lab's domain has; see
// NameServer for what else a file may say. Empty takes the name away.
func (c *ControlPlane) SetName(tb testing.TB, name, address string) {
	tb.Helper()
	if address == "" {
		fatal(tb, os.Remove(c.path("names/"+name)))
		return
	}
	if strings.Contains(name, "/") || (net.ParseIP(address) == nil && address != "silence" && address != "garbage") {
		tb.Fatalf("%s cannot be %s", name, address)
	}
	fatal(tb, os.WriteFile(c.path("names/"+name), []byte(address+"\n"), 0o600))
}

func fatal(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
