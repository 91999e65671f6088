package watch

import (
	"strings"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// Scene keeps what each eye saw last, so that what one cannot see now stays, and
// is known to be old. It does not grow with time. It is not for several
// goroutines at once.
type Scene struct {
	watch *Watch
	last  map[string]*Sight
	// since is when an eye began to see nothing, or to see again.
	since map[string]time.Time
	// found is the last answer to each thing, by eye and evidence.
	found map[string]map[string]host.Found
	good  map[string]*Sight
	// seen is the last snapshot; nil when something was seen since.
	seen *Status
}

// Scene is one in which nothing was seen yet.
func (w *Watch) Scene() *Scene {
	return &Scene{watch: w, last: map[string]*Sight{}, since: map[string]time.Time{},
		found: map[string]map[string]host.Found{}, good: map[string]*Sight{}}
}

// Add keeps what an eye saw.
func (c *Scene) Add(s *Sight) {
	c.seen = nil
	if was := c.last[s.Of]; was == nil || (was.Problem == "") != (s.Problem == "") {
		c.since[s.Of] = s.At
	}
	c.last[s.Of] = s
	if s.Problem != "" {
		return
	}
	c.good[s.Of] = s
	if c.found[s.Of] == nil {
		c.found[s.Of] = map[string]host.Found{}
	}
	for _, f := range s.Found {
		// What a master says of etcd stands for the same as what the bootstrap
		// node says.
		id := f.Evidence.ID
		if s.Of == etcdEye {
			id = strings.TrimPrefix(id, "master-")
		}
		// A complaint in place of a document says nothing of what it would hold.
		if f.Had && (f.Status == 0 || f.Evidence.Form == labs.TextForm) || c.found[s.Of][id].Evidence == nil {
			c.found[s.Of][id] = f
			continue
		}
		// The old text, with the new trouble.
		old := c.found[s.Of][id]
		old.Had, old.Status, old.Complaint, old.Problem = f.Had, f.Status, f.Complaint, f.Problem
		c.found[s.Of][id] = old
	}
}

// Status is what is known now.
func (c *Scene) Status(now time.Time) *Status {
	if c.seen == nil {
		c.seen = c.judge(now)
	}
	s := *c.seen
	s.At = now
	return &s
}

// judge reads what was found.
func (c *Scene) judge(now time.Time) *Status {
	plan := c.watch.plan
	s := &Status{At: now, Lab: plan.Lab.Metadata.Name, Release: plan.Version(), Topology: plan.Lab.Topology,
		Local: c.watch.hosts.Local}
	if s.Local {
		if seen := c.good[localEye]; seen != nil {
			s.Stages, s.Log = seen.Stages, seen.Log
		}
		if last := c.last[localEye]; last != nil && last.Problem != "" {
			s.Log = LogLine{Line: last.Problem}
		}
	} else {
		r := &reader{scene: c, plan: plan, now: now}
		r.read(s)
	}
	if ends := c.good[endsEye]; ends != nil {
		s.Ends = ends.Ends
	}
	if s.Phase == "" {
		s.Phase = phase(plan, s)
	}
	if current := s.current(); current != nil && current.State == Runs {
		s.Waiting = Waiting{For: waitsFor(plan, current), Since: current.Start, Usual: current.Usual}
	}
	return s
}

// phase is how far the bootstrap is, in words.
func phase(plan *labs.Plan, s *Status) string {
	done, all := 0, 0
	for _, stage := range s.Stages {
		if stage.Parallel {
			continue
		}
		all++
		if stage.State == Done {
			done++
		}
	}
	current := s.current()
	switch {
	case len(s.Stages) == 0:
		return ""
	case current == nil && done == 0:
		return "nothing has been done yet"
	case current == nil:
		return "nothing is running"
	case done == all:
		return "every stage is done"
	case current.State == Failed && current.Error != "":
		return part(plan, current) + current.Name + " has failed: " + current.Error
	}
	return part(plan, current) + current.Name + " " + current.State.verb()
}

func (s StageState) verb() string {
	switch s {
	case Done:
		return "is done"
	case Failed:
		return "has failed"
	case Invalidated:
		return "is to be done again"
	}
	return string(s)
}

// phases are the phases of stages, as a reader knows them.
var phases = map[string]string{
	labs.PhaseRender:       "rendering: ",
	labs.PhaseControlPlane: "temporary control plane: ",
	labs.PhaseHandOver:     "the cluster moves to the masters: ",
}

// part is the part of the bootstrap that a stage belongs to.
func part(plan *labs.Plan, current *Stage) string {
	s := plan.Stage(current.Name)
	switch {
	case s == nil:
		return ""
	case s.Kind == "prepare":
		return "making ready: "
	}
	return phases[s.Phase]
}

// waitsFor is what a running stage does, or waits for, in the words of the plan.
func waitsFor(plan *labs.Plan, current *Stage) string {
	if s := plan.Stage(current.Name); s != nil {
		return s.Title
	}
	return current.Name
}
