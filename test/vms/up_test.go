//go:build cgo && libvirt_dlopen

package vms

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

// emptyImage is a disk image with nothing on it.
func emptyImage(t *testing.T) vms.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "empty.qcow2")
	if out, err := exec.Command("qemu-img", "create", "-f", "qcow2", file, "1G").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return vms.Image{File: file, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Format: "qcow2"}
}

// smallLab is a lab of the shape that is shipped, in a directory of its own.
func smallLab(t *testing.T, name string) (*labs.Lab, string) {
	t.Helper()
	dir := t.TempDir()
	text := "apiVersion: v1\nmetadata:\n  name: " + name + "\nbaseDomain: example.test\nrelease:\n  distribution: okd\n  version: \"4.21\"\n" +
		"topology: compact\nmachines:\n  bootstrap: {memory: 2048, cpus: 1, disk: 16}\n"
	if err := os.WriteFile(filepath.Join(dir, labs.LabFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lab, problems := labs.LoadLab(dir, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return lab, dir
}

func connect(t *testing.T) libvirt.Host {
	t.Helper()
	host, err := libvirt.Connect(labs.LibvirtURI)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host
}

func provisioner(t *testing.T, lab *labs.Lab, dir string, image vms.Image) *provision.Provisioner {
	t.Helper()
	state, err := state.Open(filepath.Join(dir, "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	p, err := provision.New(lab, connect(t), state, dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Base, p.Run = image, vms.Emulated
	p.Ignition = func(m vms.Machine) ([]byte, error) {
		return []byte(`{"ignition":{"version":"3.2.0"}}` + "\n"), nil
	}
	return p
}

func TestUpAndDown(t *testing.T) {
	available(t)
	lab, dir := smallLab(t, "updown")
	p := provisioner(t, lab, dir, emptyImage(t))
	told := func(do string, thing provision.Thing, done bool) { t.Log(do, thing.Kind, thing.Name, done) }
	if err := p.Up(context.Background(), told); err != nil {
		t.Fatal(err)
	}
	if err := p.Up(context.Background(), func(do string, thing provision.Thing, _ bool) { t.Error("again:", do, thing.Kind, thing.Name) }); err != nil {
		t.Fatal(err)
	}
	receipts, err := p.Down(context.Background(), told)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range receipts {
		t.Log(r)
		if r.Left {
			t.Errorf("%+v", r)
		}
	}
}

// TestAnIgnitionFileThatWasCutOffIsMadeAgain: a killed upload leaves the
// beginning of a file, at any length.
func TestAnIgnitionFileThatWasCutOffIsMadeAgain(t *testing.T) {
	available(t)
	lab, dir := smallLab(t, "cutoff")
	p := provisioner(t, lab, dir, emptyImage(t))
	quiet := func(string, provision.Thing, bool) {}
	if err := p.Up(context.Background(), quiet); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Down(context.Background(), quiet) })
	m := vms.Machines(lab)[0]
	whole, err := p.Ignition(m)
	if err != nil {
		t.Fatal(err)
	}
	pool, name := vms.LabPool(lab), vms.IgnitionVolume(lab, m.Name)
	for _, length := range []int{0, 1, len(whole) - 1} {
		if err := p.Host.RemoveVolume(pool, name); err != nil {
			t.Fatal(err)
		}
		definition, err := vms.IgnitionFile(lab, m).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Host.MakeVolume(pool, definition, bytes.NewReader(whole[:length]), int64(length), nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Up(context.Background(), quiet); err != nil {
			t.Fatalf("%d bytes: %v", length, err)
		}
		if got, err := p.Host.ReadVolume(pool, name, 1<<20); err != nil || !bytes.Equal(got, whole) {
			t.Errorf("%d bytes became %q, %v", length, got, err)
		}
	}
}
