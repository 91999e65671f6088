package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"bootlab/test/build"
	"bootlab/test/podman"
)

// programs are those of the module test/controlplane/programs, by name.
var programs = map[string]*program{
	"etcd":           {source: "go.etcd.io/etcd/server/v3"},
	"etcdctl":        {source: "go.etcd.io/etcd/etcdctl/v3"},
	"kube-apiserver": {source: "k8s.io/kubernetes/cmd/kube-apiserver"},
	"kubectl":        {source: "k8s.io/kubernetes/cmd/kubectl"},
}

// KubernetesVersion is what kube-apiserver and kubectl say they are; the
// module's go.mod has the same.
const KubernetesVersion = "v1.34.2"

type program struct {
	source string // the package, as a tool line of go.mod names it
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
	p.once.Do(func() { p.file, p.err = p.place(name) })
	return p.file, p.err
}

// place gives the program a path of this run: a script may not see the cache.
func (p *program) place(name string) (string, error) {
	base, err := podman.Base()
	if err != nil {
		return "", err
	}
	here := filepath.Join(base, "programs")
	if err := os.MkdirAll(here, 0o755); err != nil {
		return "", err
	}
	return build.Program{Module: "test/controlplane/programs", Package: p.source, LinkFlags: linkFlags(), Pinned: true}.Place(filepath.Join(here, name))
}

// linkFlags leave out what debuggers want, and tell Kubernetes its version.
func linkFlags() string {
	const variable = " -X k8s.io/component-base/version."
	numbers := strings.Split(strings.TrimPrefix(KubernetesVersion, "v"), ".")
	return "-s -w" + variable + "gitVersion=" + KubernetesVersion + variable + "gitMajor=" + numbers[0] + variable + "gitMinor=" + numbers[1]
}
