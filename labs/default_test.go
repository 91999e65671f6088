package labs

import (
	"fmt"
	"reflect"
	"testing"
)

func TestLoadFillsInEveryDefault(t *testing.T) {
	three, zero := 3, 0
	master := func(name, address, mac string) Machine {
		return Machine{Name: name, Address: address, MAC: mac, CPUs: 4, Memory: 16384, Disk: 120}
	}
	want := &Lab{
		APIVersion:   "v1",
		Metadata:     Metadata{Name: "mylab"},
		BaseDomain:   "bootlab.test",
		Release:      ReleaseRef{Distribution: "okd", Version: "4.21", Image: "quay.io/okd/scos-release:4.21.0-okd-scos.8"},
		Topology:     "compact",
		ControlPlane: Pool{Name: "master", Replicas: &three},
		Compute:      []Pool{{Name: "worker", Replicas: &zero}},
		Networking: Networking{
			NetworkType:    "OVNKubernetes",
			MachineNetwork: []MachineNetwork{{CIDR: "192.168.126.0/24"}},
			ClusterNetwork: []ClusterNetwork{{CIDR: "10.128.0.0/14", HostPrefix: 23}},
			ServiceNetwork: []string{"172.30.0.0/16"},
		},
		Platform: Platform{None: &struct{}{}},
		Machines: Machines{
			Gateway:   "192.168.126.1",
			Bootstrap: master("bootstrap", "192.168.126.10", "52:54:00:b4:12:a8"),
			Masters: []Machine{
				master("master-0", "192.168.126.20", "52:54:00:67:cf:a4"),
				master("master-1", "192.168.126.21", "52:54:00:ab:51:76"),
				master("master-2", "192.168.126.22", "52:54:00:45:c8:ed"),
			},
		},
		AdditionalTrustBundlePolicy: "Proxyonly",

		Dir: ".",
	}
	if got := mustLoad(t, minimal); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestLoadMakesTheMachinesOfTheTopology(t *testing.T) {
	small := mustLoad(t, minimal+"topology: bootstrap-only\n")
	if b := small.Machines.Bootstrap; b.CPUs != 4 || b.Memory != 8192 || b.Disk != 40 {
		t.Errorf("bootstrap is %+v", b)
	}
	if len(small.Machines.Masters) != 0 || *small.ControlPlane.Replicas != 3 {
		t.Errorf("bootstrap-only has %d masters and %d replicas", len(small.Machines.Masters), *small.ControlPlane.Replicas)
	}
	ha := mustLoad(t, minimal+"topology: ha\ncontrolPlane:\n  replicas: 5\n")
	if len(ha.Machines.Masters) != 5 || len(ha.Machines.Workers) != 2 {
		t.Errorf("ha has %d masters and %d workers", len(ha.Machines.Masters), len(ha.Machines.Workers))
	}
	if w := ha.Machines.Workers[1]; w.Name != "worker-1" || w.Address != "192.168.126.31" || w.CPUs != 2 || w.Memory != 8192 || w.Disk != 120 {
		t.Errorf("the second worker is %+v", w)
	}
}

func TestLoadGivesTwoLabsDifferentMACs(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"one", "two", "three"} {
		lab := mustLoad(t, "metadata:\n  name: "+name+"\nbaseDomain: bootlab.test\ntopology: ha\n")
		lab.eachMachine(func(path string, _ role, _ int, m *Machine) {
			if other, twice := seen[m.MAC]; twice {
				t.Errorf("%s of %s and %s have %s", path, name, other, m.MAC)
			}
			seen[m.MAC] = name
		})
	}
}

func TestNetworkPlacesMachines(t *testing.T) {
	for _, tc := range []struct{ name, lab, gateway, bootstrap, master, worker string }{
		{"a /16 has the easy numbers", "10.0.0.0/16", "10.0.0.1", "10.0.0.10", "10.0.0.22", "10.0.0.31"},
		{"a /24 has the easy numbers", "192.168.7.0/24", "192.168.7.1", "192.168.7.10", "192.168.7.22", "192.168.7.31"},
		{"a /26 has the easy numbers", "192.168.7.64/26", "192.168.7.65", "192.168.7.74", "192.168.7.86", "192.168.7.95"},
		{"a /27 is filled from the front", "192.168.7.32/27", "192.168.7.33", "192.168.7.34", "192.168.7.37", "192.168.7.39"},
		{"a /28 is filled from the front", "192.168.7.240/28", "192.168.7.241", "192.168.7.242", "192.168.7.245", "192.168.7.247"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := mustLoad(t, minimal+"topology: ha\nnetworking:\n  machineNetwork:\n    - cidr: "+tc.lab+"\n").Machines
			got := fmt.Sprint(m.Gateway, m.Bootstrap.Address, m.Masters[2].Address, m.Workers[1].Address)
			if want := fmt.Sprint(tc.gateway, tc.bootstrap, tc.master, tc.worker); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestNetworkFillsASmallOneToTheLastAddress(t *testing.T) {
	m := mustLoad(t, minimal+"topology: ha\ncompute:\n  - replicas: 9\nnetworking:\n  machineNetwork:\n    - cidr: 10.1.1.0/28\nmachines:\n  gateway: 10.1.1.14\n").Machines
	if m.Bootstrap.Address != "10.1.1.2" || m.Workers[7].Address != "10.1.1.13" || m.Workers[8].Address != "10.1.1.1" {
		t.Errorf("got %+v", m)
	}
}
