package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/cmd/bootlab/cli"
)

// bundleWith is a bundle of the installer with those files, and its directory.
func bundleWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "log-bundle-20260102060000")
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const failedRender = "Jan 02 05:10:00 bootstrap systemd[1]: Started Bootstrap a Kubernetes cluster.\n" +
	"Jan 02 05:10:05 bootstrap bootkube.sh[1843]: Rendering Kubernetes API server core manifests...\n" +
	"Jan 02 05:10:06 bootstrap bootkube.sh[1843]: Error: unknown flag: --infra-config-file\n" +
	"Jan 02 05:10:06 bootstrap systemd[1]: bootkube.service: Main process exited, code=exited, status=1/FAILURE\n" +
	"Jan 02 05:10:06 bootstrap systemd[1]: bootkube.service: Failed with result 'exit-code'.\n"

// A bundle needs no lab, in any of the forms of the report.
func TestDiagnoseJudgesABundleAlone(t *testing.T) {
	dir := bundleWith(t, map[string]string{"bootstrap/journals/bootkube.log": failedRender})
	for format, want := range map[string][]string{
		"text":     {"assumed   the bundle does not say its release", "Cause: The installer and the release do not match", "unknown flag: --infra-config-file"},
		"markdown": {"## The installer and the release do not match", "- assumed: ", "| yes |"},
		"json":     {`"verdict": "cause"`, `"id": "release-mismatch"`, `"assumed": [`},
	} {
		for _, path := range []string{dir, filepath.Dir(dir)} {
			out, stderr, status := bootlab("diagnose", path, "--output", format)
			if status != exitFound || stderr != "" {
				t.Errorf("%s: status %d: %s", format, status, stderr)
			}
			for _, w := range want {
				if !strings.Contains(out, w) {
					t.Errorf("%s: %q is not in\n%s", format, w, out)
				}
			}
		}
	}
}

// What cannot be told is no success.
func TestDiagnoseSaysWhenItCannotTell(t *testing.T) {
	dir := bundleWith(t, map[string]string{"bootstrap/journals/approve-csr.log": "-- No entries --\n"})
	out, _, status := bootlab("diagnose", dir)
	if status != exitUnseen || !strings.Contains(out, "cannot be seen") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// A cause that is not known leads with the line that failed and causes that may be it.
func TestACauseThatIsNotKnownLeadsWithItsLine(t *testing.T) {
	dir := bundleWith(t, map[string]string{"bootstrap/journals/bootkube.log": strings.ReplaceAll(failedRender, "unknown flag: --infra-config-file", "something new")})
	out, _, status := bootlab("diagnose", dir)
	if status != exitFound || !strings.Contains(out, "Cause not known.\n  failed: bootkube, stage kube-apiserver-bootstrap, 2026-01-02T05:10:06Z\n") ||
		!strings.Contains(out, "most likely, and what would show it:\n    ") || !strings.Contains(out, "Error: something new") || strings.Contains(out, "bytes of") {
		t.Errorf("status %d:\n%s", status, out)
	}
}

// A directory is a lab or a bundle, and never both.
func TestALabThatIsABundleIsRefused(t *testing.T) {
	dir := bundleWith(t, map[string]string{"bootstrap/journals/bootkube.log": failedRender, "lab.yaml": "apiVersion: v1\n"})
	for _, args := range [][]string{{dir}, {filepath.Dir(dir), "--from", "x"}} {
		if _, stderr, status := bootlab(append([]string{"diagnose"}, args...)...); status != exitUsage || !strings.Contains(stderr, "hint:") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// An installer's bundle needs no lab for its certificates and manifests to be checked:
// a CA that was emptied is a finding. What is not there is none.
func TestFilesOfAnInstallersBundleAreChecked(t *testing.T) {
	ca, server := certificatePair(t)
	files := map[string]string{
		"bootstrap/journals/bootkube.log":                                            "Jan 02 05:10:00 bootstrap systemd[1]: Started Bootstrap a Kubernetes cluster.\n",
		"resources/clusterversion.json":                                              `{"items": [{"status": {"history": [{"version": "4.18.3"}]}}]}`,
		"rendered-assets/openshift/tls/kube-apiserver-complete-server-ca-bundle.crt": ca,
		"rendered-assets/openshift/tls/aggregator-ca.crt":                            ca,
		"rendered-assets/openshift/tls/apiserver-proxy.crt":                          server,
	}
	if out, _, _ := bootlab("diagnose", bundleWith(t, files)); strings.Contains(out, "failed checks:") {
		t.Errorf("a finding where there is none:\n%s", out)
	}
	for name, text := range map[string]string{"emptied": "", "of another CA": strings.Replace(ca, "MII", "MIJ", 1)} {
		files["rendered-assets/openshift/tls/aggregator-ca.crt"] = text
		out, _, status := bootlab("diagnose", bundleWith(t, files))
		if status != exitFound || !strings.Contains(out, "failed checks:") || !strings.Contains(out, "aggregator-ca.crt") {
			t.Errorf("%s: status %d:\n%s", name, status, out)
		}
	}
}

// certificatePair is a CA and a certificate of it.
func certificatePair(t *testing.T) (ca, server string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "aggregator"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "proxy"}, NotBefore: signer.NotBefore, NotAfter: signer.NotAfter}
	made := func(template *x509.Certificate) string {
		der, err := x509.CreateCertificate(rand.Reader, template, signer, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	return made(signer), made(leaf)
}

// What the checks of a stage said when the bundle was gathered counts.
func TestAFailedCheckInABundleIsAFinding(t *testing.T) {
	plan, err := cli.LoadPlan(cli.Streams{}, newLab(t))
	if err != nil {
		t.Fatal(err)
	}
	tap, n := "TAP version 14\n", 0
	for i, c := range plan.Stage("make-pki").Checks {
		n++
		if i > 0 {
			tap += fmt.Sprintf("ok %d - %s: %s\n", n, c.ID, c.Title)
			continue
		}
		tap += fmt.Sprintf("not ok %d - %s: %s\n  ---\n  id: %s\n  expected: |-\n    a pair\n  found: |2-\n    tls/root-ca.crt and tls/root-ca.key are of two pairs\n  hint: |-\n    make it again\n  ...\n", n, c.ID, c.Title, c.ID)
	}
	tap += fmt.Sprintf("1..%d\n", n)
	files := map[string]string{
		"bootlab/index.json":                            `{"version": 1, "local": true, "release": "4.21", "lab": {"domain": "mylab.bootlab.test"}, "evidence": []}`,
		"bootlab/tap/make-pki.tap":                      tap,
		"bootstrap/services/bootkube.json":              stageRecord("make-pki", "success"),
		"rendered-assets/openshift/make-pki.done":       "",
		"rendered-assets/openshift/tls/root-ca.crt":     "x\n",
		"bootstrap/journals/bootkube.log":               "-- No entries --\n",
		"rendered-assets/openshift/release-info/digest": "x\n",
	}
	dir := bundleWith(t, files)
	out, stderr, status := bootlab("diagnose", dir)
	if status != exitFound || !strings.Contains(out, "Cause not known.") || !strings.Contains(out, "are of two pairs") || !strings.Contains(out, "failed checks:") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
	out, _, status = bootlab("diagnose", dir, "--output", "markdown")
	if status != exitFound || !strings.Contains(out, "- failed check `") {
		t.Errorf("status %d:\n%s", status, out)
	}
}
