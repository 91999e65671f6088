// Package libvirt is the host of a lab's machines: what is asked of it, as [Host],
// and libvirt's own library behind it. A build without cgo or without the tag
// libvirt_dlopen has the interface alone, and [Connect] says so.
package libvirt

import (
	"context"
	"errors"
	"io"
	"time"
)

// Host is a libvirt host, as far as a lab needs it. What is asked for by name
// and is not there is reported as absent, not as an error.
type Host interface {
	Network(name string) (state NetworkState, there bool, err error)
	DefineNetwork(xml string) error
	StartNetwork(name string) error
	RemoveNetwork(name string) error
	// AddDNSHost and RemoveDNSHost change the records of a network: of its
	// definition, and of what its name server answers if it is active. xml is the
	// record's; to remove one its address is enough.
	AddDNSHost(network, xml string) error
	RemoveDNSHost(network, xml string) error

	Pool(name string) (state PoolState, there bool, err error)
	// Pools are all storage pools of the host.
	Pools() ([]PoolState, error)
	// DefinePool makes the pool, its directory too, and starts it.
	DefinePool(xml string) error
	StartPool(name string) error
	// RemovePool takes the pool and its directory away, which must be empty.
	RemovePool(name string) error

	Volume(pool, name string) (state VolumeState, there bool, err error)
	// MakeVolume makes a volume; content, if there is any, is size bytes long.
	// progress is called with the bytes so far. One of that name that is there
	// already is [ErrVolumeExists].
	MakeVolume(pool, xml string, content io.Reader, size int64, progress func(int64)) error
	// ReadVolume gives at most limit bytes of a volume.
	ReadVolume(pool, name string, limit int64) ([]byte, error)
	RemoveVolume(pool, name string) error

	Domain(name string) (state DomainState, there bool, err error)
	// Domains are all domains of the host.
	Domains() ([]DomainState, error)
	DefineDomain(xml string) error
	StartDomain(name string) error
	// StopDomain asks the system to shut down; DestroyDomain cuts its power.
	StopDomain(name string) error
	RebootDomain(name string) error
	DestroyDomain(name string) error
	// SuspendDomain makes the machine stand still, ResumeDomain go on.
	SuspendDomain(name string) error
	ResumeDomain(name string) error
	RemoveDomain(name string) error

	// Snapshots lists a domain's snapshots, oldest first.
	Snapshots(domain string) ([]string, error)
	TakeSnapshot(domain, name string) error
	RevertToSnapshot(domain, name string) error
	RemoveSnapshot(domain, name string) error

	// RunOnce starts a domain that is not kept, waits until it has shut itself
	// off, and says whether it did within that time. The domain ends in any
	// case, and with the program too.
	RunOnce(ctx context.Context, xml string, patience time.Duration) (ended bool, err error)

	// HasKVM says whether libvirt offers KVM and the processor has the
	// instructions for it. It can still hang; see ProveKVM of package provision.
	HasKVM() (bool, error)
	// Networks are all networks of the host by name, for collisions.
	Networks() ([]NetworkState, error)
	Version() (string, error)
	Close() error
}

// NetworkState is what a host says of a network.
type NetworkState struct {
	Name, XML string
	Active    bool
}

// PoolState is what a host says of a storage pool.
type PoolState struct {
	Name, Dir string
	Active    bool
	Available uint64 // bytes
	Volumes   []string
}

// VolumeState is what a host says of a volume, in bytes.
type VolumeState struct {
	Path     string
	Capacity uint64
	Backing  string // path of the image below an overlay
	// Physical is what is really there: after an interrupted upload it is less
	// than Capacity.
	Physical uint64
}

// DomainState is what a host says of a domain.
type DomainState struct {
	Name   string
	XML    string
	Active bool
	// State is libvirt's word: running, paused, shut off, crashed.
	State string
}

// ErrVolumeExists is given by MakeVolume for a name that is taken.
var ErrVolumeExists = errors.New("a volume of that name exists")

// ErrNoLibvirt is given by [Connect] of a program that was built without
// libvirt.
var ErrNoLibvirt = errors.New("this bootlab was built without libvirt")
