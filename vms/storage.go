package vms

import (
	"path"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs"
)

// SharedPool holds the base images of all labs of the host.
func SharedPool() *libvirtxml.StoragePool { return pool(Pool, PoolDir) }

// LabPoolDefinition holds the disks and Ignition files of one lab.
func LabPoolDefinition(lab *labs.Lab) *libvirtxml.StoragePool {
	return pool(LabPool(lab), LabPoolDir(lab))
}

func pool(name, dir string) *libvirtxml.StoragePool {
	return &libvirtxml.StoragePool{
		Type:   "dir",
		Name:   name,
		Target: &libvirtxml.StoragePoolTarget{Path: dir},
	}
}

// Disk is the machine's disk: an overlay that holds only what differs from the
// base image. CoreOS grows its root to the disk at the first boot.
func Disk(lab *labs.Lab, m Machine, base Image) *libvirtxml.StorageVolume {
	return &libvirtxml.StorageVolume{
		Name:     DiskVolume(lab, m.Name),
		Capacity: &libvirtxml.StorageVolumeSize{Unit: "GiB", Value: uint64(m.Disk)},
		Target:   &libvirtxml.StorageVolumeTarget{Format: &libvirtxml.StorageVolumeTargetFormat{Type: "qcow2"}},
		BackingStore: &libvirtxml.StorageVolumeBackingStore{
			Path:   path.Join(PoolDir, BaseVolume(base)),
			Format: &libvirtxml.StorageVolumeTargetFormat{Type: base.Format},
		},
	}
}

// OwnerVolume lies in the lab's pool and says whose it is: pools have no
// metadata.
const OwnerVolume = "owner.xml"

// BaseImage is the volume of a base image. Whatever the format of its content,
// it is made as a plain file, and an empty one: it grows with what is uploaded,
// so that an upload that was cut off shows by its size.
func BaseImage(base Image) *libvirtxml.StorageVolume {
	return &libvirtxml.StorageVolume{
		Name:     BaseVolume(base),
		Capacity: &libvirtxml.StorageVolumeSize{Unit: "bytes", Value: 0},
		Target:   &libvirtxml.StorageVolumeTarget{Format: &libvirtxml.StorageVolumeTargetFormat{Type: "raw"}},
	}
}

// IgnitionFile is a volume for an Ignition file. It holds keys and the pull
// secret, so only its owner may read it.
func IgnitionFile(lab *labs.Lab, m Machine) *libvirtxml.StorageVolume {
	return privateFile(IgnitionVolume(lab, m.Name))
}

// OwnerFile is the volume for [OwnerVolume].
func OwnerFile() *libvirtxml.StorageVolume { return privateFile(OwnerVolume) }

func privateFile(name string) *libvirtxml.StorageVolume {
	return &libvirtxml.StorageVolume{
		Name:     name,
		Capacity: &libvirtxml.StorageVolumeSize{Unit: "bytes", Value: 0},
		Target: &libvirtxml.StorageVolumeTarget{
			Format:      &libvirtxml.StorageVolumeTargetFormat{Type: "raw"},
			Permissions: &libvirtxml.StorageVolumeTargetPermissions{Mode: "0600"},
		},
	}
}

// Image is a base image on this host: a file that QEMU can read.
type Image struct {
	File   string `json:"file"`
	Size   int64  `json:"size"`   // bytes of the file
	SHA256 string `json:"sha256"` // of the file, in hexadecimal
	Format string `json:"format"` // qcow2 or raw
	// Disk is the size of the disk that the image holds, in bytes.
	Disk int64 `json:"disk"`
	// Stream and Release are CoreOS's own words for it, where they are known.
	Stream  string `json:"stream,omitempty"`
	Release string `json:"release,omitempty"`
}
