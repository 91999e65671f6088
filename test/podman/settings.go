package podman

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"bootlab/test/registry"
	"bootlab/test/standin"
)

// settings are what machines differ in.
type settings struct {
	runtime string
	// lowLimits: a machine without CAP_SYS_RESOURCE cannot give containers the
	// limits that podman asks for. They get low ones.
	lowLimits bool
	// noCgroups: no cgroup can be made, as for a user without a systemd session.
	noCgroups bool
}

// candidates are tried in this order; podman's own defaults come first.
var candidates = []settings{
	{runtime: "crun"},
	{runtime: "runc"},
	{runtime: "crun", lowLimits: true},
	{runtime: "runc", lowLimits: true},
	{runtime: "crun", noCgroups: true},
	{runtime: "crun", noCgroups: true, lowLimits: true},
}

var (
	probeLock sync.Mutex
	probed    = map[int]func() (settings, error){}
)

// probe finds settings with which a container of the account runs, once.
func probe(account Account) (settings, error) {
	probeLock.Lock()
	once := probed[account.UID]
	if once == nil {
		once = sync.OnceValues(func() (settings, error) { return try(account) })
		probed[account.UID] = once
	}
	probeLock.Unlock()
	return once()
}

func try(account Account) (settings, error) {
	reg, err := registry.Run()
	if err != nil {
		return settings{}, err
	}
	defer reg.Close()
	image, err := standin.PushProbe(reg)
	if err != nil {
		return settings{}, err
	}
	var failures []error
	for _, s := range candidates {
		err := tryOne(account, s, reg, image)
		if err == nil {
			return s, nil
		}
		failures = append(failures, fmt.Errorf("%+v: %w", s, err))
	}
	return settings{}, fmt.Errorf("no container runs here as %s:\n%w", account.Name, errors.Join(failures...))
}

// tryOne runs a container in the way that generated scripts do.
func tryOne(account Account, s settings, reg *registry.Registry, image string) error {
	e, err := newEnv(account, s, []*registry.Registry{reg})
	if err != nil {
		return err
	}
	defer e.Close()
	assets := filepath.Join(e.Dir, "assets")
	if err := e.giveToAccount(assets, os.Mkdir(assets, 0o700)); err != nil {
		return err
	}
	out, err := e.Podman("run", "--quiet", "--net=host", "--rm", "--volume", assets+":/assets:z", image, "/usr/bin/cat", "/probe")
	if err != nil {
		return err
	}
	if out != "it runs\n" {
		return fmt.Errorf("the probe said %q", out)
	}
	return nil
}

// configuration gives the files that podman reads.
func (e *Env) configuration(s settings, registries []*registry.Registry) map[string]string {
	return map[string]string{
		"containers.conf":                     e.containersConf(s),
		"storage.conf":                        e.storageConf(),
		"registries.conf":                     registriesConf(registries),
		"home/.config/containers/policy.json": `{"default": [{"type": "insecureAcceptAnything"}]}` + "\n",
	}
}

// containersConf: locks in files, because those in shared memory belong to all
// podmans of a user; cgroups and events without systemd.
func (e *Env) containersConf(s settings) string {
	var containers string
	if s.lowLimits {
		containers += "default_ulimits = [\"nofile=1024:1024\", \"nproc=1000:1000\"]\n"
	}
	if s.noCgroups {
		containers += "cgroups = \"disabled\"\n"
	}
	return fmt.Sprintf(`[containers]
%s
[engine]
runtime = %q
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
tmp_dir = %q
image_copy_tmp_dir = %q
[network]
network_config_dir = %q
`, containers, s.runtime, filepath.Join(e.Dir, "run", "libpod"), filepath.Join(e.Dir, "tmp"), filepath.Join(e.Dir, "networks"))
}

func (e *Env) storageConf() string {
	storage := filepath.Join(e.Dir, "storage")
	return fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrootless_storage_path = %q\nrunroot = %q\n",
		storage, storage, filepath.Join(e.Dir, "run", "storage"))
}

func registriesConf(registries []*registry.Registry) string {
	var out strings.Builder
	out.WriteString("unqualified-search-registries = []\n")
	for _, r := range registries {
		fmt.Fprintf(&out, "[[registry]]\nlocation = %q\ninsecure = true\n", r.Host)
	}
	return out.String()
}
