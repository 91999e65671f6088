package labs

import (
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCatalogLoadsAndHoldsTogether(t *testing.T) {
	c := Builtin()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if len(c.Stages) != len(c.Bootkube.Order) || len(c.Releases) != len(releaseOrder) {
		t.Errorf("%d stages of %d, %d releases of %d", len(c.Stages), len(c.Bootkube.Order), len(c.Releases), len(releaseOrder))
	}
}

func TestCatalogLeavesNoDataFileUnread(t *testing.T) {
	c := Builtin()
	for _, dir := range []string{"stages", "releases"} {
		files, err := fs.ReadDir(Data, "data/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			id := strings.TrimSuffix(f.Name(), ".yaml")
			if c.Stage(id) == nil && c.Release(id) == nil {
				t.Errorf("%s/%s is read by nothing", dir, f.Name())
			}
		}
	}
}

// dataFiles is the catalog's data as a file tree that a test may change.
func dataFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(Data, "data", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(Data, path)
		out[strings.TrimPrefix(path, "data/")] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLoadCatalogReportsTheProblemsOfAllFilesAtOnce(t *testing.T) {
	files := dataFiles(t)
	files["stages/render-api.yaml"] = &fstest.MapFile{Data: []byte("id: render-api\nflavour: none\n")}
	files["stages/render-cco.yaml"] = &fstest.MapFile{Data: []byte("id: render-cco\nmkdir: here\n")}
	files["releases/4.15.yaml"] = &fstest.MapFile{Data: []byte("id: \"4.15\"\nlines: many\n")}
	delete(files, "stages/render-mco.yaml")
	_, err := LoadCatalog(files)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"releases/4.15.yaml:2:8: ", "stages/render-api.yaml:2:1: flavour: is not a key that is known here",
		"stages/render-cco.yaml:2:8: ", "stages/render-mco.yaml: cannot be read",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %q in\n%v", want, err)
		}
	}
}

// mistakes are what an author can get wrong, and what validation says to it.
var mistakes = map[string]struct {
	make func(c *Catalog)
	want string
}{
	"a phase is none":                      {func(c *Catalog) { c.Stage("render-api").Phase = "rendering" }, `phase "rendering" is none of render, `},
	"a stage of bootkube has no phase":     {func(c *Catalog) { c.Stage("render-api").Phase = "" }, "phase is required of a stage of bootkube.sh"},
	"a phase comes too late":               {func(c *Catalog) { c.Stage("verify-api").Phase = PhaseRender }, "stages/verify-api.yaml: phase render comes after"},
	"a pod is in no output":                {func(c *Catalog) { c.Stage("render-etcd").Pods[0].File = "etcd.yaml" }, "pod etcd: no output is etcd.yaml"},
	"a pod has no name":                    {func(c *Catalog) { c.Stage("render-etcd").Pods[0].Name = "" }, `pod "etcd": id, file and name are required`},
	"an effect is nowhere":                 {func(c *Catalog) { c.Stage("render-etcd").Effect[0].On = "moon" }, `effect: on "moon" is none of node, `},
	"an effect has no title":               {func(c *Catalog) { c.Stage("render-etcd").Effect[0].Title = "" }, "effect: title is required"},
	"an effect names no value":             {func(c *Catalog) { c.Stage("render-etcd").Effect[0].Text = "with $MEMBERS" }, "effect: $MEMBERS is no value of a lab"},
	"an event is nowhere":                  {func(c *Catalog) { c.Stage("render-etcd").Story[0].On = "moon" }, `story: on "moon" is none of node, `},
	"an event calls nobody":                {func(c *Catalog) { c.Stage("render-etcd").Story[0].Call = true }, "story: a call needs on"},
	"a journal's line cannot be read":      {func(c *Catalog) { c.Stage("wait-for-etcd").Journal = "(" }, "journal: error parsing regexp"},
	"a patience is negative":               {func(c *Catalog) { c.Stage("wait-for-etcd").HangsAfter = -1 }, "hangsAfter -1 is less than 0"},
	"an id is not the file's name":         {func(c *Catalog) { c.Stage("render-api").ID = "api" }, `stages/api.yaml: id is "api", the file is render-api.yaml`},
	"a condition names no key":             {func(c *Catalog) { c.Stage("render-api").Checks[0].When.With = []string{"proxy.ftp"} }, `lab.yaml has no key "proxy.ftp"`},
	"a stage stands twice":                 {func(c *Catalog) { c.Stages[7] = c.Stages[6] }, "stands twice in the order"},
	"a title is missing":                   {func(c *Catalog) { c.Stage("render-api").Title = "" }, "stages/render-api.yaml: title is required"},
	"a reason is blank":                    {func(c *Catalog) { c.Stage("render-api").Why = " \n" }, "stages/render-api.yaml: why is required"},
	"a source is missing":                  {func(c *Catalog) { c.Stage("render-api").Source = "" }, "stages/render-api.yaml: source is required"},
	"a kind is none":                       {func(c *Catalog) { c.Stage("render-api").Kind = "rendering" }, `kind "rendering" is none of`},
	"a stage begins with no release":       {func(c *Catalog) { c.Stage("render-api").Since = "4.5" }, `release "4.5" is not known`},
	"a flag begins with no release":        {func(c *Catalog) { c.Stage("render-cvo").Run.Flags[2].Since = "master" }, `render-cvo.--cluster-version-manifest-path: release "master" is not known`},
	"an option ends with no release":       {func(c *Catalog) { c.Stage("render-cvo").Run.Options[0].Until = "5" }, `release "5" is not known`},
	"a check begins with no release":       {func(c *Catalog) { c.Stage("render-mco").Checks[0].Since = "4.99" }, `render-mco.pod-image: release "4.99" is not known`},
	"a hint is empty":                      {func(c *Catalog) { c.Stage("render-mco").Checks[0].Hint = "" }, "text render-mco.checks.pod-image.hint is empty"},
	"an expectation is blank":              {func(c *Catalog) { c.Stage("render-mco").Checks[1].Expect = " " }, "text render-mco.checks.pod-image-of-release.expect is empty"},
	"a cause is empty":                     {func(c *Catalog) { c.Stage("render-mco").Failures[0].Cause = "" }, "text render-mco.failures.missing-file.cause is empty"},
	"an answer is empty":                   {func(c *Catalog) { c.Stage("render-mco").Questions[0].Answer = "" }, "text render-mco.questions.another-subcommand.answer is empty"},
	"a stage invalidates one that is none": {func(c *Catalog) { c.Stage("render-mco").Invalidates[0].Stage = "cvo-overrides" }, `invalidates "cvo-overrides", which is no stage`},
	"a check looks at nothing":             {func(c *Catalog) { c.Stage("render-mco").Checks[0].Images = nil }, "check pod-image declares nothing to look at"},
	"a check has an empty command":         {func(c *Catalog) { c.Stage("copy-manifests").Checks[0].Command.Text = " \n" }, "check arrived has an empty command"},
	"a check looks at two things":          {func(c *Catalog) { c.Stage("render-mco").Checks[0].Present = &PresentCheck{} }, "check pod-image declares both present and images"},
	"a check stands twice":                 {func(c *Catalog) { c.Stage("render-mco").Checks[1].ID = "pod-image" }, "check pod-image stands twice"},
	"an image has no variable":             {func(c *Catalog) { c.Stage("render-mco").Run.Image = "mco" }, `image "mco" has no variable in bootkube.yaml`},
	"an input comes from nowhere":          {func(c *Catalog) { c.Stage("render-etcd").Reads[0].Path = "bundle/images" }, "reads bundle/images, which no earlier stage writes"},
	"an input comes from later on":         {func(c *Catalog) { c.Stage("render-etcd").Reads[0].Path = "mco-bootstrap/manifests/" }, "reads mco-bootstrap/manifests/, which no earlier stage writes"},
	"a release has no source":              {func(c *Catalog) { c.Releases[2].Source = "" }, "releases/4.16.yaml: source, and confidence high or medium, are required"},
	"a release is known by hearsay":        {func(c *Catalog) { c.Releases[2].Confidence = "low" }, "releases/4.16.yaml: source, and confidence high or medium, are required"},
}

func TestCatalogValidationFindsEachMistake(t *testing.T) {
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			c := clone(Builtin())
			m.make(c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), m.want) {
				t.Errorf("got %v, want %q", err, m.want)
			}
		})
	}
}

func TestCatalogValidationReportsAllMistakesAtOnce(t *testing.T) {
	c := clone(Builtin())
	c.Stage("render-api").Title = ""
	c.Stage("render-mco").Kind = ""
	c.Releases[0].Source = ""
	err := c.Validate()
	for _, want := range []string{"render-api", "render-mco", "releases/4.14.yaml"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %s in %v", want, err)
		}
	}
}

// An origin in one word is a stage or the installer; anything else is told in
// several.
func TestCatalogNamesStagesWhereverItPointsAtThem(t *testing.T) {
	c := Builtin()
	for _, s := range c.Stages {
		for _, in := range s.Reads {
			if in.From != "" && in.From != "installer" && !strings.Contains(in.From, " ") && c.Stage(in.From) == nil {
				t.Errorf("%s reads %s from %q, which is neither a stage nor the installer", s.ID, in.Path, in.From)
			}
		}
	}
}

// resolved is the plan of a shipped kind of lab in a release.
func resolved(t *testing.T, release string) *Plan {
	t.Helper()
	p, err := Builtin().Resolve(&Lab{Release: ReleaseRef{Distribution: "okd", Version: release}, Topology: "compact"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func flagsOf(p *Plan, stage string) string {
	s := p.Stage(stage)
	if s == nil || s.Run == nil {
		return "none"
	}
	var flags []string
	for _, f := range s.Run.Flags {
		flags = append(flags, f.Flag)
	}
	return strings.Join(flags, " ")
}

func TestResolveCutsFlagsToTheRelease(t *testing.T) {
	const operand, overrides, gates = "--operand-kubernetes-version", "--cluster-version-manifest-path", "--feature-gate-manifest-path"
	cases := []struct {
		release, stage, flag string
		there                bool
	}{
		{"4.17", "render-kube-apiserver", operand, false}, {"4.18", "render-kube-apiserver", operand, true},
		{"4.16", "render-cvo", gates, false}, {"4.17", "render-cvo", gates, true},
		{"4.21", "render-cvo", overrides, false}, {"main", "render-cvo", overrides, true},
		{"4.14", "render-config", "--skip-api-rendering", false}, {"4.15", "render-config", "--skip-api-rendering", true},
		{"4.14", "render-mco", "--cloud-lb-config-file", false}, {"4.15", "render-mco", "--cloud-lb-config-file", true},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s of %s in %s: %v", c.flag, c.stage, c.release, c.there), func(t *testing.T) {
			if flags := flagsOf(resolved(t, c.release), c.stage); strings.Contains(flags, c.flag) != c.there {
				t.Errorf("flags are %s", flags)
			}
		})
	}
}

func TestResolveCutsStagesMarkersAndCopiesToTheRelease(t *testing.T) {
	for release, want := range map[string]string{
		"4.14": "render-api false, render-auth-api false, copies of config 1, markers of resolve-api 0, global options 3, info of Kubernetes 0",
		"4.15": "render-api true, render-auth-api false, copies of config 0, markers of resolve-api 0, global options 3, info of Kubernetes 0",
		"4.18": "render-api true, render-auth-api false, copies of config 0, markers of resolve-api 2, global options 3, info of Kubernetes 1",
		"4.21": "render-api true, render-auth-api true, copies of config 0, markers of resolve-api 2, global options 4, info of Kubernetes 1",
	} {
		p := resolved(t, release)
		kubernetes := 0
		for _, v := range p.Bootkube.Variables {
			if v.Name == "KUBERNETES_VERSION" {
				kubernetes++
			}
		}
		got := fmt.Sprintf("render-api %v, render-auth-api %v, copies of config %d, markers of resolve-api %d, global options %d, info of Kubernetes %d",
			p.Stage("render-api") != nil, p.Stage("render-auth-api") != nil, len(p.Stage("render-config").Copies),
			len(p.Stage("resolve-api").Markers), len(p.Bootkube.Podman), kubernetes)
		if got != want {
			t.Errorf("%s: %s\nwant: %s", release, got, want)
		}
	}
}

func TestResolveLeavesOutWhatNoLabHas(t *testing.T) {
	p := resolved(t, "main")
	if p.Stage("render-node-tuning-bootcmd") != nil {
		t.Error("a stage of installations in place is in the plan")
	}
	if n := strings.Count(flagsOf(p, "start-bootstrap"), "--required-pods"); n != 1 {
		t.Errorf("--required-pods is given %d times", n)
	}
	if o := p.Stage("render-cvo").Run.Options; len(o) != 0 {
		t.Errorf("options that no lab has: %v", o)
	}
	for _, cp := range p.Stage("render-mco").Copies {
		if strings.Contains(cp.From, "<platform>") {
			t.Errorf("a copy for another platform: %s", cp.From)
		}
	}
	if p.Stage("wait-for-ceo") == nil || p.Stage("restore-cvo-overrides") == nil {
		t.Error("a stage of all but installations in place is missing")
	}
}

func TestResolveDecidesDistributionAndTopology(t *testing.T) {
	c := clone(Builtin())
	s := c.Stage("render-mco")
	s.Checks[0].When = Condition{Distribution: "ocp"}
	s.Checks[1].When = Condition{Topology: []string{"ha", "compact"}}
	s.Checks[2].When = Condition{Topology: []string{"bootstrap-only"}}
	s.Checks[3].When = Condition{Distribution: "okd", File: "what only a script can see"}
	p, err := c.Resolve(&Lab{Release: ReleaseRef{Distribution: "okd", Version: "main"}, Topology: "compact"})
	if err != nil {
		t.Fatal(err)
	}
	kept := p.Stage("render-mco").Checks
	if len(kept) != len(s.Checks)-2 || kept[0].ID != s.Checks[1].ID || kept[1].ID != s.Checks[3].ID {
		t.Errorf("kept are %d of %d checks, first %s and %s", len(kept), len(s.Checks), kept[0].ID, kept[1].ID)
	}
}

func TestResolveDecidesByTheKeysOfTheLab(t *testing.T) {
	c := clone(Builtin())
	s := c.Stage("render-mco")
	s.Checks[0].When = Condition{With: []string{"imageDigestSources", "proxy.httpsProxy"}}
	s.Checks[1].When = Condition{Without: []string{"proxy"}}
	for _, tc := range []struct {
		lab            Lab
		first, second  bool
		registryDiffer int
	}{
		{Lab{}, false, true, 0},
		{Lab{ImageDigestSources: []ImageSource{}}, false, true, 0},
		{Lab{ImageDigestSources: []ImageSource{{Source: "r.test"}}}, true, true, 1},
		{Lab{Proxy: Proxy{HTTPProxy: "http://p.test"}}, false, false, 1},
		{Lab{Proxy: Proxy{HTTPSProxy: "http://p.test"}, AdditionalTrustBundle: "ca.pem"}, true, false, 2},
	} {
		tc.lab.Release = ReleaseRef{Distribution: "okd", Version: "main"}
		p, err := c.Resolve(&tc.lab)
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]bool{}
		for _, check := range p.Stage("render-mco").Checks {
			kept[check.ID] = true
		}
		if kept[s.Checks[0].ID] != tc.first || kept[s.Checks[1].ID] != tc.second {
			t.Errorf("%+v: kept are %v", tc.lab, kept)
		}
		if n := len(p.Stage("render-mco").Differs) - len(s.Differs); n != tc.registryDiffer {
			t.Errorf("%+v: %d differences of registries", tc.lab, n)
		}
		if n := len(p.Stage("make-pki").Differs) - len(c.Stage("make-pki").Differs); n > 0 {
			t.Errorf("%+v: a script that calls no podman has differences of registries", tc.lab)
		}
	}
}

func TestResolveRefusesAReleaseThatIsNotKnown(t *testing.T) {
	_, err := Builtin().Resolve(&Lab{Release: ReleaseRef{Version: "4.22"}})
	if err == nil || !strings.Contains(err.Error(), `"4.22"`) || !strings.Contains(err.Error(), "4.21, main") {
		t.Errorf("got %v", err)
	}
}

func TestResolveSharesNoMemoryWithTheCatalog(t *testing.T) {
	c := clone(Builtin())
	before := clone(c)
	for _, release := range c.ReleaseIDs() {
		p, err := c.Resolve(&Lab{Release: ReleaseRef{Distribution: "okd", Version: release}, Topology: "compact"})
		if err != nil {
			t.Fatal(err)
		}
		scribble(reflect.ValueOf(p.Bootkube))
		scribble(reflect.ValueOf(p.Release))
		scribble(reflect.ValueOf(p.Stages))
	}
	if !reflect.DeepEqual(c, before) {
		t.Error("what was written into plans stands in the catalog")
	}
}

// scribble overwrites everything that can be reached.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := 0; i < v.Len(); i++ {
			scribble(v.Index(i))
		}
	case reflect.String:
		v.SetString("scribbled")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	}
}

func TestTextKeysAreUniqueAndNameTheirStage(t *testing.T) {
	for _, s := range Builtin().Stages {
		seen := map[string]int{}
		walkTexts(reflect.ValueOf(s).Elem(), s.ID, func(key string, _ reflect.Value) { seen[key]++ })
		for key, n := range seen {
			if n > 1 {
				t.Errorf("%s is the key of %d texts", key, n)
			}
			if !strings.HasPrefix(key, s.ID+".") {
				t.Errorf("%s does not begin with its stage, %s", key, s.ID)
			}
		}
		if len(seen) != len(s.Texts()) {
			t.Errorf("%s: %d keys, %d texts", s.ID, len(seen), len(s.Texts()))
		}
	}
}

func TestTextsOfAStageHaveTheirKeys(t *testing.T) {
	s := Builtin().Stage("render-etcd")
	texts := s.Texts()
	for key, want := range map[string]string{
		"title": s.Title, "why": s.Why,
		"reads." + s.Reads[2].Path + ".why":              s.Reads[2].Why,
		"run.flags." + s.Run.Flags[2].Flag + ".why":      s.Run.Flags[2].Why,
		"outputs." + s.Outputs[2].Path + ".why":          s.Outputs[2].Why,
		"copies." + s.Copies[0].From + ".why":            s.Copies[0].Why,
		"invalidates." + s.Invalidates[0].Stage + ".why": s.Invalidates[0].Why,
		"checks." + s.Checks[1].ID + ".expect":           s.Checks[1].Expect,
		"checks." + s.Checks[1].ID + ".hint":             s.Checks[1].Hint,
		"failures." + s.Failures[1].ID + ".cause":        s.Failures[1].Cause,
		"failures." + s.Failures[1].ID + ".fix":          s.Failures[1].Fix,
		"differs." + s.Differs[0].ID + ".what":           s.Differs[0].What,
		"questions." + s.Questions[0].ID + ".ask":        s.Questions[0].Ask,
		"exercises." + s.Exercises[0].ID + ".putRight":   s.Exercises[0].PutRight,
		"links.1.title": s.Links[1].Title,
	} {
		if got := texts["render-etcd."+key]; got != want || got == "" {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	for _, fact := range []string{"log", "run.image", "markers.0.file", "failures." + s.Failures[1].ID + ".message", "checks.pod-image-of-release.command.text"} {
		if text, isText := texts["render-etcd."+fact]; isText {
			t.Errorf("%s is given to translators: %q", fact, text)
		}
	}
}

func TestTranslatedTextsTakeThePlaceOfTheirOwnAndOfNothingElse(t *testing.T) {
	c, before := clone(Builtin()), clone(Builtin())
	for _, s := range c.Stages {
		other := map[string]string{}
		for key, text := range s.Texts() {
			other[key] = "other " + text
		}
		if err := s.Translate(other); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(s.Texts(), other) {
			t.Errorf("%s: texts are not those that were given", s.ID)
		}
	}
	for _, release := range c.ReleaseIDs() {
		if d := differences(factsOf(catalogScript(before, release)), factsOf(catalogScript(c, release))); len(d) > 0 {
			t.Errorf("%s: a translation changed facts: %v", release, d)
		}
	}
	for i, s := range c.Stages {
		if err := s.Translate(before.Stages[i].Texts()); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(c.Stages, before.Stages) {
		t.Error("the way back does not lead to the same stages")
	}
}

func TestTranslateRefusesKeysThatAreNotThereAndChangesNothing(t *testing.T) {
	s := clone(Builtin()).Stage("render-etcd")
	before := s.Texts()
	err := s.Translate(map[string]string{"render-etcd.title": "Other", "render-etcd.checks.gone.hint": "x", "render-api.title": "x"})
	if err == nil || !strings.Contains(err.Error(), "render-api.title, render-etcd.checks.gone.hint") {
		t.Errorf("got %v", err)
	}
	if !reflect.DeepEqual(s.Texts(), before) {
		t.Error("a translation that was refused changed something")
	}
}
