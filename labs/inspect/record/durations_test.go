package record

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// done is a stage that took some seconds.
func done(minute, seconds int) *Span {
	begun := time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)
	return &Span{Kind: Stage, Name: "a", State: Succeeded, Start: begun, End: begun.Add(time.Duration(seconds) * time.Second)}
}

func byName(s *Span) string { return s.Name }

func TestTheUsualDurationIsTheMedianOfTheLastNine(t *testing.T) {
	d := Durations{}
	if _, known := d.Usual("a", time.Now()); known {
		t.Error("known before there is one")
	}
	for i, seconds := range []int{1000, 1000, 1, 2, 3, 4, 5, 6, 7, 8, 900} {
		d.Add([]*Span{done(i, seconds)}, byName)
		d.Add([]*Span{done(i, seconds)}, byName)
	}
	if len(d["a"]) != 9 {
		t.Fatalf("%d are kept", len(d["a"]))
	}
	if usual, known := d.Usual("a", time.Now()); !known || usual != 5*time.Second {
		t.Errorf("%v, %v", usual, known)
	}
	if usual, _ := d.Usual("a", done(4, 0).Start); usual != 1500*time.Millisecond {
		t.Errorf("before the third of them: %v", usual)
	}
}

func TestOnlyStagesThatWentWellCount(t *testing.T) {
	d := Durations{}
	failed, run, backwards, open := done(1, 5), done(2, 5), done(3, -5), done(4, 5)
	failed.State, run.Kind, open.State, open.End = Failed, Run, NoEnd, time.Time{}
	d.Add([]*Span{failed, run, backwards, open}, byName)
	if len(d) != 0 {
		t.Errorf("%v", d)
	}
}

func TestDurationsAreKeptBySeveralAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "bootlab", "durations.json")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := KeepDurations(file, func(d Durations) { d.Add([]*Span{done(i, i)}, byName) }); err != nil {
				t.Error(err)
			}
		}()
	}
	wait.Wait()
	d, err := ReadDurations(file)
	if err != nil || len(d["a"]) != 8 {
		t.Error(d, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestATornFileIsStartedOverAndANewerOneIsLeftAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "durations.json")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add := func(d Durations) { d.Add([]*Span{done(1, 1)}, byName) }
	write(`{"version":1,"durations":{"a":[{"sta`)
	if d, err := ReadDurations(file); err == nil || len(d) != 0 || !strings.Contains(err.Error(), "torn") {
		t.Error(d, err)
	}
	if err := KeepDurations(file, add); err != nil {
		t.Error(err)
	}
	if d, err := ReadDurations(file); err != nil || len(d["a"]) != 1 {
		t.Error(d, err)
	}
	write(`{"version":2}`)
	if err := KeepDurations(file, add); err == nil || !strings.Contains(err.Error(), "of version 2") {
		t.Error(err)
	}
	if text, _ := os.ReadFile(file); string(text) != `{"version":2}` {
		t.Errorf("%s", text)
	}
}

func TestTheDurationsFileFollowsXDG(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	for state, want := range map[string]string{"/state": "/state/bootlab/durations.json", "": "/home/me/.local/state/bootlab/durations.json",
		"relative": "/home/me/.local/state/bootlab/durations.json"} {
		t.Setenv("XDG_STATE_HOME", state)
		if got, err := DurationsFile(); err != nil || got != want {
			t.Errorf("%q: %s, %v", state, got, err)
		}
	}
}
