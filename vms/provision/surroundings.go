package provision

import (
	"bootlab/vms"
	"bootlab/vms/libvirt"
)

// Surroundings is what the machines of a lab need beside themselves.
type Surroundings struct {
	Network  string `json:"network"`  // active, inactive, not made, another lab's
	Balancer string `json:"balancer"` // running, not running, not made, none
	// API is where api and api-int lead in a lab without load balancer.
	API []Lead `json:"api,omitempty"`
	// Next is what brings back what is missing; empty where nothing is.
	Next string `json:"next,omitempty"`
}

// NoBalancer is the word for a lab that does without.
const NoBalancer = "none"

// Around looks at network and load balancer. After the host has booted neither
// runs: up starts both.
func (p *Provisioner) Around() (Surroundings, error) {
	s := Surroundings{Network: "not made", Balancer: "not made"}
	if p.NoBalancer {
		s.Balancer = NoBalancer
	}
	state, there, err := p.Host.Network(vms.NetworkName(p.Lab))
	if err != nil {
		return s, err
	}
	if there {
		s.Network = "inactive"
		if state.Active {
			s.Network = "active"
		}
		if _, err := p.ours("network", state.Name, state.XML); err != nil {
			s.Network = "another lab's"
			return s, nil
		}
	}
	if p.NoBalancer {
		return s, p.aroundNames(&s, state, there)
	}
	switch {
	case p.Balancer().Runs():
		s.Balancer = "running"
	case there:
		s.Balancer = "not running"
	}
	if s.Network != "active" || s.Balancer != "running" {
		s.Next = p.upAgain()
	}
	return s, nil
}

// aroundNames fills in what takes the load balancer's place.
func (p *Provisioner) aroundNames(s *Surroundings, network libvirt.NetworkState, there bool) error {
	if !there {
		s.Next = p.upAgain()
		return nil
	}
	var err error
	if s.API, err = p.apiIn(network.XML); err != nil {
		return err
	}
	wrong, err := p.leadsWrong(s.API)
	switch {
	case err != nil:
		return err
	case s.Network != "active":
		s.Next = p.upAgain()
	case wrong:
		s.Next = "bootlab vms balancer " + p.owner.Directory + " --without-bootstrap"
	}
	return nil
}

func (p *Provisioner) upAgain() string { return "bootlab vms up " + p.owner.Directory }
