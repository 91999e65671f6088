package labs

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// smallestMachineNetwork is the longest mask in which a gateway, a bootstrap
// machine, three masters and a few workers find an address.
const smallestMachineNetwork = 28

// smallestHostPrefix is the longest mask of a node's part of the cluster
// network that still holds pods.
const smallestHostPrefix = 30

// reservedNetworks can hold no machine, pod or service. The etcd operator
// refuses the first of the documentation networks as a machine network with
// exactly that reason.
var reservedNetworks = []struct{ cidr, what string }{
	{"0.0.0.0/8", "is reserved for \"this network\" (RFC 1122)"},
	{"127.0.0.0/8", "is the loopback network (RFC 1122)"},
	{"169.254.0.0/16", "is for link-local addresses (RFC 3927), and OVN-Kubernetes uses 169.254.0.0/17 itself"},
	{"192.0.2.0/24", "is reserved for documentation (RFC 5737)"},
	{"198.51.100.0/24", "is reserved for documentation (RFC 5737)"},
	{"203.0.113.0/24", "is reserved for documentation (RFC 5737)"},
	{"224.0.0.0/4", "is for multicast (RFC 5771)"},
	{"240.0.0.0/4", "is reserved (RFC 1112, class E)"},
}

// ovnNetworks are those that OVN-Kubernetes uses inside. The installer refuses
// an overlap from 4.19 on (openshift/installer pkg/types/validation). The
// third, 169.254.0.0/17, is among the reserved ones.
var ovnNetworks = []struct{ cidr, what string }{
	{"100.64.0.0/16", "the join network of OVN-Kubernetes"},
	{"100.88.0.0/16", "the transit network of OVN-Kubernetes"},
}

const ovnRefusedSince = "4.19"

// dockerNetwork is where the installer warns of an overlap: a bridge of Docker
// has it by default.
const dockerNetwork = "172.17.0.0/16"

// privateNetworks are those whose addresses are not used on the internet.
var privateNetworks = []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"}

// labNetwork is a network of a lab and its place in lab.yaml.
type labNetwork struct {
	path   string
	prefix netip.Prefix
}

// validateNetworking says what is wrong with the networks of a lab.
// Source: openshift/installer pkg/types/validation/installconfig.go.
func (l *loading) validateNetworking() {
	l.validateNetworkType()
	n := l.lab.Networking
	if got := len(n.MachineNetwork); got != 1 {
		l.report(Problem{Path: "networking.machineNetwork", Message: fmt.Sprintf("holds %d networks", got), Allowed: "one network, which all machines of the lab share"})
	}
	if got := len(n.ServiceNetwork); got != 1 {
		l.report(Problem{Path: "networking.serviceNetwork", Message: fmt.Sprintf("holds %d networks", got), Allowed: "one network"})
	}
	if len(n.ClusterNetwork) == 0 {
		l.report(Problem{Path: "networking.clusterNetwork", Message: "holds no network", Allowed: "one network or more"})
	}
	var all []labNetwork
	add := func(path, cidr string) (netip.Prefix, bool) {
		prefix, ok := l.network(path, cidr)
		if ok {
			all = append(all, labNetwork{path, prefix})
		}
		return prefix, ok
	}
	for i, m := range n.MachineNetwork {
		path := fmt.Sprintf("networking.machineNetwork[%d].cidr", i)
		if prefix, ok := add(path, m.CIDR); ok && prefix.Bits() > smallestMachineNetwork {
			l.report(Problem{Path: path, Message: fmt.Sprintf("%s has no room for a lab", prefix), Allowed: fmt.Sprintf("a mask of /%d or shorter", smallestMachineNetwork)})
		}
	}
	l.validateClusterNetwork(add)
	for i, cidr := range n.ServiceNetwork {
		path := fmt.Sprintf("networking.serviceNetwork[%d]", i)
		if prefix, ok := add(path, cidr); ok {
			l.validateServiceMask(path, prefix)
		}
	}
	l.validateOverlaps(all)
}

func (l *loading) validateServiceMask(path string, prefix netip.Prefix) {
	p := Problem{Path: path, Allowed: fmt.Sprintf("a mask from /12 to /%d", smallestHostPrefix)}
	switch {
	case prefix.Bits() < 12:
		p.Message = fmt.Sprintf("%s is larger than the installer lets a service network be", prefix)
	case prefix.Bits() > smallestHostPrefix:
		p.Message = fmt.Sprintf("%s has no room for services", prefix)
	default:
		return
	}
	l.report(p)
}

func (l *loading) validateNetworkType() {
	const path = "networking.networkType"
	p := Problem{Path: path, Allowed: defaultNetworkType}
	switch kind := l.lab.Networking.NetworkType; {
	case kind == defaultNetworkType:
		return
	case kind == "OpenShiftSDN" && l.release() == "4.14":
		p.Message = "OpenShiftSDN is deprecated in 4.14 and gone from 4.15 on"
		if *l.lab.ControlPlane.Replicas == 1 {
			p.Message = "OpenShiftSDN is refused with a single control plane node"
		} else {
			p.Warning = true
		}
	case kind == "OpenShiftSDN":
		p.Message = "OpenShiftSDN is refused since 4.15"
	default:
		p.Message = quote(kind) + " is no network type of a lab"
		if near := nearest(kind, []string{defaultNetworkType}); near != "" {
			p.Hint = "did you mean " + near + "?"
		}
	}
	l.report(p)
}

// validateClusterNetwork holds the pods' networks against the node's share in
// them, and both against the number of nodes.
func (l *loading) validateClusterNetwork(add func(path, cidr string) (netip.Prefix, bool)) {
	nodes := *l.lab.ControlPlane.Replicas + l.workers()
	networks := l.lab.Networking.ClusterNetwork
	room, sound := 0, len(networks) > 0
	for i, c := range networks {
		path := fmt.Sprintf("networking.clusterNetwork[%d]", i)
		prefix, ok := add(path+".cidr", c.CIDR)
		sound = sound && ok
		if !ok {
			continue
		}
		p := Problem{Path: path + ".hostPrefix", Allowed: fmt.Sprintf("%d to %d", prefix.Bits(), smallestHostPrefix)}
		switch {
		case c.HostPrefix < prefix.Bits():
			p.Message = fmt.Sprintf("a node's /%d is larger than the whole network %s", c.HostPrefix, prefix)
		case c.HostPrefix > smallestHostPrefix:
			p.Message = fmt.Sprintf("a node's /%d has no room for pods", c.HostPrefix)
		case c.HostPrefix != networks[0].HostPrefix:
			p.Message = fmt.Sprintf("%d differs from the first network's %d", c.HostPrefix, networks[0].HostPrefix)
			p.Allowed = "the same in all cluster networks"
		default:
			room += 1 << (c.HostPrefix - prefix.Bits())
			continue
		}
		sound = false
		l.report(p)
	}
	if sound && room < nodes && nodes <= maxMasters+maxWorkers {
		l.report(Problem{Path: "networking.clusterNetwork", Message: fmt.Sprintf("has room for %d nodes, and the cluster has %d", room, nodes), Hint: "choose a larger network or a longer hostPrefix"})
	}
}

// network reads a CIDR and refuses what cannot be a network of a lab.
func (l *loading) network(path, cidr string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(cidr)
	p := Problem{Path: path, Allowed: "an IPv4 network as 192.168.126.0/24"}
	switch {
	case cidr == "":
		p.Message = "is required"
	case err != nil:
		p.Message = quote(cidr) + " is no network"
		if addr, err := netip.ParseAddr(cidr); err == nil && addr.Is4() {
			p.Hint = "the mask is missing, as in " + cidr + "/24"
		}
	case !prefix.Addr().Is4():
		p.Message = quote(cidr) + " is IPv6; neither IPv6 nor dual-stack is supported in a lab yet"
	case prefix != prefix.Masked():
		p.Message = fmt.Sprintf("%s is an address inside a network", prefix)
		p.Allowed = "the network itself, " + prefix.Masked().String()
	default:
		if p.Message = reserved(prefix); p.Message == "" {
			l.validateUse(path, prefix)
			return prefix, true
		}
		p.Allowed = "a network of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
	}
	l.report(p)
	return prefix, false
}

// reserved says why a network cannot be used at all; empty when it can.
func reserved(prefix netip.Prefix) string {
	for _, r := range reservedNetworks {
		if netip.MustParsePrefix(r.cidr).Overlaps(prefix) {
			return fmt.Sprintf("%s overlaps %s, which %s", prefix, r.cidr, r.what)
		}
	}
	return ""
}

// validateUse tells of networks that others use.
func (l *loading) validateUse(path string, prefix netip.Prefix) {
	for _, ovn := range ovnNetworks {
		if netip.MustParsePrefix(ovn.cidr).Overlaps(prefix) {
			early := age(l.release()) < age(ovnRefusedSince)
			p := Problem{Path: path, Message: fmt.Sprintf("%s overlaps %s, %s", prefix, ovn.cidr, ovn.what), Warning: early}
			if !early {
				p.Hint = "the installer refuses it since " + ovnRefusedSince
			}
			l.report(p)
		}
	}
	if netip.MustParsePrefix(dockerNetwork).Overlaps(prefix) {
		l.report(Problem{Path: path, Warning: true, Message: fmt.Sprintf("%s overlaps %s, which Docker uses by default", prefix, dockerNetwork), Hint: "choose another network if Docker runs on this host"})
	}
	for _, private := range privateNetworks {
		if outer := netip.MustParsePrefix(private); outer.Bits() <= prefix.Bits() && outer.Contains(prefix.Addr()) {
			return
		}
	}
	l.report(Problem{Path: path, Warning: true, Message: fmt.Sprintf("%s has addresses of the internet, which the lab will not reach any more", prefix), Hint: "choose a network of " + strings.Join(privateNetworks[:3], ", ")})
}

// validateOverlaps reports each pair of networks that share addresses, at the
// one that the file itself gives.
func (l *loading) validateOverlaps(all []labNetwork) {
	for i, later := range all {
		for _, first := range all[:i] {
			if !first.prefix.Overlaps(later.prefix) {
				continue
			}
			here, there := later, first
			if !l.doc.given(here.path) && l.doc.given(there.path) {
				here, there = first, later
			}
			l.report(Problem{Path: here.path, Message: fmt.Sprintf("%s overlaps %s %s", here.prefix, there.path, there.prefix)})
		}
	}
}

// machineNetwork is the network of the machines, if there is a usable one.
func (l *loading) machineNetwork() (netip.Prefix, bool) {
	networks := l.lab.Networking.MachineNetwork
	if len(networks) != 1 {
		return netip.Prefix{}, false
	}
	p, err := netip.ParsePrefix(networks[0].CIDR)
	ok := err == nil && p.Addr().Is4() && p == p.Masked() && p.Bits() >= 1 && p.Bits() <= smallestMachineNetwork
	return p, ok && reserved(p) == ""
}

// nth is the address at a place in an IPv4 network; the network address is 0.
func nth(network netip.Prefix, n uint32) netip.Addr {
	base := network.Addr().As4()
	var out [4]byte
	binary.BigEndian.PutUint32(out[:], binary.BigEndian.Uint32(base[:])+n)
	return netip.AddrFrom4(out)
}

// hostCount is the number of addresses between network address and broadcast
// address of an IPv4 network.
func hostCount(network netip.Prefix) uint32 { return 1<<(32-network.Bits()) - 2 }

// hostRange tells the addresses that a machine can have.
func hostRange(network netip.Prefix) string {
	return fmt.Sprintf("%s to %s", nth(network, 1), nth(network, hostCount(network)))
}

// freeAddress is the first host address of the network from the given place on
// that is not taken, counting round; empty if all are.
func freeAddress(network netip.Prefix, from uint32, taken map[string]bool) string {
	hosts := hostCount(network)
	for i := uint32(0); i < hosts; i++ {
		a := nth(network, (from-1+i)%hosts+1).String()
		if !taken[a] {
			return a
		}
	}
	return ""
}
