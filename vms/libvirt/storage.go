//go:build cgo && libvirt_dlopen

package libvirt

import (
	"errors"
	"fmt"
	"io"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"
)

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
	return each(poolState, func(p *libvirt.StoragePool) error { return p.Free() })(h.c.ListAllStoragePools(0))
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
	return startPool(p)
}

func (h *connection) StartPool(name string) error {
	p, err := h.c.LookupStoragePoolByName(name)
	if err != nil {
		return err
	}
	defer p.Free()
	return startPool(p)
}

// startPool makes the directory if it is not there.
func startPool(p *libvirt.StoragePool) error {
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

func (h *connection) MakeVolume(pool, xml string, content io.Reader, size int64, progress func(int64)) error {
	p, err := h.c.LookupStoragePoolByName(pool)
	if err != nil {
		return err
	}
	defer p.Free()
	v, err := p.StorageVolCreateXML(xml, 0)
	var e libvirt.Error
	if errors.As(err, &e) && e.Code == libvirt.ERR_STORAGE_VOL_EXIST {
		return fmt.Errorf("%w: %s", ErrVolumeExists, e.Message)
	}
	if err != nil {
		return err
	}
	defer v.Free()
	if content == nil {
		return nil
	}
	return h.upload(v, content, size, progress)
}

// upload sends the content in pieces; one that fails leaves a volume that is
// too short, which [VolumeState.Physical] shows.
func (h *connection) upload(v *libvirt.StorageVol, content io.Reader, size int64, progress func(int64)) error {
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
		if progress != nil {
			progress(sent)
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
