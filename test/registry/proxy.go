package registry

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Proxy is an HTTP proxy on loopback that leads every host to one registry, so
// that names without an address can be pulled from.
type Proxy struct {
	URL string
	to  *Registry

	mu    sync.Mutex
	asked []string
}

// StartProxy runs a proxy until the test ends.
func StartProxy(tb testing.TB, to *Registry) *Proxy {
	tb.Helper()
	p := &Proxy{to: to}
	server := httptest.NewServer(p)
	p.URL = server.URL
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return p
}

// Asked lists the hosts, each with its port, that the proxy was asked for.
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// ServeHTTP opens a tunnel.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodConnect {
		http.Error(w, "only tunnels", http.StatusMethodNotAllowed)
		return
	}
	p.mu.Lock()
	p.asked = append(p.asked, req.Host)
	p.mu.Unlock()
	there, err := net.Dial("tcp", p.to.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	w.WriteHeader(http.StatusOK)
	here, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	go func() {
		io.Copy(there, here)
		there.Close()
	}()
	io.Copy(here, there)
}
