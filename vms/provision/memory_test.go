//go:build cgo && libvirt_dlopen

package provision

import (
	"context"
	"slices"
	"testing"

	"bootlab/labs/labtest"
	"bootlab/vms/libvirt"
)

// libvirt's own driver in memory changes records as that of QEMU does; it knows
// no options of dnsmasq.
func TestTheNamesFollowTheControlPlaneInMemory(t *testing.T) {
	host, err := libvirt.Connect("test:///default")
	if err != nil {
		t.Skip(err)
	}
	defer host.Close()
	p, err := New(labtest.Shipped(t, "compact"), host, newState(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p.NoBalancer = true
	network := p.network()
	if at, err := network.look(); at != missing || err != nil {
		t.Fatal(at, err)
	}
	if err := makeAll(context.Background(), p.State, []Thing{network}, silent); err != nil {
		t.Fatal(err)
	}
	defer network.remove()
	masters := []string{"master-0", "master-1", "master-2"}
	for _, step := range []struct {
		bootstrap bool
		machines  []string
	}{{true, []string{"bootstrap"}}, {false, masters}, {false, masters}, {true, []string{"bootstrap"}}} {
		if err := p.LeadAPI(step.bootstrap); err != nil {
			t.Fatal(err)
		}
		if got := machinesOfAPI(t, p); !slices.Equal(got, step.machines) {
			t.Errorf("api leads to %v, want %v", got, step.machines)
		}
	}
	// A network that is not active has its definition changed.
	if err := network.remove(); err != nil {
		t.Fatal(err)
	}
	if err := network.make(); err != nil {
		t.Fatal(err)
	}
	if err := p.LeadAPI(false); err != nil {
		t.Fatal(err)
	}
	if err := network.start(); err != nil {
		t.Fatal(err)
	}
	if got := machinesOfAPI(t, p); !slices.Equal(got, masters) {
		t.Errorf("after a change of the definition alone api leads to %v", got)
	}
}
