package vms

// Surroundings is what the machines of a lab need beside themselves.
type Surroundings struct {
	Network  string `json:"network"`  // active, inactive, not made, another lab's
	Balancer string `json:"balancer"` // running, not running, not made
	// Next is what brings back what is missing; empty where nothing is.
	Next string `json:"next,omitempty"`
}

// Around looks at network and load balancer. After the host has booted neither
// runs: up starts both.
func (p *Provisioner) Around() (Surroundings, error) {
	s := Surroundings{Network: "not made", Balancer: "not made"}
	state, there, err := p.Host.Network(NetworkName(p.Lab))
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
		s.Balancer = "not running"
	}
	if p.BalancerRuns() {
		s.Balancer = "running"
	}
	if s.Network != "active" || s.Balancer != "running" {
		s.Next = "bootlab vms up " + p.owner.Directory
	}
	return s, nil
}
