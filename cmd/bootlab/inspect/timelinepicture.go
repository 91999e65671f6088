package inspect

import (
	"fmt"
	"time"

	"bootlab/generator/diagram"
	"bootlab/labs/inspect/record"
)

// picture draws the report.
func (t *timelineReport) picture() diagram.Picture {
	title := "Time line of " + t.Lab + ", release " + t.Release
	runs := []diagram.Run{{Title: "The " + t.placeName(), Bars: barsOf(t.Spans)}}
	if t.Other != nil {
		runs = append([]diagram.Run{{Title: "How long each stage took, here and in the other run", Bars: t.pairs()}}, runs...)
		runs = append(runs, diagram.Run{Title: "Other run: " + t.Other.Place, Bars: barsOf(t.Other.Spans)})
	}
	return diagram.DrawRuns(title, runs...)
}

var barStates = map[record.State]diagram.BarState{
	record.Succeeded: diagram.BarGood, record.Failed: diagram.BarBad, record.Runs: diagram.BarOpen,
	record.CutOff: diagram.BarCut, record.NoEnd: diagram.BarCut,
}

func barsOf(spans []timelineSpan) []diagram.Bar {
	var first *time.Time
	for _, s := range spans {
		for _, at := range []*time.Time{s.Start, s.End} {
			if at != nil && (first == nil || at.Before(*first)) {
				first = at
			}
		}
	}
	var bars []diagram.Bar
	for _, s := range spans {
		bar := diagram.Bar{Name: s.label(), State: barStates[s.State], Words: s.words()}
		switch {
		case s.Times > 0:
			bar.Name += fmt.Sprintf(", %d attempts", s.Times)
		case s.Attempt > 1:
			bar.Name += fmt.Sprintf(", attempt %d", s.Attempt)
		}
		begun, ended := s.Start, s.End
		if begun == nil {
			begun = ended
		}
		if begun != nil {
			bar.From = int(begun.Sub(*first).Seconds())
		}
		bar.To = bar.From
		if s.Seconds != nil {
			bar.To += *s.Seconds
		}
		bars = append(bars, bar)
	}
	return bars
}

// words stand behind a bar.
func (s *timelineSpan) words() string {
	words := string(s.State)
	switch {
	case s.State == record.Succeeded && s.Seconds != nil:
		words = s.took()
	case s.State == record.Succeeded:
		words = "done"
	case s.State == record.Failed && s.Seconds != nil:
		words = "failed after " + s.took()
	case s.State == record.Failed:
		words = "failed"
	}
	if s.Usual != nil && s.UsualFrom == usualHere {
		words += ", usual " + s.usually()
	}
	return words
}

// pairs are two bars for each stage, from the same beginning.
func (t *timelineReport) pairs() []diagram.Bar {
	var bars []diagram.Bar
	for _, stage := range t.Stages {
		bars = append(bars, pairBar(stage.Name, stage.Here+" here", stage.pair.Here), pairBar("", stage.Other+" other", stage.pair.Other))
	}
	return bars
}

func pairBar(name, words string, s *record.Span) diagram.Bar {
	bar := diagram.Bar{Name: name, Words: words, State: diagram.BarCut}
	if s != nil {
		took, _ := s.Took()
		bar.State, bar.To = barStates[s.State], int(took.Seconds())
	}
	return bar
}
