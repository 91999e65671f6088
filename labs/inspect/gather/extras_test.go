package gather

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"bootlab/labs"
)

func TestExtrasAreWhole(t *testing.T) {
	known := map[string]bool{}
	for _, e := range labs.BuiltinDiagnosis().Evidence {
		known[e.ID] = true
	}
	for _, e := range extras() {
		if known[e.ID] || e.ID == "" || e.Title == "" || e.Run == "" || e.File == "" || e.Limit == 0 || e.Seconds == 0 || e.Source == "" {
			t.Errorf("%s: an id of its own, title, run, file, limit, seconds and source are required", e.ID)
		}
		known[e.ID] = true
		if !strings.Contains(e.Run, "base64") || !strings.Contains(e.Run, "echo ") {
			t.Errorf("%s prints no files", e.ID)
		}
	}
}

func TestTheLinesOfExtrasAreClean(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no shellcheck")
		}
		t.Skip("there is no shellcheck")
	}
	for _, e := range extras() {
		c := exec.Command("shellcheck", "--shell=bash", "-")
		// The settings come before the line: labs/inspect/host, Preamble.
		c.Stdin = strings.NewReader("# shellcheck disable=SC2154\noc() { command oc \"$@\"; }\n" + e.Run)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", e.ID, err, out)
		}
	}
}

// A name may be anything that a machine prints.
func TestOnlyGoodNamesHaveAPlace(t *testing.T) {
	for name, want := range map[string]string{
		"a.log": "f/a.log", "b/c": "f/b/c", "": "", ".": "", "..": "", "../x": "", "/x": "", "a/../../x": "", "a\x1b[0m": "", strings.Repeat("n", 600): "", "tls/a.key": "f/tls/a.key",
	} {
		if got := (packedFile{name: name}).place("f"); got != want {
			t.Errorf("%.20q goes to %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"failed-units.txt": "failed-units.txt", "unit-status/a.service.log": "unit-status/a.service.log", "../x": "", ".": "", "bootlab/index.json": "", "gather.log": ""} {
		if got := (packedFile{name: name}).place("."); got != want {
			t.Errorf("%q goes to %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"tls/a.key", "auth/kubeconfig", "auth/kubeadmin-password", "x-secret.yaml", "Secrets/a", ".kube/cache"} {
		if got := (packedFile{name: name}).place("rendered-assets/openshift"); got != "" {
			t.Errorf("%s goes to %s", name, got)
		}
	}
}
