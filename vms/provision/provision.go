// Package provision makes and removes the machines of a lab on a libvirt host:
// network, disks, domains and load balancer; and runs them in between.
package provision

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"bootlab/labs"
	"bootlab/vms"
	"bootlab/vms/libvirt"
	"bootlab/vms/state"
)

// Provisioner brings the machines of one lab onto one host, and takes them away.
type Provisioner struct {
	Lab   *labs.Lab
	Host  libvirt.Host
	State *state.Dir
	// Base is the image below every disk, Run how processors are run.
	Base vms.Image
	Run  vms.Accelerator
	// Ignition is what a machine reads at its first boot.
	Ignition func(vms.Machine) ([]byte, error)
	// Uploaded gets the number of bytes of a base image that have arrived.
	Uploaded func(sent, size int64)
	// NoBalancer: the names lead straight to the machines. [New] finds
	// what was remembered, [Provisioner.ChooseBalancer] settles it.
	NoBalancer bool

	owner vms.Owner
	// adopted are places from which this lab was run before.
	adopted []vms.Owner
}

// New prepares a lab; directory is that of its lab.yaml.
func New(lab *labs.Lab, host libvirt.Host, dir *state.Dir, directory string) (*Provisioner, error) {
	directory, err := state.RealPath(directory)
	if err != nil {
		return nil, err
	}
	without, err := rememberedBalancer(dir)
	if err != nil {
		return nil, err
	}
	p := &Provisioner{Lab: lab, Host: host, State: dir, Run: vms.KVM, NoBalancer: without,
		owner: vms.Owner{Name: lab.Metadata.Name, UID: lab.Metadata.UID, Directory: directory, Workstation: state.Workstation()}}
	_, err = dir.Recall(adoptedFile, &p.adopted)
	return p, err
}

// Up makes whatever is missing, in order, and starts the network and the load
// balancer. Machines are defined, not started. It goes on where an earlier one
// was stopped.
func (p *Provisioner) Up(ctx context.Context, progress Progress) error {
	if err := p.notRenamed(); err != nil {
		return err
	}
	things, err := p.things(ctx)
	if err != nil {
		return err
	}
	return makeAll(ctx, p.State, things, progress)
}

// Down takes everything of the lab away, also what an earlier lab.yaml made,
// and says what it found.
func (p *Provisioner) Down(ctx context.Context, progress Progress) ([]Receipt, error) {
	earlier, err := p.earlierNames()
	if err != nil {
		return nil, err
	}
	var receipts []Receipt
	for _, name := range append(earlier, p.Lab.Metadata.Name) {
		things, err := p.named(name).remains()
		if err != nil {
			return receipts, err
		}
		receipts = append(receipts, removeAll(ctx, p.State, things, progress)...)
	}
	if slices.ContainsFunc(receipts, func(r Receipt) bool { return r.Left }) {
		return receipts, nil
	}
	return receipts, errors.Join(p.forgetBalancer(), p.State.Forget(adoptedFile), p.State.Forget(connectionFile))
}

// things are all things of the lab in the order in which they are made.
func (p *Provisioner) things(ctx context.Context) ([]Thing, error) {
	gone, err := p.BootstrapGone()
	if err != nil {
		return nil, err
	}
	things := []Thing{p.sharedPool(), p.baseImage(ctx), p.labPool(), p.network()}
	if !p.NoBalancer {
		things = append(things, p.balancer())
	}
	for _, m := range vms.Machines(p.Lab) {
		if m.Role != vms.Bootstrap || !gone {
			things = append(things, p.ignition(m), p.disk(m), p.domain(m))
		}
	}
	return things, nil
}

// BootstrapGone says whether the bootstrap was taken away from a lab that goes
// on. It is made before all other machines and removed after them, so where it
// is missing and another is there, somebody meant it.
func (p *Provisioner) BootstrapGone() (bool, error) {
	if _, there, err := p.Host.Domain(p.Lab.DomainName(p.Lab.Machines.Bootstrap.Name)); err != nil || there {
		return false, err
	}
	for _, m := range vms.Machines(p.Lab)[1:] {
		state, there, err := p.Host.Domain(p.Lab.DomainName(m.Name))
		if err != nil {
			return false, err
		}
		if there && p.marked(state.XML) {
			return true, nil
		}
	}
	return false, nil
}

// remains are the things of the lab that the host has, whatever lab.yaml says by
// now. They are known by their owner alone.
func (p *Provisioner) remains() ([]Thing, error) {
	own, network := p.labPool(), p.network()
	network.look = func() (condition, error) {
		state, there, err := p.Host.Network(network.Name)
		if err != nil || !there {
			return missing, err
		}
		return p.ours("network", network.Name, state.XML)
	}
	files, err := p.filesOf(own)
	if err != nil {
		return nil, err
	}
	first := []Thing{p.sharedPool(), own, network}
	// What was remembered may have been lost, and a process would stay.
	if at, err := p.balancer().look(); !p.NoBalancer || err != nil || at != missing {
		first = append(first, p.balancer())
	}
	machines, err := p.machinesOf()
	return slices.Concat(first, files, machines), err
}

// filesOf are all files in the lab's own pool.
func (p *Provisioner) filesOf(own Thing) ([]Thing, error) {
	at, err := own.look()
	if err == nil && at == inactive {
		// The host has booted since; what is in it is seen only when it is started.
		if err := own.start(); err != nil {
			return nil, err
		}
		at, err = own.look()
	}
	if err != nil || at != ready {
		return nil, nil // it is not the lab's, and the receipt will say so
	}
	state, _, err := p.Host.Pool(own.Name)
	var files []Thing
	for _, name := range state.Volumes {
		switch {
		case name == vms.OwnerVolume: // it goes with the pool
		case vms.VolumeOf(p.Lab, name):
			files = append(files, p.volume("file", own.Name, name))
		default:
			files = append(files, strangeFile(name))
		}
	}
	return files, err
}

// machinesOf are all domains of the lab. What stands first goes last, and the
// bootstrap must: see [Provisioner.BootstrapGone].
func (p *Provisioner) machinesOf() ([]Thing, error) {
	domains, err := p.Host.Domains()
	boot := p.Lab.DomainName(p.Lab.Machines.Bootstrap.Name)
	var machines []Thing
	for _, d := range domains {
		if !p.marked(d.XML) {
			continue
		}
		at := len(machines)
		if d.Name == boot {
			at = 0
		}
		machines = slices.Insert(machines, at, p.domainNamed(d.Name))
	}
	return machines, err
}

// strangeFile lies in the lab's directory, and bootlab gives no such name.
func strangeFile(name string) Thing {
	return Thing{Kind: "file", Name: name, look: func() (condition, error) {
		return "", &vms.Problem{Message: "bootlab made no file of that name", Hint: "move it away"}
	}}
}

// ours says of something with metadata that it is there and the lab's.
func (p *Provisioner) ours(what, name, xml string) (condition, error) {
	if !p.marked(xml) {
		return "", p.foreign(what, name, xml)
	}
	return ready, nil
}

// sharedPool may hold images of other labs, so it stays.
func (p *Provisioner) sharedPool() Thing {
	return Thing{Kind: "pool", Name: vms.Pool, Kept: true,
		look: func() (condition, error) {
			state, there, err := p.Host.Pool(vms.Pool)
			switch {
			case err != nil || !there:
				return missing, err
			case state.Dir != vms.PoolDir:
				return "", p.foreign("storage pool", vms.Pool, "")
			case !state.Active:
				return inactive, nil
			}
			return ready, nil
		},
		make:  func() error { return p.definePool(vms.SharedPool()) },
		start: func() error { return p.Host.StartPool(vms.Pool) },
	}
}

type marshaler interface{ Marshal() (string, error) }

func (p *Provisioner) definePool(pool marshaler) error {
	text, err := pool.Marshal()
	if err != nil {
		return err
	}
	return p.Host.DefinePool(text)
}

// labPool is the lab's own; a small file in it says so.
func (p *Provisioner) labPool() Thing {
	name, mark := vms.LabPool(p.Lab), []byte(p.owner.Element())
	return Thing{Kind: "pool", Name: name,
		look: func() (condition, error) {
			state, there, err := p.Host.Pool(name)
			switch {
			case err != nil || !there:
				return missing, err
			case state.Dir != vms.LabPoolDir(p.Lab):
				return "", p.foreign("storage pool", name, "")
			case !state.Active:
				return inactive, nil
			case len(state.Volumes) == 0:
				return halfMade, nil // the pool was made, and not marked
			case !slices.Contains(state.Volumes, vms.OwnerVolume):
				return "", p.foreign("storage pool", name, "")
			}
			text, err := p.Host.ReadVolume(name, vms.OwnerVolume, 1<<16)
			if err != nil {
				return "", err
			}
			text = bytes.TrimRight(text, "\x00")
			if p.marked(string(text)) {
				return ready, nil
			}
			if len(state.Volumes) == 1 && len(text) < len(mark) && bytes.HasPrefix(mark, text) {
				return halfMade, nil
			}
			return "", p.foreign("storage pool", name, string(text))
		},
		make: func() error {
			if err := p.definePool(vms.LabPoolDefinition(p.Lab)); err != nil {
				return err
			}
			return p.makeVolume(name, vms.OwnerFile(), bytes.NewReader(mark), int64(len(mark)), nil)
		},
		start: func() error { return p.Host.StartPool(name) },
		remove: func() error {
			state, _, err := p.Host.Pool(name)
			if err != nil {
				return err
			}
			// Without the mark it would not be known any more whose the rest is.
			for _, volume := range state.Volumes {
				if volume != vms.OwnerVolume {
					return &vms.Problem{Message: fmt.Sprintf("%s holds %s", state.Dir, volume), Hint: "move it away"}
				}
			}
			if slices.Contains(state.Volumes, vms.OwnerVolume) {
				if err := p.Host.RemoveVolume(name, vms.OwnerVolume); err != nil {
					return err
				}
			}
			return p.Host.RemovePool(name)
		},
	}
}

// noSpace is the C library's text for ENOSPC, which libvirt passes on; it has no
// code of its own for that.
const noSpace = "No space left on device"

func (p *Provisioner) makeVolume(pool string, volume marshaler, content io.Reader, size int64, progress func(int64)) error {
	text, err := volume.Marshal()
	if err != nil {
		return err
	}
	err = p.Host.MakeVolume(pool, text, content, size, progress)
	if err != nil && strings.Contains(err.Error(), noSpace) {
		return &vms.Problem{Message: "the file system of " + vms.PoolDir + " is full", Err: err,
			Hint: "make room and go on with bootlab vms up; bootlab vms image prune removes images that no lab uses"}
	}
	return err
}

// definition is the text of a definition with its owner, and its hash in it.
func (p *Provisioner) definition(make func(vms.Owner) marshaler) (text, hash string, err error) {
	plain, err := make(p.owner).Marshal()
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256([]byte(plain))
	marked := p.owner
	marked.Definition = "sha256:" + hex.EncodeToString(sum[:])
	text, err = make(marked).Marshal()
	return text, marked.Definition, err
}

func (p *Provisioner) network() Thing {
	name := vms.NetworkName(p.Lab)
	define := func(o vms.Owner) marshaler { return vms.Network(p.Lab, o) }
	if p.NoBalancer {
		define = func(o vms.Owner) marshaler { return vms.NetworkWithoutBalancer(p.Lab, o) }
	}
	return Thing{Kind: "network", Name: name,
		look: func() (condition, error) {
			state, there, err := p.Host.Network(name)
			if err != nil || !there {
				return missing, err
			}
			return p.known("network", name, state.XML, state.Active, define, func(text string) (vms.Facts, error) {
				return vms.NetworkFacts(text, !p.NoBalancer)
			})
		},
		make: func() error {
			if err := p.defined(define, p.Host.DefineNetwork); err != nil || !p.NoBalancer {
				return err
			}
			return p.passBootstrap()
		},
		start: func() error { return p.Host.StartNetwork(name) },
		remove: func() error {
			if err := p.noOtherMachineOn(name); err != nil {
				return err
			}
			return p.Host.RemoveNetwork(name)
		},
	}
}

// noOtherMachineOn refuses to take a network from under a machine that is not the
// lab's: it would stay cut off, also from a new network of that name.
func (p *Provisioner) noOtherMachineOn(network string) error {
	domains, err := p.Host.Domains()
	if err != nil {
		return err
	}
	for _, d := range domains {
		if d.Active && !p.marked(d.XML) && strings.Contains(d.XML, "network='"+network+"'") {
			return &vms.Problem{Message: d.Name + " is attached to it, and is not this lab's", Hint: "detach or stop that machine"}
		}
	}
	return nil
}

// known judges something with metadata: whose it is, and whether it is what the
// lab.yaml of today asks for. A definition of another bootlab with the same facts is.
func (p *Provisioner) known(what, name, xml string, active bool, define func(vms.Owner) marshaler, facts func(string) (vms.Facts, error)) (condition, error) {
	if at, err := p.ours(what, name, xml); err != nil {
		return at, err
	}
	differ, err := p.differ(xml, define, facts)
	switch {
	case err != nil:
		return "", err
	case len(differ) > 0 && active:
		return "", &vms.Problem{Message: fmt.Sprintf("%s %s runs as an earlier lab.yaml wanted it: %s", what, name, strings.Join(differ, "; ")),
			Hint: "put back what changed in lab.yaml, image or processor, or take the lab away first: bootlab vms down " + p.owner.Directory}
	case len(differ) > 0:
		return halfMade, nil
	case !active:
		return inactive, nil
	}
	return ready, nil
}

// differ names the facts in which something on the host is not what the lab asks for.
func (p *Provisioner) differ(xml string, define func(vms.Owner) marshaler, facts func(string) (vms.Facts, error)) ([]string, error) {
	o, _ := vms.OwnerIn(xml)
	text, wanted, err := p.definition(define)
	if err != nil || o.Definition == wanted {
		return nil, err
	}
	want, err := facts(text)
	if err != nil {
		return nil, err
	}
	have, err := facts(xml)
	if err != nil {
		return nil, err
	}
	return have.Differ(want), nil
}

func (p *Provisioner) defined(define func(vms.Owner) marshaler, host func(string) error) error {
	text, _, err := p.definition(define)
	if err != nil {
		return err
	}
	return host(text)
}

// ignition is the file that a machine reads at its first boot.
func (p *Provisioner) ignition(m vms.Machine) Thing {
	pool, name := vms.LabPool(p.Lab), vms.IgnitionVolume(p.Lab, m.Name)
	t := p.volume("file", pool, name)
	t.look = func() (condition, error) {
		state, there, err := p.Host.Volume(pool, name)
		if err != nil || !there {
			return missing, err
		}
		want, err := p.Ignition(m)
		if err != nil {
			return "", err
		}
		got, err := p.Host.ReadVolume(pool, name, int64(max(state.Capacity, uint64(len(want))))+1)
		switch {
		case err != nil:
			return "", err
		case bytes.Equal(got, want):
			return ready, nil
		case uint64(len(bytes.TrimRight(got, "\x00"))) < state.Capacity:
			return halfMade, nil // an upload that was cut off: the text ends with no zero
		case len(got) < len(want) && bytes.HasPrefix(want, got):
			return halfMade, nil // the same: no whole file is the beginning of another
		}
		return "", &vms.Problem{Message: m.Name + " was made with another Ignition file than the one that is there now",
			Hint: "its certificates are of another run of openshift-install: bootlab vms down " + p.owner.Directory + ", and up again"}
	}
	t.make = func() error {
		text, err := p.Ignition(m)
		if err != nil {
			return err
		}
		return p.makeVolume(pool, vms.IgnitionFile(p.Lab, m), bytes.NewReader(text), int64(len(text)), nil)
	}
	return t
}

func (p *Provisioner) disk(m vms.Machine) Thing {
	pool, name := vms.LabPool(p.Lab), vms.DiskVolume(p.Lab, m.Name)
	base := path.Join(vms.PoolDir, vms.BaseVolume(p.Base))
	t := p.volume("disk", pool, name)
	t.look = func() (condition, error) {
		state, there, err := p.Host.Volume(pool, name)
		switch {
		case err != nil || !there:
			return missing, err
		case state.Backing != base:
			return "", &vms.Problem{Message: "the disk of " + m.Name + " stands on another base image, " + state.Backing,
				Hint: "choose that image again, or take the lab away first: bootlab vms down " + p.owner.Directory}
		case state.Capacity != uint64(m.Disk)<<30:
			return "", &vms.Problem{Message: fmt.Sprintf("the disk of %s was made with %d GiB, and lab.yaml says %d", m.Name, state.Capacity>>30, m.Disk),
				Hint: "put lab.yaml back, or take the lab away first: bootlab vms down " + p.owner.Directory}
		}
		return ready, nil
	}
	t.make = func() error {
		return p.makeVolume(pool, vms.Disk(p.Lab, m, p.Base), nil, 0, nil)
	}
	return t
}

// volume is a volume that is ours because of where it lies.
func (p *Provisioner) volume(kind, pool, name string) Thing {
	return Thing{Kind: kind, Name: name,
		look: func() (condition, error) {
			_, there, err := p.Host.Volume(pool, name)
			if err != nil || !there {
				return missing, err
			}
			return ready, nil
		},
		remove: func() error { return p.Host.RemoveVolume(pool, name) },
	}
}

// domain is a machine's definition; that it is not started is no fault.
func (p *Provisioner) domain(m vms.Machine) Thing {
	define := func(o vms.Owner) marshaler { return vms.Domain(p.Lab, o, m, p.Base, p.Run) }
	t := p.domainNamed(p.Lab.DomainName(m.Name))
	t.look = func() (condition, error) {
		state, there, err := p.Host.Domain(t.Name)
		if err != nil || !there {
			return missing, err
		}
		at, err := p.known("domain", t.Name, state.XML, state.Active, define, vms.DomainFacts)
		switch at {
		case inactive:
			at = ready
		case halfMade:
			err = p.withoutSnapshots(m)
		}
		return at, err
	}
	t.make = func() error { return p.defined(define, p.Host.DefineDomain) }
	return t
}

// withoutSnapshots refuses to define a machine anew that has snapshots: libvirt would
// forget them, and they hold the hardware of then.
func (p *Provisioner) withoutSnapshots(m vms.Machine) error {
	have, err := p.snapshots(m)
	if err != nil || len(have) == 0 {
		return err
	}
	return &vms.Problem{Message: fmt.Sprintf("%s is to be made anew, as lab.yaml changed, and has snapshots that would be lost: %s", m.Name, strings.Join(have, ", ")),
		Hint: "put lab.yaml back, or delete them: bootlab vms snapshots " + p.owner.Directory + " --delete NAME"}
}

func (p *Provisioner) domainNamed(name string) Thing {
	return Thing{Kind: "machine", Name: name,
		look: func() (condition, error) {
			state, there, err := p.Host.Domain(name)
			if err != nil || !there {
				return missing, err
			}
			return p.ours("domain", name, state.XML)
		},
		remove: func() error { return p.Host.RemoveDomain(name) },
	}
}

// Conflicts are things of the lab's names that up would stumble over.
func (p *Provisioner) Conflicts() []error {
	look := func(things ...Thing) error {
		for _, t := range things {
			if _, err := t.look(); err != nil {
				return err
			}
		}
		return nil
	}
	// A pool of somebody else's says nothing about disks of ours.
	out := []error{look(p.sharedPool()), look(p.network())}
	at, own := p.labPool().look()
	out = append(out, own)
	for _, m := range vms.Machines(p.Lab) {
		switch {
		case p.Base.SHA256 == "": // the definition is not known without it
			out = append(out, look(p.domainNamed(p.Lab.DomainName(m.Name))))
		case at != ready: // its disks are not seen before up has started it
			out = append(out, look(p.domain(m)))
		default:
			out = append(out, look(p.disk(m), p.domain(m)))
		}
	}
	return slices.DeleteFunc(out, func(err error) bool { return err == nil })
}
