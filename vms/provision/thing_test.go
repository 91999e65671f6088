package provision

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"bootlab/vms"
	"bootlab/vms/state"
)

// part is a thing without a host; it writes down what is done to it.
type part struct {
	name  string
	at    condition
	fails string // the step that does not succeed
	lies  bool   // what was made or removed is as it was
	empty bool   // once started, it shows that it is only half made
	log   *[]string
}

func (p *part) step(what string, then condition) func() error {
	return func() error {
		*p.log = append(*p.log, what+" "+p.name)
		if p.fails == what {
			return errors.New(what + " does not work")
		}
		if p.lies {
			return nil
		}
		p.at = then
		if p.empty && what == "start" {
			p.at, p.empty = halfMade, false
		}
		return nil
	}
}

func (p *part) thing() Thing {
	return Thing{Kind: "part", Name: p.name,
		look: func() (condition, error) {
			if p.fails == "look" {
				return "", &vms.Problem{Message: p.name + " is not ours"}
			}
			if p.fails == "connection" {
				return "", errors.New("the connection was lost")
			}
			return p.at, nil
		},
		make: p.step("make", inactive), start: p.step("start", ready), remove: p.step("remove", missing)}
}

func parts(log *[]string, all ...*part) []Thing {
	var out []Thing
	for _, p := range all {
		p.log = log
		out = append(out, p.thing())
	}
	return out
}

func newState(t *testing.T) *state.Dir {
	t.Helper()
	s, err := state.Open(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func silent(string, Thing, bool) {}

func TestMakeAllDoesWhatIsMissingInOrder(t *testing.T) {
	var log []string
	all := parts(&log, &part{name: "a", at: ready}, &part{name: "b", at: missing}, &part{name: "c", at: halfMade}, &part{name: "d", at: inactive})
	s := newState(t)
	if err := makeAll(context.Background(), s, all, silent); err != nil {
		t.Fatal(err)
	}
	want := []string{"make b", "start b", "remove c", "make c", "start c", "start d"}
	if !slices.Equal(log, want) {
		t.Errorf("it did %v, want %v", log, want)
	}
	log = nil
	if err := makeAll(context.Background(), s, all, silent); err != nil || len(log) > 0 {
		t.Errorf("the second time it did %v (%v)", log, err)
	}
}

func TestMakeAllEndsAtWhatDoesNotWork(t *testing.T) {
	for _, c := range []struct {
		bad  part
		says string
		did  []string
	}{
		{part{name: "b", at: missing, fails: "make"}, "part b: make does not work", []string{"make a", "start a", "make b"}},
		{part{name: "b", at: missing, fails: "start"}, "part b: start does not work", []string{"make a", "start a", "make b", "start b"}},
		{part{name: "b", at: halfMade, fails: "remove"}, "part b: remove does not work", []string{"make a", "start a", "remove b"}},
		{part{name: "b", at: missing, fails: "look"}, "b is not ours", []string{"make a", "start a"}},
		// Whoever takes a definition may still not do it.
		{part{name: "b", at: missing, lies: true}, "part b: it was made, and is missing", []string{"make a", "start a", "make b"}},
	} {
		var log []string
		s := newState(t)
		err := makeAll(context.Background(), s, parts(&log, &part{name: "a", at: missing}, &c.bad, &part{name: "c", at: missing}), silent)
		if err == nil || err.Error() != c.says || !slices.Equal(log, c.did) {
			t.Errorf("it did %v and said %v; want %v and %s", log, err, c.did, c.says)
		}
	}
}

// An up that was killed between defining a pool and starting it leaves one that
// cannot be looked into before it runs.
func TestMakeAllMakesAgainWhatShowsHalfMadeOnceStarted(t *testing.T) {
	var log []string
	s := newState(t)
	if err := makeAll(context.Background(), s, parts(&log, &part{name: "a", at: inactive, empty: true}), silent); err != nil {
		t.Error(err)
	}
	if want := []string{"start a", "remove a", "make a", "start a"}; !slices.Equal(log, want) {
		t.Errorf("it did %v, want %v", log, want)
	}
}

func TestAnInterruptionEndsBetweenThings(t *testing.T) {
	var log []string
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := parts(&log, &part{name: "a", at: missing}, &part{name: "b", at: missing})
	stop := func(string, Thing, bool) { cancel() }
	if err := makeAll(ctx, newState(t), all, stop); !errors.Is(err, context.Canceled) || !slices.Equal(log, []string{"make a", "start a"}) {
		t.Errorf("it did %v and said %v", log, err)
	}
}

func TestAnInterruptedRemovalSaysWhatIsLeft(t *testing.T) {
	var log []string
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	all := parts(&log, &part{name: "a", at: ready}, &part{name: "b", at: ready}, &part{name: "c", at: ready})
	all[0].Kept = true
	receipts := removeAll(ctx, newState(t), all, func(string, Thing, bool) { cancel() })
	want := []Receipt{{"part", "c", "ready", "gone", false}, {"part", "b", "not looked at", "not reached", true}, {"part", "a", "not looked at", "not reached", false}}
	if !slices.Equal(receipts, want) || !slices.Equal(log, []string{"remove c"}) {
		t.Errorf("it did %v: %+v", log, receipts)
	}
}

func TestRemoveAllGoesOnAndReadsBack(t *testing.T) {
	var log []string
	all := parts(&log, &part{name: "a", at: ready}, &part{name: "b", at: ready, fails: "remove"}, &part{name: "c", at: ready, fails: "look"},
		&part{name: "d", at: missing}, &part{name: "e", at: ready, lies: true}, &part{name: "f", at: ready}, &part{name: "g", at: ready, fails: "connection"})
	all[5].Kept = true
	receipts := removeAll(context.Background(), newState(t), all, silent)
	want := []Receipt{
		{"part", "g", "not to be seen", "not known: the connection was lost", true},
		{"part", "f", "ready", "kept", false},
		{"part", "e", "ready", "still there: it was removed, and is ready", true},
		{"part", "d", "missing", "gone", false},
		{"part", "c", "not ours", "left alone: c is not ours", false},
		{"part", "b", "ready", "still there: remove does not work", true},
		{"part", "a", "ready", "gone", false},
	}
	if !slices.Equal(receipts, want) {
		t.Errorf("%+v", receipts)
	}
	if !slices.Equal(log, []string{"remove e", "remove b", "remove a"}) {
		t.Errorf("it did %v", log)
	}
}

func TestTheJournalTellsWhatWasBegunAndHowItEnded(t *testing.T) {
	var log []string
	s := newState(t)
	all := parts(&log, &part{name: "a", at: missing}, &part{name: "b", at: missing, fails: "start"})
	if err := makeAll(context.Background(), s, all, silent); err == nil {
		t.Fatal("no error")
	}
	removeAll(context.Background(), s, all[:1], silent)
	text, err := os.ReadFile(s.Path("journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var l struct{ Time, Do, Name, Result string }
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Time == "" {
			t.Fatal(line, err)
		}
		got = append(got, l.Do+" "+l.Name+" "+l.Result)
	}
	want := []string{"make a begun", "make a done", "make b begun", "make b start does not work", "remove a begun", "remove a done"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if info, err := os.Stat(s.Path("journal.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}
