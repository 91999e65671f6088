package vms

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"libvirt.org/go/libvirtxml"
)

// Facts are what a lab asks of a domain or network, by name. Two definitions with the
// same facts are the same machine, whichever bootlab wrote them and whatever libvirt
// has added since.
type Facts map[string]string

// Differ names the facts that are not the same in both, and their values.
func (f Facts) Differ(wanted Facts) []string {
	var out []string
	for name, value := range wanted {
		if f[name] != value {
			out = append(out, fmt.Sprintf("%s is %s, and lab.yaml wants %s", name, orNothing(f[name]), orNothing(value)))
		}
	}
	for name, value := range f {
		if _, ok := wanted[name]; !ok {
			out = append(out, fmt.Sprintf("%s is %s, and lab.yaml wants none", name, value))
		}
	}
	slices.Sort(out)
	return out
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// DomainFacts reads the facts of a domain from its XML, as bootlab writes it and as
// libvirt gives it back. An error is XML that is no domain.
func DomainFacts(text string) (Facts, error) {
	var d libvirtxml.Domain
	if err := d.Unmarshal(text); err != nil {
		return nil, err
	}
	f := Facts{"processor type": d.Type}
	if d.Memory != nil {
		f["memory"] = fmt.Sprintf("%d MiB", mebibytes(d.Memory.Value, d.Memory.Unit))
	}
	if d.VCPU != nil {
		f["number of CPUs"] = fmt.Sprint(d.VCPU.Value)
	}
	for _, s := range d.SysInfo {
		if s.FWCfg != nil {
			for _, e := range s.FWCfg.Entry {
				f["Ignition file"] = e.File
			}
		}
	}
	if d.Devices == nil {
		return f, nil
	}
	for _, disk := range d.Devices.Disks {
		if disk.Source != nil && disk.Source.File != nil && disk.Target != nil {
			f["disk "+disk.Target.Dev] = disk.Source.File.File
		}
	}
	for _, i := range d.Devices.Interfaces {
		if i.MAC != nil && i.Source != nil && i.Source.Network != nil {
			f["network of "+i.MAC.Address] = i.Source.Network.Network
		}
	}
	return f, nil
}

// DomainMemory is the memory of a domain by its XML, in MiB, and how its processors
// run; none where the XML says nothing.
func DomainMemory(text string) (int, Accelerator) {
	var d libvirtxml.Domain
	if d.Unmarshal(text) != nil || d.Memory == nil {
		return 0, KVM
	}
	return int(mebibytes(d.Memory.Value, d.Memory.Unit)), Accelerator(d.Type)
}

// mebibytes converts a size of libvirt's, whose unit is KiB where none is written.
func mebibytes(value uint, unit string) uint {
	switch unit {
	case "GiB", "G":
		return value << 10
	case "MiB", "M":
		return value
	}
	return value >> 10
}

// NetworkFacts reads the facts of a network from its XML. Records of api and api-int
// are none where they are led from one machine to another while the network runs:
// withRecords is false then. An error is XML that is no network.
func NetworkFacts(text string, withRecords bool) (Facts, error) {
	var n libvirtxml.Network
	if err := n.Unmarshal(text); err != nil {
		return nil, err
	}
	f := Facts{}
	if n.Bridge != nil {
		f["bridge"] = n.Bridge.Name
	}
	if n.Forward != nil {
		f["forwarding"] = n.Forward.Mode
	}
	if n.Domain != nil {
		f["domain"] = n.Domain.Name
	}
	for _, ip := range n.IPs {
		f["gateway"] = fmt.Sprintf("%s/%d", ip.Address, prefixBits(ip))
		if ip.DHCP == nil {
			continue
		}
		for _, h := range ip.DHCP.Hosts {
			f["lease of "+h.MAC] = h.Name + " " + h.IP
		}
	}
	if n.DNS != nil && withRecords {
		for _, h := range n.DNS.Host {
			var names []string
			for _, name := range h.Hostnames {
				names = append(names, name.Hostname)
			}
			f["names of "+h.IP] = strings.Join(names, " ")
		}
	}
	if n.DnsmasqOptions != nil {
		for _, o := range n.DnsmasqOptions.Option {
			f["option "+o.Value] = "set"
		}
	}
	return f, nil
}

// prefixBits is the length of an address's prefix, written as one or as a mask.
func prefixBits(ip libvirtxml.NetworkIP) int {
	if mask := net.ParseIP(ip.Netmask).To4(); mask != nil {
		bits, _ := net.IPMask(mask).Size()
		return bits
	}
	return int(ip.Prefix)
}
