package provision

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs/labtest"
	"bootlab/vms"
	"bootlab/vms/libvirt"
	"bootlab/vms/state"
)

// storage is a host in memory that has pools and volumes, and runs probes as it
// is told. What it is not asked for in these tests it has not.
type storage struct {
	libvirt.Host
	pools   map[string]*libvirt.PoolState
	backing map[string]string
	domains []libvirt.DomainState
	content map[string][]byte

	kvm    bool
	ends   bool
	runErr error
	probes []string
}

func newStorage() *storage {
	return &storage{pools: map[string]*libvirt.PoolState{}, backing: map[string]string{}, content: map[string][]byte{}}
}

func (s *storage) Pool(name string) (libvirt.PoolState, bool, error) {
	p, there := s.pools[name]
	if !there {
		return libvirt.PoolState{}, false, nil
	}
	return *p, true, nil
}

func (s *storage) Pools() (out []libvirt.PoolState, _ error) {
	for _, p := range s.pools {
		one := *p
		one.Volumes = slices.Clone(p.Volumes)
		out = append(out, one)
	}
	return out, nil
}

func (s *storage) DefinePool(string) error {
	s.pools[vms.Pool] = &libvirt.PoolState{Name: vms.Pool, Dir: vms.PoolDir, Active: true}
	return nil
}

func (s *storage) RemovePool(name string) error {
	if len(s.pools[name].Volumes) > 0 {
		return errors.New("the directory is not empty")
	}
	delete(s.pools, name)
	return nil
}

func (s *storage) Volume(pool, name string) (libvirt.VolumeState, bool, error) {
	p, there := s.pools[pool]
	if !there || !slices.Contains(p.Volumes, name) {
		return libvirt.VolumeState{}, false, nil
	}
	return libvirt.VolumeState{Path: path.Join(p.Dir, name), Backing: s.backing[name]}, true, nil
}

func (s *storage) MakeVolume(pool, xml string, content io.Reader, _ int64, _ func(int64)) error {
	_, rest, _ := strings.Cut(xml, "<name>")
	name, _, _ := strings.Cut(rest, "</name>")
	s.pools[pool].Volumes = append(s.pools[pool].Volumes, name)
	data, err := io.ReadAll(content)
	s.content[name] = data
	return err
}

func (s *storage) RemoveVolume(pool, name string) error {
	p := s.pools[pool]
	p.Volumes = slices.DeleteFunc(p.Volumes, func(v string) bool { return v == name })
	return nil
}

func (s *storage) Domains() ([]libvirt.DomainState, error) { return s.domains, nil }
func (s *storage) HasKVM() (bool, error)                   { return s.kvm, nil }

func (s *storage) RunOnce(ctx context.Context, xml string, _ time.Duration) (bool, error) {
	s.probes = append(s.probes, xml)
	return s.ends, errors.Join(s.runErr, ctx.Err())
}

func probing(t *testing.T, host libvirt.Host) *Provisioner {
	t.Helper()
	state, err := state.Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	p, err := New(labtest.Shipped(t, "compact"), host, state, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKVMIsTrustedOnlyWhenAProbeEndsByItself(t *testing.T) {
	for name, c := range map[string]struct {
		host   *storage
		works  bool
		why    string
		probes int
	}{
		"not offered": {&storage{}, false, "offers no KVM", 0},
		"hangs":       {&storage{kvm: true}, false, "ran no code within 3s", 1},
		"refused":     {&storage{kvm: true, runErr: errors.New("could not access KVM")}, false, "could not access KVM", 1},
		"works":       {&storage{kvm: true, ends: true}, true, "switched itself off", 1},
	} {
		t.Run(name, func(t *testing.T) {
			empty := newStorage()
			c.host.pools, c.host.backing, c.host.content = empty.pools, empty.backing, empty.content
			p := probing(t, c.host)
			for range 2 {
				proof, err := p.ProveKVM(context.Background())
				if err != nil || proof.Works != c.works || !strings.Contains(proof.Why, c.why) {
					t.Errorf("%+v, %v", proof, err)
				}
			}
			if len(c.host.probes) != c.probes {
				t.Errorf("%d probes for one boot of the host", len(c.host.probes))
			}
			if len(c.host.pools) > 0 {
				t.Errorf("a probe leaves %+v", c.host.pools)
			}
			// After another boot nothing is known.
			if err := p.State.Remember(kvmFile, KVMProof{Boot: "another", Works: !c.works}); err != nil {
				t.Fatal(err)
			}
			if proof, err := p.ProveKVM(context.Background()); err != nil || proof.Works != c.works {
				t.Errorf("%+v, %v", proof, err)
			}
		})
	}
}

func TestAnInterruptedProbeProvesNothing(t *testing.T) {
	host := newStorage()
	host.kvm = true
	p := probing(t, host)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.ProveKVM(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(p.State.Path(kvmFile)); err == nil {
		t.Error("it is written down all the same")
	}
}

func TestAProbeIsABootSectorInASharedPoolThatStays(t *testing.T) {
	host := newStorage()
	host.pools[vms.Pool] = &libvirt.PoolState{Name: vms.Pool, Dir: vms.PoolDir, Active: true, Volumes: []string{"base-x.qcow2"}}
	if ended, err := probing(t, host).Probe(context.Background(), vms.Emulated, time.Second); ended || err != nil {
		t.Error(ended, err)
	}
	if got := fmt.Sprint(host.pools[vms.Pool].Volumes); got != "[base-x.qcow2]" {
		t.Error(got)
	}
	for name, disk := range host.content {
		if len(disk) != probeSize || disk[510] != 0x55 || disk[511] != 0xaa || !bytes.HasPrefix(disk, bootSector) {
			t.Errorf("%s is no disk with a boot sector", name)
		}
		if !strings.Contains(host.probes[0], path.Join(vms.PoolDir, name)) {
			t.Errorf("%s is not the probe's disk:\n%s", name, host.probes[0])
		}
	}
	if len(bootSector) > 440 { // then comes the table of partitions
		t.Error("the code does not fit")
	}
}

func TestPruneKeepsEveryBaseThatSomethingStandsOn(t *testing.T) {
	host := newStorage()
	host.pools[vms.Pool] = &libvirt.PoolState{Name: vms.Pool, Dir: vms.PoolDir, Active: true,
		Volumes: []string{"base-a.qcow2", "base-b.raw", "base-c.qcow2", "base-d.qcow2", "probe-1.img", "probe-2.img", "notes.txt"}}
	host.pools["bootlab-one"] = &libvirt.PoolState{Name: "bootlab-one", Dir: path.Join(vms.PoolDir, "labs/one"), Active: true, Volumes: []string{"bootstrap.qcow2"}}
	host.pools["images"] = &libvirt.PoolState{Name: "images", Dir: "/srv", Active: true, Volumes: []string{"clone.qcow2"}}
	host.pools["idle"] = &libvirt.PoolState{Name: "idle", Dir: "/mnt"}
	host.backing["bootstrap.qcow2"] = path.Join(vms.PoolDir, "base-a.qcow2")
	host.backing["clone.qcow2"] = path.Join(vms.PoolDir, "base-b.raw")
	host.domains = []libvirt.DomainState{{Name: "somebody's", XML: "<disk><source file='" + path.Join(vms.PoolDir, "base-c.qcow2") + "'/></disk><x file='" + path.Join(vms.PoolDir, "probe-2.img") + "'/>"}}
	var removed []string
	if err := PruneBases(host, func(v libvirt.VolumeState) { removed = append(removed, path.Base(v.Path)) }); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(removed) != "[base-d.qcow2 probe-1.img]" {
		t.Error(removed)
	}
	if got := fmt.Sprint(host.pools[vms.Pool].Volumes); got != "[base-a.qcow2 base-b.raw base-c.qcow2 probe-2.img notes.txt]" {
		t.Error(got)
	}
	host.pools["bootlab-one"].Active = false
	if err := PruneBases(host, func(v libvirt.VolumeState) { t.Error(v) }); err == nil || !strings.Contains(err.Error(), "not started") {
		t.Error(err)
	}
}
