package vms

import (
	"net/netip"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs"
)

// Network is the lab's network: NAT to the outside, an address and a name for
// each machine, and the names that a cluster needs. The load balancer listens
// on its gateway.
//
// For *.apps it takes two options of dnsmasq: address answers for IPv4, and
// without local a question for IPv6 would be answered with "no such name", at
// which some resolvers give up.
func Network(lab *labs.Lab, owner Owner) *libvirtxml.Network {
	prefix := netip.MustParsePrefix(lab.Networking.MachineNetwork[0].CIDR) // loading has parsed it
	apps := "apps." + lab.Domain()
	return &libvirtxml.Network{
		Name:     NetworkName(lab),
		Metadata: &libvirtxml.NetworkMetadata{XML: owner.Element()},
		Forward:  &libvirtxml.NetworkForward{Mode: "nat"},
		Bridge:   &libvirtxml.NetworkBridge{Name: Bridge(lab), STP: "on", Delay: "0"},
		Domain:   &libvirtxml.NetworkDomain{Name: lab.Domain(), LocalOnly: "yes"},
		DNS:      &libvirtxml.NetworkDNS{Host: names(lab)},
		IPs: []libvirtxml.NetworkIP{{
			Address: lab.Machines.Gateway,
			Prefix:  uint(prefix.Bits()),
			DHCP:    &libvirtxml.NetworkDHCP{Hosts: leases(lab)},
		}},
		DnsmasqOptions: &libvirtxml.NetworkDnsmasqOptions{Option: []libvirtxml.NetworkDnsmasqOption{
			{Value: "address=/" + apps + "/" + lab.Machines.Gateway},
			{Value: "local=/" + apps + "/"},
		}},
	}
}

// NetworkWithoutBalancer is the network of a lab that has no load balancer: api
// and api-int lead to the bootstrap, until they are led elsewhere, and *.apps to
// the nodes with routers. Several addresses of a name are answered in turn, and
// nothing checks whether one of them serves.
//
// libvirt changes records of a network that is active, but no options of its
// dnsmasq, and it allows one record for an address. So what never changes, the
// machines' own names, are options here, and the records are for api alone: each
// comes and goes by itself. An address still leads back to the machine's name:
// dnsmasq takes the first one for it, and that is the option's.
func NetworkWithoutBalancer(lab *labs.Lab, owner Owner) *libvirtxml.Network {
	n := Network(lab, owner)
	n.DNS.Host = []libvirtxml.NetworkDNSHost{APIRecord(lab, lab.Machines.Bootstrap.Address)}
	var options []libvirtxml.NetworkDnsmasqOption
	add := func(option string) {
		options = append(options, libvirtxml.NetworkDnsmasqOption{Value: option})
	}
	for _, m := range Machines(lab) {
		add("host-record=" + m.Name + "." + lab.Domain() + "," + m.Address)
	}
	for _, m := range routers(lab) {
		add("address=/apps." + lab.Domain() + "/" + m.Address)
	}
	add("local=/apps." + lab.Domain() + "/")
	n.DnsmasqOptions.Option = options
	return n
}

// APIRecord makes api and api-int lead to an address.
func APIRecord(lab *labs.Lab, address string) libvirtxml.NetworkDNSHost {
	return libvirtxml.NetworkDNSHost{
		IP:        address,
		Hostnames: []libvirtxml.NetworkDNSHostHostname{{Hostname: "api." + lab.Domain()}, {Hostname: "api-int." + lab.Domain()}},
	}
}

// names are api and api-int at the load balancer, and each machine.
func names(lab *labs.Lab) []libvirtxml.NetworkDNSHost {
	hosts := []libvirtxml.NetworkDNSHost{APIRecord(lab, lab.Machines.Gateway)}
	for _, m := range Machines(lab) {
		hosts = append(hosts, libvirtxml.NetworkDNSHost{
			IP:        m.Address,
			Hostnames: []libvirtxml.NetworkDNSHostHostname{{Hostname: m.Name + "." + lab.Domain()}},
		})
	}
	return hosts
}

// leases give every machine its address and its name. A node without a name
// never starts its kubelet (machine-config-operator, node-valid-hostname).
func leases(lab *labs.Lab) []libvirtxml.NetworkDHCPHost {
	var hosts []libvirtxml.NetworkDHCPHost
	for _, m := range Machines(lab) {
		hosts = append(hosts, libvirtxml.NetworkDHCPHost{MAC: m.MAC, Name: m.Name, IP: m.Address})
	}
	return hosts
}
