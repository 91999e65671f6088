//go:build cgo && libvirt_dlopen

package vms

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"
)

// connection is a [Host] by way of libvirt's own library.
type connection struct {
	c *libvirt.Connect
}

// Connect opens a libvirt connection, as qemu:///system or test:///default.
func Connect(uri string) (Host, error) {
	c, err := libvirt.NewConnect(uri)
	if err != nil {
		return nil, connectProblem(uri, said(err))
	}
	return &connection{c}, nil
}

// said is what libvirt says, without its numbers.
func said(err error) error {
	var e libvirt.Error
	if errors.As(err, &e) {
		return errors.New(e.Message)
	}
	return err
}

func (h *connection) Close() error {
	_, err := h.c.Close()
	return err
}

func (h *connection) Version() (string, error) {
	n, err := h.c.GetLibVersion()
	if err != nil {
		return "", err
	}
	return version(n), nil
}

// absent says whether an error only tells that there is no such thing.
func absent(err error) bool {
	var e libvirt.Error
	return errors.As(err, &e) && slices.Contains([]libvirt.ErrorNumber{
		libvirt.ERR_NO_DOMAIN, libvirt.ERR_NO_NETWORK, libvirt.ERR_NO_STORAGE_POOL, libvirt.ERR_NO_STORAGE_VOL, libvirt.ERR_NO_DOMAIN_SNAPSHOT}, e.Code)
}

// looked turns "there is none" into an answer.
func looked(err error) (there bool, _ error) {
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

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
	all, err := h.c.ListAllNetworks(0)
	if err != nil {
		return nil, err
	}
	var out []NetworkState
	for i := range all {
		state, err := networkState(&all[i])
		all[i].Free()
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil {
			out = append(out, state)
		}
	}
	return out, nil
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

func (h *connection) Pool(name string) (PoolState, bool, error) {
	p, err := h.c.LookupStoragePoolByName(name)
	if err != nil {
		there, err := looked(err)
		return PoolState{}, there, err
	}
	defer p.Free()
	state, err := poolState(p)
	return state, err == nil, err
}

func (h *connection) Pools() ([]PoolState, error) {
	all, err := h.c.ListAllStoragePools(0)
	if err != nil {
		return nil, err
	}
	var out []PoolState
	for i := range all {
		state, err := poolState(&all[i])
		all[i].Free()
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil {
			out = append(out, state)
		}
	}
	return out, nil
}

func poolState(p *libvirt.StoragePool) (PoolState, error) {
	text, err := p.GetXMLDesc(0)
	if err != nil {
		return PoolState{}, err
	}
	var pool libvirtxml.StoragePool
	if err := pool.Unmarshal(text); err != nil {
		return PoolState{}, err
	}
	state := PoolState{Name: pool.Name}
	if pool.Target != nil {
		state.Dir = pool.Target.Path
	}
	if state.Active, err = p.IsActive(); err != nil || !state.Active {
		return state, err
	}
	// Files that came or went since are not known without it.
	if err := p.Refresh(0); err != nil {
		return state, err
	}
	if info, err := p.GetInfo(); err == nil {
		state.Available = info.Available
	}
	state.Volumes, err = p.ListStorageVolumes()
	return state, err
}

func (h *connection) DefinePool(xml string) error {
	p, err := h.c.StoragePoolDefineXML(xml, 0)
	if err != nil {
		return err
	}
	defer p.Free()
	if err := p.Build(libvirt.STORAGE_POOL_BUILD_NEW); err != nil {
		return err
	}
	return p.Create(0)
}

func (h *connection) StartPool(name string) error {
	p, err := h.c.LookupStoragePoolByName(name)
	if err != nil {
		return err
	}
	defer p.Free()
	if err := p.Build(libvirt.STORAGE_POOL_BUILD_NEW); err != nil {
		return err
	}
	return p.Create(0)
}

func (h *connection) RemovePool(name string) error {
	p, err := h.c.LookupStoragePoolByName(name)
	if err != nil {
		return err
	}
	defer p.Free()
	if active, err := p.IsActive(); err == nil && active {
		if err := p.Destroy(); err != nil {
			return err
		}
	}
	// A directory that holds something else is left, and the pool with it.
	if err := p.Delete(libvirt.STORAGE_POOL_DELETE_NORMAL); err != nil {
		return err
	}
	return p.Undefine()
}

func (h *connection) volume(pool, name string) (*libvirt.StorageVol, error) {
	p, err := h.c.LookupStoragePoolByName(pool)
	if err != nil {
		return nil, err
	}
	defer p.Free()
	return p.LookupStorageVolByName(name)
}

func (h *connection) Volume(pool, name string) (VolumeState, bool, error) {
	v, err := h.volume(pool, name)
	if err != nil {
		there, err := looked(err)
		return VolumeState{}, there, err
	}
	defer v.Free()
	path, err := v.GetPath()
	if err != nil {
		return VolumeState{}, false, err
	}
	info, err := v.GetInfo()
	if err != nil {
		return VolumeState{}, false, err
	}
	state := VolumeState{Path: path, Capacity: info.Capacity, Physical: info.Allocation}
	if text, err := v.GetXMLDesc(0); err == nil {
		var volume libvirtxml.StorageVolume
		if volume.Unmarshal(text) == nil && volume.BackingStore != nil {
			state.Backing = volume.BackingStore.Path
		}
	}
	if physical, err := v.GetInfoFlags(libvirt.STORAGE_VOL_GET_PHYSICAL); err == nil {
		state.Physical = physical.Allocation
	}
	return state, true, nil
}

func (h *connection) MakeVolume(pool, xml string, content io.Reader, size int64, told func(int64)) error {
	p, err := h.c.LookupStoragePoolByName(pool)
	if err != nil {
		return err
	}
	defer p.Free()
	v, err := p.StorageVolCreateXML(xml, 0)
	if err != nil {
		return err
	}
	defer v.Free()
	if content == nil {
		return nil
	}
	return h.upload(v, content, size, told)
}

// upload sends the content in pieces; one that fails leaves a volume that is
// too short, which [VolumeState.Physical] shows.
func (h *connection) upload(v *libvirt.StorageVol, content io.Reader, size int64, told func(int64)) error {
	stream, err := h.c.NewStream(0)
	if err != nil {
		return err
	}
	defer stream.Free()
	if err := v.Upload(stream, 0, uint64(size), 0); err != nil {
		return err
	}
	buffer := make([]byte, 1<<18)
	sent := int64(0)
	for {
		n, err := io.ReadFull(content, buffer)
		for piece := buffer[:n]; len(piece) > 0; {
			m, err := stream.Send(piece)
			if err != nil {
				stream.Abort()
				return err
			}
			piece = piece[m:]
			sent += int64(m)
		}
		if told != nil {
			told(sent)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return stream.Finish()
		}
		if err != nil {
			stream.Abort()
			return err
		}
	}
}

func (h *connection) ReadVolume(pool, name string, limit int64) ([]byte, error) {
	v, err := h.volume(pool, name)
	if err != nil {
		return nil, err
	}
	defer v.Free()
	stream, err := h.c.NewStream(0)
	if err != nil {
		return nil, err
	}
	defer stream.Free()
	if err := v.Download(stream, 0, 0, 0); err != nil {
		return nil, err
	}
	var out []byte
	buffer := make([]byte, 1<<16)
	for {
		if int64(len(out)) >= limit {
			return out[:limit], stream.Abort()
		}
		n, err := stream.Recv(buffer)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return out, stream.Finish()
		}
		if err != nil {
			stream.Abort()
			return nil, err
		}
		out = append(out, buffer[:n]...)
	}
}

func (h *connection) RemoveVolume(pool, name string) error {
	v, err := h.volume(pool, name)
	if err != nil {
		return err
	}
	defer v.Free()
	return v.Delete(0)
}

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
	all, err := h.c.ListAllDomains(0)
	if err != nil {
		return nil, err
	}
	var out []DomainState
	for i := range all {
		state, err := domainState(&all[i])
		all[i].Free()
		if err != nil && !absent(err) {
			return nil, err
		}
		if err == nil {
			out = append(out, state)
		}
	}
	return out, nil
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

func (h *connection) HasKVM() (bool, error) {
	capabilities, err := h.c.GetDomainCapabilities("", "x86_64", "q35", "kvm", 0)
	if err != nil || !strings.Contains(capabilities, "<domain>kvm</domain>") {
		return false, nil // libvirt says with an error that it has none
	}
	text, err := h.c.GetCapabilities()
	if err != nil {
		return false, err
	}
	return h.virtualises(text), nil
}

// virtualises says whether the processor of a host has the instructions that KVM
// needs. The host's capabilities name a model, and only those features beside it
// that the model has not: the models of AMD have svm, so the list is written out
// first.
func (h *connection) virtualises(capabilities string) bool {
	_, rest, _ := strings.Cut(capabilities, "<cpu>")
	inside, _, _ := strings.Cut(rest, "</cpu>")
	cpu := "<cpu>" + inside + "</cpu>"
	if full, err := h.c.BaselineCPU([]string{cpu}, libvirt.CONNECT_BASELINE_CPU_EXPAND_FEATURES); err == nil {
		cpu += full
	}
	return strings.Contains(cpu, "name='vmx'") || strings.Contains(cpu, "name='svm'")
}
