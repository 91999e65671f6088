package provision

import (
	"cmp"
	"slices"
	"strings"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/libvirt"
)

// Lead is one address that a name of the cluster leads to.
type Lead struct {
	Name string `json:"name"`
	// Machine has that address; empty if none of the lab's has.
	Machine string `json:"machine,omitempty"`
	Address string `json:"address"`
}

// Leads asks libvirt where api, api-int and *.apps lead.
func (p *Provisioner) Leads() ([]Lead, error) {
	state, err := p.labNetwork()
	if err != nil {
		return nil, err
	}
	api, err := p.apiIn(state.XML)
	if err != nil {
		return nil, err
	}
	apps, err := p.appsIn(state.XML)
	return append(api, apps...), err
}

func (p *Provisioner) labNetwork() (libvirt.NetworkState, error) {
	state, there, err := p.Host.Network(vms.NetworkName(p.Lab))
	if err != nil {
		return state, err
	}
	if !there {
		return state, &vms.Problem{Message: "the network of the lab is not made yet", Hint: "make it: " + p.upAgain()}
	}
	_, err = p.ours("network", state.Name, state.XML)
	return state, err
}

// apiIn reads where api and api-int lead from the records of a network.
func (p *Provisioner) apiIn(definition string) ([]Lead, error) {
	var n libvirtxml.Network
	if err := n.Unmarshal(definition); err != nil || n.DNS == nil {
		return nil, err
	}
	var out []Lead
	for _, name := range vms.APIRecord(p.Lab, "").Hostnames {
		var to []Lead
		for _, h := range n.DNS.Host {
			if slices.Contains(h.Hostnames, name) {
				to = append(to, p.lead(name.Hostname, h.IP))
			}
		}
		slices.SortFunc(to, func(a, b Lead) int {
			return cmp.Or(strings.Compare(a.Machine, b.Machine), strings.Compare(a.Address, b.Address))
		})
		out = append(out, to...)
	}
	return out, nil
}

// appsIn reads where *.apps leads from the options of a network's name server.
func (p *Provisioner) appsIn(definition string) ([]Lead, error) {
	var n libvirtxml.Network
	if err := n.Unmarshal(definition); err != nil || n.DnsmasqOptions == nil {
		return nil, err
	}
	apps := "apps." + p.Lab.Domain()
	var out []Lead
	for _, o := range n.DnsmasqOptions.Option {
		if address, ok := strings.CutPrefix(o.Value, "address=/"+apps+"/"); ok {
			out = append(out, p.lead("*."+apps, address))
		}
	}
	return out, nil
}

func (p *Provisioner) lead(name, address string) Lead {
	for _, m := range vms.Machines(p.Lab) {
		if m.Address == address {
			return Lead{name, m.Name, address}
		}
	}
	return Lead{name, "", address}
}

// LeadAPI makes api and api-int lead to all masters, or back to the bootstrap, at
// once and whenever the network is started. What is new is added before anything
// old goes: at no moment is there a name without address. Killed in between, it
// goes on when it is called again.
func (p *Provisioner) LeadAPI(toBootstrap bool) error {
	to := vms.OfRole(p.Lab, vms.Master)
	if toBootstrap {
		to = vms.OfRole(p.Lab, vms.Bootstrap)
		gone, err := p.BootstrapGone()
		if err != nil {
			return err
		}
		if gone {
			return &vms.Problem{Message: "the bootstrap was removed, and nothing would answer", Hint: "leave the names with the masters"}
		}
	}
	if len(to) == 0 {
		return &vms.Problem{Message: "the lab has no masters that the names could lead to", Hint: "leave them with the bootstrap"}
	}
	return p.leadTo(to)
}

// leadTo changes the records of the lab's own machines; an address that somebody
// added by hand stays.
func (p *Provisioner) leadTo(to []vms.Machine) error {
	state, err := p.labNetwork()
	if err != nil {
		return err
	}
	if at, err := p.network().look(); err != nil || at == halfMade {
		return cmp.Or[error](err, &vms.Problem{Message: "the network of the lab was made as an earlier lab.yaml wanted it", Hint: "recreate it: " + p.upAgain()})
	}
	have, err := p.apiIn(state.XML)
	if err != nil {
		return err
	}
	for _, m := range to {
		if err := p.addAPI(state.Name, m, have); err != nil {
			return err
		}
	}
	for _, m := range vms.Machines(p.Lab) {
		wanted := slices.ContainsFunc(to, func(t vms.Machine) bool { return t.Name == m.Name })
		if !wanted && leadsTo(have, m) > 0 {
			// By its address alone: the names are those of other records too.
			record := libvirtxml.NetworkDNSHost{IP: m.Address}
			if err := p.changeAPI(p.Host.RemoveDNSHost, state.Name, record); err != nil {
				return err
			}
		}
	}
	return nil
}

// addAPI adds both names for a machine unless they are there.
func (p *Provisioner) addAPI(network string, m vms.Machine, have []Lead) error {
	switch leadsTo(have, m) {
	case len(vms.APIRecord(p.Lab, "").Hostnames):
		return nil
	case 0:
		return p.changeAPI(p.Host.AddDNSHost, network, vms.APIRecord(p.Lab, m.Address))
	}
	return &vms.Problem{Message: "only one of api and api-int leads to " + m.Name + ", as somebody changed it by hand",
		Hint: "take that record out: virsh --connect " + labs.LibvirtURI + " net-update " + network + " delete dns-host \"<host ip='" + m.Address + "'/>\" --live --config"}
}

func leadsTo(have []Lead, m vms.Machine) int {
	n := 0
	for _, l := range have {
		if l.Machine == m.Name {
			n++
		}
	}
	return n
}

func (p *Provisioner) changeAPI(change func(network, xml string) error, network string, record libvirtxml.NetworkDNSHost) error {
	text, err := record.Marshal()
	if err == nil {
		err = change(network, text)
	}
	if err != nil {
		return &vms.Problem{Message: "the names of the API do not lead to what was asked", Err: err,
			Hint: "run it again; what libvirt holds: virsh --connect " + labs.LibvirtURI + " net-dumpxml " + network}
	}
	return nil
}

// passBootstrap leads the names of a network that was recreated past a bootstrap
// that has done its work.
func (p *Provisioner) passBootstrap() error {
	gone, err := p.BootstrapGone()
	if err != nil || !gone {
		return err
	}
	return p.LeadAPI(false)
}

// leadsWrong says whether the names lead neither to the bootstrap alone, while
// there is one, nor to all masters alone: somebody was interrupted.
func (p *Provisioner) leadsWrong(api []Lead) (bool, error) {
	gone, err := p.BootstrapGone()
	if err != nil {
		return false, err
	}
	boot := p.Lab.Machines.Bootstrap.Name
	atBootstrap := slices.ContainsFunc(api, func(l Lead) bool { return l.Machine == boot })
	masters := 0
	for _, m := range vms.OfRole(p.Lab, vms.Master) {
		if leadsTo(api, m) > 0 {
			masters++
		}
	}
	switch {
	case atBootstrap:
		return gone || masters > 0, nil
	case len(api) > 0 && masters == 0: // somebody's own, added by hand
		return false, nil
	}
	return masters < len(p.Lab.Machines.Masters) || masters == 0, nil
}
