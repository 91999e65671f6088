package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs/inspect/mask"
)

// bundleWithSecrets is a directory as openshift-install gather bootstrap packs it,
// after a pull that was refused.
func bundleWithSecrets(t *testing.T) string {
	t.Helper()
	bundle := filepath.Join(t.TempDir(), "log-bundle-20260102030405")
	for name, text := range map[string]string{
		"bootstrap/services/release-image.json": stageRecord("pull-release-image", "failure"),
		"bootstrap/journals/release-image.log": "Jan 02 03:04:05 bootstrap release-image-download.sh[1201]: Pulling quay.io/okd/scos-release:4.21...\n" +
			"Jan 02 03:04:05 bootstrap release-image-download.sh[1201]: + podman login -u bob -p swordfish quay.io\n" +
			"Jan 02 03:04:06 bootstrap release-image-download.sh[1210]: Error: initializing source docker://quay.io/okd/scos-release:4.21: reading manifest 4.21 in quay.io/okd/scos-release: unauthorized: access to the requested resource is not authorized\n" +
			"Jan 02 03:04:06 bootstrap release-image-download.sh[1201]: trace aB3dE6gH9jK2mN5pQ8sT1vW4 ended\n" +
			"Jan 02 03:04:06 bootstrap release-image-download.sh[1201]: Pull failed. Retrying quay.io/okd/scos-release:4.21...\n",
		"bootstrap/network/hostname.txt": "bootstrap\n",
	} {
		file := filepath.Join(bundle, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return bundle
}

func TestMaskWritesACopyThatDiagnoseReads(t *testing.T) {
	lab, bundle := newLab(t), bundleWithSecrets(t)
	to := filepath.Join(t.TempDir(), "log-bundle-20260102030405.tar.gz")
	out, stderr, status := bootlab("mask", bundle, "--to", to, "--lab", lab)
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d: %s%s", status, out, stderr)
	}
	for _, want := range []string{"masked: 1\n", "release-image.log: 1 of kind password, line 2\n", "left out of the copy: 0\n", "still looks like a secret: 1\n", "release-image.log:4: begins with aB3d, 24 characters, 1 times\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in %s", want, out)
		}
	}
	before, _, first := bootlab("diagnose", lab, "--from", bundle)
	after, _, second := bootlab("diagnose", lab, "--from", to)
	if first != exitFound || second != first || after != before {
		t.Errorf("diagnose says\n%s(%d), and of the copy\n%s(%d)", before, first, after, second)
	}
	if _, stderr, status = bootlab("mask", bundle, "--to", to); status != exitFailed || !strings.Contains(stderr, "is there already") {
		t.Errorf("over a file that is there: status %d: %s", status, stderr)
	}
}

func TestMaskListsAsJSON(t *testing.T) {
	out, stderr, status := bootlab("mask", bundleWithSecrets(t), "--to", filepath.Join(t.TempDir(), "copy.tar.gz"), "--output", "json")
	var report mask.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != exitDone {
		t.Fatalf("status %d, %v: %s%s", status, err, out, stderr)
	}
	if report.Files != 3 || len(report.Masked) != 1 || len(report.Suspects) != 1 || strings.Contains(out, "swordfish") {
		t.Errorf("the list is %s", out)
	}
}

func TestMaskRefusesWhatItCannotMask(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "core")
	os.WriteFile(binary, []byte("\x7fELF\x00\x01\x02\x03\x00\x00"), 0o600)
	for _, c := range []struct {
		args   []string
		status int
	}{
		{[]string{"mask", binary}, exitUsage}, {[]string{"mask", binary, "--to", "x", "--output", "yaml"}, exitUsage},
		{[]string{"mask", binary, "--to", filepath.Join(dir, "copy")}, exitFailed}, {[]string{"mask", filepath.Join(dir, "nowhere"), "--to", filepath.Join(dir, "copy")}, exitFailed},
	} {
		_, stderr, status := bootlab(c.args...)
		if status != c.status || !strings.Contains(stderr, "error:") || !strings.Contains(stderr, "hint:") {
			t.Errorf("%q: status %d: %s", c.args, status, stderr)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}
