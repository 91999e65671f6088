package vms

import (
	"path"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs"
)

// Accelerator is how a machine's processor is run, in libvirt's word for it.
type Accelerator string

const (
	// KVM runs on the host's own processor.
	KVM Accelerator = "kvm"
	// Emulated is software emulation, TCG: several times slower, and it takes
	// memory of its own for translated code.
	Emulated Accelerator = "qemu"
)

// TCGCache bounds the memory for translated code, in MiB. Without it QEMU takes
// a gibibyte for a machine of half of one.
const TCGCache = 256

// Domain is the definition of a machine. The disk is an overlay over a base
// image, named by path: libvirt's AppArmor helper cannot see through volumes.
func Domain(lab *labs.Lab, owner Owner, m Machine, base Image, run Accelerator) *libvirtxml.Domain {
	d := &libvirtxml.Domain{
		Type:     string(run),
		Name:     lab.DomainName(m.Name),
		Metadata: &libvirtxml.DomainMetadata{XML: owner.Element()},
		Memory:   &libvirtxml.DomainMemory{Value: uint(m.Memory), Unit: "MiB"},
		VCPU:     &libvirtxml.DomainVCPU{Value: uint(m.CPUs)},
		SysInfo:  ignition(lab, m),
		OS: &libvirtxml.DomainOS{
			Type:        &libvirtxml.DomainOSType{Arch: "x86_64", Machine: "q35", Type: "hvm"},
			BootDevices: []libvirtxml.DomainBootDevice{{Dev: "hd"}},
		},
		Features:   &libvirtxml.DomainFeatureList{ACPI: &libvirtxml.DomainFeature{}, APIC: &libvirtxml.DomainFeatureAPIC{}},
		CPU:        HostProcessor(),
		Clock:      &libvirtxml.DomainClock{Offset: "utc"},
		OnPoweroff: "destroy",
		OnReboot:   "restart",
		OnCrash:    "destroy",
		Devices:    devices(lab, m, base),
	}
	if run == Emulated {
		d.CPU = &libvirtxml.DomainCPU{Mode: "maximum"}
		d.Features.TCG = &libvirtxml.DomainFeatureTCG{TBCache: &libvirtxml.DomainFeatureTCGTBCache{Unit: "MiB", Size: TCGCache}}
	}
	return d
}

// HostProcessor is the host's own processor, for KVM. It is migratable, which leaves
// out features that tie a machine to its host (invtsc above all): with one of them
// QEMU refuses to save the memory of a machine, so no snapshot of a running one works.
// Source: libvirt docs formatdomain, attribute migratable; QEMU target/i386/cpu.c,
// "State blocked by non-migratable CPU device".
func HostProcessor() *libvirtxml.DomainCPU {
	return &libvirtxml.DomainCPU{Mode: "host-passthrough", Migratable: "on"}
}

// ignition hands the machine its Ignition file through the firmware's
// configuration channel. libvirt labels a file that is named here, so it can
// stay unreadable for others.
func ignition(lab *labs.Lab, m Machine) []libvirtxml.DomainSysInfo {
	return []libvirtxml.DomainSysInfo{{FWCfg: &libvirtxml.DomainSysInfoFWCfg{Entry: []libvirtxml.DomainSysInfoEntry{{
		Name: "opt/com.coreos/config",
		File: path.Join(LabPoolDir(lab), IgnitionVolume(lab, m.Name)),
	}}}}}
}

func devices(lab *labs.Lab, m Machine, base Image) *libvirtxml.DomainDeviceList {
	port := uint(0)
	return &libvirtxml.DomainDeviceList{
		Disks: []libvirtxml.DomainDisk{{
			Device: "disk",
			Driver: &libvirtxml.DomainDiskDriver{Name: "qemu", Type: "qcow2", Discard: "unmap"},
			Source: &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: path.Join(LabPoolDir(lab), DiskVolume(lab, m.Name))}},
			BackingStore: &libvirtxml.DomainDiskBackingStore{
				Format: &libvirtxml.DomainDiskFormat{Type: base.Format},
				Source: &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: path.Join(PoolDir, BaseVolume(base))}},
			},
			Target: &libvirtxml.DomainDiskTarget{Dev: "vda", Bus: "virtio"},
		}},
		Interfaces: []libvirtxml.DomainInterface{{
			MAC:    &libvirtxml.DomainInterfaceMAC{Address: m.MAC},
			Source: &libvirtxml.DomainInterfaceSource{Network: &libvirtxml.DomainInterfaceSourceNetwork{Network: NetworkName(lab)}},
			Model:  &libvirtxml.DomainInterfaceModel{Type: "virtio"},
		}},
		Serials: []libvirtxml.DomainSerial{{
			Source: &libvirtxml.DomainChardevSource{Pty: &libvirtxml.DomainChardevSourcePty{}},
			Log:    &libvirtxml.DomainChardevLog{File: SerialLog(lab, m.Name), Append: "on"},
			Target: &libvirtxml.DomainSerialTarget{Port: &port},
		}},
		Consoles: []libvirtxml.DomainConsole{{
			Source: &libvirtxml.DomainChardevSource{Pty: &libvirtxml.DomainChardevSourcePty{}},
			Target: &libvirtxml.DomainConsoleTarget{Type: "serial", Port: &port},
		}},
		Channels: []libvirtxml.DomainChannel{{
			Source: &libvirtxml.DomainChardevSource{UNIX: &libvirtxml.DomainChardevSourceUNIX{Mode: "bind"}},
			Target: &libvirtxml.DomainChannelTarget{VirtIO: &libvirtxml.DomainChannelTargetVirtIO{Name: "org.qemu.guest_agent.0"}},
		}},
		RNGs: []libvirtxml.DomainRNG{{
			Model:   "virtio",
			Backend: &libvirtxml.DomainRNGBackend{Random: &libvirtxml.DomainRNGBackendRandom{Device: "/dev/urandom"}},
		}},
		MemBalloon: &libvirtxml.DomainMemBalloon{Model: "virtio"},
	}
}

// SerialLog is the file on the host that holds what the machine's serial port
// printed since it was made. libvirt's log daemon writes it, as root.
func SerialLog(lab *labs.Lab, machine string) string {
	return path.Join("/var/log/libvirt/qemu", lab.DomainName(machine)+"-serial.log")
}
