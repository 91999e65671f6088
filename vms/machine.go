package vms

import (
	"slices"

	"bootlab/labs"
)

// Role is what a machine is for, and the name of the Ignition file it boots.
type Role string

// The roles of machines.
const (
	Bootstrap Role = "bootstrap"
	Master    Role = "master"
	Worker    Role = "worker"
)

// Machine is a machine of the lab, with what it is for.
type Machine struct {
	labs.Machine
	Role Role
}

// OfRole are the machines of one role.
func OfRole(lab *labs.Lab, role Role) []Machine {
	return slices.DeleteFunc(Machines(lab), func(m Machine) bool { return m.Role != role })
}

// Machines are all machines of the lab: bootstrap, masters, workers.
func Machines(lab *labs.Lab) []Machine {
	out := []Machine{{lab.Machines.Bootstrap, Bootstrap}}
	for _, m := range lab.Machines.Masters {
		out = append(out, Machine{m, Master})
	}
	for _, m := range lab.Machines.Workers {
		out = append(out, Machine{m, Worker})
	}
	return out
}

// Architecture is that of all machines, and of the images they start from.
const Architecture = "x86_64"
