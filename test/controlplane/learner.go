package controlplane

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// AddLearner does the first step of AddMaster: etcd's list has the master, and
// nothing of it runs.
func (c *ControlPlane) AddLearner(tb testing.TB, name string) { fatal(tb, c.addLearner(name)) }

// StartLearner does the second: the master's etcd runs, and gets the data.
func (c *ControlPlane) StartLearner(tb testing.TB, name string) { fatal(tb, c.startLearner(name)) }

// Promote does the third: once it has the data, it has a vote.
func (c *ControlPlane) Promote(tb testing.TB, name string) { fatal(tb, c.promote(name)) }

// FreezeMember stops a member in the middle of its work: its port takes
// connections and nothing answers. Thaw lets it go on.
func (c *ControlPlane) FreezeMember(tb testing.TB, name string) (thaw func()) {
	tb.Helper()
	c.mu.Lock()
	p := c.members[name]
	c.mu.Unlock()
	fatal(tb, p.cmd.Process.Signal(syscall.SIGSTOP))
	return func() { p.cmd.Process.Signal(syscall.SIGCONT) }
}

func (c *ControlPlane) addLearner(name string) error {
	master, err := c.master(name)
	if err != nil {
		return err
	}
	if err := c.give(master.Address); err != nil {
		return err
	}
	if err := c.signMember(master); err != nil {
		return err
	}
	// A member that has just got its vote does not count as healthy at once.
	return eventually("adding "+name, func() error {
		_, err := c.etcdctl("member", "add", name, "--learner", "--peer-urls="+peerURL(master))
		return err
	})
}

// startLearner starts the process with the list that has it in it.
func (c *ControlPlane) startLearner(name string) error {
	master, err := c.master(name)
	if err != nil {
		return err
	}
	list, err := c.memberList()
	if err != nil {
		return err
	}
	var cluster []string
	for _, m := range list {
		if m.Peers[0] == peerURL(master) {
			m.Name = name // it has none yet
		}
		cluster = append(cluster, m.Name+"="+m.Peers[0])
	}
	_, err = c.startMember(name, memberEnvironment, c.memberWords(master, cluster)...)
	return err
}

func (c *ControlPlane) promote(name string) error {
	master, err := c.master(name)
	if err != nil {
		return err
	}
	list, err := c.memberList()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(m Member) bool { return strings.Join(m.Peers, ",") == peerURL(master) })
	if at < 0 {
		return fmt.Errorf("etcd has no member for %s", name)
	}
	c.mu.Lock()
	p := c.members[name]
	c.mu.Unlock()
	return p.until("getting its vote", func() error {
		_, err := c.etcdctl("member", "promote", fmt.Sprintf("%x", list[at].ID))
		return err
	})
}

func peerURL(m Machine) string { return "https://" + m.Address + ":2380" }

// errorOfFirst calls one function after the other until one fails.
func errorOfFirst(all ...func() error) error {
	for _, f := range all {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}
