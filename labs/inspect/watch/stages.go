package watch

import (
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/record"
)

// progress is what tells how far the stages of a place are.
type progress struct {
	services []*record.Service
	// marked says whether a marker is there, below the asset directory.
	marked func(marker string) bool
	// running says whether a service is running, by the name of its record.
	running func(service string) bool
	usual   func(recordName string) time.Duration
}

// bootkube is the service whose record the stages share.
const bootkube = "bootkube"

// stages puts the plan's stages of a place and the records together.
func (p *progress) stages(plan *labs.Plan, place labs.Place) []Stage {
	spans := map[string]*record.Span{}
	var order []string
	for _, span := range record.TimeLine(p.services...) {
		if span.Kind != record.Stage {
			continue
		}
		if spans[span.Name] == nil {
			order = append(order, span.Name)
		}
		span.Settle(p.running(span.Service))
		spans[span.Name] = span
	}
	var all []Stage
	for _, s := range plan.Stages {
		if !s.In(place) {
			continue
		}
		name := s.RecordName()
		one := stageOf(spans[name])
		one.Name, one.Parallel, one.Usual = s.ID, s.Parallel, p.usual(name)
		if m := s.Marker(); m != "" {
			one.mark(p.marked(m))
		}
		delete(spans, name)
		all = append(all, one)
	}
	for _, name := range order {
		if span := spans[name]; span != nil {
			one := stageOf(span)
			one.Name, one.Usual = Clean(name), p.usual(name)
			all = append(all, one)
		}
	}
	return all
}

// stageOf is how the last attempt stands.
func stageOf(span *record.Span) Stage {
	if span == nil {
		return Stage{State: NotBegun}
	}
	s := Stage{Attempt: span.Attempt, Start: span.Start, End: span.End}
	switch span.State {
	case record.Succeeded:
		s.State = Done
	case record.Failed:
		s.State, s.Error = Failed, Clean(lastLine(span.ErrorMessage))
	case record.Runs:
		s.State = Runs
	default:
		s.State = CutOff
	}
	return s
}

// mark puts the marker beside what the record says: the marker is written last
// and taken away when the result is invalidated.
func (s *Stage) mark(there bool) {
	switch {
	case there && (s.State == NotBegun || s.State == CutOff):
		s.State = Done
	case !there && s.State == Done:
		s.State = Invalidated
	}
}
