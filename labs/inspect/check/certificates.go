package check

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"bootlab/labs"
)

const certificateBlock = "CERTIFICATE"

var errNoCertificate = errors.New("it holds no certificate")

// certificates are all those of a PEM text. One that cannot be read is an error,
// as it is to openssl, which then takes none of the file.
func certificates(data []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != certificateBlock {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	switch begun := bytes.Count(data, []byte("-----BEGIN "+certificateBlock+"-----")); {
	case begun == 0:
		return nil, errNoCertificate
	case begun != len(out):
		return nil, errors.New("a certificate in it is torn")
	}
	return out, nil
}

// certificate is the first of a file, which is all that openssl x509 looks at.
func (l *look) certificate(file string) *x509.Certificate {
	data, ok := l.text(file)
	if !ok {
		return nil
	}
	for rest := data; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			l.wrong("%s holds no certificate", file)
			return nil
		}
		if block.Type != certificateBlock {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			l.wrong("%s cannot be read: %v", file, err)
			return nil
		}
		return c
	}
}

// chain: every certificate verifies under the CA file.
func (l *look) chain(ca, files []string) {
	if len(ca) == 0 || !l.all(append(slices.Clone(ca[:1]), files...)) {
		return
	}
	data, ok := l.text(ca[0])
	if !ok {
		return
	}
	authorities, err := certificates(data)
	if err != nil {
		l.wrong("%s cannot be read: %v", ca[0], err)
		return
	}
	// A chain has to end in a certificate that is signed by itself, as openssl
	// wants it; all others of the file lie between.
	options := x509.VerifyOptions{Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: l.files.Now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}
	for _, c := range authorities {
		if bytes.Equal(c.RawSubject, c.RawIssuer) {
			options.Roots.AddCert(c)
		} else {
			options.Intermediates.AddCert(c)
		}
	}
	for _, file := range files {
		if c := l.certificate(file); c != nil {
			if _, err := c.Verify(options); err != nil {
				l.wrong("%s: %v", file, err)
			}
		}
	}
}

// keyPair: each X.crt or X.pub belongs to its X.key.
func (l *look) keyPair(files []string) {
	for _, file := range files {
		keyFile := strings.TrimSuffix(file, path.Ext(file)) + ".key"
		if !l.all([]string{file, keyFile}) {
			continue
		}
		public := l.publicKey(file)
		key := l.privateKey(keyFile)
		if public == nil || key == nil {
			continue
		}
		if same, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !same.Equal(public) {
			l.wrong("%s does not belong to %s", file, keyFile)
		}
	}
}

func (l *look) publicKey(file string) crypto.PublicKey {
	if path.Ext(file) != ".pub" {
		if c := l.certificate(file); c != nil {
			return c.PublicKey
		}
		return nil
	}
	// openssl looks at the bytes, whatever the label says.
	if block := l.block(file, "PUBLIC KEY"); block != nil {
		if key, err := x509.ParsePKIXPublicKey(block.Bytes); err == nil {
			return key
		}
		if key, err := x509.ParsePKCS1PublicKey(block.Bytes); err == nil {
			return key
		}
		l.wrong("%s cannot be read", file)
	}
	return nil
}

// block is the first block of PEM whose label ends so. That there is none is
// reported.
func (l *look) block(file, label string) *pem.Block {
	rest, ok := l.text(file)
	if !ok {
		return nil
	}
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			l.wrong("%s cannot be read", file)
			return nil
		}
		if strings.HasSuffix(block.Type, label) {
			return block
		}
	}
}

func (l *look) privateKey(file string) crypto.Signer {
	block := l.block(file, "PRIVATE KEY")
	if block == nil {
		return nil
	}
	for _, parse := range []func([]byte) (any, error){
		x509.ParsePKCS8PrivateKey,
		func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) },
		func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) },
	} {
		if key, err := parse(block.Bytes); err == nil {
			if signer, ok := key.(crypto.Signer); ok {
				return signer
			}
		}
	}
	l.wrong("%s cannot be read", file)
	return nil
}

func (d *Declared) subject(l *look, c *labs.SubjectCheck) error {
	want, err := d.fill(c.Equals)
	files := d.paths(l, c.Path)
	if err != nil || len(files) == 0 || !l.all(files[:1]) {
		return err
	}
	cert := l.certificate(files[0])
	if cert == nil {
		return nil
	}
	found, err := distinguishedName(cert.RawSubject)
	if err != nil {
		return err
	}
	if found != want {
		l.wrong("%s", found)
	}
	return nil
}

// attributes are the short names that openssl prints.
var attributes = map[string]string{
	"2.5.4.3": "CN", "2.5.4.4": "SN", "2.5.4.5": "serialNumber", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST",
	"2.5.4.9": "street", "2.5.4.10": "O", "2.5.4.11": "OU", "2.5.4.12": "title", "2.5.4.42": "GN",
	"0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC", "1.2.840.113549.1.9.1": "emailAddress",
}

// distinguishedName is a name as openssl writes it with -nameopt RFC2253: all
// parts from the last to the first, those of one set too.
func distinguishedName(raw []byte) (string, error) {
	var name pkix.RDNSequence
	if _, err := asn1.Unmarshal(raw, &name); err != nil {
		return "", err
	}
	var sets []string
	for _, set := range slices.Backward(name) {
		var parts []string
		for _, part := range slices.Backward(set) {
			kind := attributes[part.Type.String()]
			if kind == "" {
				kind = part.Type.String()
			}
			parts = append(parts, kind+"="+escaped(fmt.Sprint(part.Value)))
		}
		sets = append(sets, strings.Join(parts, "+"))
	}
	return strings.Join(sets, ","), nil
}

// escaped is a value as RFC 2253 has it written.
func escaped(value string) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case strings.IndexByte(`,+"\<>;`, c) >= 0, i == 0 && (c == '#' || c == ' '), i == len(value)-1 && c == ' ':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%02X`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (d *Declared) names(l *look, c *labs.NamesCheck) error {
	var want []string
	for _, name := range c.Names {
		filled, err := d.fill(name)
		if err != nil {
			return err
		}
		want = append(want, strings.Fields(filled)...)
	}
	l.extensionIs(alternativeNames, want, d.paths(l, c.Path))
	return nil
}

// extensionIs compares the values of one extension, in any order.
func (l *look) extensionIs(values func(*x509.Certificate) []string, want, files []string) {
	want = slices.Sorted(slices.Values(want))
	for _, file := range l.present(files) {
		c := l.certificate(file)
		if c == nil {
			continue
		}
		found := slices.Sorted(slices.Values(values(c)))
		if len(found) == 0 {
			found = []string{"none"}
		}
		if !slices.Equal(found, want) {
			l.wrong("%s: %s", file, strings.Join(found, " "))
		}
	}
}

func alternativeNames(c *x509.Certificate) []string {
	var out []string
	for _, name := range c.DNSNames {
		out = append(out, "DNS:"+name)
	}
	for _, address := range c.IPAddresses {
		out = append(out, "IP:"+net.IP(address).String())
	}
	for _, address := range c.EmailAddresses {
		out = append(out, "email:"+address)
	}
	for _, uri := range c.URIs {
		out = append(out, "URI:"+uri.String())
	}
	return out
}

func usages(c *x509.Certificate) []string {
	var out []string
	for _, usage := range c.ExtKeyUsage {
		switch usage {
		case x509.ExtKeyUsageServerAuth:
			out = append(out, "serverAuth")
		case x509.ExtKeyUsageClientAuth:
			out = append(out, "clientAuth")
		default:
			out = append(out, fmt.Sprintf("usage %d", usage))
		}
	}
	for _, id := range c.UnknownExtKeyUsage {
		out = append(out, id.String())
	}
	return out
}

// fresh: certificates are valid now, and for some minutes more.
func (l *look) fresh(minutes int, files []string) {
	until := l.files.Now.Add(time.Duration(minutes) * time.Minute)
	for _, file := range l.present(files) {
		c := l.certificate(file)
		if c != nil && (c.NotAfter.Before(until) || c.NotBefore.After(l.files.Now)) {
			const form = "Jan _2 15:04:05 2006 GMT"
			l.wrong("%s: notBefore=%s notAfter=%s", file, c.NotBefore.UTC().Format(form), c.NotAfter.UTC().Format(form))
		}
	}
}

// bundle: the file holds exactly these certificates, in any order.
func (l *look) bundle(whole, files []string) {
	if len(whole) == 0 || !l.all(append(slices.Clone(whole[:1]), files...)) {
		return
	}
	data, ok := l.text(whole[0])
	if !ok {
		return
	}
	found := bodies(data)
	if !bytes.Contains(data, []byte("BEGIN")) {
		l.wrong("%s holds no certificate", whole[0])
		return
	}
	var want []string
	for _, file := range files {
		data, _ := l.text(file)
		want = append(want, bodies(data)...)
	}
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		l.wrong("%s holds %d certificates, not those of %s", whole[0], len(found), strings.Join(files, " "))
	}
}

// bodies are the texts between the lines BEGIN and END.
func bodies(data []byte) []string {
	var out []string
	body := ""
	for _, line := range lines(data) {
		switch {
		case strings.Contains(line, "BEGIN"):
			body = ""
		case strings.Contains(line, "END"):
			out = append(out, body)
		default:
			body += line
		}
	}
	return out
}
