package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/libvirt"
	"bootlab/vms/provision"
	"bootlab/vms/state"
)

func judgeLibvirt(f *Facts) []verdict {
	if f.Connect != nil {
		message, hint := fix(f.Connect)
		return []verdict{{"libvirt", "down", values{"Error": message, "Fix": hint}}}
	}
	return []verdict{{"libvirt", "ok", values{"Version": f.Version}}}
}

// longestDNSName is that of a name in text. Source: RFC 1035, 2.3.4.
const longestDNSName = 253

func judgeNames(f *Facts) []verdict {
	var out []verdict
	for _, m := range vms.Machines(f.Lab) {
		if name := m.Name + "." + f.Lab.Domain(); len(name) > longestDNSName {
			out = append(out, verdict{"host-names", "long", values{"Name": name, "Length": len(name)}})
		}
	}
	if len(out) == 0 {
		out = append(out, verdict{"host-names", "ok", nil})
	}
	if f.Connect != nil {
		return out
	}
	for _, err := range f.Conflict {
		message, hint := fix(err)
		out = append(out, verdict{"names", "taken", values{"Error": message, "Fix": hint}})
	}
	if len(f.Conflict) == 0 {
		out = append(out, verdict{"names", "ok", nil})
	}
	return out
}

// judgeNetwork looks for others in the lab's range of addresses. libvirt refuses
// to start a network whose range the host has a route for
// (libvirt src/network/bridge_driver_linux.c, networkCheckRouteCollision).
func judgeNetwork(f *Facts) []verdict {
	lab := netip.MustParsePrefix(f.Lab.Networking.MachineNetwork[0].CIDR) // loading has parsed it
	say := func(says string, with values) verdict {
		with["Network"] = lab
		return verdict{"network", says, with}
	}
	var out []verdict
	bridges := []string{vms.Bridge(f.Lab)} // those of libvirt's networks follow by their names
	for _, n := range f.Networks {
		var network libvirtxml.Network
		if network.Unmarshal(n.XML) == nil && network.Bridge != nil {
			bridges = append(bridges, network.Bridge.Name)
		}
	}
	for _, r := range f.Routes {
		switch {
		case r.To.Bits() == 0 || slices.Contains(bridges, r.Interface) || !r.To.Overlaps(lab):
		case r.To.Bits() >= lab.Bits():
			out = append(out, say("route", values{"Route": r.To, "Interface": r.Interface}))
		default:
			out = append(out, say("wide", values{"Route": r.To, "Interface": r.Interface}))
		}
	}
	for _, n := range f.Networks {
		for _, other := range addressRanges(n) {
			if n.Name == vms.NetworkName(f.Lab) || !other.Overlaps(lab) {
				continue
			}
			says := "idle"
			if n.Active {
				says = "libvirt"
			}
			out = append(out, say(says, values{"Name": n.Name, "Other": other}))
		}
	}
	if len(out) == 0 {
		out = append(out, say("ok", values{}))
	}
	return out
}

// addressRanges are those of a libvirt network.
func addressRanges(n libvirt.NetworkState) []netip.Prefix {
	var network libvirtxml.Network
	if network.Unmarshal(n.XML) != nil {
		return nil
	}
	var out []netip.Prefix
	for _, ip := range network.IPs {
		a, err := netip.ParseAddr(ip.Address)
		if err != nil || !a.Is4() {
			continue
		}
		bits := int(ip.Prefix)
		if mask, err := netip.ParseAddr(ip.Netmask); err == nil && mask.Is4() {
			bits = 0
			for _, part := range mask.As4() {
				for ; part&0x80 != 0; part <<= 1 {
					bits++
				}
			}
		}
		out = append(out, netip.PrefixFrom(a, bits).Masked())
	}
	return out
}

func judgeBridge(f *Facts) []verdict {
	name, mine := vms.Bridge(f.Lab), false
	for _, n := range f.Networks {
		var network libvirtxml.Network
		if network.Unmarshal(n.XML) != nil || network.Bridge == nil || network.Bridge.Name != name {
			continue
		}
		if n.Name != vms.NetworkName(f.Lab) {
			return []verdict{{"bridge", "taken", values{"Bridge": name, "By": "libvirt's network " + n.Name}}}
		}
		mine = n.Active
	}
	if !mine && f.Connect == nil && slices.Contains(f.Interfaces, name) {
		return []verdict{{"bridge", "taken", values{"Bridge": name, "By": "an interface of this host"}}}
	}
	return []verdict{{"bridge", "ok", values{"Bridge": name}}}
}

func judgeProcessor(f *Facts) []verdict {
	out := judgeCPUs(f)
	with := values{"Why": f.Proof.Why, "Extra": provision.Overhead(vms.Emulated) - provision.Overhead(vms.KVM)}
	switch {
	case f.Run == vms.Emulated && f.Asked:
		return append(out, verdict{"kvm", "chosen", with})
	case f.Run == vms.Emulated && f.Connect == nil:
		return append(out, verdict{"kvm", "emulated", with})
	case f.Run == vms.Emulated:
		return out
	case f.Connect == nil && f.Proof.Works:
		out = append(out, verdict{"kvm", "ok", with})
	case f.Connect == nil:
		out = append(out, verdict{"kvm", "forced", with})
	}
	return append(out, judgeInstructions(f))
}

// wantedFlags are instructions that level v3 of x86-64 has and v2 has not, in
// Linux's words. Source: the x86-64 psABI, and "Fatal glibc error: CPU does not
// support x86-64-v3" of userlands of release 10.
var wantedFlags = []string{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}

func judgeInstructions(f *Facts) verdict {
	var missing []string
	for _, flag := range wantedFlags {
		if !slices.Contains(f.Flags, flag) {
			missing = append(missing, flag)
		}
	}
	if len(missing) == 0 || strings.HasPrefix(f.Image.Release, "9.") || strings.HasPrefix(f.Image.Release, "4") {
		return verdict{"instructions", "ok", nil}
	}
	image := ""
	if f.Image.Release != "" {
		image = ", and the lab's image is " + f.Image.Release
	}
	return verdict{"instructions", "lacking", values{"Missing": strings.Join(missing, ", "), "Image": image}}
}

func judgeCPUs(f *Facts) []verdict {
	wanted := 0
	for _, m := range vms.Machines(f.Lab) {
		wanted += m.CPUs
	}
	says := "ok"
	if wanted > f.CPUs {
		says = "more"
	}
	return []verdict{{"cpus", says, values{"Wanted": wanted, "Have": f.CPUs}}}
}

// judgeMemory counts the machines that do not run yet. Masters start later than
// up, so only the bootstrap has to find room at once.
func judgeMemory(f *Facts) []verdict {
	all, waiting := vms.Machines(f.Lab), []vms.Machine(nil)
	wanted := 0
	for _, m := range all {
		if !slices.Contains(f.Active, m.Name) {
			waiting = append(waiting, m)
			wanted += m.Memory + provision.Overhead(f.Run)
		}
	}
	if len(waiting) == 0 {
		return []verdict{{"memory", "runs", nil}}
	}
	first := all[0]
	need := first.Memory + provision.Overhead(f.Run)
	with := values{"Wanted": wanted, "Free": f.Memory, "First": first.Name, "Need": need}
	switch {
	case waiting[0].Name == first.Name && need > f.Memory:
		return []verdict{{"memory", "none", with}}
	case wanted > f.Memory:
		return []verdict{{"memory", "short", with}}
	}
	return []verdict{{"memory", "ok", with}}
}

func judgeDisk(f *Facts) []verdict {
	wanted := 0
	for _, m := range vms.Machines(f.Lab) {
		if !slices.Contains(f.Made, m.Name) {
			wanted += m.Disk
		}
	}
	const gib = 1 << 30
	with := values{"Dir": vms.PoolDir, "Free": f.PoolFree / gib, "Wanted": wanted, "Base": (f.Image.Size + gib - 1) / gib}
	switch {
	case !f.BaseHere && uint64(f.Image.Size) > f.PoolFree:
		return []verdict{{"disk", "full", with}}
	case uint64(wanted)*gib > f.PoolFree:
		return []verdict{{"disk", "thin", with}}
	}
	return []verdict{{"disk", "ok", with}}
}

func judgeBalancer(f *Facts) []verdict {
	if f.NoBalancer {
		return nil
	}
	socket := verdict{"socket", "ok", nil}
	if len(f.Socket) > state.LongestSocket {
		socket = verdict{"socket", "long", values{"Path": f.Socket, "Length": len(f.Socket), "Most": state.LongestSocket}}
	}
	if f.HAProxy == "" {
		return []verdict{socket, {"haproxy", "missing", nil}}
	}
	out := []verdict{socket, {"haproxy", "ok", values{"Program": f.HAProxy}}}
	if f.BalancerRuns {
		return append(out, verdict{"ports", "runs", nil})
	}
	low := verdict{"low-ports", "ok", nil}
	if !f.MayBindLow {
		low = verdict{"low-ports", "forbidden", values{"Lab": f.Lab.Dir}}
	}
	return append(out, low, judgePorts(f))
}

// judgePorts looks for those who have a port of the load balancer, on its
// address or on all.
func judgePorts(f *Facts) verdict {
	gateway := netip.MustParseAddr(f.Lab.Machines.Gateway) // loading has parsed it
	var taken []string
	for _, s := range labs.Balancer {
		for _, l := range f.Listeners {
			if int(l.Port()) == s.Port && (l.Addr().IsUnspecified() || l.Addr() == gateway) {
				taken = append(taken, l.String())
			}
		}
	}
	if len(taken) > 0 {
		return verdict{"ports", "taken", values{"List": strings.Join(taken, ", ")}}
	}
	return verdict{"ports", "ok", nil}
}

func judgeFirewall(f *Facts) []verdict {
	var list []string
	for _, port := range f.FirewallCloses {
		list = append(list, fmt.Sprint(port))
	}
	wall := verdict{"firewall", "ok", nil}
	switch {
	case f.Firewall && len(list) > 0:
		wall = verdict{"firewall", "closed", values{"List": strings.Join(list, ", "), "Zone": f.FirewallZone, "Lab": f.Lab.Dir}}
	case f.Firewall:
		wall = verdict{"firewall", "open", nil}
	}
	forwarding := "ok"
	if !f.Forwards {
		forwarding = "later"
		for _, n := range f.Networks {
			if n.Name == vms.NetworkName(f.Lab) && n.Active {
				forwarding = "off"
			}
		}
	}
	if f.NoBalancer { // those ports are the load balancer's
		return []verdict{{"forwarding", forwarding, nil}}
	}
	return []verdict{wall, {"forwarding", forwarding, nil}}
}

func judgeNaming(f *Facts) []verdict {
	with := values{"API": "api." + f.Lab.Domain(), "Domain": f.Lab.Domain(), "Gateway": f.Lab.Machines.Gateway, "Bridge": vms.Bridge(f.Lab), "Address": f.APIAddress, "Lab": f.Lab.Dir}
	says := "other"
	switch {
	case f.APIAddress == "" && f.NoBalancer:
		says = "changing"
	case f.APIAddress == "":
		says = "unknown"
	case wantedAPI(f.Lab, f.NoBalancer, f.APIAddress):
		says = "ok"
	case f.NoBalancer:
		says = "elsewhere"
	}
	ssh := "ok"
	if !f.SSHKeygen {
		ssh = "missing"
	}
	return []verdict{{"dns", says, with}, {"ssh", ssh, nil}}
}

func judgeIgnition(f *Facts) []verdict {
	var out []verdict
	for _, i := range f.Ignition {
		if !i.There {
			out = append(out, verdict{"ignition", "missing", values{"File": i.File}})
		}
	}
	if len(out) == 0 {
		out = append(out, verdict{"ignition", "ok", nil})
	}
	if len(f.Ignition) > 0 && f.Ignition[0].There {
		out = append(out, f.certificates(f.Ignition[0]))
	}
	return out
}

// certificates goes by what stands in the file, and by the file's age where that
// cannot be read.
func (f *Facts) certificates(i IgnitionFact) verdict {
	left, age := i.End.Sub(f.Now), f.Now.Sub(i.Written)
	with := values{"Name": i.First, "Hours": int(left.Abs().Hours())}
	if i.First == "" {
		with["Hours"] = int(age.Hours())
	}
	says := "ok"
	switch {
	case slices.Contains(f.Made, f.Lab.Machines.Bootstrap.Name):
		says = "made"
	case i.First == "" && age > certificateDay-certificateSoon:
		says = "old"
	case i.First == "":
		says = "young"
	case left <= 0:
		says = "over"
	case left < certificateSoon:
		says = "soon"
	}
	return verdict{"certificates", says, with}
}

func judgeImage(f *Facts) []verdict {
	if f.ImageProblem != nil {
		message, hint := fix(f.ImageProblem)
		return []verdict{{"image", "bad", values{"Error": message, "Fix": hint}}}
	}
	const gib = 1 << 30
	for _, m := range vms.Machines(f.Lab) {
		if f.Image.Disk > int64(m.Disk)*gib {
			return []verdict{{"image", "large", values{"Size": (f.Image.Disk + gib - 1) / gib, "Machine": m.Name, "Disk": m.Disk}}}
		}
	}
	return []verdict{{"image", "ok", values{"File": f.Image.File, "Format": f.Image.Format, "Size": f.Image.Size >> 20}}}
}

// wantedAPI says whether an address is one that api may lead to: that of the
// gateway, or of a machine where there is no load balancer.
func wantedAPI(lab *labs.Lab, without bool, address string) bool {
	if !without {
		return address == lab.Machines.Gateway
	}
	found, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(vms.Machines(lab), func(m vms.Machine) bool {
		return m.Role != vms.Worker && m.Address == found.String()
	})
}
