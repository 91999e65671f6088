//go:build cgo && libvirt_dlopen

package libvirt

import (
	"context"
	"errors"
	"time"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"
)

var domainStates = map[libvirt.DomainState]string{
	libvirt.DOMAIN_RUNNING: "running", libvirt.DOMAIN_BLOCKED: "running", libvirt.DOMAIN_PAUSED: "paused",
	libvirt.DOMAIN_SHUTDOWN: "shutting down", libvirt.DOMAIN_SHUTOFF: "shut off", libvirt.DOMAIN_CRASHED: "crashed",
	libvirt.DOMAIN_PMSUSPENDED: "suspended",
}

func (h *connection) Domain(name string) (DomainState, bool, error) {
	d, err := h.c.LookupDomainByName(name)
	if err != nil {
		there, err := looked(err)
		return DomainState{}, there, err
	}
	defer d.Free()
	state, err := domainState(d)
	return state, err == nil, err
}

func domainState(d *libvirt.Domain) (DomainState, error) {
	name, err := d.GetName()
	if err != nil {
		return DomainState{}, err
	}
	xml, err := d.GetXMLDesc(0)
	if err != nil {
		return DomainState{}, err
	}
	state, _, err := d.GetState()
	if err != nil {
		return DomainState{}, err
	}
	active, err := d.IsActive()
	return DomainState{Name: name, XML: xml, Active: active, State: domainStates[state]}, err
}

func (h *connection) Domains() ([]DomainState, error) {
	return each(domainState, func(d *libvirt.Domain) error { return d.Free() })(h.c.ListAllDomains(0))
}

func (h *connection) DefineDomain(xml string) error {
	d, err := h.c.DomainDefineXML(xml)
	if err != nil {
		return err
	}
	return d.Free()
}

// with does something to a domain.
func (h *connection) with(name string, do func(*libvirt.Domain) error) error {
	d, err := h.c.LookupDomainByName(name)
	if err != nil {
		return err
	}
	defer d.Free()
	return do(d)
}

func (h *connection) StartDomain(name string) error {
	return h.with(name, (*libvirt.Domain).Create)
}

func (h *connection) StopDomain(name string) error {
	return h.with(name, (*libvirt.Domain).Shutdown)
}

func (h *connection) RebootDomain(name string) error {
	return h.with(name, func(d *libvirt.Domain) error { return d.Reboot(0) })
}

func (h *connection) DestroyDomain(name string) error {
	return h.with(name, (*libvirt.Domain).Destroy)
}

func (h *connection) SuspendDomain(name string) error {
	return h.with(name, (*libvirt.Domain).Suspend)
}

func (h *connection) ResumeDomain(name string) error {
	return h.with(name, (*libvirt.Domain).Resume)
}

func (h *connection) RemoveDomain(name string) error {
	return h.with(name, func(d *libvirt.Domain) error {
		if active, err := d.IsActive(); err == nil && active {
			if err := d.Destroy(); err != nil {
				return err
			}
		}
		flags := libvirt.DOMAIN_UNDEFINE_SNAPSHOTS_METADATA | libvirt.DOMAIN_UNDEFINE_MANAGED_SAVE | libvirt.DOMAIN_UNDEFINE_NVRAM
		err := d.UndefineFlags(flags)
		var e libvirt.Error
		if errors.As(err, &e) && (e.Code == libvirt.ERR_INVALID_ARG || e.Code == libvirt.ERR_NO_SUPPORT || e.Code == libvirt.ERR_ARGUMENT_UNSUPPORTED) {
			// The test driver knows no NVRAM.
			return d.UndefineFlags(libvirt.DOMAIN_UNDEFINE_SNAPSHOTS_METADATA | libvirt.DOMAIN_UNDEFINE_MANAGED_SAVE)
		}
		return err
	})
}

func (h *connection) Snapshots(domain string) ([]string, error) {
	var names []string
	err := h.with(domain, func(d *libvirt.Domain) error {
		all, err := d.ListAllSnapshots(libvirt.DOMAIN_SNAPSHOT_LIST_TOPOLOGICAL)
		for i := range all {
			if name, err := all[i].GetName(); err == nil {
				names = append(names, name)
			}
			all[i].Free()
		}
		return err
	})
	return names, err
}

func (h *connection) TakeSnapshot(domain, name string) error {
	return h.with(domain, func(d *libvirt.Domain) error {
		text, err := (&libvirtxml.DomainSnapshot{Name: name}).Marshal()
		if err != nil {
			return err
		}
		s, err := d.CreateSnapshotXML(text, libvirt.DOMAIN_SNAPSHOT_CREATE_ATOMIC)
		if err != nil {
			return err
		}
		return s.Free()
	})
}

func (h *connection) RevertToSnapshot(domain, name string) error {
	return h.withSnapshot(domain, name, func(s *libvirt.DomainSnapshot) error { return s.RevertToSnapshot(0) })
}

func (h *connection) RemoveSnapshot(domain, name string) error {
	return h.withSnapshot(domain, name, func(s *libvirt.DomainSnapshot) error { return s.Delete(0) })
}

// withSnapshot does something with a domain's snapshot.
func (h *connection) withSnapshot(domain, name string, do func(*libvirt.DomainSnapshot) error) error {
	return h.with(domain, func(d *libvirt.Domain) error {
		s, err := d.SnapshotLookupByName(name, 0)
		if err != nil {
			return err
		}
		defer s.Free()
		return do(s)
	})
}

func (h *connection) RunOnce(ctx context.Context, xml string, patience time.Duration) (bool, error) {
	d, err := h.c.DomainCreateXML(xml, libvirt.DOMAIN_START_AUTODESTROY)
	if err != nil {
		return false, err
	}
	defer d.Free()
	// One that has shut itself off is not there any more.
	defer d.Destroy()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		active, err := d.IsActive()
		if absent(err) || err == nil && !active {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return false, nil
}
