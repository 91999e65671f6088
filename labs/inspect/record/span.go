package record

import (
	"slices"
	"strings"
	"time"
)

// Kind is what a span is of.
type Kind string

// The kinds of spans.
const (
	Run         Kind = "service"
	Stage       Kind = "stage"
	PreCommand  Kind = "pre-command"
	PostCommand Kind = "post-command"
)

// State is how a span stands.
type State string

// The states of a span. One that has no end runs, or was killed; which of both
// only somebody who looks at the machine can tell: see [Span.Settle].
const (
	Succeeded State = "success"
	Failed    State = "failure"
	NoEnd     State = "no end"
	Runs      State = "runs"
	CutOff    State = "was cut off"
)

// Span is one attempt at a stage, or one run of a service or of a command before
// or behind it.
type Span struct {
	Service string
	Kind    Kind
	Name    string // of the stage or the command; the service's for a run
	Attempt int    // from 1, among those of the same service, kind and name
	Times   int    // of many attempts that [Fold] tells as one; Attempt is the last of them
	// Start or End are zero where the record has none.
	Start, End   time.Time
	State        State
	ErrorLine    string
	ErrorMessage string
}

// Took is how long the span was; not known without both ends, nor when the
// clock was set back meanwhile.
func (s *Span) Took() (time.Duration, bool) {
	if s.Start.IsZero() || s.End.IsZero() || s.End.Before(s.Start) {
		return 0, false
	}
	return s.End.Sub(s.Start), true
}

// Settle says of a span without an end whether its service is running.
func (s *Span) Settle(running bool) {
	switch {
	case s.State != NoEnd:
	case running:
		s.State = Runs
	default:
		s.State = CutOff
	}
}

// at is when the span stands in a time line.
func (s *Span) at() time.Time {
	if s.Start.IsZero() {
		return s.End
	}
	return s.Start
}

// teller turns the entries of one service into spans.
type teller struct {
	service  string
	spans    []*Span
	open     []*Span
	attempts map[string]int
}

// Spans are all attempts of a service, in the order in which they began.
func (s *Service) Spans() []*Span {
	t := &teller{service: s.Name, attempts: map[string]int{}}
	for _, log := range []*Log{s.Older, s.Log} {
		if log == nil {
			continue
		}
		one := &Service{Name: s.Name, Log: log}
		for i := range log.Entries {
			if !one.startsTwice(i) {
				t.tell(&log.Entries[i])
			}
		}
		if log == s.Older {
			t.cutOff(Run)
		}
	}
	return t.spans
}

func (t *teller) tell(e *Entry) {
	kind, name, starts := e.span()
	if name == "" {
		name = t.service
	}
	if starts {
		t.cutOff(kind)
		t.open = append(t.open, t.begin(kind, name, e.Time()))
		return
	}
	span := t.close(kind, name)
	if span == nil {
		span = t.begin(kind, name, time.Time{})
	}
	span.End, span.State = e.Time(), Succeeded
	if e.Result != Success {
		span.State, span.ErrorLine, span.ErrorMessage = Failed, e.ErrorLine, e.ErrorMessage
	}
	if kind == Run {
		t.cutOff(Stage)
	}
}

func (t *teller) begin(kind Kind, name string, at time.Time) *Span {
	key := string(kind) + " " + name
	t.attempts[key]++
	span := &Span{Service: t.service, Kind: kind, Name: name, Attempt: t.attempts[key], Start: at, State: NoEnd}
	t.spans = append(t.spans, span)
	return span
}

// cutOff ends what cannot be open any more when a span of that kind begins: a
// service that starts, or has a command run before it does, has nothing left at
// work; one stage is running at a time.
func (t *teller) cutOff(begins Kind) {
	var left []*Span
	for _, s := range t.open {
		if begins == Run || begins == PreCommand || begins == s.Kind {
			s.State = CutOff
			continue
		}
		left = append(left, s)
	}
	t.open = left
}

// close takes out the open span that an end belongs to; nil if none is.
func (t *teller) close(kind Kind, name string) *Span {
	i := slices.IndexFunc(t.open, func(s *Span) bool { return s.Kind == kind && s.Name == name })
	if i < 0 {
		return nil
	}
	s := t.open[i]
	t.open = slices.Delete(t.open, i, i+1)
	return s
}

// TimeLine puts the stages of services in the order in which they began. The run
// of a service stands there where it says more than its stages: when it has
// none, or failed outside of them.
func TimeLine(services ...*Service) []*Span {
	var all []*Span
	for _, s := range services {
		spans := s.Spans()
		for i, span := range spans {
			if span.Kind != Run || saysMore(span, during(spans, i)) {
				all = append(all, span)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Span) int {
		if by := a.at().Compare(b.at()); by != 0 {
			return by
		}
		return strings.Compare(a.Service, b.Service)
	})
	return all
}

// during are the stages behind a run, up to the next one.
func during(spans []*Span, run int) []*Span {
	var stages []*Span
	for _, s := range spans[run+1:] {
		if s.Kind == Run {
			break
		}
		if s.Kind == Stage {
			stages = append(stages, s)
		}
	}
	return stages
}

func saysMore(run *Span, stages []*Span) bool {
	if len(stages) == 0 {
		return true
	}
	return run.State == Failed && stages[len(stages)-1].State != Failed
}
