package provision

import (
	"context"
	"fmt"
	"slices"
	"time"

	"bootlab/vms"
	"bootlab/vms/libvirt"
)

// Chosen are the machines of the lab that words of a command line mean. A
// bootstrap that was taken away counts only where it is named.
func (p *Provisioner) Chosen(words []string) ([]vms.Machine, error) {
	chosen, err := Choose(vms.Machines(p.Lab), words)
	if err != nil {
		return nil, err
	}
	gone, err := p.BootstrapGone()
	if gone && !slices.Contains(words, p.Lab.Machines.Bootstrap.Name) {
		chosen = slices.DeleteFunc(chosen, func(m vms.Machine) bool { return m.Role == vms.Bootstrap })
	}
	return chosen, err
}

// Choose finds the machines that words of a command line mean: names, bootstrap,
// masters, workers, all; no word means all.
func Choose(all []vms.Machine, words []string) ([]vms.Machine, error) {
	if len(words) == 0 {
		return all, nil
	}
	var out []vms.Machine
	for _, word := range words {
		found := false
		for _, m := range all {
			if word == m.Name || word == "all" || word == string(m.Role) || word == string(m.Role)+"s" {
				found = true
				if !slices.ContainsFunc(out, func(o vms.Machine) bool { return o.Name == m.Name }) {
					out = append(out, m)
				}
			}
		}
		if !found {
			var names []string
			for _, m := range all {
				names = append(names, m.Name)
			}
			return nil, &vms.UnknownMachine{Word: word, Known: names}
		}
	}
	return out, nil
}

// mine gives the state of a machine's domain, which must be there and the lab's.
func (p *Provisioner) mine(m vms.Machine) (libvirt.DomainState, error) {
	name := p.Lab.DomainName(m.Name)
	state, there, err := p.Host.Domain(name)
	if err != nil {
		return state, err
	}
	if !there {
		return state, &vms.Problem{Message: m.Name + " is not made yet", Hint: "bootlab vms up " + p.owner.Directory}
	}
	_, err = p.ours("domain", name, state.XML)
	return state, err
}

// Running says whether a machine is switched on.
func (p *Provisioner) Running(m vms.Machine) (bool, error) {
	state, err := p.mine(m)
	return state.Active, err
}

// Start switches a machine on, or lets one go on that stands still; one that runs
// is left as it is.
func (p *Provisioner) Start(m vms.Machine) (started bool, err error) {
	state, err := p.mine(m)
	if err == nil && state.State == paused {
		return true, p.Host.ResumeDomain(state.Name)
	}
	if err != nil || state.Active {
		return false, err
	}
	return true, p.Host.StartDomain(p.Lab.DomainName(m.Name))
}

// Stop asks the machine to shut down and waits that long; with force its power
// is cut then.
func (p *Provisioner) Stop(ctx context.Context, m vms.Machine, patience time.Duration, force bool) (stopped bool, err error) {
	state, err := p.mine(m)
	if err != nil || !state.Active {
		return false, err
	}
	name := p.Lab.DomainName(m.Name)
	if err := p.Host.StopDomain(name); err != nil && !force {
		return false, err
	}
	end := time.Now().Add(patience)
	for time.Now().Before(end) {
		if state, err := p.mine(m); err != nil || !state.Active {
			return err == nil, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	if !force {
		return false, &vms.Problem{Message: fmt.Sprintf("%s did not shut down within %s", m.Name, patience),
			Hint: "look at its console; --force cuts its power"}
	}
	return true, p.Host.DestroyDomain(name)
}

// Reboot asks the machine to restart.
func (p *Provisioner) Reboot(m vms.Machine) error {
	state, err := p.mine(m)
	if err != nil {
		return err
	}
	if !state.Active {
		return &vms.Problem{Message: m.Name + " does not run", Hint: "bootlab vms start " + p.owner.Directory + " " + m.Name}
	}
	return p.Host.RebootDomain(p.Lab.DomainName(m.Name))
}
