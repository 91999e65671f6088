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

	"bootlab/generator"
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

// In a bundle what is not kept is neither right nor wrong.
func TestWhatABundleCanTell(t *testing.T) {
	kept := assets(map[string]string{
		"tls/a.crt": "x", "manifests/b.yaml": "kind: B\n", "copy/b.yaml": "kind: B\n", "other/b.yaml": "kind: C\n",
		"masked.yaml": "kind: <masked:token>\nother: 1\n", "empty.yaml": "", "domain.yaml": "is: a.example.test\n",
	})
	for name, c := range map[string]struct {
		check labs.Check
		want  Outcome
		says  string
	}{
		"a file":                        {labs.Check{Present: &labs.PresentCheck{Paths: []string{"tls/a.crt"}}}, Passed, ""},
		"a file that is missing":        {labs.Check{Present: &labs.PresentCheck{Paths: []string{"tls/b.crt"}}}, Failed, "tls/b.crt is missing"},
		"a file that is empty":          {labs.Check{Present: &labs.PresentCheck{Paths: []string{"empty.yaml"}}}, Failed, "is empty"},
		"a key":                         {labs.Check{Present: &labs.PresentCheck{Paths: []string{"tls/a.key"}}}, CannotTell, "left out of a bundle"},
		"a key and what is missing":     {labs.Check{Present: &labs.PresentCheck{Paths: []string{"tls/a.key", "tls/b.crt"}}}, Failed, "tls/b.crt is missing"},
		"a password":                    {labs.Check{Present: &labs.PresentCheck{Paths: []string{"auth/kubeadmin-password"}}}, CannotTell, "left out"},
		"a directory of secrets":        {labs.Check{Present: &labs.PresentCheck{Paths: []string{"Secrets/x"}}}, CannotTell, "left out"},
		"a kubeconfig":                  {labs.Check{Value: &labs.ValueCheck{Path: "auth/kubeconfig-loopback", At: ".a", Equals: "b"}}, CannotTell, "left out"},
		"all of a pattern":              {labs.Check{Present: &labs.PresentCheck{Paths: []string{"manifests/*"}}}, CannotTell, "left out"},
		"enough of a pattern":           {labs.Check{Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 1}}, Passed, ""},
		"too few of a pattern":          {labs.Check{Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 2}}, CannotTell, "left out"},
		"copies":                        {labs.Check{Same: &labs.SameCheck{From: "manifests/*", To: "copy/"}}, CannotTell, "left out"},
		"a copy":                        {labs.Check{Same: &labs.SameCheck{From: "manifests/b.yaml", To: "copy/"}}, Passed, ""},
		"copies of which one is wrong":  {labs.Check{Same: &labs.SameCheck{From: "manifests/*", To: "other/"}}, Failed, "other/b.yaml is not manifests/b.yaml"},
		"a copy outside":                {labs.Check{Same: &labs.SameCheck{From: "manifests/b.yaml", To: "/etc/kubernetes/"}}, CannotTell, "outside the asset directory"},
		"a file outside":                {labs.Check{Absent: &labs.PresentCheck{Paths: []string{"/etc/kubernetes/x"}}}, CannotTell, "outside the asset directory"},
		"a way out":                     {labs.Check{Present: &labs.PresentCheck{Paths: []string{"../../etc/passwd"}}}, CannotTell, "outside the asset directory"},
		"modes":                         {labs.Check{Mode: &labs.ModeCheck{Paths: []string{"tls/a.crt"}, Mode: "0644"}}, CannotTell, "modes"},
		"a pair":                        {labs.Check{KeyPair: &labs.PresentCheck{Paths: []string{"tls/a.crt"}}}, CannotTell, "left out"},
		"a function":                    {labs.Check{Predicate: &labs.PredicateCheck{Function: "f"}}, CannotTell, "a function of the script"},
		"what was masked":               {labs.Check{Line: &labs.LineCheck{Path: "masked.yaml", Pattern: "nothing of the kind"}}, CannotTell, "secrets in it were taken out"},
		"a setting":                     {labs.Check{Value: &labs.ValueCheck{Path: "domain.yaml", At: ".is", Equals: "$CLUSTER_DOMAIN"}}, Passed, ""},
		"an unknown setting":            {labs.Check{Value: &labs.ValueCheck{Path: "domain.yaml", At: ".is", Equals: "$NOWHERE"}}, CannotTell, "only the script knows $NOWHERE"},
		"the release, without its info": {labs.Check{Value: &labs.ValueCheck{Path: "domain.yaml", At: ".is", Equals: "$VERSION"}}, CannotTell, "release-info/version"},
		"images, without their list":    {labs.Check{Payload: &labs.PayloadCheck{Paths: []string{"domain.yaml"}}}, CannotTell, "release-info/images"},
		"a condition on a secret":       {labs.Check{When: labs.Condition{File: "a-secret.yaml"}, Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 1}}, CannotTell, "left out"},
		"a condition that holds":        {labs.Check{When: labs.Condition{File: "domain.yaml"}, Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 1}}, Passed, ""},
		"a condition that does not":     {labs.Check{When: labs.Condition{File: "nowhere"}, Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 1}}, "", ""},
		"a directory with files":        {labs.Check{When: labs.Condition{NotEmpty: "manifests"}, Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 1}}, Passed, ""},
		"a directory that is not there": {labs.Check{When: labs.Condition{Dir: "nowhere"}, Count: &labs.CountCheck{Path: "manifests/*", AtLeast: 1}}, "", ""},
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

// Where files may be missing for another cause, none is missed.
func TestWhatATornBundleCanTell(t *testing.T) {
	files := &Files{Assets: assets(map[string]string{"a": "x"}), Bundle: true, Incomplete: errors.New("it is torn"), Now: time.Now()}
	for name, c := range map[string]struct {
		check labs.Check
		want  Outcome
	}{
		"there":     {labs.Check{Present: &labs.PresentCheck{Paths: []string{"a"}}}, Passed},
		"missing":   {labs.Check{Present: &labs.PresentCheck{Paths: []string{"b"}}}, CannotTell},
		"absent":    {labs.Check{Absent: &labs.PresentCheck{Paths: []string{"b"}}}, CannotTell},
		"is there":  {labs.Check{Absent: &labs.PresentCheck{Paths: []string{"a"}}}, Failed},
		"a copy":    {labs.Check{Same: &labs.SameCheck{From: "a", To: "b"}}, CannotTell},
		"no match":  {labs.Check{Line: &labs.LineCheck{Path: "*.x", Pattern: "x"}}, CannotTell},
		"condition": {labs.Check{When: labs.Condition{File: "b"}, Absent: &labs.PresentCheck{Paths: []string{"a"}}}, CannotTell},
	} {
		if r := declaredOn(t, files, c.check); r.Outcome != c.want {
			t.Errorf("%s: %s: %s%s", name, r.Outcome, r.Found, r.Problem)
		}
	}
}

// TestEveryDeclarationCanBeMadeOfItsSettings: in every release and every shipped
// lab a declaration is understood, and knows the settings that it names.
func TestEveryDeclarationCanBeMadeOfItsSettings(t *testing.T) {
	catalog := labs.Builtin()
	told := 0
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
			d := &Declared{Plan: p, Files: &Files{Assets: assets(nil), Host: assets(nil), Now: time.Now()}, Place: labs.Local, Values: generator.Values(p)}
			var all []Choice
			for _, s := range p.Stages {
				all = append(all, Choice{Stage: s, Named: true})
			}
			for _, s := range d.Run(all).Stages {
				for _, c := range s.Checks {
					told++
					own := c.Problem == "cannot be checked from outside: "+errPredicate.Error() || strings.Contains(c.Problem, "$OVERLAY_FILE")
					if c.Outcome == CouldNotRun || c.Outcome == CannotTell && !own {
						t.Errorf("%s, %s: %s %s: %s", id, e.Name, s.ID, c.ID, c.Problem)
					}
				}
			}
		}
	}
	if told < 5000 {
		t.Errorf("only %d were looked at", told)
	}
}

// TestDerivedValues: as the first lines of make-manifests.sh compute them.
func TestDerivedValues(t *testing.T) {
	for _, c := range []struct {
		masters, workers                  int
		control, infrastructure, masters2 string
	}{
		{3, 0, "HighlyAvailable", "HighlyAvailable", "true"},
		{3, 2, "HighlyAvailable", "HighlyAvailable", "false"},
		{3, 1, "HighlyAvailable", "SingleReplica", "false"},
		{1, 0, "SingleReplica", "SingleReplica", "true"},
		{1, 2, "SingleReplica", "HighlyAvailable", "false"},
	} {
		lab := *plan(t).Lab
		lab.ControlPlane.Replicas = &c.masters
		lab.Compute = slices.Clone(lab.Compute)
		lab.Compute[0].Replicas = &c.workers
		got := derived(&lab)
		if got["CONTROL_PLANE_TOPOLOGY"] != c.control || got["INFRASTRUCTURE_TOPOLOGY"] != c.infrastructure || got["MASTERS_SCHEDULABLE"] != c.masters2 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// FuzzDeclarations: no text makes a declaration panic.
func FuzzDeclarations(f *testing.F) {
	f.Add([]byte("kind: A\napiVersion: b/v1\nmetadata:\n  name: x\nimage: y\n"), ".metadata.name")
	f.Add([]byte(`{"kind":"A","apiVersion":"b/v1","metadata":{"name":"x"},"list":[{"image":""}]}`), ".list[0].image")
	f.Add([]byte("a: &a [*a]\nb: *a\n"), ".b[0]")
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"), "[0]")
	f.Fuzz(func(t *testing.T, data []byte, at string) {
		paths := []string{"a.crt", "b.crt"}
		files := &Files{Assets: fstest.MapFS{"a.crt": {Data: data}, "b.crt": {Data: data}, "a.key": {Data: data}, "release-info/images": {Data: data}, "release-info/digest": {Data: data}}, Now: time.Now()}
		d := &Declared{Files: files}
		for name, declaration := range map[string]any{
			"present": &labs.PresentCheck{Paths: paths}, "images": &labs.PresentCheck{Paths: paths}, "agree": &labs.PresentCheck{Paths: paths},
			"keyPair": &labs.PresentCheck{Paths: paths}, "value": &labs.ValueCheck{Path: "a.crt", At: at, Equals: "x"}, "payload": &labs.PayloadCheck{Paths: paths},
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
	for _, c := range []labs.Check{{KeyPair: &labs.PresentCheck{Paths: []string{"a.crt"}}}, {Value: &labs.ValueCheck{Path: "a.key", At: ".a", Equals: "b"}},
		{Chain: &labs.ChainCheck{CA: "a.key", Paths: []string{"a.crt"}}}, {Images: &labs.PresentCheck{Paths: []string{"a.key"}}}} {
		r := declaredOn(t, files, c)
		if r.Outcome != Failed || strings.Contains(r.Found, strings.Split(text, "\n")[1]) {
			t.Errorf("%+v", r)
		}
	}
}
