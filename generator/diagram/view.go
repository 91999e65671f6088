package diagram

import (
	"fmt"
	"strconv"
	"strings"

	"bootlab/labs"
)

// A view answers what the pictures ask about a plan.
type view struct {
	*labs.Plan
	domain  string
	gateway string
	node    labs.Machine // the bootstrap node
	masters []labs.Machine
	workers []labs.Machine
}

func newView(p *labs.Plan) *view {
	m := p.Lab.Machines
	return &view{Plan: p, domain: p.Lab.Domain(), gateway: m.Gateway, node: m.Bootstrap, masters: m.Masters, workers: m.Workers}
}

// since says whether the plan's release is that minor release or a later one.
func (v *view) since(release string) bool { return labs.Span{Since: release}.Holds(v.Release.ID) }

// memberRemoved is the condition that the bootstrap member is gone, as the release
// spells it.
func (v *view) memberRemoved() string {
	if v.since("4.15") {
		return "EtcdBootstrapMemberRemoved"
	}
	return "EtcdBoostrapMemberRemoved"
}

// okd says whether the lab installs OKD.
func (v *view) okd() bool { return v.Lab.Release.Distribution == "okd" }

// alone says whether there is nothing but the bootstrap node.
func (v *view) alone() bool { return len(v.masters) == 0 }

// ha says whether the control plane is highly available: three replicas or more.
func (v *view) ha() bool { return v.replicas() >= 3 }

// replicas is how many masters the install-config asks for, the lab may have
// none of them.
func (v *view) replicas() int {
	if r := v.Lab.ControlPlane.Replicas; r != nil {
		return *r
	}
	return len(v.masters)
}

// release is how the release is called in a title.
func (v *view) release() string {
	return strings.ToUpper(v.Lab.Release.Distribution) + " " + v.Version()
}

// shape tells the lab's topology in a few words.
func (v *view) shape() string {
	switch {
	case v.alone():
		return "a bootstrap node and no masters"
	case len(v.workers) == 0:
		return "a bootstrap node and " + count(len(v.masters), "master")
	}
	return fmt.Sprintf("a bootstrap node, %s and %s", count(len(v.masters), "master"), count(len(v.workers), "worker"))
}

var numbers = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// number is a number in words, while that is short.
func number(n int) string {
	if n >= 0 && n < len(numbers) {
		return numbers[n]
	}
	return fmt.Sprint(n)
}

// count is a number of things in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return number(n) + " " + thing
}

// machines lists machines with their addresses, the first ones only when there
// are many.
func machines(all []labs.Machine) []string {
	const most = 5
	var lines []string
	for i, m := range all {
		if left := len(all) - i; i == most-1 && left > 1 {
			last := all[len(all)-1]
			return append(lines, fmt.Sprintf("and %d more, up to %s %s", left, last.Name, last.Address))
		}
		lines = append(lines, m.Name+" "+m.Address)
	}
	return lines
}

// routers are the machines on which ordinary pods run, routers among them.
func (v *view) routers() []labs.Machine {
	if len(v.workers) > 0 {
		return v.workers
	}
	return v.masters
}

// registry is the host that the release image comes from.
func (v *view) registry() string {
	host, _, _ := strings.Cut(v.Lab.Release.Image, "/")
	return host
}

// registryPort is the port of that registry.
func (v *view) registryPort() string {
	_, port, _ := strings.Cut(v.registry(), ":")
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "443"
	}
	return port
}

// bootstrapWait is how many minutes openshift-install waits for ConfigMap
// kube-system/bootstrap on platform none: 30 up to 4.15, 45 from 4.16 on.
// Source: openshift/installer cmd/openshift-install/create.go of the releases.
func (v *view) bootstrapWait() int {
	if v.since("4.16") {
		return 45
	}
	return 30
}

// bootkubeStages are the stages that bootkube.sh has too, in their order.
func (v *view) bootkubeStages() []*labs.Stage {
	var out []*labs.Stage
	for _, s := range v.Stages {
		if s.Bootkube != "" {
			out = append(out, s)
		}
	}
	return out
}
