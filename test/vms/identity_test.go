//go:build cgo && libvirt_dlopen

package vms

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lab with an identity finds its machines again after it was renamed or moved, and
// never says that nothing is left while they are there.
func TestALabThatIsRenamedOrMovedKeepsItsMachines(t *testing.T) {
	available(t)
	const uid = "0123456789abcdef"
	dir, image := newLab(t, shape{name: "before", uid: uid}), haltingDisk(t)
	again := func(dir string) []string {
		return []string{"vms", "up", dir, "--emulate", "--skip-doctor", "--image", image}
	}
	works(t, again(dir)...)
	if mark := virsh(t, "", "metadata", "bootlab-before-bootstrap", "--uri", "urn:bootlab:lab:1"); !strings.Contains(mark, uid) {
		t.Fatalf("the mark lacks the identity:\n%s", mark)
	}
	everything := made(t)

	t.Run("moved", func(t *testing.T) {
		moved := filepath.Join(t.TempDir(), "moved")
		if err := os.Rename(dir, moved); err != nil {
			t.Fatal(err)
		}
		defer os.Rename(moved, dir)
		hears(t, bootlab(t, "vms", "down", moved), "was made by this lab from "+dir, "bootlab vms adopt "+moved)
		hears(t, bootlab(t, again(moved)...), "was made by this lab from "+dir)
		if made(t) != everything {
			t.Errorf("left are\n%s", made(t))
		}
		if a := works(t, "vms", "adopt", moved); !strings.Contains(a.out, "adopted what was made from "+dir) {
			t.Errorf("adopt said\n%s", a.out)
		}
		refused(t, []string{"nothing of this lab was made from another place"}, "vms", "adopt", moved)
		if a := works(t, "vms", "status", moved); !strings.Contains(a.out, "running") {
			t.Errorf("status says\n%s", a.out)
		}
	})
	t.Run("another lab", func(t *testing.T) {
		other := t.TempDir()
		shape{name: "before", uid: "fedcba9876543210"}.write(t, other)
		if a := works(t, "vms", "down", other); !strings.Contains(a.out, "left alone: network bootlab-before belongs to the lab in "+dir) || made(t) != everything {
			t.Errorf("down said\n%sleft are\n%s", a.out, made(t))
		}
	})
	t.Run("another connection", func(t *testing.T) {
		hears(t, bootlab(t, "vms", "down", dir, "--connect", "test:///default"), "the machines of this lab are at qemu:///system", "leave --connect out")
	})
	t.Run("renamed", func(t *testing.T) {
		shape{name: "after", uid: uid}.write(t, dir)
		hears(t, bootlab(t, again(dir)...), "machines of this lab are there from when it was called before")
		works(t, "vms", "down", dir)
		if left := made(t); strings.Contains(left, "before") || strings.Contains(left, "after") {
			t.Errorf("left are\n%s", left)
		}
	})
	works(t, again(dir)...)
}
