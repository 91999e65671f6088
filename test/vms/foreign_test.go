//go:build cgo && libvirt_dlopen

package vms

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// foreignThing is something under a name of the lab's that somebody else made.
type foreignThing struct {
	kind         string
	make, remove func(t *testing.T)
	says         string
}

func foreignThings(lab string) []foreignThing {
	name := "bootlab-" + lab
	return []foreignThing{
		{"network", func(t *testing.T) {
			virsh(t, "<network><name>"+name+"</name><bridge name='foreign0'/><ip address='10.99.0.1' netmask='255.255.255.0'/></network>", "net-define", "/dev/stdin")
		}, func(t *testing.T) { virsh(t, "", "net-undefine", name) }, "network " + name + " is there already, and this lab did not make it"},
		{"domain", func(t *testing.T) {
			virsh(t, "<domain type='qemu'><name>"+name+"-master-1</name><memory>1024</memory><os><type arch='x86_64'>hvm</type></os></domain>", "define", "/dev/stdin")
		}, func(t *testing.T) { virsh(t, "", "undefine", name+"-master-1") }, "domain " + name + "-master-1 is there already, and this lab did not make it"},
		{"pool", func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "mine.img"), []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			virsh(t, "", "pool-define-as", name, "dir", "--target", dir)
			virsh(t, "", "pool-start", name)
		}, func(t *testing.T) { virsh(t, "", "pool-destroy", name); virsh(t, "", "pool-undefine", name) }, "storage pool " + name + " is there already, and this lab did not make it"},
		{"mark of another lab", func(t *testing.T) {
			virsh(t, "<network><name>"+name+"</name><metadata><bootlab:lab xmlns:bootlab='urn:bootlab:lab:1' name='"+lab+"' directory='/home/ann/lab'/></metadata>"+
				"<bridge name='foreign0'/><ip address='10.99.0.1' netmask='255.255.255.0'/></network>", "net-define", "/dev/stdin")
		}, func(t *testing.T) { virsh(t, "", "net-undefine", name) }, "network " + name + " belongs to the lab in /home/ann/lab"},
	}
}

// What others made under our names is named, and neither up nor down touches it.
func TestForeignThingsStayUntouched(t *testing.T) {
	available(t)
	image := haltingDisk(t)
	for _, f := range foreignThings("foreign") {
		t.Run(f.kind, func(t *testing.T) {
			dir := newLab(t, shape{name: "foreign"})
			f.make(t)
			defer f.remove(t)
			before := made(t)
			hears(t, bootlab(t, "vms", "up", dir, "--emulate", "--image", image), f.says, "nothing was created")
			if after := made(t); after != before {
				t.Errorf("up made something:\n%s\nbefore it was\n%s", after, before)
			}
			a := bootlab(t, "vms", "down", dir)
			if after := made(t); after != before {
				t.Errorf("down removed something:\n%s\nbefore it was\n%s", after, before)
			}
			if a.status != 0 || strings.Contains(f.says, "network") && !strings.Contains(a.out, "left alone") {
				t.Errorf("down said, with status %d:\n%s%s", a.status, a.out, a.err)
			}
		})
	}
}

// A file that somebody put into the lab's directory is theirs; down says why the
// directory is still there.
func TestAStrangeFileInTheLabsPoolStays(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "strange"})
	up(t, dir, haltingDisk(t))
	file := "/var/lib/libvirt/images/bootlab/labs/strange/backup.qcow2"
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := bootlab(t, "vms", "down", dir)
	hears(t, a, "things of the lab are still there")
	if !strings.Contains(a.out, "still there: /var/lib/libvirt/images/bootlab/labs/strange holds backup.qcow2") || strings.Contains(made(t), "bootlab-strange-") {
		t.Errorf("down said:\n%s", a.out)
	}
	if string(mustRead(t, file)) != "mine" {
		t.Error("the file was changed")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	works(t, "vms", "down", dir)
	if left := made(t); left != "" {
		t.Errorf("left:\n%s", left)
	}
}

// Somebody's own machine is on the lab's network: without it, that machine would
// stay off the bridge for good.
func TestANetworkThatSomebodyElseUsesStays(t *testing.T) {
	available(t)
	dir := newLab(t, shape{name: "guested"})
	up(t, dir, haltingDisk(t))
	virsh(t, "<domain type='qemu'><name>visitor</name><memory unit='MiB'>64</memory><os><type arch='x86_64'>hvm</type></os>"+
		"<devices><interface type='network'><source network='bootlab-guested'/></interface></devices></domain>", "create", "/dev/stdin")
	a := bootlab(t, "vms", "down", dir)
	virsh(t, "", "destroy", "visitor")
	hears(t, a, "things of the lab are still there")
	if !strings.Contains(a.out, "still there: visitor is attached to it") || !strings.Contains(made(t), "net-list bootlab-guested") {
		t.Errorf("down said:\n%s", a.out)
	}
	works(t, "vms", "down", dir)
	if left := made(t); left != "" {
		t.Errorf("left:\n%s", left)
	}
}

func TestLabsSideBySide(t *testing.T) {
	available(t)
	image := haltingDisk(t)
	one, two := newLab(t, shape{name: "one"}), newLab(t, shape{name: "two", cidr: "192.168.140.0/24"})
	up(t, one, image)
	up(t, two, image)
	for _, name := range []string{"one", "two"} {
		if running := virsh(t, "", "list", "--name"); !strings.Contains(running, "bootlab-"+name+"-bootstrap") {
			t.Errorf("%s does not run:\n%s", name, running)
		}
	}
	t.Run("the same name in another directory", func(t *testing.T) {
		before := made(t)
		twin := t.TempDir()
		shape{name: "one"}.write(t, twin)
		for _, role := range []string{"bootstrap", "master", "worker"} {
			writeIgnition(t, twin, role, `{"ignition":{"version":"3.2.0"}}`)
		}
		hears(t, bootlab(t, "vms", "up", twin, "--emulate", "--image", image), "belongs to the lab in "+one, "nothing was created")
		works(t, "vms", "down", twin)
		if after := made(t); after != before {
			t.Errorf("the twin changed something:\n%s\nbefore it was\n%s", after, before)
		}
	})
	t.Run("the same directory by another path", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(one, link); err != nil {
			t.Fatal(err)
		}
		a := works(t, "vms", "up", link, "--emulate", "--image", image)
		if strings.Contains(a.out, "make ") {
			t.Errorf("up took it for another lab:\n%s", a.out)
		}
		if a := works(t, "vms", "status", link); !strings.Contains(a.out, "network active, load balancer running") {
			t.Errorf("status:\n%s", a.out)
		}
	})
	t.Run("the same addresses", func(t *testing.T) {
		third := newLab(t, shape{name: "three"})
		hears(t, bootlab(t, "vms", "up", third, "--emulate", "--image", image), "libvirt's network bootlab-one has 192.168.126.0/24", "nothing was created")
		if strings.Contains(made(t), "three") {
			t.Errorf("something was made:\n%s", made(t))
		}
	})
	works(t, "vms", "down", one)
	if left := made(t); strings.Contains(left, "bootlab-one") || !strings.Contains(left, "bootlab-two-master-2") {
		t.Errorf("after down of one:\n%s", left)
	}
}
