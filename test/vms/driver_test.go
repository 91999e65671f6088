//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

// inMemory is a lab whose machines are on libvirt's own test driver. It has no
// uploads, so they are defined by hand, with the provisioner's definitions.
func inMemory(t *testing.T, name string) *provision.Provisioner {
	t.Helper()
	lab, dir := smallLab(t, name)
	host, err := libvirt.Connect("test:///default")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	state, err := state.Open(filepath.Join(dir, "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	p, err := provision.New(lab, host, state, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range vms.Machines(lab) {
		define(t, p, lab, m, vms.Owner{Name: name, Directory: dir})
	}
	return p
}

func define(t *testing.T, p *provision.Provisioner, lab *labs.Lab, m vms.Machine, owner vms.Owner) {
	t.Helper()
	d := vms.Domain(lab, owner, m, vms.Image{SHA256: "ab", Format: "qcow2"}, vms.Emulated)
	d.Type = "test"
	text, err := d.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Host.DefineDomain(text); err != nil {
		t.Fatal(err)
	}
}

func stateOf(t *testing.T, p *provision.Provisioner, m vms.Machine) string {
	t.Helper()
	state, there, err := p.Host.Domain(p.Lab.DomainName(m.Name))
	if err != nil || !there {
		return "missing"
	}
	return state.State
}

func TestLifeCycleInMemory(t *testing.T) {
	available(t)
	p := inMemory(t, "cycle")
	m := vms.Machines(p.Lab)[0]
	for _, want := range []bool{true, false} {
		if started, err := p.Start(m); err != nil || started != want || stateOf(t, p, m) != "running" {
			t.Errorf("started %v, %v, %s", started, err, stateOf(t, p, m))
		}
	}
	if err := p.Reboot(m); err != nil || stateOf(t, p, m) != "running" {
		t.Errorf("reboot: %v, %s", err, stateOf(t, p, m))
	}
	if err := p.Host.SuspendDomain(p.Lab.DomainName(m.Name)); err != nil {
		t.Fatal(err)
	}
	if started, err := p.Start(m); err != nil || !started || stateOf(t, p, m) != "running" {
		t.Errorf("one that stands still: started %v, %v, %s", started, err, stateOf(t, p, m))
	}
	all := vms.Machines(p.Lab)
	if err := p.Snapshot("one", all, func(vms.Machine) {}); err != nil || stateOf(t, p, m) != "running" {
		t.Errorf("snapshot: %v, %s", err, stateOf(t, p, m))
	}
	if have, err := p.Host.Snapshots(p.Lab.DomainName(m.Name)); err != nil || len(have) != 1 {
		t.Errorf("snapshots %v, %v", have, err)
	}
	for _, want := range []bool{true, false} {
		if stopped, err := p.Stop(context.Background(), m, 10*time.Second, false); err != nil || stopped != want || stateOf(t, p, m) != "shut off" {
			t.Errorf("stopped %v, %v, %s", stopped, err, stateOf(t, p, m))
		}
	}
	if err := p.Revert("one", all, func(vms.Machine) {}); err != nil || stateOf(t, p, m) != "running" {
		t.Errorf("revert: %v, %s", err, stateOf(t, p, m))
	}
	if err := p.Reboot(all[1]); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("reboot of one that is off: %v", err)
	}
}

func TestOwnershipInMemory(t *testing.T) {
	available(t)
	p := inMemory(t, "owned")
	all := vms.Machines(p.Lab)
	if err := p.Host.RemoveDomain(p.Lab.DomainName(all[1].Name)); err != nil {
		t.Fatal(err)
	}
	// One of the lab's names belongs to a lab in another directory.
	define(t, p, p.Lab, all[1], vms.Owner{Name: "owned", Directory: "/elsewhere"})
	for what, do := range map[string]func() error{
		"start":    func() error { _, err := p.Start(all[1]); return err },
		"stop":     func() error { _, err := p.Stop(context.Background(), all[1], time.Second, true); return err },
		"reboot":   func() error { return p.Reboot(all[1]) },
		"snapshot": func() error { return p.Snapshot("one", all, func(vms.Machine) {}) },
		"revert":   func() error { return p.Revert("one", all, func(vms.Machine) {}) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "belongs to the lab in /elsewhere") {
			t.Errorf("%s: %v", what, err)
		}
	}
	receipts, err := p.Down(context.Background(), func(string, provision.Thing, bool) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range receipts {
		if r.Left {
			t.Errorf("%+v", r)
		}
	}
	for i, want := range []string{"missing", "shut off", "missing", "missing"} {
		if got := stateOf(t, p, all[i]); got != want {
			t.Errorf("%s is %s, want %s", all[i].Name, got, want)
		}
	}
	if state, there, err := p.Host.Domain("test"); err != nil || !there || !state.Active {
		t.Errorf("somebody else's machine is %+v (%v)", state, err)
	}
}

// What does not fit is refused before anything starts, and what runs is counted with
// all that it may take.
func TestRoomInMemory(t *testing.T) {
	available(t)
	p := inMemory(t, "room")
	all := vms.Machines(p.Lab)
	boot, huge := all[0], all[1]
	if err := p.Room([]vms.Machine{boot}); err != nil {
		t.Error(err)
	}
	if err := p.Host.RemoveDomain(p.Lab.DomainName(huge.Name)); err != nil {
		t.Fatal(err)
	}
	huge.Memory = 1 << 26
	define(t, p, p.Lab, huge, vms.Owner{Name: "room", Directory: p.Lab.Dir})
	if err := p.Room([]vms.Machine{boot, huge}); err == nil || !strings.Contains(err.Error(), "bootstrap, master-0 would take") {
		t.Errorf("%v", err)
	}
	if _, err := p.Start(huge); err != nil {
		t.Fatal(err)
	}
	if err := p.Room([]vms.Machine{huge}); err != nil {
		t.Errorf("one that runs already: %v", err)
	}
	if err := p.Room([]vms.Machine{boot}); err == nil || !strings.Contains(err.Error(), "and 0 MiB are free") {
		t.Errorf("beside one that may take all: %v", err)
	}
}
