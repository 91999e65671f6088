package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"bootlab/test/checkout"
	"bootlab/test/podman"
)

// programs are those of the module test/controlplane/programs, by name.
var programs = map[string]*program{
	"etcd":           {module: "go.etcd.io/etcd/server/v3"},
	"etcdctl":        {module: "go.etcd.io/etcd/etcdctl/v3"},
	"kube-apiserver": {module: "k8s.io/kubernetes/cmd/kube-apiserver"},
	"kubectl":        {module: "k8s.io/kubernetes/cmd/kubectl"},
}

// KubernetesVersion is what kube-apiserver and kubectl say they are; the
// module's go.mod has the same.
const KubernetesVersion = "v1.34.2"

type program struct {
	module string // the package, as a tool line of go.mod names it
	once   sync.Once
	file   string
	err    error
}

// Program is the path of etcd, etcdctl, kube-apiserver or kubectl, each of them
// static. It is built once, some minutes the first time; later runs find it.
func Program(name string) (string, error) {
	p := programs[name]
	if p == nil {
		return "", fmt.Errorf("no program %q", name)
	}
	p.once.Do(func() { p.file, p.err = p.build(name) })
	return p.file, p.err
}

// build builds the program below the checkout's .cache, where a second build
// finds that nothing is to be done, and gives it a path of this run: a script
// may not see the checkout.
func (p *program) build(name string) (string, error) {
	base, err := podman.Base()
	if err != nil {
		return "", err
	}
	here, kept := filepath.Join(base, "programs"), filepath.Join(checkout.Root(), ".cache", "programs")
	for _, dir := range []string{here, kept} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	unlock, err := lock(kept)
	if err != nil {
		return "", err
	}
	defer unlock()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags="+linkFlags(), "-o", filepath.Join(kept, name), p.module)
	cmd.Dir = filepath.Join(checkout.Root(), "test", "controlplane", "programs")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, text)
	}
	file := filepath.Join(here, name)
	return file, place(filepath.Join(kept, name), file)
}

// lock lets one test process after the other work in a directory.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
}

// linkFlags leave out what debuggers want, and tell Kubernetes its version.
func linkFlags() string {
	const variable = " -X k8s.io/component-base/version."
	numbers := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	return "-s -w" + variable + "gitVersion=" + KubernetesVersion + variable + "gitMajor=" + numbers[0] + variable + "gitMinor=" + numbers[1]
}

// place links a file under another name, or copies it to another file system.
func place(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}
