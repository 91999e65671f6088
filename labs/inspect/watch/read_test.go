package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

func TestEveryWayInWhichTheAPIAnswersIsToldApart(t *testing.T) {
	for _, c := range []struct{ name, answer, complaint, names, want string }{
		{"nothing yet", "\nlocalhost status 000\n", "curl: (7) Failed to connect to localhost port 6443 after 0 ms: Couldn't connect to server\n",
			"api is 192.168.126.1\napi fails curl: (52) Empty reply from server\n000 from 192.168.126.1\n",
			"localhost: Failed to connect to localhost port 6443: Couldn't connect to server | api: Empty reply from server"},
		{"older curl", "\nlocalhost status 200\n", "", "api-int fails 000 from curl: (6) Could not resolve host: api-int.compact.bootlab.test\n",
			"localhost: ready+ | api-int: Could not resolve host: api-int.compact.bootlab.test!"},
		{"not ready", "[-]etcd failed\nlocalhost status 500\n", "", "api answers 401 from 192.168.126.1\napps is nothing\n",
			"localhost: answers 500~ | api: answers 401~"},
		{"no name", "ok\nlocalhost status 200\n", "", "api is nothing\napi-int is 192.168.126.1\napi-int answers 200 from 192.168.126.1\n",
			"localhost: ready+ | api: the name is not known! | api-int: ready+"},
		{"not asked", "", "", "", ""},
	} {
		if got := words(apiFacts([]byte(c.answer), c.complaint, []byte(c.names))); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func words(facts []Fact) string {
	var all []string
	for _, f := range facts {
		all = append(all, f.String()+[]string{"", "+", "~", "!"}[f.Mood])
	}
	return strings.Join(all, " | ")
}

// What machines say may be torn, of another shape, or meant to harm.
func TestWhatIsNoAnswerIsNoFact(t *testing.T) {
	for _, text := range []string{"", "{", "null", "[]", `{"items":7}`, `{"items":[7]}`, `{"containers":{}}`, `{"members":"x"}`, "\x00\xff", "# states\n=\n\nId=\n", strings.Repeat("=", 1000)} {
		b := []byte(text)
		for name, facts := range map[string][]Fact{"units": unitFacts(b), "pods": podFacts(b, "bootstrap"), "members": memberFacts(b, b), "api": apiFacts(b, text, b)} {
			if len(facts) > 1 {
				t.Errorf("%s of %q: %v", name, text, facts)
			}
		}
		if o := objects(b); len(o) > 0 {
			t.Errorf("objects of %q: %v", text, o)
		}
		services(b)
	}
}

func TestWhatAMachineSaysCannotSteerTheTerminal(t *testing.T) {
	hostile := "a\x1b[2Jb\x07\r\x9b\u202ec\u200bd"
	facts := slices.Concat(
		unitFacts([]byte("# states\nId="+hostile+".service\nLoadState=loaded\nActiveState="+hostile+"\nSubState="+hostile+"\nResult="+hostile+"\n")),
		memberFacts([]byte(`{"members":[{"name":"a\u001b[2Jb","clientURLs":["x"]},{"peerURLs":["\u001b]0;x\u0007"]}]}`), nil),
		podFacts([]byte(`{"containers":[{"metadata":{"name":"x"},"labels":{"io.kubernetes.pod.name":"\u001b[2J\u202e"}}]}`), "n"),
		operatorFacts(objects([]byte(`{"items":[{"metadata":{"name":"\u001b[1m"},"status":{"conditions":[{"type":"Degraded","status":"True","reason":"\u009b2J"}]}}]}`))),
		requestFacts(objects([]byte(`{"items":[{"spec":{"username":"\u001b[2J\n\nx"}}]}`))),
	)
	if len(facts) < 8 {
		t.Fatalf("only %d facts", len(facts))
	}
	for _, f := range facts {
		for _, r := range f.String() {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u200b' {
				t.Errorf("%q", f.String())
				break
			}
		}
	}
	if long := Clean(strings.Repeat("語", 5000)); len([]rune(long)) > longest+1 {
		t.Errorf("%d characters", len([]rune(long)))
	}
}

func TestRecordsBehindEachOtherAreTakenApart(t *testing.T) {
	all := services([]byte("==> bootkube.json\n[{\"timestamp\":\"2026-11-21T11:00:00Z\",\"phase\":\"service start\"}]\n\n==> bootlab/approve-csrs.json\n[{\"timest\n==> log-bundle-1/bootstrap/services/progress.json\n\n"))
	var got []string
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s: %d, whole %v", s.Name, len(s.Entries), s.Problem == ""))
	}
	want := []string{"bootkube: 1, whole true", "approve-csrs: 0, whole false", "progress: 0, whole false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAStageIsWhatRecordMarkerAndLockSay(t *testing.T) {
	plan := loadPlan(t, "compact")
	start := `{"timestamp":"2026-11-21T11:00:00Z","stage":"etcd-bootstrap","phase":"stage start"}`
	end := `{"timestamp":"2026-11-21T11:00:07Z","stage":"etcd-bootstrap","phase":"stage end","result":"%"}`
	failed := `{"timestamp":"2026-11-21T11:00:07Z","stage":"etcd-bootstrap","phase":"stage end","result":"failure","errorLine":"1 main x","errorMessage":"it is\nbroken"}`
	for _, c := range []struct {
		name, entries   string
		marked, running bool
		want            string
	}{
		{"nothing", "", false, false, "render-etcd: not begun"},
		{"by another way", "", true, false, "render-etcd: done"},
		{"running", start, false, true, "render-etcd: runs"},
		{"killed", start, false, false, "render-etcd: was cut off"},
		{"killed behind its marker", start, true, false, "render-etcd: done"},
		{"done", start + "," + strings.Replace(end, "%", "success", 1), true, false, "render-etcd: done after 7s"},
		{"invalidated", start + "," + strings.Replace(end, "%", "success", 1), false, false, "render-etcd: do it again"},
		{"failed", start + "," + failed, false, false, "render-etcd: failed after 7s: broken"},
		{"again", start + "," + failed + "," + start, false, true, "render-etcd: runs, attempt 2"},
	} {
		p := &progress{services: services([]byte("==> bootkube.json\n[" + c.entries + "]\n")),
			marked: func(m string) bool { return c.marked && m == "etcd-bootstrap.done" }, running: func(string) bool { return c.running },
			usual: func(string) time.Duration { return 0 }}
		stages := p.stages(plan, "local")
		i := slices.IndexFunc(stages, func(s Stage) bool { return s.Name == "render-etcd" })
		if got := stages[i].sentence(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestOnlyWhatIsOtherwiseIsAChange(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	rows := func(seen time.Time, problem string, facts ...Fact) []Row {
		return []Row{{ID: "masters", Title: "masters", Seen: seen, Problem: problem, Facts: facts}}
	}
	up, down := Fact{Name: "master-0", Value: "Ready", Mood: Good}, Fact{Name: "master-0", Value: "NotReady", Mood: Working}
	long := down
	long.Since = at
	for _, c := range []struct {
		name          string
		before, after Status
		want          string
	}{
		{"first", Status{}, Status{Phase: "p", Rows: rows(at, "", down)}, "phase: p first; masters: master-0: NotReady first"},
		{"the same", Status{At: at, Rows: rows(at, "", down)}, Status{Rows: rows(at, "", long)}, ""},
		{"ready", Status{At: at, Rows: rows(at, "", down)}, Status{Rows: rows(at, "", up)}, "masters: master-0: Ready (was NotReady)"},
		{"unseen", Status{At: at, Rows: rows(at, "", down)}, Status{Rows: rows(at, "no answer", up)}, ""},
		{"gone", Status{At: at, Rows: rows(at, "", down)}, Status{Rows: rows(at, "")}, "masters: master-0: gone (was NotReady)"},
		{"stage", Status{At: at, Stages: []Stage{{Name: "a", State: NotBegun}}}, Status{Stages: []Stage{{Name: "a", State: Runs, Attempt: 1}}}, "stage: a: runs"},
		{"ends", Status{At: at, Ends: Ending{At: at}}, Status{Ends: Ending{At: at.Add(time.Hour), What: "CN=x", Level: host.EndsNow}},
			"certificates: the next end is at 13:00 on 21 November 2026: CN=x"},
	} {
		var got []string
		for _, change := range Changes(&c.before, &c.after) {
			text := change.Where + ": " + change.Text
			if change.First {
				text += " first"
			}
			got = append(got, text)
		}
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%s: %q, want %q", c.name, all, c.want)
		}
	}
}

func TestTheNextEndIsTheFirstUnlessAClockIsWrong(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	one := func(name string, from, to time.Duration) host.Certificate {
		return host.Certificate{Subject: name, Fingerprint: name, NotBefore: now.Add(from), NotAfter: now.Add(to)}
	}
	late, soon, more := one("CN=late", -time.Hour, 30*time.Hour), one("CN=soon", -time.Hour, 3*time.Hour), one("CN=more", -time.Hour, 3*time.Hour)
	if e := nextEnd([]host.Certificate{late, soon, more}, now); e.What != "CN=soon and 1 more" || e.Level != host.EndsSoon || e.Mood() != Working {
		t.Errorf("%+v", e)
	}
	if e := nextEnd([]host.Certificate{soon, one("CN=future", time.Hour, 30*time.Hour)}, now); e.What != "CN=future" || e.Mood() != Bad {
		t.Errorf("%+v", e)
	}
	if e := nextEnd(nil, now); e != (Ending{}) {
		t.Errorf("%+v", e)
	}
}

func TestTheUsualDurationIsTheMeasuredOneElseTheDatas(t *testing.T) {
	plan := loadPlan(t, "compact")
	key := record.DurationKey("etcd-bootstrap", plan.Version(), true)
	w := NewWatch(plan, Local(plan.Lab), record.Durations{key: {{Start: time.Now().Add(-time.Hour), Seconds: 42}}})
	if got := w.usual("etcd-bootstrap"); got != 42*time.Second {
		t.Errorf("%s", got)
	}
	if got, want := w.usual("make-pki"), time.Duration(plan.Stage("make-pki").Seconds)*time.Second; got != want || got == 0 {
		t.Errorf("%s, want %s", got, want)
	}
}
