package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"bootlab/labs/inspect/host"
)

// at is a moment some seconds behind the first.
func at(seconds int) string {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(seconds) * time.Second).Format("2006-01-02T15:04:05Z")
}

func start(stage string, seconds int) Entry {
	return Entry{Timestamp: at(seconds), Stage: stage, Phase: StageStart}
}

func end(stage string, seconds int, result string) Entry {
	e := Entry{Timestamp: at(seconds), Stage: stage, Phase: StageEnd, Result: result}
	if result == Failure {
		e.ErrorLine, e.ErrorMessage = "217 main /usr/local/bin/bootkube.sh", "one\ntwo"
	}
	return e
}

func service(phase string, seconds int, result string) Entry {
	return Entry{Timestamp: at(seconds), Phase: phase, Result: result}
}

// file is a record as jq writes it.
func file(t testing.TB, entries ...Entry) []byte {
	t.Helper()
	data, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// spanInShort is a span in short.
func spanInShort(s *Span) string {
	took := "?"
	if d, known := s.Took(); known {
		took = d.String()
	}
	return fmt.Sprintf("%s/%s#%d %s %s", s.Service, s.Name, s.Attempt, s.State, took)
}

func toldAll(spans []*Span) string {
	var all []string
	for _, s := range spans {
		all = append(all, spanInShort(s))
	}
	return strings.Join(all, "; ")
}

func TestTimeLines(t *testing.T) {
	for name, c := range map[string]struct {
		entries []Entry
		want    string
		runs    int
		good    bool
	}{
		"bootkube starts twice at each start": {[]Entry{service(ServiceStart, 0, ""), service(ServiceStart, 1, ""),
			start("cvo-bootstrap", 2), end("cvo-bootstrap", 12, Success), service(ServiceEnd, 13, Success)},
			"bootkube/cvo-bootstrap#1 success 10s", 1, true},
		"two starts that are far apart": {[]Entry{service(ServiceStart, 0, ""), service(ServiceStart, 5, "")},
			"bootkube/bootkube#1 was cut off ?; bootkube/bootkube#2 no end ?", 2, false},
		"a stage that failed, and the service with it": {[]Entry{service(ServiceStart, 0, ""), start("a", 1), end("a", 4, Failure),
			service(ServiceEnd, 4, Failure), service(ServiceStart, 9, ""), start("a", 10), end("a", 12, Success), service(ServiceEnd, 12, Success)},
			"bootkube/a#1 failure 3s; bootkube/a#2 success 2s", 2, true},
		"a service that failed outside of its stages": {[]Entry{service(ServiceStart, 0, ""), start("a", 1), end("a", 4, Success), service(ServiceEnd, 9, Failure)},
			"bootkube/bootkube#1 failure 9s; bootkube/a#1 success 3s", 1, false},
		"a stage that was killed and begins again": {[]Entry{service(ServiceStart, 0, ""), start("a", 1), start("a", 20), end("a", 25, Success)},
			"bootkube/a#1 was cut off ?; bootkube/a#2 success 5s", 1, false},
		"a service that was killed with its stage": {[]Entry{service(ServiceStart, 0, ""), start("a", 1), service(ServiceStart, 30, ""), start("b", 31)},
			"bootkube/a#1 was cut off ?; bootkube/b#1 no end ?", 2, false},
		"an end without its start": {[]Entry{end("a", 4, Success), service(ServiceStart, 5, ""), start("b", 6), end("b", 7, Success)},
			"bootkube/a#1 success ?; bootkube/b#1 success 1s", 1, false},
		"a clock that was set back": {[]Entry{service(ServiceStart, 0, ""), start("a", 100), end("a", 40, Success)},
			"bootkube/a#1 success ?", 1, false},
		"commands before and behind": {[]Entry{{Timestamp: at(0), Phase: PreCommandStart, PreCommand: "pre"}, {Timestamp: at(1), Phase: PreCommandEnd, PreCommand: "pre", Result: Success},
			service(ServiceStart, 2, ""), {Timestamp: at(3), Phase: PostCommandStart, PostCommand: "post"}, {Timestamp: at(5), Phase: PostCommandEnd, PostCommand: "post", Result: Success}},
			"bootkube/pre#1 success 1s; bootkube/bootkube#1 no end ?; bootkube/post#1 success 2s", 1, true},
		"a command behind does not end a stage": {[]Entry{service(ServiceStart, 0, ""), start("a", 1), {Timestamp: at(2), Phase: PostCommandStart, PostCommand: "post"},
			{Timestamp: at(3), Phase: PostCommandEnd, PostCommand: "post", Result: Success}, end("a", 9, Success)},
			"bootkube/a#1 success 8s; bootkube/post#1 success 1s", 1, false},
		"a time that is none": {[]Entry{service(ServiceStart, 0, ""), {Timestamp: "noon", Phase: StageStart, Stage: "a"}, end("a", 9, Success)},
			"bootkube/a#1 success ?", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Service{Name: "bootkube", Log: Read(bytes.NewReader(file(t, c.entries...)))}
			if got := toldAll(TimeLine(s)); s.Problem != "" || got != c.want {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, s.Problem)
			}
			if s.Runs() != c.runs || s.Successful() != c.good {
				t.Errorf("%d runs, successful %v", s.Runs(), s.Successful())
			}
		})
	}
}

func TestWhatHasNoEndRunsOrWasCutOff(t *testing.T) {
	s := &Service{Name: "bootkube", Log: &Log{Entries: []Entry{start("a", 0), end("a", 1, Success), start("b", 2)}}}
	for running, want := range map[bool]State{true: Runs, false: CutOff} {
		spans := s.Spans()
		for _, span := range spans {
			span.Settle(running)
		}
		if spans[0].State != Succeeded || spans[1].State != want {
			t.Errorf("running %v: %s", running, toldAll(spans))
		}
	}
}

// Wherever a file is torn, the whole entries before the tear are there, and the
// tear is told.
func TestEveryTearIsFound(t *testing.T) {
	entries := []Entry{service(ServiceStart, 0, ""), start("a", 1), end("a", 4, Failure)}
	whole := file(t, entries...)
	closed := len(bytes.TrimSpace(whole))
	for cut := 1; cut < closed; cut++ {
		log := Read(bytes.NewReader(whole[:cut]))
		if log.Problem == "" || !strings.Contains(log.Problem, "it is torn") {
			t.Fatalf("cut at %d: %q", cut, log.Problem)
		}
		if n := len(log.Entries); n > 0 && !reflect.DeepEqual(log.Entries, entries[:n]) {
			t.Fatalf("cut at %d: %+v", cut, log.Entries)
		}
		if want := bytes.Count(whole[:cut], []byte("\n  }")); len(log.Entries) != want {
			t.Fatalf("cut at %d: %d entries, want %d", cut, len(log.Entries), want)
		}
	}
	log := Read(bytes.NewReader(whole[:closed-10]))
	if want := fmt.Sprintf("behind entry 2, in line %d (byte %d)", bytes.Count(whole[:closed-10], []byte("\n"))+1, closed-10); !strings.Contains(log.Problem, want) {
		t.Errorf("%q does not say %q", log.Problem, want)
	}
}

func TestWhatIsNoRecordIsTold(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "is empty",
		"\n":                             "is empty",
		"{}":                             "is no record",
		`"text"`:                         "is no record",
		"\x00\x01":                       "is no record",
		`[{"phase":"stage start"}]`:      "1 of its 1 entries",
		`[1,[],"x",null]`:                "4 of its 4 entries",
		`[{"phase":5},{"stage":"x"}]`:    "2 of its 2 entries",
		`[{"phase":"service start"}]]`:   "goes on behind its end, behind entry 1, in line 1 (byte 27)",
		`[{"phase":"service start"} x`:   "it is no JSON further on, behind entry 1",
		"[" + strings.Repeat("[", 20000): "no JSON further on",
	} {
		if log := Read(strings.NewReader(text)); !strings.Contains(log.Problem, want) || len(log.Entries) > 1 {
			t.Errorf("%.40q: %q, %d entries", text, log.Problem, len(log.Entries))
		}
	}
}

func TestUnknownKeysAreNoProblem(t *testing.T) {
	log := Read(strings.NewReader(`[{"phase":"service start","timestamp":"x","more":{"a":[1]}}]`))
	if log.Problem != "" || len(log.Entries) != 1 {
		t.Errorf("%+v", log)
	}
}

// endless gives the same text for ever.
type endless struct {
	head  io.Reader
	given int64
}

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = 'x'
	}
	e.given += int64(len(p))
	return len(p), nil
}

func TestALineWithoutAnEndIsReadInBoundedMemory(t *testing.T) {
	head := strings.TrimSuffix(string(file(t, service(ServiceStart, 0, ""), start("a", 1))), "\n]\n") + ",\n  {\n    \"timestamp\": \""
	e := &endless{head: strings.NewReader(head)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	log := Read(e)
	runtime.ReadMemStats(&after)
	if len(log.Entries) != 2 || !strings.Contains(log.Problem, "longer than 8 MiB") {
		t.Errorf("%d entries, %q", len(log.Entries), log.Problem)
	}
	if e.given > Limit+1 || after.TotalAlloc-before.TotalAlloc > 20*Limit {
		t.Errorf("%d bytes read, %d allocated", e.given, after.TotalAlloc-before.TotalAlloc)
	}
}

func TestTheEndOfALongRecordIsRead(t *testing.T) {
	whole := file(t, service(ServiceStart, 0, ""), start("a", 1), end("a", 2, Success))
	for cut := 1; cut < len(whole); cut++ {
		end := bytes.Clone(whole[cut:])
		log := ReadEnd(end)
		if !strings.Contains(log.Problem, "beginning is not read") || len(log.Entries) != bytes.Count(whole[cut:], []byte("\n  {\n")) {
			t.Fatalf("cut at %d: %d entries, %q", cut, len(log.Entries), log.Problem)
		}
	}
}

func TestRecordsAreFoundInDirectoriesAndBundles(t *testing.T) {
	bootkube := file(t, start("a", 1), end("a", 3, Success))
	for name, prefix := range map[string]string{"a directory": "", "inside a bundle": "bootstrap/services/",
		"a bundle": "log-bundle-20260102030405/bootstrap/services/", "a single node's": "log-bundle-bootstrap/bootstrap/services/"} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{
				prefix + "bootkube.json":             {Data: bootkube},
				prefix + "bootkube.json.torn":        {Data: bootkube[:len(bootkube)/2]},
				prefix + "bootlab/approve-csrs.json": {Data: file(t, start("approve-csrs", 2))},
				prefix + "bootkube.json.tmp":         {Data: []byte("[")},
				prefix + "dir.json/x":                {Data: []byte("[")},
			}
			services, err := Open(fsys)
			if err != nil || len(services) != 2 {
				t.Fatal(services, err)
			}
			const want = "bootkube/a#1 was cut off ?; bootkube/a#2 success 2s; approve-csrs/approve-csrs#1 no end ?"
			if got := toldAll(TimeLine(services...)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	if _, err := Open(fstest.MapFS{"x": {Data: bootkube}}); err != ErrNone {
		t.Error(err)
	}
}

func TestRecordsOfAMachineAreRead(t *testing.T) {
	root := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		name = filepath.Join(root, Dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Collect(context.Background(), host.Local{}, root); err != ErrNone {
		t.Error(err)
	}
	write("bootkube.json", file(t, start("a", 1), end("a", 3, Success)))
	write("long.json", bytes.Repeat(file(t, start("b", 1)), Limit/50))
	write("bootlab/approve-csrs.json", file(t, start("approve-csrs", 2)))
	if err := os.Mkdir(filepath.Join(root, Dir, "dir.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	services, err := Collect(context.Background(), host.Local{}, root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range services {
		found[s.Name] = s.Problem
	}
	if len(found) != 4 || found["bootkube"] != "" || found["approve-csrs"] != "" || !strings.Contains(found["dir"], "cannot be read") ||
		!strings.Contains(found["long"], "goes on behind its end, behind entry 1") {
		t.Errorf("%q", found)
	}
}

func FuzzRead(f *testing.F) {
	whole := file(f, service(ServiceStart, 0, ""), service(ServiceStart, 0, ""), start("a", 1), end("a", 4, Failure), service(ServiceEnd, 5, Failure))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`[{"phase":"stage start","stage":"a"},{"phase":1}]`))
	f.Add([]byte("[[[["))
	f.Fuzz(func(t *testing.T, data []byte) {
		log := Read(bytes.NewReader(data))
		whole := &Service{Name: "x", Log: log, Older: ReadEnd(bytes.Clone(data))}
		for _, s := range TimeLine(whole) {
			if took, known := s.Took(); s.Attempt < 1 || s.Name == "" || known && took < 0 {
				t.Errorf("%+v", s)
			}
		}
		if whole.Runs() > len(log.Entries) {
			t.Error("more runs than entries")
		}
		// What is no entry of the file is not made up.
		if log.Problem == "" && !json.Valid(data) {
			t.Errorf("%q is taken for whole", data)
		}
	})
}
