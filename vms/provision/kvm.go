package provision

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"libvirt.org/go/libvirtxml"

	"bootlab/labs"
	"bootlab/vms"
)

// KVMProof says whether KVM runs code on this host, and how that is known. It
// holds until the host boots again.
type KVMProof struct {
	Boot  string `json:"boot"` // the kernel's id of this boot
	Works bool   `json:"works"`
	Why   string `json:"why"`
}

const (
	kvmFile = "kvm.json"
	// probePatience is how long a probe machine may take. One that works needs less
	// than a second.
	probePatience = 3 * time.Second
	probePrefix   = "probe-"
	probeSize     = 1 << 20
)

// ProveKVM finds out whether KVM really runs a machine. The device and libvirt
// can both say yes while a guest hangs in the first instructions: so one is
// started for a moment that has nothing to do but to switch itself off.
func (p *Provisioner) ProveKVM(ctx context.Context) (KVMProof, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return KVMProof{}, err
	}
	proof := KVMProof{Boot: strings.TrimSpace(string(boot))}
	var known KVMProof
	if there, err := p.State.Recall(kvmFile, &known); err == nil && there && known.Boot == proof.Boot {
		return known, nil
	}
	if proof.Works, proof.Why, err = p.tryKVM(ctx); err != nil {
		return proof, err
	}
	if p.State.ReadOnly() { // somebody only looks
		return proof, nil
	}
	return proof, p.State.Remember(kvmFile, proof)
}

func (p *Provisioner) tryKVM(ctx context.Context) (works bool, why string, err error) {
	offered, err := p.Host.HasKVM()
	if err != nil {
		return false, "", err
	}
	if !offered {
		return false, "libvirt offers no KVM here, or the processor has neither vmx nor svm", nil
	}
	ended, err := p.Probe(ctx, vms.KVM, probePatience)
	switch {
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	case err != nil:
		return false, "a probe machine could not be run: " + err.Error(), nil
	case !ended:
		return false, fmt.Sprintf("a probe machine ran no code within %s", probePatience), nil
	}
	return true, "a probe machine ran, and switched itself off", nil
}

// Probe starts a machine of one boot sector and says whether it switched itself
// off in time. Nothing of it stays.
func (p *Provisioner) Probe(ctx context.Context, run vms.Accelerator, patience time.Duration) (ended bool, err error) {
	return p.probeWith(ctx, run, patience, bootSector)
}

func (p *Provisioner) probeWith(ctx context.Context, run vms.Accelerator, patience time.Duration, code []byte) (ended bool, err error) {
	giveBack, err := p.borrowPool()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	name := make([]byte, 6)
	if _, err := rand.Read(name); err != nil {
		return false, err
	}
	volume := probePrefix + hex.EncodeToString(name) + ".img"
	disk := make([]byte, probeSize)
	copy(disk, code)
	disk[510], disk[511] = 0x55, 0xaa
	shape := &libvirtxml.StorageVolume{
		Name:     volume,
		Capacity: &libvirtxml.StorageVolumeSize{Unit: "bytes", Value: probeSize},
		Target:   &libvirtxml.StorageVolumeTarget{Format: &libvirtxml.StorageVolumeTargetFormat{Type: "raw"}},
	}
	defer func() {
		if _, there, _ := p.Host.Volume(vms.Pool, volume); there {
			err = errors.Join(err, p.Host.RemoveVolume(vms.Pool, volume))
		}
	}()
	if err := p.makeVolume(vms.Pool, shape, bytes.NewReader(disk), probeSize, nil); err != nil {
		return false, err
	}
	text, err := probeDomain(volume, run).Marshal()
	if err != nil {
		return false, err
	}
	return p.Host.RunOnce(ctx, text, patience)
}

// borrowPool sees to it that the shared pool is there, and gives back what takes
// it away again if it was not.
func (p *Provisioner) borrowPool() (giveBack func() error, err error) {
	pool := p.sharedPool()
	at, err := pool.look()
	if err != nil {
		return nil, err
	}
	if err := bring(pool, at); err != nil {
		return nil, err
	}
	if at == missing {
		return func() error { return p.Host.RemovePool(vms.Pool) }, nil
	}
	return func() error { return nil }, nil
}

// bootSector asks the BIOS whether it has extended disk calls, which is where
// guests of a KVM that does not work stand still, and switches the power off
// through the chipset's ACPI port. If anything is amiss it halts.
var bootSector = []byte{
	0xfa,       // cli
	0x31, 0xc0, // xor ax, ax
	0x8e, 0xd8, // mov ds, ax
	0x8e, 0xd0, // mov ss, ax
	0xbc, 0x00, 0x7c, // mov sp, 0x7c00
	0xfb,       // sti
	0xb4, 0x41, // mov ah, 0x41
	0xbb, 0xaa, 0x55, // mov bx, 0x55aa
	0xb2, 0x80, // mov dl, 0x80
	0xcd, 0x13, // int 0x13
	0x72, 0x0d, // jc halt
	0x81, 0xfb, 0x55, 0xaa, // cmp bx, 0xaa55
	0x75, 0x07, // jne halt
	0xba, 0x04, 0x06, // mov dx, 0x604: PM1a control of q35, as SeaBIOS places it
	0xb8, 0x00, 0x20, // mov ax, 0x2000: sleep enable, type 0 (soft off)
	0xef,       // out dx, ax
	0xf4,       // halt: hlt
	0xeb, 0xfd, // jmp halt
}

func probeDomain(volume string, run vms.Accelerator) *libvirtxml.Domain {
	cpu := vms.HostProcessor()
	if run == vms.Emulated {
		cpu = &libvirtxml.DomainCPU{Mode: "maximum"}
	}
	return &libvirtxml.Domain{
		Type:   string(run),
		Name:   labs.HostPrefix + strings.TrimSuffix(volume, ".img"),
		Memory: &libvirtxml.DomainMemory{Value: 64, Unit: "MiB"},
		VCPU:   &libvirtxml.DomainVCPU{Value: 1},
		OS: &libvirtxml.DomainOS{
			Type:        &libvirtxml.DomainOSType{Arch: vms.Architecture, Machine: "q35", Type: "hvm"},
			BootDevices: []libvirtxml.DomainBootDevice{{Dev: "hd"}},
		},
		Features:   &libvirtxml.DomainFeatureList{ACPI: &libvirtxml.DomainFeature{}, APIC: &libvirtxml.DomainFeatureAPIC{}},
		CPU:        cpu,
		OnPoweroff: "destroy",
		// A machine that falls over restarts, and so never counts as one that
		// switched itself off.
		OnReboot: "restart",
		OnCrash:  "preserve",
		Devices: &libvirtxml.DomainDeviceList{
			Disks: []libvirtxml.DomainDisk{{
				Device: "disk",
				Driver: &libvirtxml.DomainDiskDriver{Name: "qemu", Type: "raw"},
				Source: &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: path.Join(vms.PoolDir, volume)}},
				Target: &libvirtxml.DomainDiskTarget{Dev: "vda", Bus: "virtio"},
			}},
			MemBalloon: &libvirtxml.DomainMemBalloon{Model: "none"},
		},
	}
}
