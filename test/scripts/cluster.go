package scripts

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bootlab/labs"
	"bootlab/test/controlplane"
)

// Cluster stands in for what a bootstrap node sees of its cluster: a name
// server, and an API server behind the names api and api-int, in a network of
// its own. What they answer stands in files, which a test changes at any time:
//
//	names/NAME     the address of the name; without the file there is no such
//	               name; "silence" is no answer, "garbage" is no DNS
//	answers/NAME   the status of every request that is allowed; "silence" is
//	               no answer
//	tls/NAME.crt   and .key, what the server shows who it is with
type Cluster struct {
	Dir     string
	domain  string
	network *controlplane.Network
	names   *controlplane.NameServer
	api     net.Listener
	server  *http.Server
	closing chan struct{}

	mu       sync.Mutex
	requests []string
}

const apiAddress = "127.0.0.2"

// serving are the API server's certificates, by the name that they are for.
var serving = map[string]string{"api": "kube-apiserver-lb-server", "api-int": "kube-apiserver-internal-lb-server"}

// InCluster puts the lab's bootstrap node into a cluster that answers well.
func (l *Lab) InCluster(tb testing.TB) *Lab {
	tb.Helper()
	lab, problems := labs.LoadLab(l.Dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		tb.Fatal(errs)
	}
	c := &Cluster{Dir: filepath.Join(l.Dir, "cluster"), domain: lab.Domain(), closing: make(chan struct{})}
	for name, keys := range serving {
		c.Set(tb, "names/"+name, apiAddress)
		c.Set(tb, "answers/"+name, "200")
		for _, ext := range []string{".crt", ".key"} {
			c.Show(tb, name, ext, l.Asset("tls/"+keys+ext))
		}
	}
	l.writeResolver(tb)
	if err := c.open(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.close)
	l.Cluster = c
	return l
}

// Set writes one of the files that say what is answered.
func (c *Cluster) Set(tb testing.TB, file, text string) {
	tb.Helper()
	path := filepath.Join(c.Dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// Show takes a certificate or a key for a name from a file.
func (c *Cluster) Show(tb testing.TB, name, ext, from string) {
	tb.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		tb.Fatal(err)
	}
	c.Set(tb, "tls/"+name+ext, string(data))
}

// word is what a file says; empty if there is none.
func (c *Cluster) word(file string) string {
	data, _ := os.ReadFile(filepath.Join(c.Dir, file))
	return strings.TrimSpace(string(data))
}

// short is the name of a host of the cluster without its domain; others have
// none.
func (c *Cluster) short(host string) string {
	name, domain, _ := strings.Cut(strings.TrimSuffix(host, "."), ".")
	if domain != c.domain || serving[name] == "" {
		return ""
	}
	return name
}

// Network is the path of the network's namespace.
func (c *Cluster) Network() string { return c.network.Path() }

// Requests are those that reached the API server, as "GET api /readyz".
func (c *Cluster) Requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests)
}

func (c *Cluster) open() (err error) {
	if c.network, err = controlplane.NewNetwork(); err != nil {
		return err
	}
	c.names = &controlplane.NameServer{Dir: filepath.Join(c.Dir, "names"), Domain: c.domain}
	if err := c.names.Open(c.network); err != nil {
		return err
	}
	if c.api, err = c.network.Listen(apiAddress + ":6443"); err != nil {
		return err
	}
	c.server = &http.Server{Handler: c, ErrorLog: log.New(io.Discard, "", 0)}
	config := &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		file := filepath.Join(c.Dir, "tls", c.short(hello.ServerName))
		pair, err := tls.LoadX509KeyPair(file+".crt", file+".key")
		return &pair, err
	}}
	go c.server.Serve(tls.NewListener(c.api, config))
	return nil
}

func (c *Cluster) close() {
	close(c.closing)
	c.server.Close()
	c.names.Close()
	c.network.Close()
}

// ServeHTTP answers as an API server does to a stranger, who may GET a few paths
// and nothing else.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	name := c.short(host)
	c.mu.Lock()
	c.requests = append(c.requests, r.Method+" "+name+" "+r.URL.Path)
	c.mu.Unlock()
	status := http.StatusForbidden
	if r.Method == http.MethodGet && (r.URL.Path == "/readyz" || r.URL.Path == "/version") {
		answer := c.word("answers/" + name)
		if answer == "silence" {
			select {
			case <-c.closing:
			case <-r.Context().Done():
			}
			return
		}
		fmt.Sscan(answer, &status)
	}
	w.WriteHeader(status)
}
