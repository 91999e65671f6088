package podman

import (
	"os"
	"strings"
	"testing"

	"bootlab/test/registry"
	"bootlab/test/standin"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// eachAccount runs a test as root and as an ordinary user, each with a podman
// and a registry of its own.
func eachAccount(t *testing.T, test func(*testing.T, *Env, *registry.Registry)) {
	for _, account := range Accounts(t) {
		t.Run(account.Name, func(t *testing.T) {
			t.Parallel()
			reg := registry.Start(t)
			test(t, New(t, account, reg), reg)
		})
	}
}

func probeImage(t *testing.T, reg *registry.Registry) string {
	t.Helper()
	image, err := standin.PushProbe(reg)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestAContainerWritesIntoAMountedDirectory(t *testing.T) {
	eachAccount(t, func(t *testing.T, e *Env, reg *registry.Registry) {
		release, err := standin.Push(reg, "4.21", standin.Options{})
		if err != nil {
			t.Fatal(err)
		}
		assets := TempDir(t, e.Account)
		out, err := e.Podman("run", "--quiet", "--net=host", "--rm", "--volume", assets+":/assets:z",
			release.Images["cluster-etcd-operator"], "/usr/bin/cluster-etcd-operator", "render", "--asset-output-dir=/assets/x")
		if err == nil || !strings.Contains(err.Error(), "missing required flag: --etcd-image") {
			t.Errorf("the operator did not ask for its image: %s %v", out, err)
		}
		if reg.Pulls(release.Repository) != 1 {
			t.Errorf("%d pulls, not 1", reg.Pulls(release.Repository))
		}
	})
}

func TestNothingIsLeftOfAnEnvironment(t *testing.T) {
	eachAccount(t, func(t *testing.T, e *Env, reg *registry.Registry) {
		image := probeImage(t, reg)
		if _, err := e.Podman("run", "--detach", "--net=host", image, "/usr/bin/pause"); err != nil {
			t.Fatal(err)
		}
		if len(e.Containers(t)) != 1 {
			t.Fatal("the container does not run")
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(e.Dir); err == nil {
			t.Error("its directory is still there")
		}
		if left := mountsBelow(e.Dir); len(left) > 0 {
			t.Error("mounts are left:", left)
		}
		if left := processesIn(e.Dir); len(left) > 0 {
			t.Error("processes are left:", left)
		}
	})
}

func TestOnlyTheEnvironmentsOwnDirectoriesAreUsed(t *testing.T) {
	eachAccount(t, func(t *testing.T, e *Env, reg *registry.Registry) {
		out, err := e.Podman("info", "--format", "{{.Store.GraphRoot}} {{.Store.RunRoot}} {{.Store.VolumePath}} {{.Store.ConfigFile}}")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(out) {
			if !strings.HasPrefix(path, e.Dir) {
				t.Errorf("%s is outside %s", path, e.Dir)
			}
		}
	})
}

func TestTwoEnvironmentsDoNotSeeEachOther(t *testing.T) {
	for _, account := range Accounts(t) {
		t.Run(account.Name, func(t *testing.T) {
			t.Parallel()
			reg := registry.Start(t)
			image := probeImage(t, reg)
			one, two := New(t, account, reg), New(t, account, reg)
			for _, e := range []*Env{one, two} {
				if _, err := e.Podman("run", "--detach", "--name", "same-name", "--net=host", image, "/usr/bin/pause"); err != nil {
					t.Fatal(err)
				}
			}
			if err := one.Close(); err != nil {
				t.Fatal(err)
			}
			if got := two.Containers(t); len(got) != 1 {
				t.Errorf("the other environment has %v", got)
			}
		})
	}
}

func TestWithoutRootTheAccountIsNotRoot(t *testing.T) {
	account := Ordinary(t)
	e := New(t, account)
	out, err := e.Command("id", "--user").Output()
	if err != nil || strings.TrimSpace(string(out)) == "0" {
		t.Errorf("id says %s, %v", out, err)
	}
}
