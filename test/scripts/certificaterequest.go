package scripts

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"bootlab/test/controlplane"
)

// The signers of kubelets, and what kubelets want to use their certificates for.
const (
	clientSigner  = "kubernetes.io/kube-apiserver-client-kubelet"
	servingSigner = "kubernetes.io/kubelet-serving"
)

var (
	clientUsages  = []string{"digital signature", "client auth"}
	servingUsages = []string{"digital signature", "server auth"}
)

// certificateRequest is a CertificateSigningRequest as somebody sends it.
type certificateRequest struct {
	name   string            // of the object
	from   controlplane.Pair // who sends it
	pem    []byte
	signer string
	usages []string
}

// nodeSubject is what kubelets ask for.
func nodeSubject(node string) pkix.Name {
	return pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + node}
}

// requestFor is a request in PEM, signed with a new key.
func requestFor(tb testing.TB, template x509.CertificateRequest) (request []byte, key *ecdsa.PrivateKey) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), key
}

// clientRequest is what a kubelet without a certificate sends.
func (l *Lab) clientRequest(tb testing.TB, name, node string) certificateRequest {
	tb.Helper()
	request, _ := requestFor(tb, x509.CertificateRequest{Subject: nodeSubject(node)})
	return certificateRequest{name: name, from: l.pair(tb, "kubelet-client"), pem: request, signer: clientSigner, usages: clientUsages}
}

// servingRequest is what a node sends next, with its names and addresses.
func (l *Lab) servingRequest(tb testing.TB, name, node string, names ...string) certificateRequest {
	tb.Helper()
	request, _ := requestFor(tb, withNames(node, names...))
	return certificateRequest{name: name, from: l.issued(tb, "kubelet-signer", nodeSubject(node)), pem: request, signer: servingSigner, usages: servingUsages}
}

func withNames(node string, names ...string) x509.CertificateRequest {
	template := x509.CertificateRequest{Subject: nodeSubject(node)}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	return template
}

// pair reads a certificate of the lab and its key.
func (l *Lab) pair(tb testing.TB, name string) controlplane.Pair {
	tb.Helper()
	certificate, err := os.ReadFile(l.Asset("tls/" + name + ".crt"))
	if err != nil {
		tb.Fatal(err)
	}
	key, err := os.ReadFile(l.Asset("tls/" + name + ".key"))
	if err != nil {
		tb.Fatal(err)
	}
	return controlplane.Pair{Certificate: certificate, Key: key}
}

// issued is a client certificate of one of the lab's signers.
func (l *Lab) issued(tb testing.TB, signer string, subject pkix.Name) controlplane.Pair {
	tb.Helper()
	authority, err := controlplane.LoadAuthority(l.Asset("tls/" + signer))
	if err != nil {
		tb.Fatal(err)
	}
	pair, err := authority.Issue(controlplane.Leaf{Subject: subject, Usage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		tb.Fatal(err)
	}
	return pair
}

// send gives a request to the API server; what came back is the answer.
func (l *Lab) send(tb testing.TB, r certificateRequest) (status int, answer string) {
	tb.Helper()
	body, err := json.Marshal(map[string]any{
		"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
		"metadata": map[string]any{"name": r.name},
		"spec":     map[string]any{"request": r.pem, "signerName": r.signer, "usages": r.usages},
	})
	if err != nil {
		tb.Fatal(err)
	}
	const path = "https://localhost:6443/apis/certificates.k8s.io/v1/certificatesigningrequests"
	response, err := l.clientOf(tb, r.from).Post(path, "application/json", bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// clientOf is somebody's way to the API server.
func (l *Lab) clientOf(tb testing.TB, from controlplane.Pair) *http.Client {
	tb.Helper()
	bundle, err := os.ReadFile(l.Asset("tls/kube-apiserver-localhost-ca-bundle.crt"))
	if err != nil {
		tb.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	certificate, err := tls.X509KeyPair(from.Certificate, from.Key)
	if err != nil {
		tb.Fatal(err)
	}
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{certificate}},
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			return l.ControlPlane.Dial("127.0.0.1:6443")
		},
	}}
}

// mustSend sends a request that the API server has to take.
func (l *Lab) mustSend(tb testing.TB, r certificateRequest) {
	tb.Helper()
	if status, answer := l.send(tb, r); status != http.StatusCreated {
		tb.Fatalf("%q: the API server answers %d %s", r.name, status, answer)
	}
}

// requestState is what oc shows of a request.
func requestState(tb testing.TB, c *controlplane.ControlPlane, name string) string {
	tb.Helper()
	var request struct {
		Status struct {
			Conditions  []struct{ Type string }
			Certificate []byte
		}
	}
	if err := c.Get("/apis/certificates.k8s.io/v1/certificatesigningrequests/"+url.PathEscape(name), &request); err != nil {
		tb.Fatal(err)
	}
	var conditions []string
	for _, condition := range request.Status.Conditions {
		conditions = append(conditions, condition.Type)
	}
	condition := strings.Join(conditions, " ")
	switch {
	case condition == "":
		return "Pending"
	case len(request.Status.Certificate) > 0:
		return condition + ",Issued"
	}
	return condition
}

// joiner stands in for the kubelet of a machine that joins: it asks for both
// certificates, the second with the first, and says what its Node says.
type joiner struct {
	lab           *Lab
	node, address string
}

// join asks, and waits for each certificate; then the Node is Ready.
func (j joiner) join(tb testing.TB) {
	tb.Helper()
	c := j.lab.ControlPlane
	client, key := requestFor(tb, x509.CertificateRequest{Subject: nodeSubject(j.node)})
	name := "csr-client-" + j.node
	j.lab.mustSend(tb, certificateRequest{name: name, from: j.lab.pair(tb, "kubelet-client"), pem: client, signer: clientSigner, usages: clientUsages})
	until(tb, name+" issued", func() bool { return requestState(tb, c, name) == "Approved,Issued" })
	var issued struct{ Status struct{ Certificate []byte } }
	if err := json.Unmarshal([]byte(c.Kubectl(tb, "get", "csr", name, "--output=json")), &issued); err != nil {
		tb.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}
	c.Node(tb, j.node, j.address, false)
	serving, _ := requestFor(tb, withNames(j.node, j.node, j.address))
	name = "csr-serving-" + j.node
	j.lab.mustSend(tb, certificateRequest{
		name: name, pem: serving, signer: servingSigner, usages: servingUsages,
		from: controlplane.Pair{Certificate: issued.Status.Certificate, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})},
	})
	until(tb, name+" issued", func() bool { return requestState(tb, c, name) == "Approved,Issued" })
	c.Node(tb, j.node, j.address, true)
}
