package check

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"bootlab/labs"
)

func declaredOn(t *testing.T, files *Files, declaration labs.Check) Result {
	t.Helper()
	declaration.ID = "one"
	s := &labs.Stage{ID: "some", Checks: []labs.Check{declaration}}
	d := &Declared{Plan: plan(t), Files: files, Place: labs.OnNode, Values: map[string]string{"CLUSTER_DOMAIN": "a.example.test"}}
	stage := d.Run([]Choice{{Stage: s, Named: true}}).Stages[0]
	if len(stage.Checks) == 0 {
		return Result{}
	}
	return stage.Checks[0]
}

func assets(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return out
}

const (
	anA     = "kind: A\napiVersion: b/v1\nmetadata:\n  name: x\n"
	another = anA + "spec: 1\n"
)

// In a bundle what is not kept is neither right nor wrong, and what only a script
// looks at is left to it.
func TestWhatABundleCanTell(t *testing.T) {
	kept := assets(map[string]string{
		"one/a.yaml": anA, "one/b.json": `{"kind":"B","apiVersion":"v1","metadata":{"name":"y"}}`,
		"two/a.yaml": anA, "two/b.yaml": another, "three/a.yaml": "metadata: {}\n", "four/a.json": `{"kind":"B"}`, "five/a.yaml": "",
		"masked.yaml": anA + "token: <masked:token>\n", "pod.yaml": "image: a.test/b\n", "bare.yaml": "image: ''\n",
	})
	objects := func(path string) labs.Check {
		return labs.Check{Objects: &labs.PresentCheck{Paths: []string{path}}}
	}
	for name, c := range map[string]struct {
		check labs.Check
		want  Outcome
		says  string
	}{
		"objects":                        {objects("one/b.json"), Passed, ""},
		"all of a pattern":               {objects("one/*"), CannotTell, "left out"},
		"two that set one object":        {objects("two/*"), Failed, "two/a.yaml and two/b.yaml both set A.b//x"},
		"a file that is no object":       {objects("three/*"), Failed, "three/a.yaml is not an object"},
		"one of JSON":                    {objects("four/a.json"), Failed, "four/a.json is not an object"},
		"a file that is empty":           {objects("five/a.yaml"), Failed, "five/a.yaml is empty"},
		"a file that is missing":         {objects("six.yaml"), Failed, "six.yaml is missing"},
		"what was masked":                {objects("masked.yaml"), CannotTell, "secrets in it were taken out"},
		"a secret":                       {objects("x-secret.yaml"), CannotTell, "left out"},
		"a way out":                      {objects("../../etc/passwd"), CannotTell, "outside the asset directory"},
		"a file outside":                 {objects("/etc/kubernetes/x"), CannotTell, "outside the asset directory"},
		"an image":                       {labs.Check{Images: &labs.PresentCheck{Paths: []string{"pod.yaml"}}}, Passed, ""},
		"no image":                       {labs.Check{Images: &labs.PresentCheck{Paths: []string{"bare.yaml"}}}, Failed, "image: ''"},
		"a pair":                         {labs.Check{KeyPair: &labs.PresentCheck{Paths: []string{"pod.yaml"}}}, CannotTell, "left out"},
		"a command":                      {labs.Check{Command: &labs.CommandCheck{Text: "true"}}, CannotTell, "bootlab gather keeps"},
		"a comparison":                   {labs.Check{Same: &labs.SameCheck{From: "one/a.yaml", To: "two/"}}, CannotTell, "bootlab gather keeps"},
		"a file that only has to be":     {labs.Check{Present: &labs.PresentCheck{Paths: []string{"nowhere"}}}, CannotTell, "bootlab gather keeps"},
		"a name, and an unknown setting": {labs.Check{Subject: &labs.SubjectCheck{Path: "pod.yaml", Equals: "CN=$NOWHERE"}}, CannotTell, "only the script knows $NOWHERE"},
		"a condition on a secret":        {with(labs.Condition{File: "a-secret.yaml"}), CannotTell, "left out"},
		"a condition that holds":         {with(labs.Condition{File: "pod.yaml"}), Passed, ""},
		"a condition that does not":      {with(labs.Condition{File: "nowhere"}), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := declaredOn(t, &Files{Assets: kept, Bundle: true, Now: time.Now()}, c.check)
			if r.Outcome != c.want || !strings.Contains(r.Found+r.Problem, c.says) {
				t.Errorf("%s: %s%s", r.Outcome, r.Found, r.Problem)
			}
			if r.Outcome == CannotTell && !strings.HasPrefix(r.Problem, "cannot be checked in a bundle: ") {
				t.Error(r.Problem)
			}
		})
	}
}

func with(when labs.Condition) labs.Check {
	return labs.Check{When: when, Images: &labs.PresentCheck{Paths: []string{"pod.yaml"}}}
}

// Where files may be missing for another cause, none is missed.
func TestWhatATornBundleCanTell(t *testing.T) {
	files := &Files{Assets: assets(map[string]string{"a": anA}), Bundle: true, Incomplete: errors.New("it is torn"), Now: time.Now()}
	for path, want := range map[string]Outcome{"a": Passed, "b": CannotTell, "*.x": CannotTell} {
		if r := declaredOn(t, files, labs.Check{Objects: &labs.PresentCheck{Paths: []string{path}}}); r.Outcome != want {
			t.Errorf("%s: %s: %s%s", path, r.Outcome, r.Found, r.Problem)
		}
	}
}

// What the scripts said counts, whatever the bundle shows.
func TestWhatScriptsSaidIsReported(t *testing.T) {
	s := &labs.Stage{ID: "some", Checks: []labs.Check{{ID: "present"}, {ID: "mode"}, {ID: "chain"}}}
	for name, c := range map[string]struct {
		text  string
		state State
		want  []Outcome
		says  string
	}{
		"all of it":     {goodTAP, Verified, []Outcome{Passed, Failed, Passed}, ""},
		"never ran":     {neverRan, NotDone, nil, "run render-etcd.sh first"},
		"cut":           {goodTAP[:40], Broken, []Outcome{CouldNotRun, CouldNotRun, CouldNotRun}, "not to be read"},
		"nothing":       {"", Broken, []Outcome{CouldNotRun, CouldNotRun, CouldNotRun}, "nothing was told"},
		"another check": {strings.ReplaceAll(goodTAP, "chain", "other"), Broken, []Outcome{Passed, Failed, CouldNotRun}, "does not tell of check chain"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &Declared{Plan: plan(t), Files: &Files{Assets: assets(nil), Bundle: true, Now: time.Now()}, TAP: assets(map[string]string{"some.tap": c.text})}
			r := d.Run([]Choice{{Stage: s, Named: true}}).Stages[0]
			var got []Outcome
			for _, check := range r.Checks {
				got = append(got, check.Outcome)
			}
			if r.State != c.state || !slices.Equal(got, c.want) || !strings.Contains(r.Problem+r.Hint, c.says) {
				t.Errorf("%+v", r)
			}
			if c.state == Verified && r.Checks[1].Found != "a.key: 0644\n\n  b.key: missing" {
				t.Errorf("%+v", r.Checks[1])
			}
		})
	}
}

// TestEveryDeclarationCanBeMadeOfItsSettings: in every release and every shipped
// lab what is looked at from outside is understood, and knows the settings that it
// names.
func TestEveryDeclarationCanBeMadeOfItsSettings(t *testing.T) {
	catalog := labs.Builtin()
	told, judged := 0, 0
	for _, id := range catalog.ReleaseIDs() {
		for _, e := range labs.ExampleList() {
			lab, problems := labs.LoadLabFS(labs.Examples, e.Name, catalog)
			if errs := problems.Errors(); len(errs) > 0 {
				continue // it wants a pull secret
			}
			if id == "main" {
				lab.Release.Distribution = "ocp"
			}
			p, err := catalog.ResolveAs(lab, id)
			if err != nil {
				t.Fatal(err)
			}
			d := &Declared{Plan: p, Files: &Files{Assets: assets(nil), Host: assets(nil), Now: time.Now()}, Place: labs.Local, Values: p.CheckValues()}
			var all []Choice
			for _, s := range p.Stages {
				all = append(all, Choice{Stage: s, Named: true})
			}
			for _, s := range d.Run(all).Stages {
				for _, c := range s.Checks {
					told++
					if c.Outcome == Failed {
						judged++
					}
					ofScript := c.Problem == "cannot be checked from outside: "+errScript.Error()
					if c.Outcome == CouldNotRun || c.Outcome == CannotTell && !ofScript {
						t.Errorf("%s, %s: %s %s: %s", id, e.Name, s.ID, c.ID, c.Problem)
					}
				}
			}
		}
	}
	if told < 5000 || judged < 1000 {
		t.Errorf("of %d only %d were looked at", told, judged)
	}
}

// FuzzDeclarations: no text makes a declaration panic.
func FuzzDeclarations(f *testing.F) {
	f.Add([]byte("kind: A\napiVersion: b/v1\nmetadata:\n  name: x\nimage: y\n"))
	f.Add([]byte(`{"kind":"A","apiVersion":"b/v1","metadata":{"name":"x"},"list":[{"image":""}]}`))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		paths := []string{"a.crt", "b.crt"}
		files := &Files{Assets: fstest.MapFS{"a.crt": {Data: data}, "b.crt": {Data: data}, "a.key": {Data: data}}, Now: time.Now()}
		d := &Declared{Files: files}
		for name, declaration := range map[string]any{
			"images": &labs.PresentCheck{Paths: paths}, "objects": &labs.PresentCheck{Paths: paths}, "keyPair": &labs.PresentCheck{Paths: paths},
			"chain": &labs.ChainCheck{CA: "a.crt", Paths: paths}, "subject": &labs.SubjectCheck{Path: "a.crt", Equals: "x"}, "names": &labs.NamesCheck{Path: "a.crt"},
			"usage": &labs.UsageCheck{Paths: paths}, "fresh": &labs.FreshCheck{Paths: paths}, "bundle": &labs.BundleCheck{Path: "a.crt", Paths: paths},
		} {
			d.observe(&look{files: files}, name, declaration)
		}
	})
}

func TestAKeyIsNotTold(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	files := &Files{Assets: assets(map[string]string{"a.key": text, "a.crt": text}), Now: time.Now()}
	for _, c := range []labs.Check{{KeyPair: &labs.PresentCheck{Paths: []string{"a.crt"}}}, {Objects: &labs.PresentCheck{Paths: []string{"a.key"}}},
		{Chain: &labs.ChainCheck{CA: "a.key", Paths: []string{"a.crt"}}}, {Images: &labs.PresentCheck{Paths: []string{"a.key"}}}} {
		r := declaredOn(t, files, c)
		if r.Outcome != Failed || strings.Contains(r.Found, strings.Split(text, "\n")[1]) {
			t.Errorf("%+v", r)
		}
	}
}
