package inspect

import (
	"fmt"
	"strings"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/record"
)

// timelineReport is what --output json writes. Times are RFC 3339; what is not
// known is left out. New keys may be added.
type timelineReport struct {
	Lab      string            `json:"lab"`
	Release  string            `json:"release"`
	Place    string            `json:"place"` // local, lab, or the path that was read
	Services []timelineService `json:"services"`
	Spans    []timelineSpan    `json:"spans"`
	Jumps    []timelineJump    `json:"jumps,omitempty"` // where the clock was set
	Other    *timelineOther    `json:"other,omitempty"`
	Stages   []timelineStage   `json:"stages,omitempty"` // with --with
}

// timelineOther is the run that was named with --with.
type timelineOther struct {
	Place    string            `json:"place"`
	Services []timelineService `json:"services"`
	Spans    []timelineSpan    `json:"spans"`
}

// timelineService is one record. Successful is the verdict of openshift-install
// analyze: the last entry is an end with success.
type timelineService struct {
	Name       string `json:"name"`
	Runs       int    `json:"runs"`
	Successful bool   `json:"successful"`
	Problem    string `json:"problem,omitempty"`
}

// timelineJump is two entries of a record between which the clock was set.
type timelineJump struct {
	Service string    `json:"service"`
	Before  time.Time `json:"before"`
	After   time.Time `json:"after"`
}

// timelineSpan is one attempt.
type timelineSpan struct {
	Service string      `json:"service"`
	Kind    record.Kind `json:"kind"`
	Name    string      `json:"name"`         // as it stands in the record
	ID      string      `json:"id,omitempty"` // of the stage here
	Attempt int         `json:"attempt"`
	Times   int         `json:"times,omitempty"` // so many failed attempts are told as one; attempt is the last
	Start   *time.Time  `json:"start,omitempty"`
	End     *time.Time  `json:"end,omitempty"`
	Seconds *int        `json:"seconds,omitempty"`
	// Usual is the median of what it took here before; where there is nothing yet,
	// what the stage's data says, and UsualFrom says which.
	Usual        *float64     `json:"usualSeconds,omitempty"`
	UsualFrom    string       `json:"usualFrom,omitempty"` // "this host" or "stage data"
	State        record.State `json:"state"`
	ErrorLine    string       `json:"errorLine,omitempty"`
	ErrorMessage string       `json:"errorMessage,omitempty"`
}

// timelineStage is a stage of two runs.
type timelineStage struct {
	Name       string `json:"name"`
	ID         string `json:"id,omitempty"`
	Here       string `json:"here"` // duration or state; "-" if there is none
	Other      string `json:"other"`
	Difference *int   `json:"differenceSeconds,omitempty"`

	pair record.Pair
}

const (
	usualHere   = "this host"
	usualInData = "stage data"
)

// timelineBuilder turns records into a report.
type timelineBuilder struct {
	stages map[string]*labs.Stage // by the name in records
	usual  func(*record.Span) (time.Duration, bool)
}

func newTimeline(plan *labs.Plan, here, there *chronicle, durations record.Durations) *timelineReport {
	b := &timelineBuilder{stages: map[string]*labs.Stage{}}
	for _, s := range plan.Stages {
		b.stages[s.RecordName()] = s
	}
	b.usual = func(s *record.Span) (time.Duration, bool) {
		return durations.Usual(durationKey(plan, here, s.Name), s.Start)
	}
	t := &timelineReport{Lab: plan.Lab.Metadata.Name, Release: plan.Version(), Place: here.place,
		Services: servicesOf(here), Spans: b.spans(record.Fold(here.spans)), Jumps: jumpsOf(here)}
	if there == nil {
		return t
	}
	b.usual = nil
	t.Other = &timelineOther{there.place, servicesOf(there), b.spans(record.Fold(there.spans))}
	for _, p := range record.Pairs(here.spans, there.spans) {
		row := timelineStage{Name: p.Stage, ID: b.id(p.Stage), Here: outcome(p.Here), Other: outcome(p.Other), pair: p}
		if d, known := p.Difference(); known {
			seconds := int(d.Seconds())
			row.Difference = &seconds
		}
		t.Stages = append(t.Stages, row)
	}
	return t
}

func servicesOf(c *chronicle) []timelineService {
	out := []timelineService{}
	for _, s := range c.services {
		out = append(out, timelineService{s.Name, s.Runs(), s.Successful(), s.Problem})
	}
	return out
}

func jumpsOf(c *chronicle) []timelineJump {
	var out []timelineJump
	for _, j := range record.Jumps(c.services...) {
		out = append(out, timelineJump{j.Service, j.Before, j.After})
	}
	return out
}

func (b *timelineBuilder) id(name string) string {
	if s := b.stages[name]; s != nil {
		return s.ID
	}
	return ""
}

func (b *timelineBuilder) spans(all []*record.Span) []timelineSpan {
	out := []timelineSpan{}
	for _, s := range all {
		t := timelineSpan{Service: s.Service, Kind: s.Kind, Name: s.Name, Attempt: s.Attempt, Times: s.Times, State: s.State,
			Start: moment(s.Start), End: moment(s.End), ErrorLine: s.ErrorLine, ErrorMessage: s.ErrorMessage}
		if s.Kind == record.Stage {
			t.ID = b.id(s.Name)
			b.expect(&t, s)
		}
		if took, known := s.Took(); known {
			seconds := int(took.Seconds())
			t.Seconds = &seconds
		}
		out = append(out, t)
	}
	return out
}

func (b *timelineBuilder) expect(t *timelineSpan, s *record.Span) {
	if b.usual == nil {
		return
	}
	if usual, known := b.usual(s); known {
		seconds := usual.Seconds()
		t.Usual, t.UsualFrom = &seconds, usualHere
	} else if stage := b.stages[s.Name]; stage != nil && stage.Seconds > 0 {
		seconds := float64(stage.Seconds)
		t.Usual, t.UsualFrom = &seconds, usualInData
	}
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// outcome is how long a span took, or how it stands.
func outcome(s *record.Span) string {
	if s == nil {
		return "-"
	}
	took, known := s.Took()
	switch {
	case s.State == record.Succeeded && known:
		return cli.Short(took)
	case s.State == record.Failed && known:
		return "failed after " + cli.Short(took)
	case s.State == record.Failed:
		return "failed"
	case s.State == record.Succeeded:
		return "done"
	}
	return string(s.State)
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// label is a span's name in a table, with the stage's own where that differs.
func (s *timelineSpan) label() string {
	name := check.Plain(s.Name)
	switch {
	case s.Kind != record.Stage && s.Name != s.Service:
		name = check.Plain(s.Service) + ", " + string(s.Kind) + " " + name
	case s.Kind != record.Stage:
		name += ".service"
	case s.ID != "" && s.ID != s.Name:
		name += " (" + s.ID + ")"
	}
	return oneLine(name)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// attempts is the number of an attempt, or of the first and the last of many.
func (s *timelineSpan) attempts() string {
	if s.Times > 0 {
		return fmt.Sprintf("%d-%d", s.Attempt-s.Times+1, s.Attempt)
	}
	return fmt.Sprint(s.Attempt)
}

func (s *timelineSpan) result() string {
	if s.Times > 0 {
		return fmt.Sprintf("%s, %d times", s.State, s.Times)
	}
	return string(s.State)
}

func (s *timelineSpan) took() string {
	if s.Seconds == nil {
		return "-"
	}
	return cli.Short(seconds(*s.Seconds))
}

// usual is "about" where nothing was measured here.
func (s *timelineSpan) usually() string {
	switch {
	case s.Usual == nil:
		return "-"
	case s.UsualFrom == usualInData:
		return "about " + cli.Short(time.Duration(*s.Usual)*time.Second)
	}
	return cli.Short(time.Duration(*s.Usual * float64(time.Second)))
}

func clockOf(t *time.Time, missing string) string {
	if t == nil {
		return missing
	}
	return t.Format("2006-01-02 15:04:05")
}

func (t *timelineReport) text() string {
	var b strings.Builder
	if t.Other == nil {
		t.table(&b)
	} else {
		t.comparison(&b)
	}
	for _, j := range t.Jumps {
		fmt.Fprintf(&b, "\nThe clock was set: the record of %s goes from %s to %s. Durations across that are not true.\n", check.Plain(j.Service), clockOf(&j.Before, "-"), clockOf(&j.After, "-"))
	}
	tellFailures(&b, "", t.Spans)
	if t.Other != nil {
		tellFailures(&b, " in the other run", t.Other.Spans)
	}
	return b.String()
}

// placeName is the place as a person reads it.
func (t *timelineReport) placeName() string {
	if t.Place == string(labs.Local) {
		return "local run"
	}
	return t.Place
}

func (t *timelineReport) table(b *strings.Builder) {
	cli.Table(b, func(row func(cells ...string)) {
		row("STAGE", "ATTEMPT", "START (UTC)", "END", "DURATION", "USUAL", "RESULT")
		for _, s := range t.Spans {
			end := "-"
			if s.State == record.Runs || s.State == record.CutOff {
				end = string(s.State)
			}
			row(s.label(), s.attempts(), clockOf(s.Start, "-"), clockOf(s.End, end), s.took(), s.usually(), s.result())
		}
	})
}

func (t *timelineReport) comparison(b *strings.Builder) {
	fmt.Fprintf(b, "HERE is the %s, OTHER is %s.\n\n", check.Plain(t.placeName()), check.Plain(t.Other.Place))
	cli.Table(b, func(row func(cells ...string)) {
		row("STAGE", "HERE", "OTHER", "DIFFERENCE")
		for _, s := range t.Stages {
			label := timelineSpan{Kind: record.Stage, Name: s.Name, ID: s.ID}
			row(label.label(), s.Here, s.Other, signed(s.Difference))
		}
	})
}

// signed says how much longer it took here.
func signed(n *int) string {
	switch {
	case n == nil:
		return "-"
	case *n > 0:
		return "+" + cli.Short(seconds(*n))
	}
	return cli.Short(seconds(*n))
}

// tellFailures says why what failed did, with the service's own words.
func tellFailures(b *strings.Builder, where string, spans []timelineSpan) {
	begun := false
	for _, s := range spans {
		if s.State != record.Failed {
			continue
		}
		if !begun {
			fmt.Fprintf(b, "\nWhat failed%s:\n", where)
			begun = true
		}
		if s.Times > 0 {
			fmt.Fprintf(b, "  %s, attempts %s, the last of which says", s.label(), s.attempts())
		} else {
			fmt.Fprintf(b, "  %s, attempt %d", s.label(), s.Attempt)
		}
		if s.ErrorLine != "" {
			fmt.Fprintf(b, ", at line %s", oneLine(check.Plain(s.ErrorLine)))
		}
		b.WriteString("\n")
		for line := range strings.Lines(check.Plain(s.ErrorMessage)) {
			fmt.Fprintf(b, "    | %s\n", strings.TrimRight(line, "\n"))
		}
	}
}
