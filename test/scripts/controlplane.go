package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"bootlab/labs"
	"bootlab/standin/images"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// WithControlPlane puts the lab's bootstrap node into a network with a real etcd
// and a real API server that have the lab's keys, both ready. They end with the
// test.
func (l *Lab) WithControlPlane(tb testing.TB) *controlplane.ControlPlane {
	tb.Helper()
	c := l.WithoutControlPlane(tb)
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	return c
}

// WithoutControlPlane is the same before anything runs.
func (l *Lab) WithoutControlPlane(tb testing.TB) *controlplane.ControlPlane {
	tb.Helper()
	controlplane.Need(tb)
	c, err := controlplane.New(podman.TempDir(tb, l.Env.Account), l.keys(tb))
	if err != nil {
		tb.Fatal(err)
	}
	forwardRegistry(tb, c)
	tb.Cleanup(func() {
		c.Close()
		if tb.Failed() {
			tb.Log(c.Logs())
		}
	})
	l.Join(tb, c)
	return c
}

// Join puts the lab's bootstrap node into the network of a control plane, and
// the stand-in oc into the PATH of its scripts. The lab must have the keys that
// the control plane was made with: be its lab, or a clone of it.
func (l *Lab) Join(tb testing.TB, c *controlplane.ControlPlane) {
	tb.Helper()
	if l.Place != labs.OnNode {
		tb.Fatal("only a bootstrap node can ask a name server of its own")
	}
	l.writeResolver(tb)
	l.ControlPlane = c
}

// forwardRegistry lets scripts in the network pull from the shared registry.
func forwardRegistry(tb testing.TB, c *controlplane.ControlPlane) {
	tb.Helper()
	if err := c.Network.Forward(Registry(tb).Host); err != nil {
		tb.Fatal(err)
	}
}

// writeResolver lets the node ask the name server of its network.
func (l *Lab) writeResolver(tb testing.TB) {
	tb.Helper()
	for file, text := range controlplane.ResolverFiles() {
		path := l.Asset("/etc/" + file)
		if err := os.RemoveAll(path); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// keys are where the lab has what a control plane runs with.
func (l *Lab) keys(tb testing.TB) controlplane.Keys {
	tb.Helper()
	lab, problems := labs.LoadLab(l.Dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		tb.Fatal(errs)
	}
	etcd := l.Asset("etcd-bootstrap/etc-kubernetes")
	return controlplane.Keys{
		TLS: l.Asset("tls"), Auth: l.Asset("auth"),
		Etcd:      filepath.Join(etcd, "static-pod-resources", "etcd-member"),
		MemberPod: filepath.Join(etcd, "manifests", "etcd-member-pod.yaml"),

		Domain: lab.Domain(), ServiceNetwork: lab.Networking.ServiceNetwork[0],
		Bootstrap: machines(lab.Machines.Bootstrap)[0],
		Masters:   machines(lab.Machines.Masters...), Others: machines(lab.Machines.Workers...),
	}
}

func machines(list ...labs.Machine) []controlplane.Machine {
	var out []controlplane.Machine
	for _, m := range list {
		out = append(out, controlplane.Machine{Name: m.Name, Address: m.Address})
	}
	return out
}

// WithEtcdctl puts the real etcdctl into the image etcd of a release, where
// scripts start it with podman.
func WithEtcdctl(tb testing.TB) standin.Options {
	tb.Helper()
	program, err := controlplane.Program("etcdctl")
	if err != nil {
		tb.Fatal(err)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		tb.Fatal(err)
	}
	return standin.Options{Files: map[string]map[string]images.File{"etcd": {"/usr/bin/etcdctl": {Data: data, Mode: 0o755}}}}
}

// keyStages are the scripts of a local run that make what a control plane runs
// with.
var keyStages = []string{"release-info.sh", "make-pki.sh", "make-kubeconfigs.sh", "make-manifests.sh", "render-etcd.sh"}

// keyedNode is a bootstrap node with the keys of its cluster and of its etcd, and
// with nothing else done; its release has a real etcdctl. It belongs to all tests.
var keyedNode struct {
	sync.Once
	lab *Lab
	err error
}

// KeyedNode gives a clone of it; good enough for all that talks to a control
// plane and needs no render but etcd's.
func KeyedNode(tb testing.TB) *Lab {
	tb.Helper()
	controlplane.Need(tb)
	account := podman.Accounts(tb)[0]
	k := &keyedNode
	k.Do(func() { k.lab, k.err = makeKeyedNode(tb, account, podman.Shared(tb, account, Registry(tb))) })
	if k.err == nil && k.lab == nil {
		podman.Unavailable(tb, "no podman for "+account.Name)
	}
	if k.err != nil {
		tb.Fatal(k.err)
	}
	return k.lab.Clone(tb)
}

func makeKeyedNode(tb testing.TB, account podman.Account, env *podman.Env) (*Lab, error) {
	payload, err := standin.Push(Registry(tb), release, WithEtcdctl(tb))
	if err != nil {
		return nil, err
	}
	local := &Lab{Dir: filepath.Join(podman.SharedDir(tb, account), "mylab"), Env: env, Release: payload, Place: labs.Local}
	if err := local.generate(Options{}); err != nil {
		return nil, err
	}
	if err := local.takeAssets(Good(tb, podman.Ordinary(tb), labs.Local), "tls"); err != nil {
		return nil, err
	}
	for _, script := range keyStages {
		if r := local.Run(tb, script); r.Status != 0 {
			return nil, fmt.Errorf("%s ended with status %d:\n%s", script, r.Status, r.All)
		}
	}
	node := &Lab{Dir: filepath.Join(podman.SharedDir(tb, account), "mylab"), Env: env, Release: local.Release, Place: labs.OnNode}
	if err := node.takeAssets(local, append(bootstrapAssets, "release-info", "etcd-bootstrap", "etcd-bootstrap.done")...); err != nil {
		return nil, err
	}
	if err := node.generate(Options{}); err != nil {
		return nil, err
	}
	// What the stage put where the kubelet looks.
	if out, err := exec.Command("cp", "--archive", local.Asset("/etc/kubernetes"), node.Asset("/etc")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cp: %w: %s", err, out)
	}
	return node, nil
}

// sharedPlane is a control plane of the keyed node that tests share.
var sharedPlane struct {
	sync.Once
	plane *controlplane.ControlPlane
	err   error
}

// InSharedControlPlane gives a keyed node in a control plane that other tests use
// as well: change nothing in it that another test could see, and give objects
// names of their own.
func InSharedControlPlane(tb testing.TB) (*Lab, *controlplane.ControlPlane) {
	tb.Helper()
	l := KeyedNode(tb)
	s := &sharedPlane
	s.Do(func() {
		// Below the directory of a podman that Main closes: it ends what names it.
		if s.plane, s.err = controlplane.New(filepath.Join(l.Env.Dir, "controlplane"), keyedNode.lab.keys(tb)); s.err == nil {
			forwardRegistry(tb, s.plane)
			s.err = s.plane.Start()
		}
	})
	if s.err != nil {
		tb.Fatal(s.err)
	}
	l.Join(tb, s.plane)
	return l, s.plane
}
