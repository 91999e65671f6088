package labs

import (
	"regexp"
	"slices"
	"strings"
)

// EtcdMembers is how many etcd members there must be, the bootstrap member among
// them, before that one may go: four in a highly available cluster, two with a
// single master.
//
// Source: cluster-etcd-operator pkg/operator/ceohelpers/bootstrap.go.
func (l *Lab) EtcdMembers() int {
	replicas := len(l.Machines.Masters)
	if l.ControlPlane.Replicas != nil {
		replicas = *l.ControlPlane.Replicas
	}
	if replicas >= 3 {
		return 4
	}
	return 2
}

// validatePhase complains of a phase that is none, of a stage of bootkube.sh
// without one, and of a phase that comes before one of an earlier stage.
func (c *Catalog) validatePhase(s *Stage, complain func(string, ...any)) {
	if s.Phase == "" {
		if s.Bootkube != "" {
			complain("phase is required of a stage of bootkube.sh: one of %s", strings.Join(Phases, ", "))
		}
		return
	}
	at := slices.Index(Phases, s.Phase)
	if at < 0 {
		complain("phase %q is none of %s", s.Phase, strings.Join(Phases, ", "))
		return
	}
	for _, earlier := range c.Stages {
		if earlier == s {
			return
		}
		if slices.Index(Phases, earlier.Phase) > at {
			complain("phase %s comes after %s of stage %s", s.Phase, earlier.Phase, earlier.ID)
			return
		}
	}
}

// validatePictures complains of what the pictures and the journal's reader could
// not use.
func (s *Stage) validatePictures(complain func(string, ...any)) {
	if _, err := regexp.Compile(s.Journal); err != nil {
		complain("journal: %v", err)
	}
	if s.HangsAfter < 0 {
		complain("hangsAfter %d is less than 0", s.HangsAfter)
	}
	for _, p := range s.Pods {
		if p.ID == "" || p.File == "" || p.Name == "" {
			complain("pod %q: id, file and name are required", p.ID)
		}
		writes := func(o File) bool { return strings.HasSuffix(o.Path, "/"+p.File) }
		if !slices.ContainsFunc(s.Outputs, writes) {
			complain("pod %s: no output is %s", p.ID, p.File)
		}
	}
	side := func(what, on string) {
		if !slices.Contains(Sides, on) {
			complain("%s: on %q is none of %s", what, on, strings.Join(Sides, ", "))
		}
	}
	names := func(what, text string) {
		for _, name := range valueNames(text) {
			if _, known := fileValue(name); !known {
				complain("%s: $%s is no value of a lab", what, name)
			}
		}
	}
	for _, e := range s.Effect {
		side("effect", e.On)
		names("effect", e.Title+e.Text)
		if e.Title == "" {
			complain("effect: title is required")
		}
	}
	for _, e := range s.Story {
		if e.On != "" {
			side("story", e.On)
		}
		if e.Call && e.On == "" {
			complain("story: a call needs on, which is called")
		}
		names("story", e.Heading+e.Text)
	}
}

// Fill puts the values of the plan in the places of their names, as $ETCD_MEMBERS.
func (p *Plan) Fill(text string) string { return p.fill(text) }

// PhaseStages are the stages of bootkube.sh in a phase, in their order.
func (p *Plan) PhaseStages(phase string) []*Stage {
	var out []*Stage
	for _, s := range p.Stages {
		if s.Bootkube != "" && s.Phase == phase {
			out = append(out, s)
		}
	}
	return out
}
