package main

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// pair is a certificate (or a chain) and its key, as PEM.
type pair struct{ certificate, key string }

// certificates are those of one render.
type certificates struct {
	signer, metricSigner          pair
	client, metricClient          pair
	peer, serving, servingMetrics pair
}

// byName gives them under the names of their files.
func (c *certificates) byName(host string) map[string]pair {
	return map[string]pair{
		"etcd-signer":                  c.signer,
		"etcd-metric-signer":           c.metricSigner,
		"etcd-client":                  c.client,
		"etcd-metric-client":           c.metricClient,
		"etcd-peer-" + host:            c.peer,
		"etcd-serving-" + host:         c.serving,
		"etcd-serving-metrics-" + host: c.servingMetrics,
	}
}

func (m member) certificates(expired bool) *certificates {
	now := time.Now()
	if expired {
		now = now.AddDate(-6, 0, 0)
	}
	keys := make([]*rsa.PrivateKey, 7)
	var wait sync.WaitGroup
	for i := range keys {
		wait.Add(1)
		go func() {
			defer wait.Done()
			keys[i] = newKey()
		}()
	}
	wait.Wait()
	stamp := fmt.Sprint(now.Unix())
	signer := newAuthority("openshift-etcd_etcd-signer@"+stamp, keys[0], now)
	metric := newAuthority("openshift-etcd_etcd-metric-signer@"+stamp, keys[1], now)
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	loopback := pkix.Name{CommonName: "127.0.0.1"}
	return &certificates{
		signer:         signer.pair(),
		metricSigner:   metric.pair(),
		client:         signer.issue(etcdName("etcd-client"), keys[2], both[:1], nil, now),
		metricClient:   metric.issue(etcdName("etcd-metric"), keys[3], both[:1], nil, now),
		peer:           signer.issue(loopback, keys[4], both, m.names(), now),
		serving:        signer.issue(loopback, keys[5], both, m.names(), now),
		servingMetrics: metric.issue(loopback, keys[6], both, m.names(), now),
	}
}

func etcdName(name string) pkix.Name {
	return pkix.Name{CommonName: name, Organization: []string{name, "system:etcd"}}
}

func (m member) names() []string {
	return []string{
		"localhost", "127.0.0.1", "::1", m.address,
		"etcd.kube-system.svc", "etcd.kube-system.svc.cluster.local",
		"etcd.openshift-etcd.svc", "etcd.openshift-etcd.svc.cluster.local",
	}
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *rsa.PrivateKey
}

func newAuthority(name string, key *rsa.PrivateKey, now time.Time) authority {
	template := template(pkix.Name{CommonName: name}, now)
	template.IsCA = true
	template.KeyUsage |= x509.KeyUsageCertSign
	return authority{sign(template, template, key, key), key}
}

func (a authority) pair() pair { return pair{encode(a.certificate), encodeKey(a.key)} }

// issue signs a leaf. With names the authority's certificate stands behind it.
func (a authority) issue(subject pkix.Name, key *rsa.PrivateKey, usage []x509.ExtKeyUsage, names []string, now time.Time) pair {
	leaf := template(subject, now)
	leaf.ExtKeyUsage = usage
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, address)
		}
		leaf.DNSNames = append(leaf.DNSNames, name)
	}
	out := pair{encode(sign(leaf, a.certificate, key, a.key)), encodeKey(key)}
	if len(names) > 0 {
		out.certificate += encode(a.certificate)
	}
	return out
}

func template(subject pkix.Name, now time.Time) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	must(err)
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: now.Add(-time.Second), NotAfter: now.AddDate(5, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		BasicConstraintsValid: true,
	}
}

func sign(template, parent *x509.Certificate, key, signer *rsa.PrivateKey) *x509.Certificate {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	must(err)
	certificate, err := x509.ParseCertificate(der)
	must(err)
	return certificate
}

func newKey() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	return key
}

func encode(c *x509.Certificate) string { return encodePEM("CERTIFICATE", c.Raw) }

func encodeKey(k *rsa.PrivateKey) string {
	return encodePEM("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k))
}

func encodePEM(kind string, data []byte) string {
	var out bytes.Buffer
	must(pem.Encode(&out, &pem.Block{Type: kind, Bytes: data}))
	return out.String()
}

func must(err error) {
	if err != nil {
		refuse("%v", err)
	}
}
