package labs

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Plan is a lab, its release and the stages of that release: everything a
// generator, a site or a provisioner needs, with nothing left to decide but
// what only a running script can see (files that are there or not).
type Plan struct {
	Lab      *Lab
	Release  *Release
	Bootkube *Bootkube
	// Stages are those of the release in the order they run, their flags,
	// copies, checks and texts already cut down to it.
	Stages []*Stage
	// Audited is set when the plan was changed to what an audited script does;
	// Release is then the known release that it began from.
	Audited *Audited
}

// Version is the release that the lab installs, as lab.yaml names it. It is the
// plan's release, but for a lab made from an audited script of another.
func (p *Plan) Version() string { return p.Lab.Release.Version }

// Resolve makes the plan for a loaded lab. An unknown release is an error that
// names the known ones.
func (c *Catalog) Resolve(lab *Lab) (*Plan, error) { return c.ResolveAs(lab, lab.Release.Version) }

// ResolveAs makes the plan for a lab with the stage data of a release that need
// not be the lab's own.
func (c *Catalog) ResolveAs(lab *Lab, id string) (*Plan, error) {
	release, err := c.Known(id)
	if err != nil {
		return nil, err
	}
	p := &Plan{Lab: lab, Release: &Release{}, Bootkube: &Bootkube{}}
	keep := func(sp Span, when Condition) bool { return sp.Holds(release.ID) && when.possible(lab) }
	cut(reflect.ValueOf(p.Release).Elem(), reflect.ValueOf(release).Elem(), keep)
	cut(reflect.ValueOf(p.Bootkube).Elem(), reflect.ValueOf(c.Bootkube).Elem(), keep)
	for _, s := range c.Stages {
		if !keep(s.Span, s.When) {
			continue
		}
		mine := &Stage{}
		cut(reflect.ValueOf(mine).Elem(), reflect.ValueOf(s).Elem(), keep)
		if slices.Contains(mine.Needs, "podman") {
			mine.Differs = append(mine.Differs, p.Bootkube.Registries...)
		}
		if slices.Contains(mine.Needs, "oc") {
			mine.Failures = append(mine.Failures, p.Bootkube.ClusterFailures...)
		}
		p.Stages = append(p.Stages, mine)
	}
	return p, nil
}

// possible says whether a condition can hold in the lab; what only a running
// script can see counts as possible.
func (w Condition) possible(lab *Lab) bool {
	return (w.InPlace == nil || !bool(*w.InPlace)) &&
		!w.ClusterProfile &&
		(w.Distribution == "" || w.Distribution == lab.Release.Distribution) &&
		(len(w.Topology) == 0 || slices.Contains(w.Topology, lab.Topology)) &&
		len(w.Platforms) == 0 &&
		(len(w.With) == 0 || slices.ContainsFunc(w.With, lab.Has)) &&
		!slices.ContainsFunc(w.Without, lab.Has)
}

// cut copies a struct deeply and leaves out the list items that do not hold.
func cut(to, from reflect.Value, keep func(Span, Condition) bool) {
	switch from.Kind() {
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			cut(to.Elem(), from.Elem(), keep)
		}
	case reflect.Struct:
		for i := 0; i < from.NumField(); i++ {
			cut(to.Field(i), from.Field(i), keep)
		}
	case reflect.Slice:
		if from.Len() == 0 {
			return
		}
		kept, n := reflect.MakeSlice(from.Type(), from.Len(), from.Len()), 0
		for i := range from.Len() {
			if item := from.Index(i); holds(item, keep) {
				cut(kept.Index(n), item, keep)
				n++
			}
		}
		if n > 0 {
			to.Set(kept.Slice3(0, n, n))
		}
	default:
		to.Set(from)
	}
}

// limits are the positions of the fields Span and When of a struct; nil where it has
// none.
type limits struct{ span, when []int }

var limitsOf sync.Map // reflect.Type to limits

func holds(item reflect.Value, keep func(Span, Condition) bool) bool {
	if item.Kind() != reflect.Struct {
		return true
	}
	known, ok := limitsOf.Load(item.Type())
	if !ok {
		var found limits
		if f, ok := item.Type().FieldByName("Span"); ok && f.Type == reflect.TypeFor[Span]() {
			found.span = f.Index
		}
		if f, ok := item.Type().FieldByName("When"); ok && f.Type == reflect.TypeFor[Condition]() {
			found.when = f.Index
		}
		known, _ = limitsOf.LoadOrStore(item.Type(), found)
	}
	var sp Span
	var when Condition
	if at := known.(limits).span; at != nil {
		sp = item.FieldByIndex(at).Interface().(Span)
	}
	if at := known.(limits).when; at != nil {
		when = item.FieldByIndex(at).Interface().(Condition)
	}
	return keep(sp, when)
}

// Stage returns the plan's stage of that id; nil if the release has none.
func (p *Plan) Stage(id string) *Stage {
	for _, s := range p.Stages {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// ImageVariable is the shell variable of bootkube.sh that holds the image of a
// payload name; empty when bootkube.sh of this release asks for no such image.
func (p *Plan) ImageVariable(payload string) string {
	for _, v := range p.Bootkube.Images {
		if v.Name == payload {
			return v.Variable
		}
	}
	return ""
}

// Writer is the stage that has a file among its outputs, the last one before
// the given stage, and an optional one only where no other does; nil when
// no stage does.
func (p *Plan) Writer(file string, before *Stage) *Stage {
	var writer *Stage
	for _, s := range p.Stages {
		if s == before {
			break
		}
		if s.writes(file) && (writer == nil || !s.Optional) {
			writer = s
		}
	}
	return writer
}

// Maker is the stage that makes a directory of the assets: the first that has it
// among its outputs and that the stages behind it need, or the first stage of
// bootkube.sh for those that bootkube.sh makes at its start; nil where no stage does.
func (p *Plan) Maker(dir string) *Stage {
	if strings.HasPrefix(dir, "/") {
		return nil
	}
	atStart := slices.Contains(p.Bootkube.Mkdir, "./"+strings.TrimSuffix(dir, "/"))
	for _, s := range p.Stages {
		made := slices.ContainsFunc(s.Outputs, func(f File) bool { return f.Path == dir })
		if !s.Optional && (made || atStart && s.Bootkube != "") {
			return s
		}
	}
	return nil
}

func (s *Stage) writes(file string) bool {
	for _, out := range s.Outputs {
		if covers(out.Path, file) {
			return true
		}
	}
	return false
}
