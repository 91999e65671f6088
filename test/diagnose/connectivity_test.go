package diagnose

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/connectivity"
	"bootlab/labs/inspect/host"
	"bootlab/test/controlplane"
	"bootlab/test/podman"
)

// shippedPlan is the plan of a shipped lab.
func shippedPlan(t *testing.T, example string) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, example, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	p, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// path finds one way.
func path(t *testing.T, r *connectivity.Report, from, to, port string) *connectivity.Path {
	t.Helper()
	for _, p := range r.Paths {
		if p.From == from && p.To == to && p.Port == port {
			return p
		}
	}
	t.Fatalf("no question was asked from %s to %s, port %s", from, to, port)
	return nil
}

// All machines of the lab are in one network, and each is reached by a real ssh;
// what opens their ports, and their balancer, is put there by the test.
func TestPortsAreAskedForFromEveryMachine(t *testing.T) {
	t.Parallel()
	controlplane.Need(t)
	for _, program := range []string{"ssh", "haproxy"} {
		if _, err := exec.LookPath(program); err != nil {
			podman.Unavailable(t, "no "+program)
		}
	}
	plan := shippedPlan(t, "compact")
	m := plan.Lab.Machines
	n, err := controlplane.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, address := range []string{m.Gateway, m.Bootstrap.Address, m.Masters[0].Address} {
		if err := n.AddAddress(address); err != nil {
			t.Fatal(err)
		}
	}
	key, public := sshKey(t)
	bootstrap, master := startSSH(t, n, public), startSSH(t, n, public)
	config := sshConfig(t, key, map[string]int{m.Bootstrap.Name: bootstrap.port, m.Masters[0].Name: master.port, m.Masters[1].Name: 1})
	hosts := &host.Hosts{Here: inside{network: n, name: "this machine"}, Bootstrap: host.Node{Machine: m.Bootstrap.Name, Config: config},
		AssetDir: t.TempDir(), Masters: map[string]host.Host{}}
	for _, one := range m.Masters[:2] {
		hosts.Masters[one.Name] = host.Node{Machine: one.Name, Config: config}
	}
	balance(t, n, m.Gateway+":6443", m.Bootstrap.Address+":6443")
	listens(t, n, m.Bootstrap.Address+":22")
	listens(t, n, m.Masters[0].Address+":22")
	etcd := listens(t, n, "0.0.0.0:2379")
	listens(t, n, m.Bootstrap.Address+":2380")
	ask := func() *connectivity.Report { return connectivity.Ask(context.Background(), plan, hosts, "") }

	// Nothing runs yet: what is closed is not expected.
	r := ask()
	if broken := r.Broken(); len(broken) > 0 {
		t.Errorf("nothing runs, and %+v is broken", *broken[0])
	}
	if p := path(t, r, "workstation", "load balancer", "6443"); p.State != connectivity.Cut || p.Expected {
		t.Errorf("a balancer without a server is %+v", *p)
	}
	if p := path(t, r, m.Bootstrap.Name, "load balancer", "6443"); p.State != connectivity.Unnamed {
		t.Errorf("a name that does not exist is %+v", *p)
	}
	if _, gone := r.Unreached[m.Masters[1].Name]; !gone || path(t, r, m.Masters[1].Name, m.Bootstrap.Name, "2379").State != connectivity.NotAsked {
		t.Errorf("a machine that is not there was asked: %v", r.Unreached)
	}

	// etcd and the API server are there by their static pods.
	bootstrap.holds(t, "etcd-member-pod.yaml", true)
	bootstrap.holds(t, "kube-apiserver-pod.yaml", true)
	etcd.Close()
	r = ask()
	for _, want := range []struct {
		from, to, port string
		state          connectivity.State
		broken         bool
	}{
		{m.Masters[0].Name, m.Bootstrap.Name, "2379", connectivity.Refused, true},
		{m.Masters[0].Name, m.Bootstrap.Name, "2380", connectivity.Open, false},
		{"workstation", m.Bootstrap.Name, "6443", connectivity.Refused, true},
		{"workstation", "load balancer", "6443", connectivity.Cut, true},
		{"workstation", m.Bootstrap.Name, "22", connectivity.Open, false},
		{m.Bootstrap.Name, m.Masters[0].Name, "2379", connectivity.Refused, false},
		{m.Bootstrap.Name, m.Masters[0].Name, "22", connectivity.Open, false},
	} {
		if p := path(t, r, want.from, want.to, want.port); p.State != want.state || p.Broken() != want.broken {
			t.Errorf("%s to %s, port %s: %s, expected %v", want.from, want.to, want.port, p.State, p.Expected)
		}
	}

	// The API server listens: the way through the balancer opens too.
	listens(t, n, m.Bootstrap.Address+":6443")
	for end := time.Now().Add(20 * time.Second); ; {
		p := path(t, ask(), "workstation", "load balancer", "6443")
		if p.State == connectivity.Open && !p.Broken() {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the balancer has a server, and is %+v", *p)
		}
	}

	// Behind the end nothing of the bootstrap node is expected.
	if err := os.WriteFile(filepath.Join(hosts.AssetDir, ".bootkube.done"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p := path(t, ask(), m.Masters[0].Name, m.Bootstrap.Name, "2379"); p.Broken() {
		t.Errorf("the bootstrap is done, and %+v is broken", *p)
	}
}

// balance starts an HAProxy in a network, in front of one server.
func balance(t *testing.T, n *controlplane.Network, at, server string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	text := "defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1m\n  timeout server 1m\n" +
		"frontend api\n  bind " + at + "\n  default_backend api\nbackend api\n  server bootstrap " + server + " check inter 200ms fall 1 rise 1\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("haproxy", "-db", "-f", file)
	if err := n.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	time.Sleep(time.Second)
}
