package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// putCertificates writes certificates into one file of a local run, each with a
// common name and what is left of its life; all live a day.
func putCertificates(t *testing.T, lab, name string, left ...time.Duration) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for i, d := range left {
		end := time.Now().Add(d)
		template := &x509.Certificate{SerialNumber: big.NewInt(int64(i)), Subject: pkix.Name{CommonName: name},
			NotBefore: end.Add(-24 * time.Hour), NotAfter: end}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	file := filepath.Join(lab, "out", "work", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCertificatesAreShownInTheOrderOfTheirEnds(t *testing.T) {
	lab := newLab(t)
	if _, stderr, status := bootlab("certificates", lab); status != exitFailed || !strings.Contains(stderr, "no certificates yet") || !strings.Contains(stderr, "make-pki.sh") {
		t.Errorf("without any: status %d: %s", status, stderr)
	}
	putCertificates(t, lab, "assets/tls/kube-apiserver-lb-server.crt", 3*time.Hour+30*time.Second)
	putCertificates(t, lab, "assets/tls/aggregator-ca.crt", 30*time.Minute+30*time.Second)
	out, stderr, status := bootlab("certificates", lab)
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	last := 0
	for _, want := range []string{"ends within an hour", "tls/aggregator-ca.crt", "CA of apiserver-proxy", "ends within 4 hours", "tls/kube-apiserver-lb-server.crt",
		"the API's certificate for api,", "warning: 1 certificate will end in 30m", "warning: 1 certificate will end in 3h", "next to end: aggregator-ca.crt, at "} {
		at := strings.Index(out, want)
		if at < last {
			t.Errorf("%q is not there, or not behind the others, in\n%s", want, out)
		}
		last = max(at, last)
	}
}

func TestACertificateThatHasEndedIsFound(t *testing.T) {
	lab := newLab(t)
	putCertificates(t, lab, "assets/tls/aggregator-ca.crt", -time.Hour-10*time.Second)
	putCertificates(t, lab, "host/etc/kubernetes/static-pod-resources/etcd-member/ca.crt", 23*time.Hour)
	out, _, status := bootlab("certificates", lab, "--output", "json")
	var report struct {
		Place        string
		Certificates []struct {
			File, Level, For string
			Day              bool
			Also             []string
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != exitFound || report.Place != "local" || len(report.Certificates) != 2 {
		t.Fatalf("status %d, %v: %s", status, err, out)
	}
	ended, other := report.Certificates[0], report.Certificates[1]
	if ended.File != "tls/aggregator-ca.crt" || ended.Level != "has ended" || !ended.Day || ended.Also == nil {
		t.Errorf("%+v", ended)
	}
	if other.File != "/etc/kubernetes/static-pod-resources/etcd-member/ca.crt" || other.Level != "valid" || other.For == "" {
		t.Errorf("%+v", other)
	}
	text, _, status := bootlab("certificates", lab)
	if status != exitFound || !strings.Contains(text, "warning: 1 certificate, of those that make-pki.sh --renew makes again, ended 1h ago") {
		t.Errorf("status %d: %s", status, text)
	}
}

func TestACertificateThatIsNotValidYetIsFound(t *testing.T) {
	lab := newLab(t)
	putCertificates(t, lab, "assets/tls/aggregator-ca.crt", 30*time.Hour)
	if out, _, status := bootlab("certificates", lab); status != exitFound || !strings.Contains(out, "cannot be used yet: the clock") || strings.Contains(out, "next to end") {
		t.Errorf("status %d: %s", status, out)
	}
}

// A certificate stands in its own file, in bundles, and behind those that it
// signed: its own file is named.
func TestACertificateIsNamedByItsOwnFile(t *testing.T) {
	lab := newLab(t)
	putCertificates(t, lab, "assets/tls/kube-apiserver-lb-signer.crt", 20*time.Hour)
	putCertificates(t, lab, "assets/tls/kube-apiserver-lb-server.crt", 21*time.Hour)
	tls := filepath.Join(lab, "out", "work", "assets", "tls")
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(tls, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	signer := read("kube-apiserver-lb-signer.crt")
	for name, text := range map[string][]byte{
		"kube-apiserver-lb-server.crt":                 append(read("kube-apiserver-lb-server.crt"), signer...),
		"kube-apiserver-complete-server-ca-bundle.crt": signer,
	} {
		if err := os.WriteFile(filepath.Join(tls, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := bootlab("certificates", lab)
	for _, want := range []string{"tls/kube-apiserver-lb-signer.crt (and 2 more)  CA of the API's certificates behind", "tls/kube-apiserver-lb-server.crt               the API's certificate for api,"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestWrongCommandLinesOfCertificatesAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"certificates"}, {"certificates", "x", "--output", "svg"}} {
		if _, stderr, status := bootlab(args...); status != exitUsage || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// A part of the answer is no good answer.
func TestCertificatesThatCannotBeReadAreMissed(t *testing.T) {
	lab := newLab(t)
	putCertificates(t, lab, "assets/tls/aggregator-ca.crt", 20*time.Hour)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "find"), []byte("#!/bin/bash\ncommand -p find \"$@\"\necho $'find: \\033[31mPermission denied' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	out, stderr, status := bootlab("certificates", lab)
	if status != exitUnseen || !strings.Contains(out, "tls/aggregator-ca.crt") || !strings.Contains(stderr, "not all certificates were read: find: ?[31mPermission denied") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	putCertificates(t, lab, "assets/tls/aggregator-ca.crt", -time.Hour)
	if _, stderr, status := bootlab("certificates", lab); status != exitFound || !strings.Contains(stderr, "warning: not all certificates were read") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
