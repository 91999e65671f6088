// Package registry serves container images to tests: a registry on a loopback
// port, over plain HTTP or over TLS of a CA that no machine knows, in the process
// of the test, that counts what is pulled and can be told to misbehave.
package registry

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"bootlab/standin/images"
)

// Registry is a running registry.
type Registry struct {
	// Host is its address, 127.0.0.1:PORT.
	Host string
	// Name stands in its pull specs; where it is not Host, a mirror or a proxy
	// must lead here.
	Name string

	store *images.Store
	stop  func()

	mu       sync.Mutex
	pulls    map[string]int
	refusals map[string]int
	faults   map[string]*breakage
}

// Start runs a registry until the test ends.
func Start(tb testing.TB) *Registry {
	tb.Helper()
	r, err := Run()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}

// StartTLS runs a registry with a certificate of CA until the test ends. The
// name stands in its pull specs and in its certificate; empty is its address.
func StartTLS(tb testing.TB, name string) *Registry {
	tb.Helper()
	ca, err := CA()
	if err != nil {
		tb.Fatal(err)
	}
	names := []string{"localhost"}
	if host, _, _ := strings.Cut(name, ":"); host != "" {
		names = append(names, host)
	}
	config, err := ca.serve(names...)
	if err != nil {
		tb.Fatal(err)
	}
	r := newRegistry()
	server := httptest.NewUnstartedServer(r)
	server.TLS = config
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that refuse the CA are what tests want
	server.StartTLS()
	r.serveAt(server, name)
	tb.Cleanup(r.Close)
	return r
}

// Run starts a registry that serves until Close.
func Run() (*Registry, error) {
	r := newRegistry()
	r.serveAt(httptest.NewServer(r), "")
	return r, nil
}

func (r *Registry) serveAt(server *httptest.Server, name string) {
	r.stop = func() {
		server.CloseClientConnections()
		server.Close()
	}
	r.Host = server.Listener.Addr().String()
	r.Name = name
	if name == "" {
		r.Name = r.Host
	}
	r.store = images.NewStore(r.Name)
}

func newRegistry() *Registry {
	return &Registry{
		pulls:    map[string]int{},
		refusals: map[string]int{},
		faults:   map[string]*breakage{},
	}
}

// Close stops the registry; what is being pulled breaks off.
func (r *Registry) Close() {
	r.Fix()
	r.stop()
}

// Push stores an image and returns its pull spec by digest. It is no business of
// the counters and faults.
func (r *Registry) Push(repository string, image v1.Image) (string, error) {
	return r.store.Push(repository, image)
}

// Tag gives a pushed image a second pull spec, by tag.
func (r *Registry) Tag(repository, tag string, image v1.Image) (string, error) {
	return r.store.Tag(repository, tag, image)
}

// Pulls says how often a manifest of the repository was served.
func (r *Registry) Pulls(repository string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pulls[repository]
}

// Refusals says how many requests for the repository a fault has hit.
func (r *Registry) Refusals(repository string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refusals[repository]
}

// ServeHTTP answers a client of the registry.
func (r *Registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	repository, kind := split(req.URL.Path)
	if fault := r.faultFor(repository, kind); fault != nil {
		fault.serve(w, req, r.store)
		return
	}
	if kind == "manifests" && req.Method == http.MethodGet {
		r.mu.Lock()
		r.pulls[repository]++
		r.mu.Unlock()
	}
	r.store.ServeHTTP(w, req)
}

// split takes /v2/REPOSITORY/KIND/NAME apart.
func split(path string) (repository, kind string) {
	parts := strings.Split(strings.TrimPrefix(path, "/v2/"), "/")
	if len(parts) < 3 {
		return "", ""
	}
	return strings.Join(parts[:len(parts)-2], "/"), parts[len(parts)-2]
}
