package host

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

var made = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// newCertificate makes a certificate that signs itself, and its key, as PEM.
func newCertificate(t testing.TB, name string, from, to time.Time) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(171), Subject: pkix.Name{CommonName: name, Organization: []string{"system:masters"}},
		NotBefore: from, NotAfter: to, DNSNames: []string{"api.example.test"}, IPAddresses: []net.IP{net.ParseIP("::1")},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IsCA: true, BasicConstraintsValid: true, SubjectKeyId: []byte{0xab, 1}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text})
}

func TestCertificatesAreReadFromAmongOtherThings(t *testing.T) {
	one, key := newCertificate(t, "one", made, made.Add(24*time.Hour))
	two, _ := newCertificate(t, "two", made, made.Add(48*time.Hour))
	text := fmt.Sprintf("%sgarbage\n==> /a/one.crt\n%s%s==> /a/torn.crt\n%s\n==> /a/two.crt\r\n# comment\n%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
		two, one, key, one[:len(one)/2], strings.ReplaceAll(string(two), "\n", "\r\n"))
	var got []string
	all := ParseCertificates([]byte(text))
	for _, c := range all {
		got = append(got, c.File+" "+c.Subject)
	}
	if want := " CN=two,O=system:masters|/a/one.crt CN=one,O=system:masters|/a/two.crt CN=two,O=system:masters"; strings.Join(got, "|") != want {
		t.Fatalf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	data, err := json.Marshal(all[1])
	if err != nil {
		t.Fatal(err)
	}
	sum := all[1].Fingerprint
	want := `{"file":"/a/one.crt","subject":"CN=one,O=system:masters","issuer":"CN=one,O=system:masters","notBefore":"2026-01-02T03:04:05Z",` +
		`"notAfter":"2026-01-03T03:04:05Z","names":["DNS:api.example.test","IP:::1"],"isCA":true,"serial":"ab","fingerprint":"` + sum +
		`","keyID":"ab01","authorityKeyID":"","usages":["serverAuth"],"selfSigned":true}`
	if len(sum) != 64 || string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestCertificatesWithoutAnEndAreReadInBoundedMemory(t *testing.T) {
	text := append([]byte("==> x\n-----BEGIN CERTIFICATE-----\n"), bytes.Repeat([]byte("A"), 64<<20)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if all := ParseCertificates(text); len(all) != 0 {
		t.Errorf("%d certificates", len(all))
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes", used)
	}
}

func TestTheClockGroupsWhatEndsTogether(t *testing.T) {
	now := made.Add(20*time.Hour + 30*time.Minute)
	day, year := made.Add(24*time.Hour), made.Add(365*24*time.Hour)
	all := []Certificate{
		{File: "root", Fingerprint: "1", NotBefore: made, NotAfter: year},
		{File: "a", Fingerprint: "2", NotBefore: made, NotAfter: day.Add(30 * time.Second)},
		{File: "b", Fingerprint: "3", NotBefore: made, NotAfter: day},
		{File: "copy of b", Fingerprint: "3", NotBefore: made, NotAfter: day},
		{File: "later", Fingerprint: "4", NotBefore: made.Add(-time.Hour), NotAfter: day.Add(61 * time.Second)},
		{File: "over", Fingerprint: "5", NotBefore: made, NotAfter: now.Add(-time.Second)},
		{File: "minutes", Fingerprint: "6", NotBefore: made, NotAfter: now.Add(time.Hour)},
		{File: "tomorrow's", Fingerprint: "7", NotBefore: now.Add(time.Second), NotAfter: year.Add(10 * time.Second)},
	}
	var got []string
	for _, e := range Clock(all, now) {
		text := fmt.Sprintf("%s (day %v):", e.Level, e.Day)
		for _, c := range e.Certificates {
			text += " " + strings.Join(append([]string{c.File}, c.Also...), "=")
		}
		got = append(got, text)
	}
	want := []string{"has ended (day true): over", "ends within an hour (day true): minutes", "ends within 4 hours (day true): b=copy of b a",
		"ends within 4 hours (day false): later", "valid (day false): root", "not valid yet (day false): tomorrow's"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The line that collects them prints certificates, and no key, whatever stands in
// the files.
func TestTheEvidenceHoldsCertificatesAndNoKeys(t *testing.T) {
	dir := t.TempDir()
	p := &Hosts{Here: Local{}, Local: true, AssetDir: filepath.Join(dir, "it's assets"), Root: filepath.Join(dir, "host")}
	one, key := newCertificate(t, "one", made, made.Add(time.Hour))
	two, other := newCertificate(t, "two", made, made.Add(time.Hour))
	for name, data := range map[string][]byte{
		filepath.Join(p.AssetDir, "tls", "both.crt"):                                             append(append([]byte{}, key...), one...),
		filepath.Join(p.AssetDir, "tls", "torn.crt"):                                             append(one[:len(one)/2:len(one)/2], append([]byte("\n"), other...)...),
		filepath.Join(p.AssetDir, "tls", "a.key"):                                                key,
		filepath.Join(p.AssetDir, "tls", "empty.crt"):                                            nil,
		filepath.Join(p.Root, "etc/kubernetes/static-pod-resources/etcd-member/serving two.crt"): two,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	evidence := labs.BuiltinDiagnosis().Find("certificates")
	found := p.Collect(context.Background(), &labs.Lab{}, []*labs.Evidence{evidence}, nil)
	if len(found) != 1 || !found[0].Had {
		t.Fatalf("%+v", found)
	}
	if text := string(found[0].Text); strings.Contains(text, "PRIVATE") || strings.Contains(text, strings.Split(string(key), "\n")[1]) || strings.Contains(text, strings.Split(string(other), "\n")[1]) {
		t.Errorf("keys stand in\n%s", text)
	}
	all := ParseCertificates(found[0].Text)
	if len(all) != 2 || all[1].File != filepath.Join(p.AssetDir, "tls", "both.crt") || !strings.HasSuffix(all[0].File, "serving two.crt") {
		t.Errorf("%+v", all)
	}
}

func FuzzParseCertificates(f *testing.F) {
	one, key := newCertificate(f, "one", made, made.Add(time.Hour))
	f.Add(append(append([]byte("==> a\n"), one...), key...))
	f.Add(one[:len(one)-20])
	f.Fuzz(func(t *testing.T, text []byte) {
		all := ParseCertificates(text)
		if len(all) > bytes.Count(text, []byte("-----END ")) {
			t.Errorf("%d certificates", len(all))
		}
		n := 0
		for _, e := range Clock(all, made) {
			for _, c := range e.Certificates {
				n++
				if c.Fingerprint == "" {
					t.Error("no fingerprint")
				}
			}
		}
		if n > len(all) || n == 0 && len(all) > 0 {
			t.Errorf("%d of %d in the clock", n, len(all))
		}
	})
}
