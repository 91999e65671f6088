package diagram

import (
	"fmt"

	"bootlab/labs"
)

// A growth is the membership picture while it is drawn.
type growth struct {
	*view
	*grid
	step int
	last *box
}

// etcdMembership is how etcd grows from one member to all masters'.
// Source: openshift/cluster-etcd-operator pkg/operator/clustermembercontroller,
// pkg/operator/bootstrapteardown, pkg/operator/ceohelpers.
func etcdMembership(v *view) drawing {
	what := 330
	if len(v.masters) > 3 {
		what = 250
	}
	e := &growth{view: v, grid: &grid{widths: []int{what}, rowGap: 24, even: true}}
	e.name = "etcd-membership"
	each := (maxWidth - 2*(rim+panelPad) - what - 14*(len(v.masters)+1)) / (len(v.masters) + 1)
	for i := 0; i <= len(v.masters); i++ {
		e.widths, e.gaps = append(e.widths, min(each, 200)), append(e.gaps, 14)
	}
	e.firstMember()
	if v.alone() {
		e.title = "Members of etcd: one, for there are no masters"
		e.description = fmt.Sprintf("etcd starts with one member on the bootstrap node. There are no masters in this topology, so it stays the only one. With the install-config's %s it would have to grow to %d members before the bootstrap member could leave.", count(v.replicas(), "master"), v.Lab.EtcdMembers())
		return e.grid
	}
	before := min(v.Lab.EtcdMembers()-1, len(v.masters))
	for i := 0; i < before; i++ {
		e.joins(i)
	}
	e.removed(before)
	if len(v.masters) > before {
		e.others(before)
	}
	e.title = fmt.Sprintf("Members of etcd: from 1 to %d, then the bootstrap member leaves", before+1)
	e.description = fmt.Sprintf("Step by step: the kubelet of the bootstrap node starts the first member. The etcd operator adds the masters one at a time, each first as a learner, which has no vote, then as a voting member. With %d members EtcdRunningInCluster becomes True and wait-for-ceo ends. When ConfigMap kube-system/bootstrap says complete, the etcd operator removes the bootstrap member; %s then.", before+1, stay(before))
	return e.grid
}

func stay(members int) string {
	if members == 1 {
		return "1 member is left"
	}
	return fmt.Sprintf("%d members are left", members)
}

// row adds a step: what happens, and the state of each member.
func (e *growth) row(title string, say []string, state func(i int, m labs.Machine) (kind, words string)) {
	e.step++
	id := fmt.Sprintf("step%d", e.step)
	what := e.box(id, plain, e.step-1, 0, title).say(say...)
	all := []*box{what}
	for i, m := range append([]labs.Machine{e.node}, e.masters...) {
		kind, words := state(i-1, m)
		name := m.Name
		if i == 0 {
			name = "etcd-bootstrap"
		}
		member := e.box(fmt.Sprintf("%sm%d", id, i), kind, e.step-1, i+1, name).say(words).middle()
		member.tight = true
		all = append(all, member)
	}
	e.panel("p"+id, fmt.Sprintf("Step %d", e.step), 0, all...)
	if e.last != nil {
		e.arrow(e.last, what, "")
	}
	e.last = what
}

func (e *growth) firstMember() {
	e.row("1 member", []string{"By the kubelet of " + e.node.Name + ", which finds the static pod of stage render-etcd.", "One of one is a quorum: bootkube.sh can go on."},
		func(i int, _ labs.Machine) (string, string) {
			if i < 0 {
				return bootstrap, "votes"
			}
			return faint, "no member"
		})
}

func (e *growth) joins(at int) {
	members := at + 2
	say := []string{"By the etcd operator, when all members are healthy: it adds the master whose etcd runs but is not ready (MemberAddAsLearner), and lets it vote when it has caught up (MemberPromote).", "Any master may be the first."}
	if at > 0 {
		say = []string{"By the etcd operator, in the same way; never two at a time."}
	}
	if members == e.Lab.EtcdMembers() {
		say = append(say, "EtcdRunningInCluster becomes True: wait-for-ceo ends, and bootkube.sh with it.")
	}
	e.row(fmt.Sprintf("%d members", members), say, func(i int, m labs.Machine) (string, string) {
		switch {
		case i < 0:
			return bootstrap, "votes"
		case i < at:
			return master, "votes"
		case i == at:
			return cluster, "learner, then votes; " + m.Address
		}
		return faint, "no member"
	})
}

func (e *growth) removed(voters int) {
	title := fmt.Sprintf("%d members", voters)
	if voters == 1 {
		title = "1 member"
	}
	e.row(title, []string{"By the etcd operator, once ConfigMap kube-system/bootstrap says complete. progress.service writes that behind the end of bootkube.sh.", e.memberRemoved() + " becomes True; now the machine may go."},
		func(i int, _ labs.Machine) (string, string) {
			switch {
			case i < 0:
				return faint, "removed"
			case i < voters:
				return master, "votes"
			}
			return faint, "joins later, or has already"
		})
}

func (e *growth) others(voters int) {
	e.row(fmt.Sprintf("%d members", len(e.masters)), []string{"By the etcd operator: the other masters, in the same way, before the removal or after it."},
		func(i int, _ labs.Machine) (string, string) {
			switch {
			case i < 0:
				return faint, "removed"
			case i < voters:
				return master, "votes"
			}
			return cluster, "learner, then votes"
		})
}
