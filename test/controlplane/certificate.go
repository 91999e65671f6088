package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Pair is a certificate (or a chain) and its key, as PEM.
type Pair struct{ Certificate, Key []byte }

// write writes FILE.crt and FILE.key.
func (p Pair) write(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return joined(
		func() error { return os.WriteFile(file+".crt", p.Certificate, 0o600) },
		func() error { return os.WriteFile(file+".key", p.Key, 0o600) },
	)
}

// Authority signs certificates.
type Authority struct {
	Certificate *x509.Certificate
	key         crypto.Signer
}

// LoadAuthority reads FILE.crt and FILE.key.
func LoadAuthority(file string) (*Authority, error) {
	pair, err := tls.LoadX509KeyPair(file+".crt", file+".key")
	if err != nil {
		return nil, err
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s.key signs nothing", file)
	}
	return &Authority{pair.Leaf, signer}, nil
}

// NewAuthority makes an authority that no client trusts.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := Leaf{Subject: pkix.Name{CommonName: name}}.template()
	template.IsCA, template.KeyUsage = true, template.KeyUsage|x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &Authority{certificate, key}, err
}

// Leaf says what is to be signed.
type Leaf struct {
	Subject   pkix.Name
	Names     []string // DNS names and addresses
	Usage     []x509.ExtKeyUsage
	NotBefore time.Time // zero is a minute ago
	NotAfter  time.Time // zero is in a day
}

func (l Leaf) template() *x509.Certificate {
	if l.NotBefore.IsZero() {
		l.NotBefore = time.Now().Add(-time.Minute)
	}
	if l.NotAfter.IsZero() {
		l.NotAfter = time.Now().Add(24 * time.Hour)
	}
	t := &x509.Certificate{
		SerialNumber: serial(), Subject: l.Subject, NotBefore: l.NotBefore, NotAfter: l.NotAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: l.Usage, BasicConstraintsValid: true,
	}
	for _, name := range l.Names {
		if ip := net.ParseIP(name); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, name)
		}
	}
	return t
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		panic(err)
	}
	return n
}

// Issue makes a key and signs a certificate for it.
func (a *Authority) Issue(l Leaf) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	text, err := a.sign(l.template(), key.Public())
	if err != nil {
		return Pair{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return Pair{text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})}, err
}

// sign signs for a key that is elsewhere.
func (a *Authority) sign(template *x509.Certificate, key crypto.PublicKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, key, a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
