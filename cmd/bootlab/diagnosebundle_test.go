package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		"text":     {"assumed   the bundle does not say its release", "Cause: The installer and the release do not fit", "unknown flag: --infra-config-file"},
		"markdown": {"## The installer and the release do not fit", "- assumed: ", "| yes |"},
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
