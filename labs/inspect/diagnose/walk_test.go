package diagnose

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// small is a diagnosis of the tests' own.
func small() *labs.Diagnosis {
	text := &labs.Evidence{ID: "text", Title: "a text", On: labs.OnBootstrap, Form: labs.TextForm}
	doc := &labs.Evidence{ID: "doc", Title: "a document", On: labs.OnBootstrap, Form: labs.JSONForm}
	nodes := &labs.Evidence{ID: "nodes", Title: "each node's", On: labs.OnMasters, Form: labs.TextForm}
	sick := func(id, pattern string) labs.Symptom {
		return labs.Symptom{ID: id, Proof: []labs.Proof{{Evidence: "text", Matches: pattern}}}
	}
	return &labs.Diagnosis{Evidence: []*labs.Evidence{text, doc, nodes}, Layers: []*labs.Layer{
		{ID: "ground", Local: true, Symptoms: []labs.Symptom{sick("fire", "^fire"), sick("water", "^water"),
			{ID: "smoke", Warning: true, Proof: []labs.Proof{{Evidence: "text", Matches: "smoke"}}},
			{ID: "two", Proof: []labs.Proof{{Evidence: "text", Matches: "two"}, {Evidence: "doc", JQ: ".two"}}, Unless: []labs.Proof{{Evidence: "doc", JQ: ".fixed"}}},
			{ID: "on-nodes", Proof: []labs.Proof{{Evidence: "nodes", Matches: "broken"}}},
			{ID: "quiet", Proof: []labs.Proof{{Evidence: "nodes", Silent: true}}},
			{ID: "failing", Proof: []labs.Proof{{Evidence: "doc", Fails: "refused"}}}}},
		{ID: "first floor", Good: []labs.Proof{{Evidence: "text", Matches: "^well"}, {Evidence: "doc", JQ: ".well"}},
			Begun:    []labs.Proof{{Evidence: "text", Matches: "^begun"}},
			Symptoms: []labs.Symptom{sick("draught", "draught")}},
		{ID: "roof", Good: []labs.Proof{{Evidence: "doc", JQ: ".roof"}}, Symptoms: []labs.Symptom{sick("rain", "fire|draught|rain")}},
	}}
}

// having is the evidence of the small diagnosis; what is empty could not be had.
func having(text, doc string, nodes ...string) []host.Found {
	d := small()
	found := []host.Found{{Evidence: d.Evidence[0], Had: text != "", Text: []byte(text)}, {Evidence: d.Evidence[1], Had: doc != "", Text: []byte(doc)}}
	for i, n := range nodes {
		found = append(found, host.Found{Evidence: d.Evidence[2], Node: "master-" + string(rune('0'+i)), Had: true, Text: []byte(n)})
	}
	for i := range found {
		if !found[i].Had {
			found[i].Problem = "nothing answers"
		}
	}
	return found
}

func judge(t *testing.T, local bool, found []host.Found) *Report {
	t.Helper()
	r, err := Walk(small(), &labs.Lab{}, local, found)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheWalkEndsWhereItMust(t *testing.T) {
	refused := having("well", `x`)
	refused[1].Status, refused[1].Complaint = 1, "it was refused\n"
	for name, c := range map[string]struct {
		found   []host.Found
		local   bool
		verdict Verdict
		layer   string
		cause   string
	}{
		"all is well":                          {having("well", `{"roof": true}`), false, Healthy, "", ""},
		"the second way of being good":         {having("x", `{"well": true, "roof": 1}`), false, Healthy, "", ""},
		"the first cause of several":           {having("water\nfire\ndraught", `{"roof": true}`), false, Proven, "ground", "fire"},
		"a layer above":                        {having("draught", `{}`), false, Proven, "first floor", "draught"},
		"a good layer's symptoms do not count": {having("well\ndraught", `{"roof": true}`), false, Healthy, "", ""},
		"not begun":                            {having("x", `{}`), false, NotReached, "first floor", ""},
		"begun and not good":                   {having("begun", `{}`), false, Unknown, "first floor", ""},
		"no answer":                            {having("", ""), false, Unseen, "first floor", ""},
		"half an answer is one":                {having("x", ""), false, NotReached, "first floor", ""},
		"two proofs":                           {having("two", `{"two": 2}`), false, Proven, "ground", "two"},
		"one of two proofs":                    {having("two\nwell", `{"roof": 2}`), false, Healthy, "", ""},
		"taken back":                           {having("two\nwell", `{"two": 2, "fixed": true, "roof": 1}`), false, Healthy, "", ""},
		"one node of two":                      {having("well", `{"roof": 1}`, "fine", "broken"), false, Proven, "ground", "on-nodes"},
		"a silent node":                        {having("well", `{"roof": 1}`, "fine", " \n"), false, Proven, "ground", "quiet"},
		"a command that fails":                 {refused, false, Proven, "ground", "failing"},
		"a document of another shape":          {having("well", `["roof"]`), false, Unknown, "roof", ""},
		"no document at all":                   {having("well", `<html>`), false, Unknown, "roof", ""},
		"a local run has no upper floors":      {having("x", `{}`), true, Healthy, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := judge(t, c.local, c.found)
			cause := ""
			if r.Cause != nil {
				cause = r.Cause.ID
			}
			if r.Verdict != c.verdict || r.Layer != c.layer || cause != c.cause {
				t.Errorf("%s at %q, cause %q", r.Verdict, r.Layer, cause)
			}
			if (r.Verdict == Unseen) && len(r.Missing) != 2 {
				t.Errorf("missing is %+v", r.Missing)
			}
		})
	}
}

// Where the command failed and printed nothing, no document says no; that a file
// is not there is an answer.
func TestAQuestionThatFailedIsNoAnswer(t *testing.T) {
	for complaint, verdict := range map[string]Verdict{
		"error: Unauthorized\n":                             Unseen,
		"cat: /var/log/x.json: No such file or directory\n": Unknown,
	} {
		found := having("well", "x")
		found[1].Text, found[1].Status, found[1].Complaint = nil, 1, complaint
		if r := judge(t, false, found); r.Verdict != verdict || r.Layer != "roof" {
			t.Errorf("%q: %s at %q, want %s", complaint, r.Verdict, r.Layer, verdict)
		}
	}
}

func TestTheWalkStopsAtTheFirstThatIsNotGood(t *testing.T) {
	r := judge(t, false, having("draught", `{}`))
	if len(r.Layers) != 2 || r.Layers[0].Answer != "nothing found" || r.Layers[1].Answer != "no" {
		t.Errorf("%+v", r.Layers)
	}
}

func TestAWarningStandsBesideTheRest(t *testing.T) {
	r := judge(t, false, having("smoke\nfire", `{}`))
	if len(r.Warnings) != 1 || r.Warnings[0].ID != "smoke" || r.Cause == nil || r.Cause.ID != "fire" {
		t.Errorf("%+v, %+v", r.Warnings, r.Cause)
	}
	if r := judge(t, false, having("smoke\nwell", `{"roof": 1}`)); r.Verdict != Healthy || len(r.Warnings) != 1 {
		t.Errorf("%s, %+v", r.Verdict, r.Warnings)
	}
}

func TestTheNodeIsNamed(t *testing.T) {
	r := judge(t, false, having("well", `{"roof": 1}`, "fine", "broken"))
	if shown := r.Cause.Shown; len(shown) != 1 || shown[0].Node != "master-1" || shown[0].Lines[0] != "broken" {
		t.Errorf("%+v", shown)
	}
}

func TestWhatIsShownIsHarmlessAndShort(t *testing.T) {
	text := "fire 0\nfire 1\nfire 2\nfire 3\nfire 4\nfire \x1b]0;title\a\x1b[2J\x00\xff\u009b31m\nfire " + strings.Repeat("é", 5000)
	lines := judge(t, false, having(text, `{}`)).Cause.Shown[0].Lines
	if len(lines) != shownAtMost+1 || lines[0] != "(2 more before these)" {
		t.Errorf("%q", lines)
	}
	for _, line := range lines {
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) || len([]rune(line)) > widest+1 {
			t.Errorf("%q", line)
		}
	}
}

func TestAProgramThatNeverEndsIsAnError(t *testing.T) {
	d := small()
	d.Layers[0].Symptoms = []labs.Symptom{{ID: "endless", Proof: []labs.Proof{{Evidence: "doc", JQ: "def f: f; f"}}}}
	defer func(p time.Duration) { jqPatience = p }(jqPatience)
	jqPatience = 200 * time.Millisecond
	_, err := Walk(d, &labs.Lab{}, false, having("x", `{}`))
	if err == nil || !strings.Contains(err.Error(), "took longer") || !strings.Contains(err.Error(), "endless") {
		t.Error(err)
	}
}

func TestAProgramThatYieldsWithoutEndIsAnError(t *testing.T) {
	d := small()
	d.Layers[0].Symptoms = []labs.Symptom{{ID: "endless", Proof: []labs.Proof{{Evidence: "doc", JQ: "repeat(1)"}}}}
	defer func(p time.Duration) { jqPatience = p }(jqPatience)
	jqPatience = time.Minute
	if _, err := Walk(d, &labs.Lab{}, false, having("x", `{}`)); err == nil {
		t.Error("no error")
	}
}

func TestAProgramSeesNoFilesAndNoEnvironment(t *testing.T) {
	t.Setenv("SECRET", "hidden")
	for _, program := range []string{"env.SECRET", "$ENV.SECRET", `input`, `input_filename`, `import "x" as $x; $x`} {
		d := small()
		d.Layers[0].Symptoms = []labs.Symptom{{ID: "curious", Proof: []labs.Proof{{Evidence: "doc", JQ: program}}}}
		r, err := Walk(d, &labs.Lab{}, false, having("x", `{}`))
		if err == nil && r.Cause != nil {
			t.Errorf("%s: %+v", program, r.Cause.Shown)
		}
	}
}

func TestABrokenPatternIsAnErrorThatNamesItsPlace(t *testing.T) {
	d := small()
	d.Layers[0].Symptoms[0].Proof[0].Matches = "("
	if _, err := Walk(d, &labs.Lab{}, false, having("x", `{}`)); err == nil || !strings.Contains(err.Error(), "fire") {
		t.Error(err)
	}
}

// What a symptom asks of may be as large as evidence gets, and garbage.
func TestLargeEvidenceProvesNothing(t *testing.T) {
	line := []byte("2026-01-02T05:50:00+0000 bootstrap kubelet[1]: something that is said again and again\n")
	large := bytes.Repeat(line, 8<<20/len(line))
	for _, text := range []string{string(large), strings.Repeat("x", 8<<20), strings.Repeat("\x00\xff", 1<<20)} {
		r := recorded{changes: young(says("bootkube-journal", text), says("stage-logs", "==> render-etcd.log\n"+text), says("kernel-journal", text),
			says("records", "==> bootkube.json\n["+text), says("release-image-journal", text))}.walk(t, "host", "node", "image", "render")
		if r.Verdict == Proven {
			t.Errorf("%+v", r.Cause)
		}
	}
}
