//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"bootlab/labs"
	"bootlab/vms"
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

func connect(t *testing.T) vms.Host {
	t.Helper()
	host, err := vms.Connect(labs.LibvirtURI)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host
}

func provisioner(t *testing.T, lab *labs.Lab, dir string, image vms.Image) *vms.Provisioner {
	t.Helper()
	state, err := vms.OpenState(filepath.Join(dir, "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	p, err := vms.NewProvisioner(lab, connect(t), state, dir)
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
	told := func(do string, thing vms.Thing, done bool) { t.Log(do, thing.Kind, thing.Name, done) }
	if err := p.Up(context.Background(), told); err != nil {
		t.Fatal(err)
	}
	if err := p.Up(context.Background(), func(do string, thing vms.Thing, _ bool) { t.Error("again:", do, thing.Kind, thing.Name) }); err != nil {
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
