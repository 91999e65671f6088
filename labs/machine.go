package labs

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// role is what a machine is for.
type role string

const (
	bootstrapRole role = "bootstrap"
	masterRole    role = "master"
	workerRole    role = "worker"
)

// size is what a machine gets: CPUs, MiB of memory, GiB of disk.
type size struct{ cpus, memory, disk int }

// sizeFor is the size a machine gets when lab.yaml does not say, and below
// which it warns. Bootstrap and control plane: 4 CPUs, 16 GiB, 120 GB; compute:
// 2 CPUs, 8 GiB, 120 GB (docs.redhat.com, user-provisioned infrastructure,
// minimum resource requirements). A bootstrap machine without masters never
// runs more than the temporary control plane, so in topology bootstrap-only it
// gets half the memory and a third of the disk: our own choice, for a laptop
// with 16 GiB.
func sizeFor(topology string, r role) size {
	switch {
	case topology == "bootstrap-only" && r == bootstrapRole:
		return size{cpus: 4, memory: 8192, disk: 40}
	case r == workerRole:
		return size{cpus: 2, memory: 8192, disk: 120}
	}
	return size{cpus: 4, memory: 16384, disk: 120}
}

// eachMachine calls visit for every machine of the lab in its order.
func (lab *Lab) eachMachine(visit func(path string, r role, i int, m *Machine)) {
	visit("machines.bootstrap", bootstrapRole, 0, &lab.Machines.Bootstrap)
	for i := range lab.Machines.Masters {
		visit(fmt.Sprintf("machines.masters[%d]", i), masterRole, i, &lab.Machines.Masters[i])
	}
	for i := range lab.Machines.Workers {
		visit(fmt.Sprintf("machines.workers[%d]", i), workerRole, i, &lab.Machines.Workers[i])
	}
}

// defaultMachines makes the machines that the topology asks for and the file
// does not list, then fills in what is missing of each.
func (l *loading) defaultMachines() {
	lab := l.lab
	masters := *lab.ControlPlane.Replicas
	if lab.Topology != "bootstrap-only" && !l.doc.given("machines.masters") && masters > 0 && masters <= maxMasters {
		lab.Machines.Masters = make([]Machine, masters)
	}
	if lab.Topology == "ha" && !l.doc.given("machines.workers") && len(lab.Compute) == 1 {
		if workers := *lab.Compute[0].Replicas; workers > 0 && workers <= maxWorkers {
			lab.Machines.Workers = make([]Machine, workers)
		}
	}
	lab.eachMachine(func(path string, r role, i int, m *Machine) {
		name := string(r)
		if r != bootstrapRole {
			name = fmt.Sprintf("%s-%d", r, i)
		}
		l.text(path+".name", &m.Name, name)
		s := sizeFor(lab.Topology, r)
		l.number(path+".cpus", &m.CPUs, s.cpus)
		l.number(path+".memory", &m.Memory, s.memory)
		l.number(path+".disk", &m.Disk, s.disk)
	})
	l.defaultMACs()
	l.defaultAddresses()
}

// defaultMACs fills in MAC addresses that follow from the names of lab and
// machine, so that they are the same each time and differ between two labs on
// one host. 52:54:00 is the prefix that QEMU and libvirt use for their own: it
// is locally administered and unicast.
func (l *loading) defaultMACs() {
	taken := map[string]bool{}
	l.lab.eachMachine(func(_ string, _ role, _ int, m *Machine) {
		m.MAC = strings.ToLower(m.MAC)
		taken[m.MAC] = true
	})
	l.lab.eachMachine(func(path string, _ role, _ int, m *Machine) {
		for attempt := 0; m.MAC == "" && !l.doc.given(path+".mac"); attempt++ {
			if mac := macFor(l.lab.Metadata.Name, m.Name, attempt); !taken[mac] {
				m.MAC = mac
				taken[mac] = true
			}
		}
	})
}

func macFor(cluster, machine string, attempt int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", cluster, machine, attempt))
	return fmt.Sprintf("52:54:00:%02x:%02x:%02x", sum[0], sum[1], sum[2])
}

// defaultAddresses gives every machine an address. The gateway is the first
// host address, as libvirt's own networks have it. In a network of /26 or
// larger the bootstrap machine has .10, masters begin at .20, workers at .30,
// which is easy to remember; in a smaller one they follow each other from the
// second host address on. An address that the file gives to another machine is
// passed over.
func (l *loading) defaultAddresses() {
	network, ok := l.machineNetwork()
	if !ok {
		return
	}
	machines := &l.lab.Machines
	l.text("machines.gateway", &machines.Gateway, nth(network, 1).String())
	taken := map[string]bool{machines.Gateway: true}
	l.lab.eachMachine(func(_ string, _ role, _ int, m *Machine) { taken[m.Address] = true })
	first := map[role]uint32{bootstrapRole: 10, masterRole: 20, workerRole: 30}
	if network.Bits() > 26 {
		first = map[role]uint32{bootstrapRole: 2, masterRole: 3, workerRole: 3 + uint32(len(machines.Masters))}
	}
	l.lab.eachMachine(func(path string, r role, i int, m *Machine) {
		if m.Address == "" && !l.doc.given(path+".address") {
			m.Address = freeAddress(network, first[r]+uint32(i), taken)
			taken[m.Address] = true
		}
	})
}

// Bounds of a machine. An overlay cannot be smaller than the CoreOS image
// below it, which is built with 16 GB (coreos/rhel-coreos-config, image.yaml).
var (
	smallest = size{cpus: 1, memory: 2048, disk: 16}
	largest  = size{cpus: 128, memory: 1 << 20, disk: 10240}
)

func (l *loading) validateMachines() {
	l.validateCounts()
	network, ok := l.machineNetwork()
	if ok {
		l.validateAddress("machines.gateway", l.lab.Machines.Gateway, network)
	}
	names, macs := l.unique(), l.unique()
	addresses := l.unique()
	addresses("machines.gateway", l.lab.Machines.Gateway)
	l.lab.eachMachine(func(path string, r role, _ int, m *Machine) {
		if l.validateMachineName(path+".name", m.Name) {
			names(path+".name", m.Name)
		}
		if ok && l.validateAddress(path+".address", m.Address, network) {
			addresses(path+".address", m.Address)
		}
		if l.validateMAC(path+".mac", m.MAC) {
			macs(path+".mac", m.MAC)
		}
		l.validateSize(path, r, m)
	})
}

// validateCounts holds the listed machines against the replicas of the pools.
func (l *loading) validateCounts() {
	lab := l.lab
	for _, list := range []struct {
		path, pool string
		machines   []Machine
		replicas   int
		made       bool
	}{
		{"machines.masters", "controlPlane.replicas", lab.Machines.Masters, *lab.ControlPlane.Replicas, lab.Topology != "bootstrap-only"},
		{"machines.workers", "compute[0].replicas", lab.Machines.Workers, l.workers(), lab.Topology == "ha"},
	} {
		switch given := len(list.machines); {
		case !slices.Contains(Topologies, lab.Topology) || !l.doc.given(list.path):
		case !list.made && given > 0:
			p := Problem{Path: list.path, Message: fmt.Sprintf("topology %s has none of these machines", lab.Topology)}
			p.Hint = "take the list out, or choose a larger topology"
			l.report(p)
		case list.made && given != list.replicas:
			p := Problem{Path: list.path, Message: fmt.Sprintf("%d listed, and %s is %d", given, list.pool, list.replicas)}
			p.Hint = "make the two equal, or leave the list out: the machines are then made from the number"
			l.report(p)
		}
	}
}

// workers is the number of compute replicas.
func (l *loading) workers() int {
	n := 0
	for _, pool := range l.lab.Compute {
		n += *pool.Replicas
	}
	return n
}

// unique returns a function that reports a value it has seen before. It puts
// the problem where the file itself gives the value.
func (l *loading) unique() func(path, value string) {
	seen := map[string]string{}
	return func(path, value string) {
		first, twice := seen[value]
		if !twice {
			seen[value] = path
			return
		}
		if !l.doc.given(path) && l.doc.given(first) {
			path, first = first, path
		}
		l.report(Problem{Path: path, Message: fmt.Sprintf("%s is taken by %s", quote(value), first)})
	}
}

// Names that are records in the cluster's domain already, or that a node
// refuses: it waits for a host name without "localhost" in it
// (machine-config-operator, mco-hostname).
var takenNames = []string{"api", "api-int", "apps"}

func (l *loading) validateMachineName(path, name string) bool {
	switch {
	case !isLabel(name, 63):
		l.report(Problem{Path: path, Message: quote(name) + " is no host name", Allowed: labelRule(63), Hint: "without the domain"})
	case slices.Contains(takenNames, name):
		l.report(Problem{Path: path, Message: quote(name) + " means something else in the cluster's domain", Allowed: "any name but " + strings.Join(takenNames, ", ")})
	case strings.Contains(name, "localhost"):
		l.report(Problem{Path: path, Message: quote(name) + " holds localhost; such a node waits for another name and never starts its kubelet"})
	default:
		return true
	}
	return false
}

// validateAddress says whether an address can belong to a machine; that of the
// gateway must be one too.
func (l *loading) validateAddress(path, address string, network netip.Prefix) bool {
	p := Problem{Path: path, Allowed: hostRange(network)}
	a, err := netip.ParseAddr(address)
	switch {
	case address == "" && !l.doc.given(path):
		machine := strings.TrimSuffix(path, ".address")
		p = Problem{Path: "networking.machineNetwork", Message: fmt.Sprintf("%s has no address left for %s", network, machine), Hint: "choose a larger network"}
	case err != nil || !a.Is4():
		p.Message = quote(address) + " is no IPv4 address"
	case !network.Contains(a):
		p.Message = fmt.Sprintf("%s is outside the machine network %s", address, network)
	case a == network.Addr():
		p.Message = fmt.Sprintf("%s is the address of the network itself", address)
	case a == nth(network, hostCount(network)+1):
		p.Message = fmt.Sprintf("%s is the broadcast address of %s", address, network)
	default:
		return true
	}
	l.report(p)
	return false
}

var macForm = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)

// validateMAC says whether a MAC address can belong to a machine. libvirt
// refuses those that begin with fe: it keeps them for its tap devices.
func (l *loading) validateMAC(path, mac string) bool {
	p := Problem{Path: path, Allowed: "six bytes as 52:54:00:1a:2b:3c"}
	hw, err := net.ParseMAC(mac)
	switch {
	case err != nil || !macForm.MatchString(mac):
		p.Message = quote(mac) + " is no MAC address"
	case hw[0]&1 != 0:
		p.Message = mac + " is a multicast address"
		p.Hint = "the first byte must be even"
	case hw[0] == 0xfe:
		p.Message = mac + " begins with fe, which libvirt keeps for its tap devices"
	case mac == "00:00:00:00:00:00":
		p.Message = mac + " is no address of a machine"
	default:
		return true
	}
	l.report(p)
	return false
}

func (l *loading) validateSize(path string, r role, m *Machine) {
	wanted := sizeFor(l.lab.Topology, r)
	for _, field := range []struct {
		name, unit                  string
		value, least, most, advised int
	}{
		{"cpus", "", m.CPUs, smallest.cpus, largest.cpus, wanted.cpus},
		{"memory", " MiB", m.Memory, smallest.memory, largest.memory, wanted.memory},
		{"disk", " GiB", m.Disk, smallest.disk, largest.disk, wanted.disk},
	} {
		p := Problem{Path: path + "." + field.name, Allowed: fmt.Sprintf("%d to %d%s", field.least, field.most, field.unit)}
		switch {
		case field.value < field.least:
			p.Message = fmt.Sprintf("%d%s is too little for CoreOS to boot", field.value, field.unit)
			if field.name == "memory" && field.value >= 2 && field.value <= 512 {
				p.Hint = fmt.Sprintf("memory is in MiB: %d GiB is %d", field.value, field.value*1024)
			}
		case field.value > field.most:
			p.Message = fmt.Sprintf("%d%s is more than a lab can use", field.value, field.unit)
		case field.value < field.advised:
			p.Warning = true
			p.Message = fmt.Sprintf("%d%s is less than the advised %d%s", field.value, field.unit, field.advised, field.unit)
			p.Allowed = ""
		default:
			continue
		}
		l.report(p)
	}
}
