package host

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"
	"time"
)

// Certificate is what a certificate says, without the key that belongs to it.
// The programs of symptoms read the JSON, so these names stay:
//
//	file            the file that it stands in; empty if the text names none
//	subject, issuer as in RFC 2253: CN=system:admin,O=system:masters
//	notBefore, notAfter
//	                2026-01-02T03:04:05Z, so that fromdate reads them
//	names           DNS:api.example.test and IP:192.0.2.1, in the certificate's order
//	isCA            it may sign others
//	serial          hexadecimal digits
//	fingerprint     SHA-256 of the certificate, hexadecimal digits
//	keyID, authorityKeyID
//	                of its own key and of its signer's, hexadecimal digits; may be empty
//	usages          serverAuth, clientAuth and the like; empty is any
//	selfSigned      subject and issuer are the same, and so are the key IDs
type Certificate struct {
	File           string    `json:"file"`
	Subject        string    `json:"subject"`
	Issuer         string    `json:"issuer"`
	NotBefore      time.Time `json:"notBefore"`
	NotAfter       time.Time `json:"notAfter"`
	Names          []string  `json:"names"`
	IsCA           bool      `json:"isCA"`
	Serial         string    `json:"serial"`
	Fingerprint    string    `json:"fingerprint"`
	KeyID          string    `json:"keyID"`
	AuthorityKeyID string    `json:"authorityKeyID"`
	Usages         []string  `json:"usages"`
	SelfSigned     bool      `json:"selfSigned"`
}

const (
	fileLine  = "==> "
	pemBegin  = "-----BEGIN "
	pemEnd    = "-----END "
	pemTail   = "-----"
	pemOfCert = "CERTIFICATE"
	// largestCertificate is far more than any takes as PEM, in bytes.
	largestCertificate = 64 << 10
	// mostCertificates bounds what is read of one text.
	mostCertificates = 10_000
)

// ParseCertificates reads the certificates of a text with PEM blocks behind
// lines "==> FILE". What else stands there is passed over: other blocks, keys
// among them, and certificates that are torn or cannot be read.
func ParseCertificates(text []byte) []Certificate {
	out := []Certificate{}
	file := ""
	var block []byte // nil outside of a certificate
	for line := range bytes.Lines(text) {
		bare := string(bytes.TrimRight(line[:min(len(line), 4096)], "\r\n"))
		switch {
		case strings.HasPrefix(bare, fileLine):
			file, block = strings.TrimPrefix(bare, fileLine), nil
		case strings.HasPrefix(bare, pemBegin):
			block = nil
			if bare == pemBegin+pemOfCert+pemTail {
				block = append([]byte{}, line...)
			}
		case block == nil:
		case len(block)+len(line) > largestCertificate:
			block = nil
		default:
			block = append(block, line...)
			if strings.HasPrefix(bare, pemEnd) {
				if c, ok := parseCertificate(file, block); ok && len(out) < mostCertificates {
					out = append(out, c)
				}
				block = nil
			}
		}
	}
	return out
}

func parseCertificate(file string, text []byte) (Certificate, bool) {
	block, _ := pem.Decode(text)
	if block == nil {
		return Certificate{}, false
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return Certificate{}, false
	}
	sum := sha256.Sum256(c.Raw)
	return Certificate{
		File: file, Subject: c.Subject.String(), Issuer: c.Issuer.String(),
		NotBefore: c.NotBefore.UTC(), NotAfter: c.NotAfter.UTC(),
		Names: names(c), IsCA: c.IsCA, Serial: c.SerialNumber.Text(16),
		Fingerprint: hex.EncodeToString(sum[:]),
		KeyID:       hex.EncodeToString(c.SubjectKeyId), AuthorityKeyID: hex.EncodeToString(c.AuthorityKeyId),
		Usages: usages(c),
		// A root may leave its signer's key ID out.
		SelfSigned: bytes.Equal(c.RawSubject, c.RawIssuer) && (len(c.AuthorityKeyId) == 0 || bytes.Equal(c.SubjectKeyId, c.AuthorityKeyId)),
	}, true
}

func names(c *x509.Certificate) []string {
	all := []string{}
	for _, name := range c.DNSNames {
		all = append(all, "DNS:"+name)
	}
	for _, address := range c.IPAddresses {
		all = append(all, "IP:"+address.String())
	}
	return all
}

// usageNames are openssl's, which the stage data uses too.
var usageNames = map[x509.ExtKeyUsage]string{
	x509.ExtKeyUsageAny: "anyExtendedKeyUsage", x509.ExtKeyUsageServerAuth: "serverAuth", x509.ExtKeyUsageClientAuth: "clientAuth",
	x509.ExtKeyUsageCodeSigning: "codeSigning", x509.ExtKeyUsageEmailProtection: "emailProtection",
	x509.ExtKeyUsageTimeStamping: "timeStamping", x509.ExtKeyUsageOCSPSigning: "OCSPSigning",
}

func usages(c *x509.Certificate) []string {
	all := []string{}
	for _, u := range c.ExtKeyUsage {
		all = append(all, cmp.Or(usageNames[u], "other"))
	}
	for range c.UnknownExtKeyUsage {
		all = append(all, "other")
	}
	return all
}

// Level is how near the end of a certificate is.
type Level string

// The levels, the worst one first.
const (
	HasEnded   Level = "has ended"
	NotYet     Level = "not valid yet" // a clock is wrong: here, or where it was made
	EndsNow    Level = "ends within an hour"
	EndsSoon   Level = "ends within 4 hours"
	EndsInDays Level = "valid"
)

// Ending are the certificates that end in the same minute, are as near to it and
// live as long as one another, by the day.
type Ending struct {
	At    time.Time
	Level Level
	// Day: they live 24 hours or less, as those that the installer makes for the
	// bootstrap. Source: openshift/installer pkg/asset/tls, 4.14 to main.
	Day          bool
	Certificates []Placed
}

// Placed is a certificate and the other files that hold it too.
type Placed struct {
	Certificate
	Also []string
}

// dayLong is a day and what it may take to make a certificate.
const dayLong = 24*time.Hour + time.Minute

// Clock says which certificates end when, the next one first.
func Clock(all []Certificate, now time.Time) []Ending {
	var endings []Ending
	for _, c := range placed(all) {
		next := Ending{At: c.NotAfter, Level: level(c.Certificate, now), Day: c.NotAfter.Sub(c.NotBefore) <= dayLong}
		i := slices.IndexFunc(endings, func(e Ending) bool {
			return next.At.Sub(e.At) < time.Minute && e.Level == next.Level && e.Day == next.Day
		})
		if i < 0 {
			endings = append(endings, next)
			i = len(endings) - 1
		}
		endings[i].Certificates = append(endings[i].Certificates, c)
	}
	return endings
}

// placed are the certificates in the order of their ends, each one once.
func placed(all []Certificate) []Placed {
	var out []Placed
	at := map[string]int{}
	for _, c := range all {
		if i, seen := at[c.Fingerprint]; seen {
			if c.File != out[i].File && !slices.Contains(out[i].Also, c.File) {
				out[i].Also = append(out[i].Also, c.File)
			}
			continue
		}
		at[c.Fingerprint] = len(out)
		out = append(out, Placed{Certificate: c})
	}
	slices.SortStableFunc(out, func(a, b Placed) int { return a.NotAfter.Compare(b.NotAfter) })
	return out
}

func level(c Certificate, now time.Time) Level {
	switch left := c.NotAfter.Sub(now); {
	case left < 0:
		return HasEnded
	case c.NotBefore.After(now):
		return NotYet
	case left <= time.Hour:
		return EndsNow
	case left <= 4*time.Hour:
		return EndsSoon
	}
	return EndsInDays
}
