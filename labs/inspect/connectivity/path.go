package connectivity

import (
	"slices"
	"strings"

	"bootlab/labs"
)

// Path is one way from a machine to a port.
type Path struct {
	From      string `json:"from"`    // a machine's name, or workstation
	To        string `json:"to"`      // a machine's name, or load balancer
	Address   string `json:"address"` // as it is asked for: an address or a name
	Port      string `json:"port"`
	Component string `json:"component"`
	State     State  `json:"state"`
	// Expected: it has to be open now, by what Because says of the machine.
	Expected bool   `json:"expected"`
	Because  string `json:"because"`

	signs    []sign // any of them makes it expected
	balanced bool
}

// sign is something that runs on a machine.
type sign struct{ machine, sign string }

// State is what came of asking.
type State string

// What a port can be.
const (
	Open     State = "open"
	Refused  State = "refused"
	Silent   State = "no answer"
	Unrouted State = "no route"
	Unnamed  State = "name not resolved"
	// Cut: the load balancer took the connection, and had no backend for it.
	Cut      State = "closed at once"
	Unknown  State = "not known"
	NotAsked State = "not asked" // the machine to ask from cannot be reached
)

// Broken is a path that has to be open now and is not.
func (p *Path) Broken() bool {
	return p.Expected && p.State != Open && p.State != NotAsked
}

// paths are all ways that somebody needs in this plan, without what is found.
func paths(p *labs.Plan) []*Path {
	var all []*Path
	lab := p.Lab
	for _, kind := range []string{"bootstrap", "master"} {
		for _, port := range labs.BuiltinGuide().PortsOf(kind, p) {
			reach, ok := port.Reached[kind]
			if !ok {
				continue
			}
			for _, to := range machinesOf(lab, kind) {
				for _, number := range strings.Split(port.Number, ", ") {
					all = append(all, pathsTo(lab, to, number, port.Component, reach)...)
				}
			}
		}
	}
	return append(all, balancedPaths(p)...)
}

func machinesOf(lab *labs.Lab, kind string) []labs.Machine {
	switch kind {
	case "bootstrap":
		return []labs.Machine{lab.Machines.Bootstrap}
	case "master":
		return lab.Machines.Masters
	}
	return nil
}

// pathsTo are the ways to one port of one machine, from each that has to get
// there.
func pathsTo(lab *labs.Lab, to labs.Machine, number, component string, reach labs.Reach) []*Path {
	var all []*Path
	add := func(from, address string) {
		all = append(all, &Path{From: from, To: to.Name, Address: address, Port: number, Component: component,
			signs: []sign{{to.Name, reach.While}}})
	}
	for _, by := range reach.By {
		switch by {
		case labs.AskerItself:
			add(to.Name, "127.0.0.1")
		case labs.AskerWorkstation:
			add(labs.AskerWorkstation, to.Address)
		default:
			for _, from := range machinesOf(lab, by) {
				if from.Name != to.Name {
					add(from.Name, to.Address)
				}
			}
		}
	}
	return all
}

// balancedPaths are the ways through the load balancer: from the workstation by
// its address, from machines by the name that they use.
func balancedPaths(p *labs.Plan) []*Path {
	lab := p.Lab
	var all []*Path
	for _, service := range labs.Balancer {
		number := numberOf(service.Port)
		signs, component := behind(p, number)
		if len(signs) == 0 {
			continue
		}
		add := func(from, address string) {
			all = append(all, &Path{From: from, To: "load balancer", Address: address, Port: number, Component: component,
				signs: signs, balanced: true})
		}
		add(labs.AskerWorkstation, lab.Machines.Gateway)
		if slices.Contains(labs.BootstrapServices(), service) {
			for _, kind := range []string{"bootstrap", "master"} {
				for _, from := range machinesOf(lab, kind) {
					add(from.Name, "api-int."+lab.Domain())
				}
			}
		}
	}
	return all
}

// behind is what has to run on any machine for the balancer to have somebody.
func behind(p *labs.Plan, number string) (signs []sign, component string) {
	for _, kind := range []string{"bootstrap", "master"} {
		for _, port := range labs.BuiltinGuide().PortsOf(kind, p) {
			reach, ok := port.Reached[kind]
			if !ok || !port.Balanced || !slices.Contains(strings.Split(port.Number, ", "), number) {
				continue
			}
			component = port.Component
			for _, m := range machinesOf(p.Lab, kind) {
				signs = append(signs, sign{m.Name, reach.While})
			}
		}
	}
	return signs, component
}
