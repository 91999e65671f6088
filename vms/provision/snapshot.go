package provision

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bootlab/vms"
)

// Snapshot takes a snapshot of machines, disk and memory. All of them stand still
// meanwhile, so that it is one moment for all; if one fails, the others' are
// removed again.
func (p *Provisioner) Snapshot(name string, machines []vms.Machine, announce func(vms.Machine)) (err error) {
	for _, m := range machines {
		have, err := p.snapshots(m)
		if err != nil {
			return err
		}
		if slices.Contains(have, name) {
			return &vms.Problem{Message: fmt.Sprintf("%s has a snapshot %s already", m.Name, name), Hint: "choose another name"}
		}
	}
	resume, err := p.hold(machines)
	defer func() { err = errors.Join(err, resume()) }()
	if err != nil {
		return err
	}
	for i, m := range machines {
		announce(m)
		if err := p.Host.TakeSnapshot(p.Lab.DomainName(m.Name), name); err != nil {
			failed := fmt.Errorf("snapshot of %s: %w", m.Name, err)
			for _, taken := range machines[:i] {
				if err := p.Host.RemoveSnapshot(p.Lab.DomainName(taken.Name), name); err != nil {
					failed = errors.Join(failed, fmt.Errorf("and that of %s is left: %w", taken.Name, err))
				}
			}
			return failed
		}
	}
	return nil
}

// Revert brings machines back to a snapshot. None is touched unless all have it.
// If one fails nevertheless, all stand still, and the error says which are
// where.
func (p *Provisioner) Revert(name string, machines []vms.Machine, announce func(vms.Machine)) error {
	for _, m := range machines {
		if _, err := p.mine(m); err != nil {
			return err
		}
	}
	for _, m := range machines {
		have, err := p.snapshots(m)
		if err != nil {
			return err
		}
		if !slices.Contains(have, name) {
			return &vms.Problem{Message: fmt.Sprintf("%s has no snapshot %s, so nothing was reverted", m.Name, name), Hint: "it has " + orNone(have)}
		}
	}
	resume, err := p.hold(machines)
	if err != nil {
		return errors.Join(err, resume())
	}
	for i, m := range machines {
		announce(m)
		if err := p.Host.RevertToSnapshot(p.Lab.DomainName(m.Name), name); err != nil {
			return &vms.Problem{Message: fmt.Sprintf("%s could not be reverted; reverted are %s, not yet %s, and all that run stand still", m.Name, namesOf(machines[:i]), namesOf(machines[i:])),
				Err: err, Hint: "fix that and revert again; bootlab vms start goes on with what is paused"}
		}
	}
	// One that ran when the snapshot was taken was held then, and is so again.
	var errs []error
	for _, m := range machines {
		state, err := p.mine(m)
		if err == nil && state.State == paused {
			err = p.Host.ResumeDomain(p.Lab.DomainName(m.Name))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// SnapshotList are the names of a machine's snapshots, oldest first.
type SnapshotList struct {
	Machine   string   `json:"machine"`
	Snapshots []string `json:"snapshots"`
}

// SnapshotLists gives the snapshots of machines, in their order.
func (p *Provisioner) SnapshotLists(machines []vms.Machine) ([]SnapshotList, error) {
	var out []SnapshotList
	for _, m := range machines {
		have, err := p.snapshots(m)
		if err != nil {
			return nil, err
		}
		out = append(out, SnapshotList{m.Name, append([]string{}, have...)})
	}
	return out, nil
}

// DeleteSnapshot removes a snapshot from the machines that have it; none having it is
// an error. What was removed before another failed stays removed.
func (p *Provisioner) DeleteSnapshot(name string, machines []vms.Machine, announce func(vms.Machine)) error {
	lists, err := p.SnapshotLists(machines)
	if err != nil {
		return err
	}
	found := false
	for i, m := range machines {
		if !slices.Contains(lists[i].Snapshots, name) {
			continue
		}
		found = true
		announce(m)
		if err := p.Host.RemoveSnapshot(p.Lab.DomainName(m.Name), name); err != nil {
			return fmt.Errorf("snapshot of %s: %w", m.Name, err)
		}
	}
	if !found {
		return &vms.Problem{Message: "no machine has a snapshot " + name, Hint: "bootlab vms snapshots " + p.owner.Directory + " lists them"}
	}
	return nil
}

func (p *Provisioner) snapshots(m vms.Machine) ([]string, error) {
	if _, err := p.mine(m); err != nil {
		return nil, err
	}
	return p.Host.Snapshots(p.Lab.DomainName(m.Name))
}

// paused is libvirt's word for a machine that stands still.
const paused = "paused"

// hold makes the machines that run stand still; resume lets those go on.
func (p *Provisioner) hold(machines []vms.Machine) (resume func() error, err error) {
	var held []string
	resume = func() error {
		var errs []error
		for _, name := range held {
			errs = append(errs, p.Host.ResumeDomain(name))
		}
		return errors.Join(errs...)
	}
	for _, m := range machines {
		state, err := p.mine(m)
		if err != nil {
			return resume, err
		}
		if !state.Active || state.State == paused {
			continue
		}
		if err := p.Host.SuspendDomain(state.Name); err != nil {
			return resume, fmt.Errorf("hold %s: %w", m.Name, err)
		}
		held = append(held, state.Name)
	}
	return resume, nil
}

func namesOf(machines []vms.Machine) string {
	var names []string
	for _, m := range machines {
		names = append(names, m.Name)
	}
	return orNone(names)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
