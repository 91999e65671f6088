package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bootlab/test/podman"
)

// Keys say where a lab's keys lie, and what its cluster looks like. All are
// copied when a control plane is made.
type Keys struct {
	TLS       string // directory of make-pki and of what renders added to it
	Etcd      string // directory that the etcd member's pod mounts
	MemberPod string // the etcd member's static pod
	Auth      string // directory of the kubeconfigs

	Domain         string // as compact.bootlab.test
	ServiceNetwork string // CIDR
	Bootstrap      Machine
	Masters        []Machine
	Others         []Machine // have a name and an address, no more
}

// Machine is a node of the lab, by its host name without domain.
type Machine struct{ Name, Address string }

// ControlPlane is the etcd and the API server of one lab, in one network.
type ControlPlane struct {
	Dir     string // everything of it lies here
	Bin     string // holds the stand-in oc, for a PATH
	Network *Network
	Names   *NameServer

	keys     Keys
	programs string // directory of the real programs
	client   *http.Client

	mu      sync.Mutex
	members map[string]*process
	api     *process
	given   map[string]bool // addresses of the network
	signers []func()
}

// Need skips a test on a machine that cannot run a control plane; with CI=true
// it fails there.
func Need(tb testing.TB) {
	tb.Helper()
	if os.Getuid() != 0 {
		podman.Unavailable(tb, "only root can make a network of its own")
	}
	for _, program := range []string{"go", "nsenter", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			podman.Unavailable(tb, "no "+program+" on this machine")
		}
	}
	n, err := NewNetwork()
	if err != nil {
		podman.Unavailable(tb, err.Error())
	}
	n.Close()
}

// New makes the network, its names and its addresses below an empty directory.
// Nothing runs in it yet.
func New(dir string, keys Keys) (*ControlPlane, error) {
	c := &ControlPlane{Dir: dir, Bin: filepath.Join(dir, "bin"), keys: keys, members: map[string]*process{}, given: map[string]bool{}}
	for _, name := range []string{"bin", "data", "logs", "names"} {
		if err := os.MkdirAll(c.path(name), 0o700); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"", "bin"} {
		if err := os.Chmod(c.path(name), 0o755); err != nil {
			return nil, err
		}
	}
	if err := errorOfFirst(c.build, c.takeKeys, c.installOC, c.connect); err != nil {
		return nil, err
	}
	var err error
	if c.Network, err = NewNetwork(); err != nil {
		return nil, err
	}
	return c, c.nameAll()
}

// path is a path below the control plane's directory.
func (c *ControlPlane) path(name string) string { return filepath.Join(c.Dir, name) }

// build makes sure of the programs.
func (c *ControlPlane) build() error {
	for name := range programs {
		file, err := Program(name)
		if err != nil {
			return err
		}
		c.programs = filepath.Dir(file)
	}
	return nil
}

// takeKeys copies the keys: a test may damage these, and the lab keeps its own.
func (c *ControlPlane) takeKeys() error {
	for name, from := range map[string]string{"tls": c.keys.TLS, "etcd": c.keys.Etcd, "auth": c.keys.Auth} {
		if out, err := exec.Command("cp", "--archive", "--no-target-directory", from, c.path(name)).CombinedOutput(); err != nil {
			return fmt.Errorf("cp: %w: %s", err, out)
		}
	}
	return nil
}

// connect prepares requests to the API server as the administrator, through
// localhost.
func (c *ControlPlane) connect() error {
	bundle, err := os.ReadFile(c.path("tls/kube-apiserver-localhost-ca-bundle.crt"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	administrator, err := tls.LoadX509KeyPair(c.path("tls/admin-kubeconfig-client.crt"), c.path("tls/admin-kubeconfig-client.key"))
	if err != nil {
		return err
	}
	c.client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{administrator}},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return c.Dial("127.0.0.1:6443")
		},
	}}
	return nil
}

// Dial connects to an address inside the network.
func (c *ControlPlane) Dial(address string) (conn net.Conn, err error) {
	err = c.Network.Do(func() error {
		conn, err = net.DialTimeout("tcp", address, 5*time.Second)
		return err
	})
	return conn, err
}

// nameAll gives the network the machines' addresses, and them their names.
func (c *ControlPlane) nameAll() error {
	names := map[string]string{"api": c.keys.Bootstrap.Address, "api-int": c.keys.Bootstrap.Address, "apps": c.keys.Bootstrap.Address}
	machines := append([]Machine{c.keys.Bootstrap}, c.keys.Masters...)
	for _, m := range append(machines, c.keys.Others...) {
		names[m.Name] = m.Address
		if err := c.give(m.Address); err != nil {
			return err
		}
	}
	for name, address := range names {
		if err := os.WriteFile(c.path("names/"+name), []byte(address+"\n"), 0o600); err != nil {
			return err
		}
	}
	c.Names = &NameServer{Dir: c.path("names"), Domain: c.keys.Domain}
	return c.Names.Open(c.Network)
}

// give gives an address to the network, once.
func (c *ControlPlane) give(address string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.given[address] || strings.HasPrefix(address, "127.") {
		return nil
	}
	c.given[address] = true
	return c.Network.AddAddress(address)
}

func (c *ControlPlane) master(name string) (Machine, error) {
	for _, m := range c.keys.Masters {
		if m.Name == name {
			return m, nil
		}
	}
	return Machine{}, fmt.Errorf("the lab has no master %s", name)
}

// server is the API server that is running, or nil.
func (c *ControlPlane) server() *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.api
}

// Start starts etcd and then the API server, and waits until it is ready.
func (c *ControlPlane) Start() error {
	if err := c.startBootstrapMember(); err != nil {
		return err
	}
	return c.startAPIServer()
}

// Close ends all that runs, and the network with it.
func (c *ControlPlane) Close() {
	c.mu.Lock()
	running := []*process{c.api}
	for _, p := range c.members {
		running = append(running, p)
	}
	stop := c.signers
	c.mu.Unlock()
	for _, f := range stop {
		f()
	}
	for _, p := range running {
		p.kill()
	}
	c.Names.Close()
	c.Network.Close()
}

// Logs are the ends of what its programs said, for a test that failed.
func (c *ControlPlane) Logs() string {
	var out strings.Builder
	files, _ := filepath.Glob(c.path("logs/*.log"))
	for _, file := range files {
		p := &process{log: file}
		fmt.Fprintf(&out, "--- the end of %s\n%s\n", filepath.Base(file), p.tail())
	}
	return out.String()
}

// errNotReady is an API server that answers, and not with "ok".
var errNotReady = errors.New("not ready")
