package ignition

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/access"
	"bootlab/vms/state"
)

// What a machine boots is a parent of the lab's own Ignition file. Ignition's
// library merges it: the original is whole, and beside it are the keys.
func TestTheParentWithKeysIsTakenByIgnition(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip(err)
	}
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	state, err := state.Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	if err := access.Make(state, lab); err != nil {
		t.Fatal(err)
	}
	original := bootstrap(t)
	plain, err := Read(original)
	if err != nil {
		t.Fatal(err)
	}
	hostKeys := map[string]bool{}
	for _, m := range vms.Machines(lab) {
		parent, err := access.Ignition(state, m, original)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := Read(parent)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		if got, want := len(merged.Storage.Files), len(plain.Storage.Files)+2; got != want {
			t.Errorf("%s has %d files, want %d", m.Name, got, want)
		}
		if got, want := len(merged.Systemd.Units), len(plain.Systemd.Units); got != want {
			t.Errorf("%s has %d units, want %d", m.Name, got, want)
		}
		login, err := os.ReadFile(state.Path("id_ed25519.pub"))
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(merged.Passwd); !strings.Contains(string(text), strings.Fields(string(login))[1]) {
			t.Errorf("%s does not let the lab's key in: %s", m.Name, text)
		}
		for _, f := range merged.Storage.Files {
			switch f.Path {
			case "/etc/ssh/ssh_host_ed25519_key":
				data, err := Fetch(f.Contents)
				if err != nil || !strings.Contains(string(data), "OPENSSH PRIVATE KEY") || *f.Mode != 0o600 {
					t.Errorf("%s: the host key is no key, or not for root alone: %v", m.Name, err)
				}
				hostKeys[string(data)] = true
			case "/etc/ssh/ssh_host_ed25519_key.pub":
				data, err := Fetch(f.Contents)
				if err != nil || !strings.Contains(knownKeys(t, state), strings.Fields(string(data))[1]) {
					t.Errorf("%s: ssh would not know its key: %v", m.Name, err)
				}
			}
		}
	}
	if len(hostKeys) != len(vms.Machines(lab)) {
		t.Errorf("%d host keys for %d machines", len(hostKeys), len(vms.Machines(lab)))
	}
}

func knownKeys(t *testing.T, state *state.Dir) string {
	t.Helper()
	text, err := os.ReadFile(state.Path("known_hosts"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
