package provision

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"bootlab/vms"
)

// Memory is what this host has for machines, in MiB.
type Memory struct {
	Total     int
	Available int // without swapping, right now
	// Committed is what the machines that run may take, of whatever lab or owner.
	Committed int
}

// Free is what a further machine can have. Machines that run take their memory step by
// step, so what is available now may be theirs in an hour.
func (m Memory) Free() int { return max(0, min(m.Available, m.Total-m.Committed)) }

// Overhead is what QEMU takes beside a machine's memory, in MiB. A machine that was
// measured took 90 MiB beside the memory for translated code.
func Overhead(run vms.Accelerator) int {
	const qemu = 100
	if run == vms.Emulated {
		return qemu + vms.TCGCache
	}
	return qemu
}

// Memory looks at this host. Without libvirt nothing is known to be committed.
func (p *Provisioner) Memory() (Memory, error) {
	m := hostMemory("/proc/meminfo")
	if p.Host == nil {
		return m, nil
	}
	domains, err := p.Host.Domains()
	if err != nil {
		return m, err
	}
	for _, d := range domains {
		if !d.Active {
			continue
		}
		memory, run := vms.DomainMemory(d.XML)
		m.Committed += memory + Overhead(run)
	}
	return m, nil
}

// hostMemory reads what the kernel says; where it says nothing, there is none.
func hostMemory(file string) Memory {
	text, err := os.ReadFile(file)
	if err != nil {
		return Memory{}
	}
	var m Memory
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		words := strings.Fields(rest)
		if len(words) == 0 {
			continue
		}
		kib, _ := strconv.Atoi(words[0])
		switch name {
		case "MemTotal":
			m.Total = kib >> 10
		case "MemAvailable":
			m.Available = kib >> 10
		}
	}
	return m
}

// Room says whether the machines among these that do not run have room in memory, all
// together. An error names what is wanted and what there is.
func (p *Provisioner) Room(machines []vms.Machine) error {
	wanted := 0
	for _, m := range machines {
		state, err := p.mine(m)
		if err != nil {
			return err
		}
		if !state.Active {
			memory, run := vms.DomainMemory(state.XML)
			wanted += memory + Overhead(run)
		}
	}
	have, err := p.Memory()
	if err != nil || wanted <= have.Free() {
		return err
	}
	return &vms.Problem{
		Message: fmt.Sprintf("%s would take %d MiB, and %d MiB are free: %d of %d are available, and running machines may take %d", namesOf(machines), wanted, have.Free(), have.Available, have.Total, have.Committed),
		Hint:    "stop other machines, give these less memory in lab.yaml, or start fewer; --overcommit starts them all the same",
	}
}
