package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/standin/facts"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// TestEveryReleasesWaitsAreBootkubes does for the waits what
// TestEveryReleasesCommandsAreBootkubes does for the renders.
func TestEveryReleasesWaitsAreBootkubes(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	env := podman.New(t, account)
	const good = `{"status": {"conditions": [{"type": "EtcdRunningInCluster", "status": "True"}]}}`
	if err := os.WriteFile(filepath.Join(env.Bin, "oc"), []byte("#!/bin/sh\necho '"+good+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	list, err := facts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range labs.Builtin().ReleaseIDs() {
		t.Run(id, func(t *testing.T) {
			l := NewLab(t, env, Options{Place: labs.OnNode, Release: &standin.Release{
				ID: id, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64),
			}})
			l.pretendReleaseInfo(t)
			calls := filepath.Join(env.Dir, "tmp", "waits-"+id)
			l.Wrap(t, "podman", `[ "$1" != run ] || echo "podman $*" >> `+calls)
			var want []string
			for _, name := range []string{"wait-for-etcd", "wait-for-ceo"} {
				s := list.StageOf(id, name)
				if s.Name == "" {
					t.Fatalf("bootkube.sh has no stage %s", name)
				}
				want = append(want, bootkubesWait(s))
				l.Exec(t, "bash", "-c", l.Must(t, name+".sh", "--dry-run").Out).Want(t, 0)
			}
			data, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Split(strings.TrimSpace(string(data)), "\n"); !slices.Equal(got, want) {
				t.Errorf("run would be\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// bootkubesWait is the podman run of a wait, with the words in it that
// pretendReleaseInfo gives. Where etcdctl is the program, its flags come first.
func bootkubesWait(s facts.Stage) string {
	volume := s.Volume
	if volume == "" {
		volume = "/opt/openshift:/assets:z"
	}
	words := append(append([]string{"podman run"}, s.Podman...), "--volume "+volume, "IMAGE-FOR:"+s.Image)
	var flags []string
	for _, f := range s.Call.Flags {
		between := "="
		if f.Separate {
			between = " "
		}
		flags = append(flags, "--"+f.Name+between+strings.ReplaceAll(f.Value, "$ETCD_ENDPOINTS", "https://localhost:2379"))
	}
	if s.Image == "etcd" {
		words = append(append(words, flags...), s.Call.Command)
	} else {
		words = append(append(words, s.Call.Command), flags...)
	}
	return strings.Join(words, " ")
}
