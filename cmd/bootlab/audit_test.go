package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// auditScript does one thing that every bootkube.sh does, and one that none
// does.
const auditScript = `#!/bin/bash
set -euoE pipefail
if [ ! -f openshift-manifests.done ]; then
  record_service_stage_start "openshift-manifests"
  echo "Moving OpenShift manifests in with the rest of them"
  cp openshift/* manifests/
  cp surprise elsewhere/
  touch openshift-manifests.done
fi
`

func scriptFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bootkube.sh")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAuditReportsADifferenceWithItsLine(t *testing.T) {
	file := scriptFile(t, auditScript)
	out, stderr, status := bootlab("audit", file, "--release", "4.20")
	if status != exitFound || !strings.Contains(out, "openshift-manifests, line 7 copy surprise") || !strings.Contains(stderr, "unknown differences from 4.20") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	out, _, status = bootlab("audit", newLab(t), file, "--output", "json")
	var report struct {
		Script, Release string
		Unknown         int
		Findings        []struct{ Kind, Stage, What, Meaning string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != exitFound || report.Script != file || report.Unknown == 0 || report.Findings[0].Meaning == "" {
		t.Errorf("status %d, %v: %s", status, err, out)
	}
}

func TestAuditWritesADraftOnce(t *testing.T) {
	file, dir := scriptFile(t, auditScript), filepath.Join(t.TempDir(), "draft")
	bootlab("audit", file, "--write-stage-data", dir)
	text, err := os.ReadFile(filepath.Join(dir, "copy-manifests.yaml"))
	if err != nil || !strings.Contains(string(text), "from: surprise") {
		t.Errorf("%v: %s", err, text)
	}
	if _, stderr, status := bootlab("audit", file, "--write-stage-data", dir); status != exitFailed || !strings.Contains(stderr, "not there yet") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestAuditRefusesWhatItCannotRead(t *testing.T) {
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"no script":          {nil, exitUsage, "found 0"},
		"two":                {[]string{"x", "--ignition", "y"}, exitUsage, "found 2"},
		"no such file":       {[]string{"/nonexistent/bootkube.sh"}, exitFailed, "no such file"},
		"no such release":    {[]string{"x", "--release", "3.11"}, exitUsage, "known are 4.14"},
		"an option as host":  {[]string{"--host", "-oProxyCommand=x"}, exitUsage, "is no user and address"},
		"a user's option":    {[]string{"--host", "-l@x"}, exitUsage, "is no user and address"},
		"a host's command":   {[]string{"--host", "core@x;y"}, exitUsage, "is no user and address"},
		"an option as image": {[]string{"--render-help", "--privileged"}, exitUsage, "is no image"},
		"not shell":          {[]string{scriptFile(t, "if then")}, exitFailed, "bootkube.sh:1: is no bash"},
		"no ignition":        {[]string{"--ignition", scriptFile(t, "x")}, exitFailed, "is no Ignition config"},
	} {
		_, stderr, status := bootlab(append([]string{"audit"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "hint:") && name != "no such file" {
			t.Errorf("%s: status %d: %s", name, status, stderr)
		}
	}
}

// A stand-in for ssh says how it was called, and prints a script.
func TestAuditReadsANodeWithSSH(t *testing.T) {
	dir := t.TempDir()
	stub := "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"" + dir + "/called\"\ncat <<'END'\n" + auditScript + "END\n"
	if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, stderr, status := bootlab("audit", "--host", "core@192.168.126.10")
	called, _ := os.ReadFile(filepath.Join(dir, "called"))
	if want := "-o\nBatchMode=yes\n--\ncore@192.168.126.10\nsudo cat /usr/local/bin/bootkube.sh\n"; string(called) != want || status != exitFound || !strings.Contains(out, "copy surprise") {
		t.Errorf("status %d, called with %q: %s%s", status, called, out, stderr)
	}
}

// A stand-in for podman answers as a release whose commands lost all but one
// flag.
func TestAuditAsksImagesForTheirFlags(t *testing.T) {
	dir := t.TempDir()
	stub := "#!/bin/sh\ncase \"$*\" in\n*--help) printf 'Flags:\\n      --asset-output-dir string   where\\n' ;;\n*) echo \"registry.test/image:$7\" ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "podman"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, stderr, status := bootlab("audit", "--render-help", "registry.test/release:4.20", "--release", "4.20")
	if status != exitFound || !strings.Contains(out, "flag --etcd-image") || strings.Contains(out, "etcd-bootstrap, flag --asset-output-dir") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// One image without the command is one finding; the others are still asked.
func TestAuditGoesOnBehindAnImageThatLacksACommand(t *testing.T) {
	dir := t.TempDir()
	stub := "#!/bin/sh\ncase \"$*\" in\n*cluster-etcd-operator*--help) echo 'executable file not found' >&2; exit 127 ;;\n" +
		"*--help) printf 'Flags:\\n      --asset-output-dir string   where\\n' ;;\n*) echo \"registry.test/image:$7\" ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "podman"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	out, stderr, status := bootlab("audit", "--render-help", "registry.test/release:4.20", "--release", "4.20")
	for _, want := range []string{"help of the command", "executable file not found", "the flags of render-etcd.sh were not compared", "flag --infra-config-file"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing is said of %q: %s%s", want, out, stderr)
		}
	}
	if status != exitFound {
		t.Errorf("status %d", status)
	}
}
