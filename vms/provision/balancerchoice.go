package provision

import (
	"errors"
	"os"
	"slices"

	"libvirt.org/go/libvirtxml"

	"bootlab/vms"
	"bootlab/vms/balancer"
	"bootlab/vms/state"
)

// balancerChoice in the lab's state says that it does without load balancer.
const balancerChoice = "balancer.json"

type chosenBalancer struct {
	Without bool `json:"without"`
}

// rememberedBalancer is false for one who may not read it; the network tells too.
func rememberedBalancer(s *state.Dir) (without bool, err error) {
	var chosen chosenBalancer
	if _, err = s.Recall(balancerChoice, &chosen); errors.Is(err, os.ErrPermission) {
		return false, nil
	}
	return chosen.Without, err
}

// RememberBalancer writes down what was chosen, until down.
func (p *Provisioner) RememberBalancer() error {
	return p.State.Remember(balancerChoice, chosenBalancer{p.NoBalancer})
}

func (p *Provisioner) forgetBalancer() error {
	return p.State.Forget(balancerChoice)
}

// ChooseBalancer settles whether the lab does without load balancer. Its network
// is made in one way or the other, and stays so until down; whoever says nothing,
// with nil, gets what is there, or what an up that was interrupted was told.
func (p *Provisioner) ChooseBalancer(without *bool) error {
	state, there, err := p.Host.Network(vms.NetworkName(p.Lab))
	if err != nil {
		return err
	}
	if there {
		_, strange := p.ours("network", state.Name, state.XML)
		there = strange == nil // else up says whose it is
	}
	if there {
		made, err := leadsPast(state.XML)
		if err != nil {
			return err
		}
		if without != nil && *without != made {
			return p.otherwiseMade(made)
		}
		p.NoBalancer = made
	} else if without != nil {
		p.NoBalancer = *without
	}
	return nil
}

func (p *Provisioner) otherwiseMade(without bool) error {
	is, option := "with a load balancer", "--no-balancer"
	if without {
		is, option = "without load balancer", "--no-balancer=false"
	}
	return &vms.Problem{Message: "the network of the lab was made " + is + ", and its name server cannot be told otherwise while machines use it",
		Hint: "leave out " + option + " to go on with it, or take the lab away first: bootlab vms down " + p.owner.Directory}
}

// leadsPast says of a network's definition whether no name leads to its gateway,
// where the load balancer listens.
func leadsPast(text string) (bool, error) {
	var n libvirtxml.Network
	if err := n.Unmarshal(text); err != nil {
		return false, err
	}
	if n.DNS == nil {
		return true, nil
	}
	return !slices.ContainsFunc(n.DNS.Host, func(h libvirtxml.NetworkDNSHost) bool {
		return slices.ContainsFunc(n.IPs, func(ip libvirtxml.NetworkIP) bool { return ip.Address == h.IP })
	}), nil
}

// Balancer is the lab's load balancer on this host.
func (p *Provisioner) Balancer() *balancer.Process {
	return &balancer.Process{Lab: p.Lab, State: p.State, Directory: p.owner.Directory}
}

func (p *Provisioner) balancer() Thing {
	b := p.Balancer()
	return Thing{Kind: "load balancer", Name: "haproxy",
		look: func() (condition, error) {
			there, current, err := b.Made()
			switch {
			case err != nil:
				return "", err
			case !there:
				return missing, nil
			case !current:
				return halfMade, nil
			case !b.Runs():
				return inactive, nil
			}
			return ready, nil
		},
		make: b.Make, start: b.Start, remove: b.Remove,
	}
}
