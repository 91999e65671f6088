//go:build cgo && libvirt_dlopen

package vms

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/vms"
)

// BenchmarkMachines measures how long it takes from nothing but an image on the
// host until all machines of a lab run: with bootlab, and with virt-install, one
// machine after the other. Both make the same network and the same machines,
// emulated, whose boot sector halts at once: what is measured is the making.
// bootlab looks at the host first, and makes keys and the load balancer too.
func BenchmarkMachines(b *testing.B) {
	available(b)
	dir, image := newLab(b, shape{name: "bench"}), haltingDisk(b)
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		b.Fatal(errs)
	}
	up := func() {
		works(b, "vms", "up", dir, "--emulate", "--image", image)
		works(b, "vms", "start", dir, "all", "--overcommit")
	}
	// From here on the image is in the pool, as virt-install finds it in its place.
	up()
	works(b, "vms", "down", dir)
	for range rounds {
		b.Run("up", func(b *testing.B) {
			measure(b, lab, lab.DomainName, up, func() { works(b, "vms", "down", dir) })
		})
		b.Run("virt-install", func(b *testing.B) {
			if _, err := exec.LookPath("virt-install"); err != nil {
				b.Skip("no virt-install on this machine: apt-get install virtinst")
			}
			v := byVirtInstall{lab, b.TempDir(), image}
			measure(b, lab, v.domain, func() { v.make(b) }, func() { v.remove(b) })
		})
	}
}

// rounds is how often the two take turns: what else the host does changes from
// one minute to the next.
const rounds = 3

// measure times making alone, and looks at what was made.
func measure(b *testing.B, lab *labs.Lab, domain func(string) string, make, remove func()) {
	b.Helper()
	var took time.Duration
	for range b.N {
		start := time.Now()
		make()
		took += time.Since(start)
		for _, m := range vms.Machines(lab) {
			if state := strings.TrimSpace(virsh(b, "", "domstate", domain(m.Name))); state != "running" {
				b.Errorf("%s is %s", m.Name, state)
			}
		}
		remove()
	}
	b.ReportMetric(took.Seconds()/float64(b.N), "s/lab")
	b.ReportMetric(took.Seconds()/float64(b.N*len(vms.Machines(lab))), "s/machine")
	b.ReportMetric(0, "ns/op") // removing is in it: says nothing
}

// byVirtInstall is a lab as virt-install makes it.
type byVirtInstall struct {
	lab        *labs.Lab
	dir, image string
}

func (v byVirtInstall) domain(machine string) string { return "virt-install-" + machine }

func (v byVirtInstall) make(b *testing.B) {
	b.Helper()
	network, err := vms.Network(v.lab, vms.Owner{Name: "bench"}).Marshal()
	if err != nil {
		b.Fatal(err)
	}
	virsh(b, network, "net-define", "/dev/stdin")
	virsh(b, "", "net-start", vms.NetworkName(v.lab))
	for _, m := range vms.Machines(v.lab) {
		args := []string{"--connect", labs.LibvirtURI, "--name", v.domain(m.Name), "--virt-type", "qemu", "--arch", "x86_64", "--machine", "q35",
			"--cpu", "mode=maximum", "--memory", fmt.Sprint(m.Memory), "--vcpus", fmt.Sprint(m.CPUs), "--import", "--noautoconsole", "--graphics", "none",
			"--osinfo", "detect=off,require=off", "--rng", "/dev/urandom",
			"--sysinfo", "type=fwcfg,entry0.name=opt/com.coreos/config,entry0.file=" + v.ignition(b, m),
			"--network", "network=" + vms.NetworkName(v.lab) + ",mac=" + m.MAC + ",model=virtio",
			"--disk", fmt.Sprintf("path=%s,size=%d,format=qcow2,bus=virtio,backing_store=%s,backing_format=raw", filepath.Join(v.dir, m.Name+".qcow2"), m.Disk, v.image)}
		if out, err := exec.Command("virt-install", args...).CombinedOutput(); err != nil {
			b.Fatalf("virt-install %v: %v\n%s", args, err, out)
		}
	}
}

func (v byVirtInstall) ignition(b *testing.B, m vms.Machine) string {
	b.Helper()
	file := filepath.Join(v.dir, m.Name+".ign")
	if err := os.WriteFile(file, []byte(`{"ignition":{"version":"3.2.0"}}`), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}

func (v byVirtInstall) remove(b *testing.B) {
	b.Helper()
	for _, m := range vms.Machines(v.lab) {
		virsh(b, "", "destroy", v.domain(m.Name))
		virsh(b, "", "undefine", v.domain(m.Name), "--remove-all-storage")
	}
	virsh(b, "", "net-destroy", vms.NetworkName(v.lab))
	virsh(b, "", "net-undefine", vms.NetworkName(v.lab))
}
