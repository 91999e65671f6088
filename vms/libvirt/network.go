//go:build cgo && libvirt_dlopen

package libvirt

import (
	"libvirt.org/go/libvirt"
)

func (h *connection) Network(name string) (NetworkState, bool, error) {
	n, err := h.c.LookupNetworkByName(name)
	if err != nil {
		there, err := looked(err)
		return NetworkState{}, there, err
	}
	defer n.Free()
	state, err := networkState(n)
	return state, err == nil, err
}

func networkState(n *libvirt.Network) (NetworkState, error) {
	name, err := n.GetName()
	if err != nil {
		return NetworkState{}, err
	}
	xml, err := n.GetXMLDesc(0)
	if err != nil {
		return NetworkState{}, err
	}
	active, err := n.IsActive()
	return NetworkState{Name: name, XML: xml, Active: active}, err
}

func (h *connection) Networks() ([]NetworkState, error) {
	return each(networkState, func(n *libvirt.Network) error { return n.Free() })(h.c.ListAllNetworks(0))
}

func (h *connection) DefineNetwork(xml string) error {
	n, err := h.c.NetworkDefineXML(xml)
	if err != nil {
		return err
	}
	defer n.Free()
	return n.SetAutostart(false)
}

func (h *connection) StartNetwork(name string) error {
	n, err := h.c.LookupNetworkByName(name)
	if err != nil {
		return err
	}
	defer n.Free()
	return n.Create()
}

func (h *connection) AddDNSHost(network, xml string) error {
	return h.changeDNSHost(network, libvirt.NETWORK_UPDATE_COMMAND_ADD_LAST, xml)
}

func (h *connection) RemoveDNSHost(network, xml string) error {
	return h.changeDNSHost(network, libvirt.NETWORK_UPDATE_COMMAND_DELETE, xml)
}

// changeDNSHost is one step of libvirt's, for the definition and for what runs.
func (h *connection) changeDNSHost(network string, command libvirt.NetworkUpdateCommand, xml string) error {
	n, err := h.c.LookupNetworkByName(network)
	if err != nil {
		return err
	}
	defer n.Free()
	active, err := n.IsActive()
	if err != nil {
		return err
	}
	where := libvirt.NETWORK_UPDATE_AFFECT_CONFIG
	if active {
		where |= libvirt.NETWORK_UPDATE_AFFECT_LIVE
	}
	return n.Update(command, libvirt.NETWORK_SECTION_DNS_HOST, -1, xml, where)
}

func (h *connection) RemoveNetwork(name string) error {
	n, err := h.c.LookupNetworkByName(name)
	if err != nil {
		return err
	}
	defer n.Free()
	if active, err := n.IsActive(); err == nil && active {
		if err := n.Destroy(); err != nil {
			return err
		}
	}
	return n.Undefine()
}
