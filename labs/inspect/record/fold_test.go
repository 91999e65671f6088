package record

import (
	"fmt"
	"testing"
	"time"
)

func TestManyFailedAttemptsAreOne(t *testing.T) {
	entries := []Entry{service(ServiceStart, 0, "")}
	for i := range 2000 {
		entries = append(entries, start("pull", 2*i+1), end("pull", 2*i+2, Failure))
	}
	entries[len(entries)-1].ErrorMessage = "the last words"
	entries = append(entries, start("pull", 5000), end("pull", 5009, Success), start("arch", 5010), end("arch", 5011, Failure), start("arch", 5020), end("arch", 5021, Failure))
	s := &Service{Name: "release-image", Log: &Log{Entries: entries}}
	got := ""
	for _, span := range Fold(TimeLine(s)) {
		took, _ := span.Took()
		got += fmt.Sprintf("%s#%d x%d %s %s; ", span.Name, span.Attempt, span.Times, span.State, took)
	}
	const want = "pull#2000 x2000 failure 1h6m39s; pull#2001 x0 success 9s; arch#1 x0 failure 1s; arch#2 x0 failure 1s; "
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if words := Fold(TimeLine(s))[0].ErrorMessage; words != "the last words" {
		t.Errorf("it says %q", words)
	}
}

func TestAClockThatJumpsIsSeen(t *testing.T) {
	years := Entry{Timestamp: "2001-01-01T00:00:20Z", Phase: StageStart, Stage: "early"}
	for name, c := range map[string]struct {
		entries []Entry
		jumps   int
	}{
		"set back":                  {[]Entry{service(ServiceStart, 0, ""), start("a", 100), end("a", 40, Success)}, 1},
		"set forward by years":      {[]Entry{years, service(ServiceStart, 0, ""), start("a", 1)}, 1},
		"a night in between":        {[]Entry{service(ServiceStart, 0, ""), start("a", 1), end("a", 14*3600, Success)}, 0},
		"two entries of one second": {[]Entry{service(ServiceStart, 0, ""), start("a", 0)}, 0},
		"a time that is none":       {[]Entry{service(ServiceStart, 5, ""), {Timestamp: "noon", Phase: StageStart, Stage: "a"}, end("a", 9, Success)}, 0},
	} {
		got := Jumps(&Service{Name: "bootkube", Log: &Log{Entries: c.entries}})
		if len(got) != c.jumps {
			t.Errorf("%s: %v", name, got)
		}
		if len(got) == 1 && (got[0].Before.IsZero() || got[0].After.Sub(got[0].Before) > 0 && got[0].After.Sub(got[0].Before) < 24*time.Hour) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
