package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs/inspect/host"
)

func TestAllThatIsAskedOfAMachineSharesOneConnection(t *testing.T) {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("there is no ssh here")
	}
	config := filepath.Join(t.TempDir(), "my lab's config")
	put(t, config, "Host bootstrap\n  HostName 127.0.0.1\n  Port 1\n  User core\n\nHost master-0\n  HostName 127.0.0.2\n", 0o600)
	p := &host.Hosts{Bootstrap: host.Node{Machine: "bootstrap", Config: config},
		Masters: map[string]host.Host{"master-0": host.Node{Machine: "master-0", Config: config}}}
	end := Share(p)
	shared := p.Bootstrap.(host.Node).Config
	if shared == config || p.Masters["master-0"].(host.Node).Config != shared {
		t.Fatalf("%+v", p)
	}
	for machine, wants := range map[string][]string{"bootstrap": {"hostname 127.0.0.1\n", "user core\n", "controlmaster auto\n", "controlpersist 60\n"}, "master-0": {"hostname 127.0.0.2\n"}} {
		out, err := exec.Command("ssh", "-G", "-F", shared, machine).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, want := range wants {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: no %q", machine, want)
			}
		}
	}
	if info, err := os.Stat(filepath.Dir(shared)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	end()
	if _, err := os.Stat(filepath.Dir(shared)); err == nil {
		t.Error("the directory is left behind")
	}
}

func TestAPathThatSSHTakesForAPatternIsNotShared(t *testing.T) {
	p := &host.Hosts{Bootstrap: host.Node{Machine: "bootstrap", Config: "/lab[1]/config"}}
	Share(p)()
	if p.Bootstrap.(host.Node).Config != "/lab[1]/config" {
		t.Errorf("%+v", p.Bootstrap)
	}
	Share(&host.Hosts{Here: host.Local{}, Local: true})()
}
