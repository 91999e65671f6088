package vms

import (
	"crypto/sha256"
	"fmt"
	"path"
	"strings"

	"bootlab/labs"
)

// Pool is the libvirt storage pool of all labs of a host: base images, which
// labs share, and a directory for each lab.
const (
	Pool    = "bootlab"
	PoolDir = "/var/lib/libvirt/images/bootlab"
)

// NetworkName is the name of the lab's libvirt network.
func NetworkName(lab *labs.Lab) string { return lab.HostName() }

// LabPool is the name of the pool with the lab's own disks and Ignition files.
func LabPool(lab *labs.Lab) string { return lab.PoolName() }

// LabPoolDir is the directory of that pool.
func LabPoolDir(lab *labs.Lab) string { return path.Join(PoolDir, "labs", lab.Metadata.Name) }

// Bridge names the host's side of the network. The kernel allows 15 bytes, so
// the lab's name does not fit; the same lab always gets the same name.
func Bridge(lab *labs.Lab) string {
	sum := sha256.Sum256([]byte(lab.Metadata.Name))
	return fmt.Sprintf("bl-%x", sum[:4])
}

// BaseVolume is the name of a base image in the shared pool. The hash is that of
// the content: a stale image under the same name cannot be taken for another.
func BaseVolume(base Image) string { return BasePrefix + base.SHA256 + "." + base.Format }

const BasePrefix = "base-"

// DiskVolume and IgnitionVolume are the machine's own files in the lab's pool.
// They have the name of its domain: by that remove-bootstrap.sh tells them from
// disks that somebody attached.
func DiskVolume(lab *labs.Lab, machine string) string { return lab.DiskVolume(machine) }

// IgnitionVolume holds what Ignition reads at the machine's first boot.
func IgnitionVolume(lab *labs.Lab, machine string) string { return lab.IgnitionVolume(machine) }

// VolumeOf says whether a file has a name that this lab's machines give, those
// of an earlier lab.yaml too.
func VolumeOf(lab *labs.Lab, name string) bool {
	return strings.HasPrefix(name, lab.DomainName("")) && (strings.HasSuffix(name, ".qcow2") || strings.HasSuffix(name, ".ign"))
}
