package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/vms/doctor"
)

func TestGenerateWritesTheDefinitionsOfTheMachines(t *testing.T) {
	dir := sharedLab(t)
	for _, name := range []string{"network.xml", "pool-base.xml", "pool.xml", "domain-bootstrap.xml", "disk-bootstrap.xml", "haproxy.cfg"} {
		if data, err := os.ReadFile(filepath.Join(dir, "out", "vms", name)); err != nil || len(data) == 0 {
			t.Error(name, err)
		}
	}
}

func TestThePlanOfTheMachinesNeedsNoLibvirt(t *testing.T) {
	dir := newLab(t)
	out, stderr, status := bootlab("vms", "plan", dir)
	for _, want := range []string{"bootstrap", "16384 MiB", "virsh net-define vms/network.xml", "virsh start bootlab-mylab-bootstrap", "cd '" + filepath.Join(dir, "out") + "'"} {
		if status != exitDone || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in:\n%s%s", status, want, out, stderr)
		}
	}
	out, stderr, status = bootlab("vms", "plan", dir, "--xml")
	if status != exitDone || !strings.Contains(out, "==> vms/domain-master-2.xml") {
		t.Error(out, stderr)
	}
}

// A connection that leads nowhere, in a build with libvirt and in one without.
const nowhere = "--connect=test:///nothing/there.xml"

func TestTheDoctorWorksWithoutLibvirtAndSaysSo(t *testing.T) {
	dir := newLab(t)
	out, stderr, status := bootlab("doctor", dir, nowhere)
	for _, want := range []string{"failed   libvirt: ", "failed   Ignition files: ", "failed   disk image: ", "fix: ", " memory: "} {
		if status != exitFound || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in:\n%s%s", status, want, out, stderr)
		}
	}
	if !strings.Contains(stderr, "checks failed: bootlab vms up cannot run") || !strings.Contains(stderr, "hint: ") {
		t.Error(stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("looking made something")
	}
	out, _, status = bootlab("doctor", dir, nowhere, "--output", "json")
	var findings []doctor.Finding
	if err := json.Unmarshal([]byte(out), &findings); err != nil || status != exitFound || len(findings) < 10 || findings[0].ID != "libvirt" || findings[0].Level != doctor.Failed {
		t.Errorf("status %d, %v, %+v", status, err, findings)
	}
	if _, _, status := bootlab("doctor", dir, "--output", "yaml"); status != exitUsage {
		t.Error("another format is not refused:", status)
	}
}

func TestFetchSaysWhatIsMissing(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := newLab(t)
	stream := filepath.Join(t.TempDir(), "stream.json")
	if err := os.WriteFile(stream, []byte(`{"architectures": {}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"get-tools.sh":               {dir},
		"nothing for x86_64":         {dir, "--stream-json", stream},
		"this is no stream metadata": {dir, "--stream-json", "-"},
		"no such file":               {dir, "--stream-json", stream + ".not"},
		"LAB is missing":             {},
	} {
		_, stderr, status := bootlab(append([]string{"vms", "image", "fetch"}, args...)...)
		if status == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("status %d, no %q in:\n%s", status, want, stderr)
		}
	}
	if out, stderr, status := bootlab("vms", "image", "list"); status != exitDone || !strings.Contains(out, "SHA-256") {
		t.Error(out, stderr)
	}
	if out, stderr, status := bootlab("vms", "image", "prune", nowhere); status != exitDone || !strings.Contains(stderr, "not looked at") {
		t.Error(out, stderr)
	}
}
