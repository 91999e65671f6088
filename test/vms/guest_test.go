//go:build cgo && libvirt_dlopen && guests

package vms

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/build"
	"bootlab/vms"
	"bootlab/vms/access"
	"bootlab/vms/images"
	"bootlab/vms/provision"
)

const (
	// bootTime bounds the first boot of several guests at once, in software, on a
	// machine that has other things to do as well.
	bootTime = 10 * time.Minute
	// callTime bounds one call over ssh.
	callTime = 90 * time.Second
	// Ports of the test's own servers on the gateway.
	programPort, strangerPort = "8000", "9443"
)

// guestLab is a lab with guests that read Ignition.
type guestLab struct {
	dir string
	lab *labs.Lab
	p   *provision.Provisioner
}

// newGuestLab prepares a lab with small machines; lab.yaml itself does not
// allow ones that small.
func newGuestLab(t *testing.T, image string, s shape) *guestLab {
	t.Helper()
	dir := newLab(t, s)
	works(t, "generate", dir)
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	small := func(m *labs.Machine) { m.Memory, m.CPUs = 512, 1 }
	small(&lab.Machines.Bootstrap)
	for i := range lab.Machines.Masters {
		small(&lab.Machines.Masters[i])
	}
	base, err := images.Open(context.Background(), image)
	if err != nil {
		t.Fatal(err)
	}
	g := &guestLab{dir: dir, lab: lab, p: provisioner(t, lab, dir, base)}
	if err := access.Make(g.p.State, lab); err != nil {
		t.Fatal(err)
	}
	return g
}

// boot defines all machines; each reads its config at its first boot.
func (g *guestLab) boot(t *testing.T, configs map[string][]byte) {
	t.Helper()
	made := map[string][]byte{}
	for name, config := range configs {
		m := g.machine(t, name)
		whole, err := access.Ignition(g.p.State, m, config)
		if err != nil {
			t.Fatal(err)
		}
		made[name] = whole
	}
	g.p.Ignition = func(m vms.Machine) ([]byte, error) { return made[m.Name], nil }
	if err := g.p.Up(context.Background(), func(string, provision.Thing, bool) {}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, m := range vms.Machines(g.lab) {
			log, err := g.p.ReadLog(m, 12<<10)
			t.Logf("the end of the serial log of %s (%v):\n%s", m.Name, err, log)
		}
	})
}

func (g *guestLab) machine(t *testing.T, name string) vms.Machine {
	t.Helper()
	found, err := g.p.Chosen([]string{name})
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

func (g *guestLab) start(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := g.p.Start(g.machine(t, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// ssh runs a script as root on a machine, with the ssh_config that bootlab made.
func (g *guestLab) ssh(machine, script string, options ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	args := append([]string{"-F", g.p.State.Path("ssh_config"), "-o", "BatchMode=yes"}, options...)
	cmd := exec.CommandContext(ctx, "ssh", append(args, machine, "sudo", "bash", "-s")...)
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// expect runs a script on a machine, and wants these lines from it.
func (g *guestLab) expect(t *testing.T, machine, script string, lines ...string) {
	t.Helper()
	out, err := g.ssh(machine, script)
	if want := strings.Join(lines, "\n") + "\n"; err != nil || out != want {
		t.Errorf("on %s (%v)\n%s\nsaid\n%s\nwanted\n%s", machine, err, script, out, want)
	}
}

// until asks again and again, for a time that is bounded.
func until(t *testing.T, what string, most time.Duration, ask func() (string, bool)) {
	t.Helper()
	begun := time.Now()
	for {
		said, ok := ask()
		if ok {
			t.Logf("%s after %s", what, time.Since(begun).Round(time.Second))
			return
		}
		if time.Since(begun) > most {
			t.Fatalf("not within %s: %s; at last: %s", most, what, said)
		}
		time.Sleep(time.Second)
	}
}

func (g *guestLab) untilSSH(t *testing.T, machine, script string) {
	t.Helper()
	until(t, "ssh reaches "+machine, bootTime, func() (string, bool) {
		out, err := g.ssh(machine, script)
		return out, err == nil
	})
}

// status is what bootlab vms status knows of a machine.
func (g *guestLab) status(t *testing.T, machine string) provision.Status {
	t.Helper()
	all, err := g.p.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == machine {
			return s
		}
	}
	t.Fatal("no machine " + machine)
	return provision.Status{}
}

// nodeServer builds the program that answers masters.
func nodeServer(t *testing.T) []byte {
	t.Helper()
	file, err := build.Program{Module: "test", Package: "bootlab/test/vms/nodeserver", LinkFlags: "-s -w"}.File()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// serve answers on a port of every address of the namespace, the lab's gateway
// among them, until the test ends.
func serve(t *testing.T, port string, secure *tls.Config, answer []byte) {
	t.Helper()
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		t.Fatal(err)
	}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(answer) })}
	t.Cleanup(func() { server.Close() })
	go server.Serve(listener)
}

// A whole lab: a bootstrap and a master that boot as CoreOS does, and two masters
// whose Ignition goes wrong.
func TestGuestsReadIgnition(t *testing.T) {
	image := guest(t)
	g := newGuestLab(t, image, shape{name: "guests", cidr: "192.168.151.0/24"})
	domain, gateway := g.lab.Domain(), g.lab.Machines.Gateway
	untouched := othersThings(t)

	program := nodeServer(t)
	serve(t, programPort, nil, program)
	ca, stranger := newAuthority(t, "root-ca"), newAuthority(t, "another-ca")
	certificate, key := stranger.server(t, "api-int."+domain)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, strangerPort, &tls.Config{Certificates: []tls.Certificate{pair}}, []byte("{}"))

	overlay, err := os.ReadFile(filepath.Join(g.dir, "out", "ignition", "overlay.ign"))
	if err != nil {
		t.Fatal(err)
	}
	master := config(t, []any{configFile("/etc/from-the-server", 0o640, []byte("a master\n"))}, nil)
	fetched := object{"contents": object{"source": "http://" + gateway + ":" + programPort + "/", "verification": object{"hash": hashOf(program)}}}
	g.boot(t, map[string][]byte{
		"bootstrap": merged(t, bootstrapConfig(t, ca, domain, fetched, master), overlay),
		"master-0":  pointer(t, "https://api-int."+domain+":22623/config/master", ca),
		"master-1":  badHash(t),
		"master-2":  pointer(t, "https://api-int."+domain+":"+strangerPort+"/config/master", ca),
	})

	// The master is early, as masters are: it has to wait for the bootstrap.
	g.start(t, "master-0", "bootstrap")
	g.untilSSH(t, "bootstrap", "true")
	if a := works(t, "vms", "status", g.dir); !strings.Contains(a.out, "running") {
		t.Errorf("status says\n%s", a.out)
	}
	t.Run("files", func(t *testing.T) { filesAreThere(t, g) })
	t.Run("names", func(t *testing.T) { namesResolve(t, g) })
	t.Run("host key", func(t *testing.T) { hostKeyIsPinned(t, g) })
	t.Run("hold", func(t *testing.T) { servicesAreHeld(t, g) })
	t.Run("master", func(t *testing.T) { masterFollowsPointer(t, g) })

	t.Run("failures", func(t *testing.T) {
		sample.OnlyInAll(t, "TestIgnitionIsReadFromTheSerialLog reads what machines with these failures wrote")
		g.start(t, "master-1", "master-2")
		failuresAreNoticed(t, g)
	})
	t.Run("snapshot", func(t *testing.T) {
		sample.OnlyInAll(t, "TestSnapshots goes back to a snapshot of machines that boot no system")
		snapshotGoesBack(t, g)
	})
	t.Run("reboot", func(t *testing.T) { rebootLeavesIgnitionOut(t, g) })

	g.p.State.Close() // down takes the lock itself
	receipt := works(t, "vms", "down", g.dir)
	for _, m := range vms.Machines(g.lab) {
		if !strings.Contains(receipt.out, g.lab.DomainName(m.Name)) {
			t.Errorf("the receipt does not name %s:\n%s", m.Name, receipt.out)
		}
	}
	if left := made(t); strings.Contains(left, "bootlab-guests") {
		t.Errorf("down left\n%s", left)
	}
	untouched()
}

// badHash is a config that names another, of which it has a wrong hash.
func badHash(t *testing.T) []byte {
	return asJSON(t, object{"ignition": object{"version": "3.2.0", "config": object{"merge": []any{object{
		"source": dataURL([]byte(`{"ignition":{"version":"3.2.0"}}`)), "verification": object{"hash": hashOf([]byte("something else"))}}}}}})
}

// othersThings makes a network, a machine and a volume that are not bootlab's;
// what it returns fails the test unless they are as they were, and takes them
// away.
func othersThings(t *testing.T) func() {
	t.Helper()
	dir := t.TempDir()
	disk := filepath.Join(dir, "theirs.img")
	virsh(t, "", "pool-define-as", "theirs", "dir", "--target", dir)
	virsh(t, "", "pool-start", "theirs")
	virsh(t, "", "vol-create-as", "theirs", "theirs.img", "1M")
	virsh(t, "<network><name>theirs</name><bridge name='theirs0'/><ip address='10.98.0.1' netmask='255.255.255.0'/></network>", "net-define", "/dev/stdin")
	virsh(t, "", "net-start", "theirs")
	virsh(t, "<domain type='qemu'><name>theirs</name><memory unit='MiB'>64</memory><os><type arch='x86_64'>hvm</type></os>"+
		"<devices><disk type='file'><source file='"+disk+"'/><target dev='vda'/></disk></devices></domain>", "define", "/dev/stdin")
	virsh(t, "", "start", "theirs")
	look := func() string {
		return virsh(t, "", "domstate", "theirs") + virsh(t, "", "dumpxml", "theirs") + virsh(t, "", "net-dumpxml", "theirs") + virsh(t, "", "vol-dumpxml", "theirs.img", "theirs")
	}
	before := look()
	return func() {
		t.Helper()
		if after := look(); after != before {
			t.Errorf("what others made was\n%s\nand is\n%s", before, after)
		}
		for _, undo := range [][]string{{"destroy", "theirs"}, {"undefine", "theirs"}, {"net-destroy", "theirs"}, {"net-undefine", "theirs"},
			{"vol-delete", "theirs.img", "theirs"}, {"pool-destroy", "theirs"}, {"pool-undefine", "theirs"}} {
			virsh(t, "", undo...)
		}
	}
}

// filesAreThere looks for what both merged configs hold, and the lab's key.
func filesAreThere(t *testing.T, g *guestLab) {
	g.expect(t, "bootstrap", `cat /opt/openshift/manifests/first.yaml
stat --format='%a %n' /etc/nodeserver/tls.key /usr/local/bin/nodeserver /etc/systemd/system/bootkube.service
systemctl is-active nodeserver.service
systemctl cat bootkube.service | grep --count ConditionPathExists
id --user --name core
hostname`,
		"kind: Namespace", "600 /etc/nodeserver/tls.key", "755 /usr/local/bin/nodeserver", "644 /etc/systemd/system/bootkube.service",
		"active", "2", "core", "bootstrap")
	scripts, err := filepath.Glob(filepath.Join(g.dir, "out", "node", "*.sh"))
	if err != nil || len(scripts) == 0 {
		t.Fatal("generate wrote no scripts for the node: ", err)
	}
	var sums []string
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, fmt.Sprintf("%x  %s", sha256.Sum256(text), filepath.Base(file)))
	}
	g.expect(t, "bootstrap", "cd /opt/bootlab && LC_ALL=C && sha256sum -- *.sh", sums...)
}

// namesResolve asks from inside for the address and the names of the lab.
func namesResolve(t *testing.T, g *guestLab) {
	domain, gateway := g.lab.Domain(), g.lab.Machines.Gateway
	var script strings.Builder
	var want []string
	for _, name := range []string{"api", "api-int", "console.apps", "bootstrap", "master-0", "master-2"} {
		fmt.Fprintf(&script, "getent ahostsv4 %s.%s | awk '{print $1; exit}'\n", name, domain)
		want = append(want, gateway)
	}
	want[3], want[4], want[5] = g.lab.Machines.Bootstrap.Address, g.lab.Machines.Masters[0].Address, g.lab.Machines.Masters[2].Address
	// An empty answer, and not that there is no such name.
	fmt.Fprintf(&script, "resolvectl query --type=AAAA console.apps.%s 2>&1 | grep --only-matching 'does not have any RR'\n", domain)
	fmt.Fprintf(&script, "resolvectl query no-such-name.%s 2>&1 | grep --only-matching 'not found'\n", domain)
	script.WriteString("ip -4 -oneline address show dev eth0 | awk '{print $4}'\n")
	g.expect(t, "bootstrap", script.String(), append(want, "does not have any RR", "not found", g.lab.Machines.Bootstrap.Address+"/24")...)
	leases := virsh(t, "", "net-dhcp-leases", vms.NetworkName(g.lab))
	for _, m := range []labs.Machine{g.lab.Machines.Bootstrap, g.lab.Machines.Masters[0]} {
		if !strings.Contains(leases, m.MAC) || !strings.Contains(leases, m.Address+"/24") {
			t.Errorf("no lease of %s with %s in\n%s", m.Address, m.MAC, leases)
		}
	}
}

// hostKeyIsPinned: a machine that shows another key is not talked to.
func hostKeyIsPinned(t *testing.T, g *guestLab) {
	public, err := os.ReadFile(g.p.State.Path("host_master-0.pub"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(file, append([]byte("bootstrap "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := g.ssh("bootstrap", "true", "-o", "UserKnownHostsFile="+file)
	if err == nil || !strings.Contains(out, "Host key verification failed") {
		t.Errorf("with the key of another machine: %v\n%s", err, out)
	}
}

// servicesAreHeld: no service of the installer begins by itself, and the script of the
// lab lets one of them go.
func servicesAreHeld(t *testing.T, g *guestLab) {
	const services = "systemctl show --property=ConditionResult,ActiveState --value bootkube.service approve-csr.service progress.service | xargs\n"
	g.expect(t, "bootstrap", "systemctl is-system-running --wait > /dev/null\n"+services+"ls /run/bootkube-ran /run/csrs-approved /run/progress-reported 2> /dev/null | xargs",
		"inactive no inactive no inactive no", "")
	out, err := g.ssh("bootstrap", "/opt/bootlab/release-hold.sh bootkube")
	if err != nil {
		t.Fatalf("release-hold.sh: %v\n%s", err, out)
	}
	g.expect(t, "bootstrap", services+"ls /run/bootkube-ran /run/csrs-approved /run/progress-reported /etc/bootlab/automatic/* 2> /dev/null | xargs",
		"active yes inactive no inactive no", "/etc/bootlab/automatic/bootkube /run/bootkube-ran")
}

// masterFollowsPointer: the master gets its config from the bootstrap through the
// load balancer, having checked the certificate.
func masterFollowsPointer(t *testing.T, g *guestLab) {
	g.untilSSH(t, "master-0", "true")
	g.expect(t, "master-0", "stat --format=%a /etc/from-the-server; cat /etc/from-the-server; hostname", "640", "a master", "master-0")
	out, err := g.ssh("bootstrap", "cat /var/log/nodeserver.log")
	if want := "GET /config/master host=api-int." + g.lab.Domain() + ":22623 agent=Ignition/"; err != nil || !strings.Contains(out, want) {
		t.Errorf("%q is not in what the server noted (%v):\n%s", want, err, out)
	}
	for _, name := range []string{"bootstrap", "master-0"} {
		if s := g.status(t, name); s.State != "running" || s.Ignition != "done" || s.SSH != "open" {
			t.Errorf("status of %s: %+v", name, s)
		}
	}
	if s := g.status(t, "bootstrap"); s.MCS != "200" || s.API != "no answer" {
		t.Errorf("status: %+v", s)
	}
}

// failuresAreNoticed: what goes wrong in Ignition is in bootlab vms status, with
// the reason.
func failuresAreNoticed(t *testing.T, g *guestLab) {
	until(t, "Ignition of master-1 fails", bootTime, func() (string, bool) {
		s := g.status(t, "master-1")
		return fmt.Sprintf("%+v", s), s.Ignition == "failed" && strings.Contains(s.Why, "hash verification failed")
	})
	until(t, "master-2 does not trust the server", bootTime, func() (string, bool) {
		s := g.status(t, "master-2")
		return fmt.Sprintf("%+v", s), s.Ignition == "under way" && strings.Contains(s.Why, "x509: certificate signed by unknown authority")
	})
	a := works(t, "vms", "status", g.dir)
	for _, word := range []string{"failed", "under way", "hash verification failed", "certificate signed by unknown authority"} {
		if !strings.Contains(a.out, word) {
			t.Errorf("%q is not in\n%s", word, a.out)
		}
	}
	for _, name := range []string{"master-1", "master-2"} {
		if err := g.p.Host.DestroyDomain(g.lab.DomainName(name)); err != nil {
			t.Error(err)
		}
	}
}

// snapshotGoesBack: what was done after it is undone.
func snapshotGoesBack(t *testing.T, g *guestLab) {
	domain := g.lab.DomainName("master-0")
	g.expect(t, "master-0", "touch /etc/before; sync; echo made", "made")
	if err := g.p.Host.TakeSnapshot(domain, "first"); err != nil {
		t.Fatal(err)
	}
	g.expect(t, "master-0", "touch /etc/after; rm /etc/before; sync; echo made", "made")
	if names, err := g.p.Host.Snapshots(domain); err != nil || len(names) != 1 || names[0] != "first" {
		t.Errorf("snapshots: %v, %v", names, err)
	}
	if err := g.p.Host.RevertToSnapshot(domain, "first"); err != nil {
		t.Fatal(err)
	}
	g.untilSSH(t, "master-0", "true")
	g.expect(t, "master-0", "ls /etc/before /etc/after 2> /dev/null; hostname", "/etc/before", "master-0")
}

// rebootLeavesIgnitionOut: what Ignition wrote once is the machine's own.
func rebootLeavesIgnitionOut(t *testing.T, g *guestLab) {
	g.expect(t, "bootstrap", "echo changed > /opt/openshift/manifests/first.yaml; touch /run/this-boot; sync; echo made", "made")
	if err := g.p.Reboot(g.machine(t, "bootstrap")); err != nil {
		t.Fatal(err)
	}
	g.untilSSH(t, "bootstrap", "! test -e /run/this-boot")
	g.expect(t, "bootstrap", "cat /opt/openshift/manifests/first.yaml; grep --count ignition.firstboot /proc/cmdline; systemctl is-active nodeserver.service",
		"changed", "0", "active")
	if s := g.status(t, "bootstrap"); s.Ignition != "done" {
		t.Errorf("status after a reboot: %+v", s)
	}
}
