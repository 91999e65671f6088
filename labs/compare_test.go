package labs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

func compared(t testing.TB, c *Catalog, from, to string) *Comparison {
	t.Helper()
	comparison, err := Compare(c, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return comparison
}

// differenceLines are a comparison as lines of stage, kind and words; changes around the
// stages have no stage.
func differenceLines(c *Comparison) []string {
	var out []string
	tell := func(stage string, changes []Change) {
		for _, change := range changes {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", stage, change.Kind, change.Words(plainly))))
		}
	}
	tell("", c.Around)
	for _, s := range c.Stages {
		if s.Kind != Changed {
			out = append(out, s.ID+" "+string(s.Kind))
		}
		tell(s.ID, s.Changes)
	}
	return out
}

func TestKnownReleasesDifferAsTheirScriptsDo(t *testing.T) {
	for _, c := range []struct {
		from, to   string
		want, none []string
	}{
		{"4.14", "4.15", []string{
			"render-api added", "render-config added flag --skip-api-rendering", "added image variable API_IMAGE (cluster-config-api)",
			"removed image variable MACHINE_CONFIG_OSCONTENT (machine-os-content)", "added variable CLUSTER_PROFILE_ANNOTATION",
			"render-config removed copy config-bootstrap/manifests/* -> manifests/",
			"render-config removed output manifests/99_feature-gate.yaml",
			"render-config removed check: the CRDs were rendered",
			"render-cco changed copy cco-bootstrap/manifests/* -> manifests/, now only if there is a directory cco-bootstrap/manifests",
			"copy-manifests removed stage that a repetition invalidates render-config",
		}, []string{"start-bootstrap", "render-etcd"}},
		{"4.15", "4.16", []string{"render-node-tuning-bootcmd added", "verify-api removed flag --head", "verify-api added flag --get",
			"resolve-api added marker api-dns-resolved.done"}, []string{"render-mco"}},
		{"4.16", "4.17", []string{"render-cvo added flag --feature-gate-manifest-path=/assets/manifests/99_feature-gate.yaml"}, []string{"render-mco"}},
		{"4.17", "4.18", []string{"added variable KUBERNETES_VERSION",
			"render-kube-apiserver added flag --operand-kubernetes-version=$KUBERNETES_VERSION"}, []string{"render-etcd", "render-cvo"}},
		{"4.18", "4.19", []string{"render-auth-api added"}, []string{"render-api"}},
		{"4.19", "4.20", nil, []string{""}},
		{"4.20", "4.21", []string{"added option of every podman run --log-driver=k8s-file",
			"render-mco added copy image-references -> /etc/mcc/bootstrap/image-references"}, []string{"render-cvo"}},
		{"4.21", "main", []string{"render-cvo added flag --cluster-version-manifest-path=/assets/manifests/cvo-overrides.yaml"}, nil},
		{"4.16", "4.15", []string{"render-node-tuning-bootcmd removed", "verify-api added flag --head"}, nil},
		{"4.18", "4.18", nil, []string{""}},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			got := differenceLines(compared(t, Builtin(), c.from, c.to))
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not told in\n%s", want, strings.Join(got, "\n"))
				}
			}
			for _, none := range c.none {
				if i := slices.IndexFunc(got, func(line string) bool { return strings.HasPrefix(line, none) }); i >= 0 {
					t.Errorf("told: %s", got[i])
				}
			}
		})
	}
}

// pairs calls visit for every two releases, in both directions.
func pairs(visit func(from, to string)) {
	for _, from := range releaseOrder {
		for _, to := range releaseOrder {
			visit(from, to)
		}
	}
}

// turned is a comparison as it reads from the other end.
func turned(c *Comparison) *Comparison {
	kinds := map[ChangeKind]ChangeKind{Added: Removed, Removed: Added, Changed: Changed, Moved: Moved}
	turn := func(changes []Change) []Change {
		out := slices.Clone(changes)
		for i := range out {
			out[i].Kind, out[i].Was, out[i].Is = kinds[out[i].Kind], out[i].Is, out[i].Was
		}
		return out
	}
	out := &Comparison{From: c.To, To: c.From, Around: turn(c.Around), Stages: slices.Clone(c.Stages)}
	for i := range out.Stages {
		s := &out.Stages[i]
		s.Kind, s.Before, s.After, s.Changes = kinds[s.Kind], s.After, s.Before, turn(s.Changes)
	}
	return out
}

// inAnyOrder is all that a comparison says, sorted.
func inAnyOrder(t *testing.T, c *Comparison) string {
	t.Helper()
	var out []string
	add := func(stage string, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, stage+" "+string(data))
	}
	for _, change := range c.Around {
		slices.Sort(change.Stages)
		add("", change)
	}
	for _, s := range c.Stages {
		for _, change := range s.Changes {
			add(s.ID, change)
		}
		s.Changes = nil
		add(s.ID, s)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestAComparisonReadsTheSameFromBothEnds(t *testing.T) {
	pairs(func(from, to string) {
		there, back := compared(t, Builtin(), from, to), compared(t, Builtin(), to, from)
		if got, want := inAnyOrder(t, turned(there)), inAnyOrder(t, back); got != want {
			t.Errorf("%s and %s:\n%s\n\nand\n%s", from, to, got, want)
		}
	})
}

// spanned lists where in the data something begins or ends between two
// releases. Below a stage that one of them has not, only the stage counts.
func spanned(c *Catalog, from, to string) []string {
	var out []string
	add := func(at string, s Span) bool {
		if s.Holds(from) == s.Holds(to) {
			return false
		}
		kind := Added
		if s.Holds(from) {
			kind = Removed
		}
		out = append(out, at+" "+string(kind))
		return true
	}
	for _, o := range c.Bootkube.Podman {
		add("", o.Span)
	}
	for _, i := range c.Bootkube.Images {
		add("", i.Span)
	}
	for _, v := range c.Bootkube.Variables {
		add("", v.Span)
	}
	for _, s := range c.Stages {
		if add(s.ID, s.Span) || !s.Holds(from) {
			continue
		}
		each(s, func(_ string, sp Span) { add(s.ID, sp) })
	}
	slices.Sort(out)
	return out
}

// counted is the same, of a comparison: an item that changed is one that ends
// and one that begins.
func counted(c *Comparison) []string {
	var out []string
	count := func(stage string, changes []Change) {
		for _, change := range changes {
			if change.Was != nil {
				out = append(out, stage+" "+string(Removed))
			}
			if change.Is != nil {
				out = append(out, stage+" "+string(Added))
			}
		}
	}
	count("", c.Around)
	for _, s := range c.Stages {
		if s.Kind != Changed {
			out = append(out, s.ID+" "+string(s.Kind))
		}
		count(s.ID, s.Changes)
	}
	slices.Sort(out)
	return out
}

func TestEverySpanOfTheDataIsToldWhereItBeginsAndEnds(t *testing.T) {
	total := 0
	pairs(func(from, to string) {
		got, want := counted(compared(t, Builtin(), from, to)), spanned(Builtin(), from, to)
		total += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s to %s: told are\n%s\nthe data has\n%s", from, to, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	if total < 100 {
		t.Errorf("only %d spans were looked at", total)
	}
}

// changedCatalog is the data that bootlab carries, with a change.
func changedCatalog(t *testing.T, change func(*Catalog)) *Catalog {
	t.Helper()
	sub, err := fs.Sub(Data, "data")
	if err != nil {
		t.Fatal(err)
	}
	c, err := LoadCatalog(sub)
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	return c
}

func TestAFlagThatIsGivenLaterIsToldLater(t *testing.T) {
	const line = "render-config added flag --skip-api-rendering"
	c := changedCatalog(t, func(c *Catalog) {
		run := c.Stage("render-config").Run
		i := slices.IndexFunc(run.Flags, func(f Flag) bool { return f.Flag == "--skip-api-rendering" })
		run.Flags[i].Since = "4.17"
	})
	for to, want := range map[string]bool{"4.15": false, "4.17": true} {
		from := releaseOrder[age(to)-1]
		if got := slices.Contains(differenceLines(compared(t, c, from, to)), line); got != want {
			t.Errorf("%s to %s: told is %v, want %v", from, to, got, want)
		}
	}
	for _, change := range compared(t, c, "4.14", "main").Stages {
		for _, item := range change.Changes {
			if item.Is != nil && item.Is.Text == "--skip-api-rendering" && item.Release != "4.17" {
				t.Errorf("it came with %s", item.Release)
			}
		}
	}
}

// What no span of the data changes today is told too.
func TestEveryPartOfAStageIsCompared(t *testing.T) {
	for want, change := range map[string]func(*Stage){
		"changed image cluster-etcd-operator, now etcd":                             func(s *Stage) { s.Run.Image = "etcd" },
		"added podman option --privileged":                                          func(s *Stage) { s.Run.Options = append(s.Run.Options, Option{Option: "--privileged"}) },
		"added directory /etc/new":                                                  func(s *Stage) { s.Mkdir = append(s.Mkdir, "/etc/new") },
		"added repetition: every second":                                            func(s *Stage) { s.Retry = "every second" },
		"added on failure: weep":                                                    func(s *Stage) { s.OnFailure = "weep" },
		"added condition: only on aws":                                              func(s *Stage) { s.When.Platforms = []string{"aws"} },
		"added marker more.done":                                                    func(s *Stage) { s.Markers = append(s.Markers, Marker{File: "more.done"}) },
		"added marker that skips it other.done":                                     func(s *Stage) { s.SkipIf = "other.done" },
		"added step after the copies: more":                                         func(s *Stage) { s.After = append(s.After, Note{ID: "more", Text: "more"}) },
		"added script option --fast":                                                func(s *Stage) { s.Options = append(s.Options, Option{Option: "--fast"}) },
		"added point in the container's output all is well":                         func(s *Stage) { s.Steps = append(s.Steps, Step{ID: "well", Line: "all is well"}) },
		"added question: why":                                                       func(s *Stage) { s.Questions = append(s.Questions, Question{ID: "why", Ask: "why"}) },
		"added exercise: try":                                                       func(s *Stage) { s.Exercises = append(s.Exercises, Exercise{ID: "try", Do: "try"}) },
		"changed command " + Builtin().Stage("render-etcd").Run.Command + ", now x": func(s *Stage) { s.Run.Command = "x" },
	} {
		t.Run(want, func(t *testing.T) {
			c := changedCatalog(t, func(c *Catalog) { change(c.Stage("render-etcd")) })
			got := differenceLines(compareEditions(Builtin().edition("4.20"), c.edition("4.20")))
			if !slices.Equal(got, []string{"render-etcd " + want}) {
				t.Errorf("told: %q", got)
			}
		})
	}
}

func TestEveryFactHasItsPlaceInAReport(t *testing.T) {
	facts := Builtin().Bootkube.facts(Builtin().Stages)
	for _, s := range Builtin().Stages {
		facts = append(facts, s.facts()...)
	}
	for _, f := range facts {
		if !slices.Contains(Parts, f.part) {
			t.Errorf("part %q of %q is not among Parts", f.part, f.text)
		}
	}
}

func TestStagesThatStandElsewhereAreMoved(t *testing.T) {
	c := changedCatalog(t, func(c *Catalog) {
		last := len(c.Stages) - 1
		c.Stages = slices.Insert(c.Stages[:last:last], 1, c.Stages[last])
	})
	stages := Builtin().Stages
	last := len(stages) - 1
	got := compareEditions(Builtin().edition("4.20"), c.edition("4.20"))
	if len(got.Stages) != 1 {
		t.Fatalf("differences: %q", differenceLines(got))
	}
	s := got.Stages[0]
	if s.Kind != Moved || s.ID != stages[last].ID || s.After != "make-pki" || s.Before != stages[last-1].ID || s.Release != "4.20" {
		t.Errorf("%+v", s)
	}
	for _, lists := range [][3]string{{"a b c", "a b c", ""}, {"a b c", "c a b", "c"}, {"a b", "b a", "b"}, {"a x b", "b y", ""}, {"a b c d", "b a d c", "b d"}, {"", "a", ""}} {
		got := movedStages(strings.Fields(lists[0]), strings.Fields(lists[1]))
		if strings.Join(got, " ") != lists[2] {
			t.Errorf("%q to %q: moved are %q, want %q", lists[0], lists[1], got, lists[2])
		}
	}
}

func TestAComparisonCanBeCutDownToOneStage(t *testing.T) {
	c := compared(t, Builtin(), "4.20", "4.21")
	for _, name := range []string{"render-etcd", "etcd-bootstrap"} {
		got, err := c.ForStage(Builtin(), name)
		if err != nil || !slices.Equal(differenceLines(got), []string{"render-etcd added option of every podman run --log-driver=k8s-file"}) {
			t.Errorf("%s: %v, %q", name, err, differenceLines(got))
		}
	}
	if got, err := c.ForStage(Builtin(), "make-pki"); err != nil || len(differenceLines(got)) != 0 {
		t.Errorf("make-pki: %v, %q", err, differenceLines(got))
	}
	for name, want := range map[string]string{"render-nothing": "there is no stage", "": "there is no stage"} {
		if _, err := c.ForStage(Builtin(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	early := compared(t, Builtin(), "4.14", "4.15")
	if _, err := early.ForStage(Builtin(), "render-auth-api"); err == nil || !strings.Contains(err.Error(), "neither in 4.14 nor in 4.15") {
		t.Error(err)
	}
	if len(differenceLines(c)) < 2 || len(c.Around) != 1 {
		t.Errorf("the whole was cut too: %q", differenceLines(c))
	}
}

// Other programs read this form: names may come, none may go.
func TestTheFormInJSONStays(t *testing.T) {
	c := &Comparison{From: "4.14", To: "4.15",
		Around: []Change{{Kind: Removed, Part: "variable", Was: &Item{Text: "A", Why: "b"}, Release: "4.15", Stages: []string{"render-etcd"}}},
		Stages: []StageChange{{Kind: Moved, ID: "render-etcd", Bootkube: "etcd-bootstrap", Title: "T", Why: "W", Before: "a", After: "b", Release: "4.15",
			Changes: []Change{{Kind: Changed, Part: "flag", Was: &Item{Text: "--a"}, Is: &Item{Text: "--a", When: "only on aws"}, Release: "4.15"}}}}}
	const want = `{"from":"4.14","to":"4.15",` +
		`"around":[{"kind":"removed","part":"variable","was":{"text":"A","why":"b"},"release":"4.15","stages":["render-etcd"]}],` +
		`"stages":[{"kind":"moved","id":"render-etcd","bootkube":"etcd-bootstrap","title":"T","why":"W","before":"a","after":"b","release":"4.15",` +
		`"changes":[{"kind":"changed","part":"flag","was":{"text":"--a"},"is":{"text":"--a","when":"only on aws"},"release":"4.15"}]}]}`
	if got, err := json.Marshal(c); err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if got, err := json.Marshal(compared(t, Builtin(), "4.19", "4.20")); err != nil || string(got) != `{"from":"4.19","to":"4.20","around":[],"stages":[]}` {
		t.Errorf("%v: %s", err, got)
	}
}

func TestWordsOfConditions(t *testing.T) {
	yes, no := InPlace(true), InPlace(false)
	code := func(s string) string { return "<" + s + ">" }
	for want, w := range map[string]Condition{
		"":                            {},
		"only if there is a file <a>": {File: "a"},
		"only if there is a directory <a>, on <aws> or <gcp>":                                   {Dir: "a", Platforms: []string{"aws", "gcp"}},
		"only if <a> holds something":                                                           {NotEmpty: "a"},
		"only in a bootstrap-in-place installation":                                             {InPlace: &yes},
		"only outside a bootstrap-in-place installation":                                        {InPlace: &no},
		"only with a cluster profile, in <okd>":                                                 {ClusterProfile: true, Distribution: "okd"},
		"only with topology <ha>":                                                               {Topology: []string{"ha"}},
		"only where lab.yaml sets <proxy>, where lab.yaml does not set <additionalTrustBundle>": {With: []string{"proxy"}, Without: []string{"additionalTrustBundle"}},
	} {
		if got := w.Words(code); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAnUnknownReleaseNamesTheNearest(t *testing.T) {
	for version, nearest := range map[string]string{"4.18.3": "4.18", "v4.18.3": "4.18", "4.21.0-okd-scos.8": "4.21", "4.13": "4.14", "3.11": "4.14", "4.22": "4.21",
		"5.0": "main", "5.1": "main", "5.0.0-ec.1": "main", "mian": "main", "latest": "", "": "", "\x1b[31m": ""} {
		_, err := Compare(Builtin(), "4.20", version)
		unknown, ok := err.(*UnknownRelease)
		if !ok {
			t.Errorf("%q: %v", version, err)
			continue
		}
		if unknown.Nearest != nearest || (unknown.Hint() == "") != (nearest == "") || !strings.Contains(unknown.Hint(), nearest) {
			t.Errorf("%q: the nearest is %q, want %q; hint: %s", version, unknown.Nearest, nearest, unknown.Hint())
		}
		if text := err.Error(); !strings.Contains(text, "known are 4.14, ") || strings.Contains(text, "\x1b") {
			t.Errorf("%q: %s", version, text)
		}
		_, alsoFrom := Compare(Builtin(), version, "4.20")
		_, resolving := Builtin().Resolve(&Lab{Release: ReleaseRef{Version: version}})
		if alsoFrom == nil || resolving == nil || alsoFrom.Error() != err.Error() || resolving.Error() != err.Error() {
			t.Errorf("%q: %v, %v, %v", version, err, alsoFrom, resolving)
		}
	}
	for _, id := range releaseOrder {
		if r, err := Builtin().Known(id); err != nil || r.ID != id {
			t.Errorf("%s: %v, %v", id, r, err)
		}
	}
}

func BenchmarkCompareAll(b *testing.B) {
	for b.Loop() {
		for i, to := range releaseOrder[1:] {
			compared(b, Builtin(), releaseOrder[i], to)
		}
	}
}
