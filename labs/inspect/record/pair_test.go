package record

import (
	"fmt"
	"strings"
	"testing"
)

func TestTwoRunsAreComparedStageByStage(t *testing.T) {
	spans := func(entries ...Entry) []*Span {
		return TimeLine(&Service{Name: "bootkube", Log: &Log{Entries: entries}})
	}
	here := spans(start("a", 0), end("a", 10, Success), start("b", 20), end("b", 21, Failure), start("b", 30), end("b", 34, Success), start("b", 40), end("b", 41, Failure),
		start("mine", 50), end("mine", 51, Success), start("open", 60))
	there := spans(start("first", 0), end("first", 1, Success), start("a", 2), end("a", 4, Success), start("between", 5), end("between", 6, Success),
		start("b", 7), end("b", 12, Success), start("open", 13), end("open", 14, Success))
	var got []string
	for _, p := range Pairs(here, there) {
		text := p.Stage
		if d, known := p.Difference(); known {
			text += fmt.Sprintf(" %v", d.Seconds())
		}
		got = append(got, text)
	}
	if want := "first, a 8, between, b -1, mine, open"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

const many = 60_000

func manyStages() (here, beside []*Span) {
	for i := range many {
		here = append(here, &Span{Kind: Stage, Name: fmt.Sprint("here ", i)})
		beside = append(beside, &Span{Kind: Stage, Name: fmt.Sprint("beside ", i)})
	}
	return here, beside
}

// The records may come from anywhere, and name as many stages as they like.
func BenchmarkPairs(b *testing.B) {
	here, beside := manyStages()
	for b.Loop() {
		Pairs(here, beside)
	}
}

func TestManyStagesArePaired(t *testing.T) {
	pairs := Pairs(manyStages())
	if len(pairs) != 2*many || pairs[0].Stage != "beside 0" || pairs[many].Stage != "here 0" {
		t.Errorf("%d pairs", len(pairs))
	}
}
