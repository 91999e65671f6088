package diagnose

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"testing"

	"bootlab/test/controlplane"
)

// The server is a stand-in that answers with a status; the question, TLS, names
// and the way through a load balancer are real.
func TestFaultsOnTheWayToTheMachineConfigServerAreProven(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	gateway := p.plan.Lab.Machines.Gateway
	for _, address := range []string{gateway, p.plan.Lab.Machines.Bootstrap.Address} {
		if err := p.network.AddAddress(address); err != nil {
			t.Fatal(err)
		}
	}
	p.useNames(gateway)
	p.dns(gateway, gateway, "api-int")
	p.trust("tls/root-ca.crt", p.signer)
	p.texts["static-pods"] = "-rw-r--r--. 1 root root 2210 2026-01-02 04:02:20.000000000 +0000 machineconfigoperator-bootstrap-pod.yaml\n"
	name := "api-int." + p.plan.Lab.Domain()
	shown, status := controlplane.Pair{}, http.StatusOK
	show := func(a *controlplane.Authority, l controlplane.Leaf) {
		t.Helper()
		var err error
		if shown, err = a.Issue(l); err != nil {
			t.Fatal(err)
		}
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/config/master" && r.Header.Get("Accept") == "application/vnd.coreos.ignition+json;version=3.2.0" {
			w.WriteHeader(status)
		}
	})
	serve := func(address string, config *tls.Config) {
		listener, err := p.network.Listen(address)
		if err != nil {
			t.Fatal(err)
		}
		if config != nil {
			listener = tls.NewListener(listener, config)
		}
		t.Cleanup(func() { listener.Close() })
		go (&http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}).Serve(listener)
	}
	config := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := tls.X509KeyPair(shown.Certificate, shown.Key)
		return &pair, err
	}}
	serve("127.0.0.1:22624", nil)
	serve("127.0.0.1:22623", config)
	well := controlplane.Leaf{Names: []string{name}}
	show(p.signer, well)
	judge := func(what, cause string) { t.Helper(); p.wants(what, cause, "mcs") }

	judge("nothing on the gateway", "mcs-not-balanced")
	p.start("socat", "TCP-LISTEN:22623,bind="+gateway+",reuseaddr,fork", "TCP:127.0.0.1:22623")
	eventuallyWell(p, "mcs")
	judge("well", "")
	status = http.StatusNotFound
	judge("no pool", "mcs-no-pool")
	status = http.StatusOK
	show(p.other, well)
	judge("another CA", "mcs-other-ca")
	show(p.signer, controlplane.Leaf{Names: []string{"api-int.elsewhere.example"}})
	judge("another name", "mcs-other-name")
	show(p.signer, ended(well))
	judge("ended", "mcs-expired")
	show(p.signer, well)
	judge("well again", "")
}
