package labs

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The parity test holds the stage data against standin/facts/bootkube.yaml,
// which says the same in another form. For each release both are brought into
// one list of lines, a fact a line in the order of bootkube.sh, and the lists
// must be equal. Everything that is compared stands in the functions factsOf…
// below; that none is forgotten there, and that no key of the oracle is passed
// over, is what the other tests of this file are for.

// script is what bootkube.sh of one release does, with nothing of other
// releases in it.
type script struct {
	bootkube *Bootkube
	release  *Release
	stages   []*Stage
	// demands are things the oracle tells in words, so that the catalog must
	// say something about them too.
	demands []string
}

func TestParityOfStageDataAndOracleInEveryRelease(t *testing.T) {
	o := loadOracle(t)
	c := Builtin()
	for _, release := range o.releases() {
		t.Run("release "+release, func(t *testing.T) {
			want := o.script(release)
			got := catalogScript(c, release)
			for _, d := range differences(factsOf(want), factsOf(got)) {
				t.Error(d)
			}
			for _, d := range unmet(want, got) {
				t.Error(d)
			}
		})
	}
	for _, p := range o.problems {
		t.Error(p)
	}
	for _, d := range differences(o.releases(), c.ReleaseIDs()) {
		t.Errorf("releases: %s", d)
	}
}

// catalogScript cuts the catalog down to what bootkube.sh of a release does.
func catalogScript(c *Catalog, release string) *script {
	keep := func(sp Span, _ Condition) bool { return sp.Holds(release) }
	s := &script{bootkube: &Bootkube{}, release: c.Release(release)}
	cut(reflect.ValueOf(s.bootkube).Elem(), reflect.ValueOf(c.Bootkube).Elem(), keep)
	for _, stage := range c.Stages {
		if stage.Bootkube == "" || !stage.Holds(release) {
			continue
		}
		mine := &Stage{}
		cut(reflect.ValueOf(mine).Elem(), reflect.ValueOf(stage).Elem(), keep)
		s.stages = append(s.stages, mine)
	}
	return s
}

// factLines collects facts.
type factLines []string

func (l *factLines) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

// given adds a fact unless its value is empty.
func (l *factLines) given(what, value string) {
	if value != "" {
		l.add("%s %s", what, value)
	}
}

func factsOf(s *script) factLines {
	out := factsOfBootkube(s.bootkube)
	if s.release != nil {
		out.add("release source %s", s.release.Source)
		out.add("release confidence %s, %d lines", s.release.Confidence, s.release.Lines)
	}
	for _, stage := range s.stages {
		out = append(out, factsOfStage(stage)...)
	}
	return out
}

func factsOfBootkube(b *Bootkube) factLines {
	var l factLines
	l.add("template path %s", b.TemplatePath)
	l.add("working directory %s", b.WorkingDirectory)
	l.add("shell options %s", b.ShellOptions)
	l.add("asset volume %s", b.AssetVolume)
	l.add("image for %s", b.ImageFor)
	l.add("end %s", b.End)
	for _, o := range b.Podman {
		l.add("every podman run %s%s", o.Option, inWords(o.When))
	}
	for _, dir := range b.Mkdir {
		l.add("mkdir first %s", dir)
	}
	var unordered []string
	for _, v := range b.Variables {
		unordered = append(unordered, fmt.Sprintf("variable %s = %s%s", v.Name, v.Value, inWords(v.When)))
	}
	for _, v := range b.Images {
		unordered = append(unordered, fmt.Sprintf("image variable %s = %s", v.Variable, v.Name))
	}
	sort.Strings(unordered)
	return append(l, unordered...)
}

func factsOfStage(s *Stage) factLines {
	var l factLines
	l.add("kind %s%s", kindInOracle(s.Kind), inWords(s.When))
	for _, m := range s.Markers {
		l.add("marker %s", m.File)
	}
	l.given("skip if", s.SkipIf)
	l.given("remove first", s.RemoveFirst)
	if s.Run != nil {
		l = append(l, factsOfContainer(s.Run)...)
	}
	if s.Command != nil {
		l.add("host command %s", s.Command.Line)
		l = append(l, factsOfFlags(s.Command.Flags)...)
	}
	l.given("retry", s.Retry)
	l.given("on failure", s.OnFailure)
	for _, dir := range s.Mkdir {
		l.add("mkdir %s", dir)
	}
	l = append(l, factsOfCopies(s.Copies)...)
	out := factLines{"stage " + s.Bootkube}
	for _, fact := range l {
		out.add("%s: %s", s.Bootkube, fact)
	}
	return out
}

// kindInOracle: the oracle tells copies, checks and calls of oc apart from
// containers, and nothing more.
func kindInOracle(kind string) string {
	switch kind {
	case "copy", "check":
		return kind
	case "patch":
		return "oc"
	}
	return "container"
}

func factsOfContainer(r *Container) factLines {
	var l factLines
	l.add("image %s", r.Image)
	l.add("container name %s", r.Name)
	l.given("volume", r.Volume)
	for _, o := range r.Options {
		l.add("podman option %s%s", o.Option, inWords(o.When))
	}
	l.add("command %s", r.Command)
	return append(l, factsOfFlags(r.Flags)...)
}

func factsOfFlags(flags []Flag) factLines {
	var l factLines
	for _, f := range flags {
		text := f.Flag
		switch {
		case f.Separate:
			text += " " + f.Value
		case f.Value != "":
			text += "=" + f.Value
		}
		l.add("flag %s%s", text, inWords(f.When))
	}
	return l
}

// factsOfCopies writes a copy for <platform> out for each platform it is made
// on. Neighbours for the same platforms belong together: bootkube.sh makes all
// of them for one platform, then all for the next.
func factsOfCopies(copies []Copy) factLines {
	var l factLines
	for i := 0; i < len(copies); {
		group := copies[i : i+1]
		for j := i + 1; j < len(copies) && perPlatform(copies[j]) && perPlatform(copies[i]) &&
			reflect.DeepEqual(copies[j].When.Platforms, copies[i].When.Platforms); j++ {
			group = copies[i : j+1]
		}
		i += len(group)
		platforms := group[0].When.Platforms
		if len(platforms) == 0 {
			platforms = []string{""}
		}
		for _, platform := range platforms {
			for _, cp := range group {
				l.add("%s", factOfCopy(cp, platform))
			}
		}
	}
	return l
}

func perPlatform(cp Copy) bool { return len(cp.When.Platforms) > 0 }

func factOfCopy(cp Copy, platform string) string {
	when := cp.When
	when.Platforms = nil
	verb := "copy"
	if cp.Recursive {
		verb = "copy recursively"
	}
	text := fmt.Sprintf("%s %s to %s%s", verb, cp.From, cp.To, inWords(when))
	if platform != "" {
		text = strings.ReplaceAll(text, "<platform>", platform) + " on " + platform
	}
	return text
}

// inWords gives a condition as the end of a sentence, empty when there is none.
func inWords(w Condition) string {
	var parts factLines
	parts.given("file", w.File)
	parts.given("directory", w.Dir)
	parts.given("not empty", w.NotEmpty)
	if w.InPlace != nil {
		parts.add("in place %v", *w.InPlace)
	}
	if w.ClusterProfile {
		parts.add("a cluster profile")
	}
	parts.given("distribution", w.Distribution)
	parts.given("topology", strings.Join(w.Topology, ", "))
	parts.given("platforms", strings.Join(w.Platforms, ", "))
	parts.given("keys of lab.yaml", strings.Join(w.With, ", "))
	parts.given("no keys of lab.yaml", strings.Join(w.Without, ", "))
	if len(parts) == 0 {
		return ""
	}
	return " when " + strings.Join(parts, " and ")
}

// differences says what is missing, what is too much, and, when it is all
// there, where the order begins to differ.
func differences(want, got []string) []string {
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	var out []string
	for _, line := range got {
		if count[line]--; count[line] < 0 {
			out = append(out, "in the data only:   "+line)
		}
	}
	for _, line := range want {
		if count[line] > 0 {
			count[line]--
			out = append(out, "in the oracle only: "+line)
		}
	}
	for i := 0; len(out) == 0 && i < len(want); i++ {
		if want[i] != got[i] {
			out = append(out, fmt.Sprintf("order: the oracle goes on with %q, the data with %q", want[i], got[i]))
		}
	}
	return out
}

// unmet lists what the oracle tells in words and the catalog says nothing of.
func unmet(want, got *script) []string {
	said := map[string]bool{}
	for _, s := range got.stages {
		for word, there := range map[string]bool{"before": len(s.Before) > 0, "after": len(s.After) > 0, "output": len(s.Outputs) > 0} {
			said[s.Bootkube+" "+word] = there
		}
	}
	var out []string
	for _, demand := range want.demands {
		stage, path, isOutput := strings.Cut(demand, " writes ")
		if isOutput && !writes(got, stage, path) || !isOutput && !said[demand] {
			out = append(out, "the oracle has, the data has not: "+demand)
		}
	}
	return out
}

func writes(s *script, stage, path string) bool {
	for _, mine := range s.stages {
		for _, out := range mine.Outputs {
			if mine.Bootkube == stage && (covers(out.Path, path) || strings.HasPrefix(out.Path, path)) {
				return true
			}
		}
	}
	return false
}

// oracle is standin/facts/bootkube.yaml. Whatever is read from it is noted,
// so that a key that nothing reads is a problem and not an oversight.
type oracle struct {
	root     map[string]any
	problems []string
}

const oracleFile = "../standin/facts/bootkube.yaml"

func loadOracle(t *testing.T) *oracle {
	t.Helper()
	data, err := os.ReadFile(oracleFile)
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{}
	if err := yaml.Unmarshal(data, &o.root); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *oracle) problem(format string, args ...any) {
	o.problems = append(o.problems, oracleFile+": "+fmt.Sprintf(format, args...))
}

// row is a mapping of the oracle while it is read.
type row struct {
	o       *oracle
	at      string
	release string
	m       map[string]any
	read    map[string]bool
}

func (o *oracle) row(at, release string, v any) *row {
	m, ok := v.(map[string]any)
	if !ok {
		o.problem("%s is no mapping", at)
	}
	return &row{o: o, at: at, release: release, m: m, read: map[string]bool{}}
}

func (r *row) value(key string) any {
	r.read[key] = true
	return r.m[key]
}

func (r *row) has(key string) bool { _, ok := r.m[key]; return ok }

func (r *row) sub(key string) *row {
	return r.o.row(r.at+"."+key, r.release, r.value(key))
}

// text reads a plain value; none is empty.
func (r *row) text(key string) string {
	switch v := r.value(key).(type) {
	case nil:
		return ""
	case map[string]any, []any:
		r.o.problem("%s.%s is no plain value", r.at, key)
		return ""
	default:
		return fmt.Sprint(v)
	}
}

func (r *row) list(key string) []any {
	v := r.value(key)
	list, ok := v.([]any)
	if v != nil && !ok {
		r.o.problem("%s.%s is no list", r.at, key)
	}
	return list
}

func (r *row) texts(key string) []string {
	var out []string
	for _, item := range r.list(key) {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

// rows reads a list of mappings and leaves out those of other releases.
func (r *row) rows(key string) []*row {
	var out []*row
	for i, item := range r.list(key) {
		at := fmt.Sprintf("%s.%s[%d]", r.at, key, i)
		if mine := r.o.row(at, r.release, item); mine.holds() {
			out = append(out, mine)
		}
	}
	return out
}

// holds reads since and until.
func (r *row) holds() bool {
	sp := Span{Since: r.text("since"), Until: r.text("until")}
	for _, release := range []string{sp.Since, sp.Until} {
		if release != "" && age(release) < 0 {
			r.o.problem("%s: release %q is not known", r.at, release)
		}
	}
	return sp.Holds(r.release)
}

// spanned reads a value that may carry its own since and until: plain, or a
// mapping with the value under inner.
func (r *row) spanned(key, inner string) string {
	if _, plain := r.value(key).(map[string]any); !plain {
		return r.text(key)
	}
	v := r.sub(key)
	text := v.text(inner)
	v.words("note")
	v.done()
	if !v.holds() {
		return ""
	}
	return text
}

// words reads keys that are meant for people only.
func (r *row) words(keys ...string) {
	for _, key := range keys {
		r.read[key] = true
	}
}

// done reports the keys that were not read.
func (r *row) done() {
	r.words("since", "until")
	var left []string
	for key := range r.m {
		if !r.read[key] {
			left = append(left, key)
		}
	}
	sort.Strings(left)
	for _, key := range left {
		r.o.problem("%s.%s is a key that the test does not map", r.at, key)
	}
}

// releases lists the oracle's releases, and asks that its lists agree.
func (o *oracle) releases() []string {
	root := o.row("", "", o.root)
	order := root.texts("release_order")
	var described []string
	for release := range root.sub("releases").m {
		described = append(described, release)
	}
	sort.Strings(described)
	sorted := append([]string(nil), order...)
	sort.Strings(sorted)
	for _, d := range differences(sorted, described) {
		o.problem("release_order and releases: %s", d)
	}
	return order
}

// script gives what bootkube.sh of a release does, as the oracle has it.
func (o *oracle) script(release string) *script {
	root := o.row("", release, o.root)
	if v := root.text("schema"); v != "1" {
		o.problem("schema %s is not known", v)
	}
	root.words("release_order")
	for i, item := range root.list("not_established") {
		r := o.row(fmt.Sprintf("not_established[%d]", i), release, item)
		if age(r.text("release")) >= 0 {
			o.problem("%s is a release with stage data", r.at)
		}
		r.words("note")
		r.done()
	}
	s := &script{bootkube: root.bootkube(), release: root.sub("releases").describedRelease(release)}
	for _, r := range root.rows("stages") {
		stage := r.stage()
		s.stages = append(s.stages, stage)
		s.demands = append(s.demands, r.demands(stage)...)
		r.done()
	}
	root.done()
	return s
}

func (r *row) describedRelease(release string) *Release {
	d := r.sub(release)
	out := &Release{ID: release, Confidence: d.text("confidence")}
	fmt.Sscan(d.text("lines"), &out.Lines)
	out.Source, _, _ = strings.Cut(d.text("source"), "; ")
	d.done()
	return out
}

func (r *row) bootkube() *Bootkube {
	g := r.sub("global")
	b := &Bootkube{
		TemplatePath:     r.text("template_path"),
		WorkingDirectory: g.text("working_directory"),
		ShellOptions:     g.text("shell_options"),
		AssetVolume:      strings.TrimPrefix(g.text("asset_volume"), "--volume "),
		ImageFor:         g.text("image_for"),
		Mkdir:            g.texts("mkdir_first"),
		End:              r.text("end"),
	}
	for _, o := range g.rows("podman_base") {
		b.Podman = append(b.Podman, o.option())
	}
	variables := g.sub("variables")
	for name := range variables.m {
		if v := variables.spanned(name, "value"); v != "" {
			b.Variables = append(b.Variables, Variable{Name: name, Value: v})
		}
	}
	images := g.sub("operator_images")
	for name := range images.m {
		if v := images.spanned(name, "name"); v != "" {
			b.Images = append(b.Images, ImageVariable{Variable: name, Name: v})
		}
	}
	g.done()
	return b
}

func (r *row) stage() *Stage {
	s := &Stage{
		Bootkube:    r.text("name"),
		Kind:        map[string]string{"": "render", "copy": "copy", "check": "check", "oc": "patch"}[r.text("kind")],
		RemoveFirst: r.text("remove_first"),
		SkipIf:      r.text("skip_if"),
		Retry:       r.text("retry"),
		OnFailure:   r.text("on_failure"),
		Mkdir:       r.texts("mkdir"),
	}
	r.at = "stages." + s.Bootkube
	if done := r.spanned("done", "value"); done != "" {
		for _, file := range strings.Split(done, " / ") {
			s.Markers = append(s.Markers, Marker{File: file})
		}
	}
	if s.Kind == "check" {
		s.OnFailure = r.text("note")
	}
	s.When.InPlace = r.inPlace()
	flags := r.flags()
	switch {
	case r.has("image"):
		s.Run = r.container(flags)
	case r.has("command"):
		s.Command = &Command{Line: r.text("command"), Flags: flags}
	}
	s.Copies = r.copies()
	return s
}

func (r *row) inPlace() *InPlace {
	only, not := r.text("only"), r.text("not_when")
	for _, v := range []string{only, not} {
		if v != "" && v != "bootstrap-in-place" {
			r.o.problem("%s: %q is a condition that the test does not map", r.at, v)
		}
	}
	if only == "" && not == "" {
		return nil
	}
	in := InPlace(only != "")
	return &in
}

// demands reads what a stage of the oracle tells in words.
func (r *row) demands(s *Stage) []string {
	var out []string
	for _, word := range []string{"before", "after", "output"} {
		if r.text(word) != "" {
			out = append(out, s.Bootkube+" "+word)
		}
	}
	for _, path := range r.texts("outputs") {
		out = append(out, s.Bootkube+" writes "+s.RemoveFirst+"/"+path)
	}
	return out
}

func (r *row) container(flags []Flag) *Container {
	c := &Container{Image: r.text("image"), Name: r.text("podman_name"), Volume: r.text("podman_volume"),
		Command: r.text("command"), Flags: flags}
	if c.Image == "$RELEASE_IMAGE_DIGEST" {
		c.Image = "release"
	}
	for _, o := range r.rows("podman_extra") {
		c.Options = append(c.Options, o.option())
	}
	return c
}

func (r *row) option() Option {
	o := Option{Option: r.text("option"), When: r.condition()}
	r.done()
	return o
}

func (r *row) flags() []Flag {
	var out []Flag
	for _, f := range r.rows("flags") {
		flag := Flag{Flag: f.text("flag"), Value: f.text("value"), When: f.condition()}
		style := f.text("style")
		flag.Separate = style == "separate-argument"
		if style != "" && !flag.Separate {
			f.o.problem("%s: style %q is not mapped", f.at, style)
		}
		f.words("note")
		if !f.has("bootstrap_in_place") {
			out = append(out, flag)
		} else {
			yes, no := InPlace(true), InPlace(false)
			other := flag
			other.Value = `"` + f.text("bootstrap_in_place") + `"`
			flag.When.InPlace, other.When.InPlace = &no, &yes
			out = append(out, flag, other)
		}
		f.done()
	}
	return out
}

// copies reads the copies. Platforms are given once for all neighbours that
// speak of <platform>.
func (r *row) copies() []Copy {
	var out []Copy
	var platforms []string
	for _, c := range r.rows("copies") {
		cp := Copy{From: c.text("from"), To: c.text("to"), Recursive: c.text("recursive") == "true", When: c.condition()}
		if cp.When.NotEmpty != "" {
			cp.When.NotEmpty = strings.TrimSuffix(cp.From, "/*")
		}
		if c.has("platforms") {
			platforms = c.platforms()
		}
		if strings.Contains(cp.From, "<platform>") {
			cp.When.Platforms = platforms
		}
		c.words("note")
		c.done()
		out = append(out, cp)
	}
	return out
}

// platforms reads names, some of them as {name: "since release"}.
func (r *row) platforms() []string {
	var out []string
	for _, item := range r.list("platforms") {
		m, conditional := item.(map[string]any)
		if !conditional {
			out = append(out, fmt.Sprint(item))
		}
		for name, since := range m {
			release, ok := strings.CutPrefix(fmt.Sprint(since), "since ")
			if !ok || age(release) < 0 {
				r.o.problem("%s: %s: %v is not mapped", r.at, name, since)
			}
			if (Span{Since: release}).Holds(r.release) {
				out = append(out, name)
			}
		}
	}
	return out
}

// condition reads the forms of when.
func (r *row) condition() Condition {
	w := Condition{File: r.spanned("when_file", "value"), Dir: r.spanned("when_dir", "value")}
	switch when := r.text("when"); when {
	case "":
	case "directory is not empty":
		w.NotEmpty = "the source"
	case "installer has a cluster profile set":
		w.ClusterProfile = true
	default:
		r.o.problem("%s: when %q is not mapped", r.at, when)
	}
	return w
}

// authorsErrors are the ways in which an author errs, one for each kind of fact.
var authorsErrors = map[string]func(c *Catalog){
	"a flag is dropped":                       func(c *Catalog) { dropAt(&c.Stage("render-kcm").Run.Flags, 3) },
	"a flag is added":                         func(c *Catalog) { repeatFirst(&c.Stage("render-kcm").Run.Flags) },
	"a flag has another value":                func(c *Catalog) { flagAt(c, "render-etcd", 1).Value = "/assets/cluster-config.yaml" },
	"a flag has another name":                 func(c *Catalog) { flagAt(c, "render-etcd", 1).Flag = "--cluster-config-file" },
	"a value is written in another style":     func(c *Catalog) { flagAt(c, "wait-for-ceo", 0).Separate = false },
	"a flag comes a release too early":        func(c *Catalog) { flagAt(c, "render-kube-apiserver", 12).Since = "4.17" },
	"a flag goes a release too early":         func(c *Catalog) { flagAt(c, "render-kcm", 0).Until = "4.21" },
	"a flag loses its condition":              func(c *Catalog) { flagAt(c, "render-config", 8).When = Condition{} },
	"two flags change places":                 func(c *Catalog) { swapFirst(c.Stage("render-api").Run.Flags) },
	"two stages change places":                func(c *Catalog) { c.Stages[8], c.Stages[9] = c.Stages[9], c.Stages[8] },
	"a stage is missing":                      func(c *Catalog) { dropAt(&c.Stages, 11) },
	"a stage stands twice":                    func(c *Catalog) { repeatFirst(&c.Stages); c.Stages[len(c.Stages)-1] = c.Stage("render-cvo") },
	"a stage has another name":                func(c *Catalog) { c.Stage("render-mco").Bootkube = "mco" },
	"a stage comes a release too late":        func(c *Catalog) { c.Stage("render-auth-api").Since = "4.20" },
	"a stage is made for every kind of lab":   func(c *Catalog) { c.Stage("wait-for-ceo").When = Condition{} },
	"a stage is of another kind":              func(c *Catalog) { c.Stage("restore-cvo-overrides").Kind = "check" },
	"a marker has another name":               func(c *Catalog) { c.Stage("render-cco").Markers[0].File = "cco.done" },
	"a stage without marker gets one":         func(c *Catalog) { c.Stage("wait-for-etcd").Markers = []Marker{{File: "wait-for-etcd.done"}} },
	"a marker loses its release":              func(c *Catalog) { c.Stage("verify-api").Markers[1].Since = "" },
	"another directory is removed":            func(c *Catalog) { c.Stage("render-ingress").RemoveFirst = "ingress-operator-manifests" },
	"another image runs":                      func(c *Catalog) { c.Stage("render-cvo").Run.Image = "cluster-version-operator" },
	"a container has another name":            func(c *Catalog) { c.Stage("render-kcm").Run.Name = "kcm-render" },
	"another directory is mounted":            func(c *Catalog) { c.Stage("wait-for-etcd").Run.Volume = "" },
	"an option of podman is dropped":          func(c *Catalog) { dropAt(&c.Stage("render-mco").Run.Options, 0) },
	"an option loses its condition":           func(c *Catalog) { c.Stage("render-cvo").Run.Options[0].When = Condition{} },
	"a global option of podman is dropped":    func(c *Catalog) { dropAt(&c.Bootkube.Podman, 1) },
	"a global option comes too early":         func(c *Catalog) { c.Bootkube.Podman[3].Since = "4.20" },
	"another subcommand is called":            func(c *Catalog) { c.Stage("render-mco").Run.Command = "render" },
	"a command of the host is another":        func(c *Catalog) { c.Stage("resolve-api").Command.Line = "getent hosts NAME" },
	"a directory is not made":                 func(c *Catalog) { dropAt(&c.Stage("render-mco").Mkdir, 4) },
	"a directory is not made at the start":    func(c *Catalog) { dropAt(&c.Bootkube.Mkdir, 0) },
	"a copy is missing":                       func(c *Catalog) { dropAt(&c.Stage("render-etcd").Copies, 2) },
	"a copy is made twice":                    func(c *Catalog) { repeatFirst(&c.Stage("render-etcd").Copies) },
	"a copy goes elsewhere":                   func(c *Catalog) { c.Stage("render-cco").Copies[2].To = "manifests/" },
	"a copy is no longer recursive":           func(c *Catalog) { c.Stage("render-etcd").Copies[0].Recursive = false },
	"a copy loses its condition":              func(c *Catalog) { c.Stage("render-cco").Copies[1].When = Condition{} },
	"a platform is missing":                   func(c *Catalog) { dropAt(&c.Stage("render-mco").Copies[6].When.Platforms, 2) },
	"a platform is too much":                  func(c *Catalog) { c.Stage("render-mco").Copies[8].When.Platforms = []string{"gcp", "aws"} },
	"a platform comes too early":              func(c *Catalog) { c.Stage("render-mco").Copies[12].Since = "4.20" },
	"a retry has another pace":                func(c *Catalog) { c.Stage("wait-for-etcd").Retry = "every 10 seconds, without limit" },
	"a stage is no longer skipped":            func(c *Catalog) { c.Stage("wait-for-etcd").SkipIf = "" },
	"a failure is followed by something else": func(c *Catalog) { c.Stage("start-bootstrap").OnFailure = "" },
	"a variable has another value":            func(c *Catalog) { c.Bootkube.Variables[4].Value = "https://127.0.0.1:2379" },
	"a variable is missing":                   func(c *Catalog) { dropAt(&c.Bootkube.Variables, 5) },
	"an image has another name":               func(c *Catalog) { c.Bootkube.Images[0].Name = "mco" },
	"an image is asked for too early":         func(c *Catalog) { c.Bootkube.Images[15].Since = "4.18" },
	"a release was read elsewhere":            func(c *Catalog) { c.Releases[3].Source = "hearsay" },
	"what is told in words goes missing":      func(c *Catalog) { c.Stage("restore-cvo-overrides").After = nil },
	"an output goes missing":                  func(c *Catalog) { dropAt(&c.Stage("render-etcd").Outputs, 1) },
}

func flagAt(c *Catalog, stage string, i int) *Flag { return &c.Stage(stage).Run.Flags[i] }

func TestParityFindsEachKindOfDifference(t *testing.T) {
	want := scripts(t)
	for name, change := range authorsErrors {
		t.Run(name, func(t *testing.T) {
			c := clone(Builtin())
			change(c)
			if !differsFrom(c, want) {
				t.Error("the change is not found in any release")
			}
		})
	}
}

// scripts reads the oracle for every release and is fatal if that fails.
func scripts(t *testing.T) map[string]*script {
	t.Helper()
	o := loadOracle(t)
	out := map[string]*script{}
	for _, release := range o.releases() {
		out[release] = o.script(release)
	}
	if len(o.problems) > 0 || len(out) == 0 {
		t.Fatalf("oracle: %d releases, %v", len(out), o.problems)
	}
	if differsFrom(Builtin(), out) {
		t.Fatal("data and oracle differ without any change")
	}
	return out
}

func differsFrom(c *Catalog, want map[string]*script) bool {
	for release, w := range want {
		got := catalogScript(c, release)
		if len(differences(factsOf(w), factsOf(got)))+len(unmet(w, got)) > 0 {
			return true
		}
	}
	return false
}

// clone copies a catalog with all that hangs on it.
func clone(c *Catalog) *Catalog {
	out := &Catalog{}
	cut(reflect.ValueOf(out).Elem(), reflect.ValueOf(c).Elem(), func(Span, Condition) bool { return true })
	return out
}

func dropAt[T any](list *[]T, i int) { *list = append((*list)[:i:i], (*list)[i+1:]...) }
func repeatFirst[T any](list *[]T)   { *list = append(*list, (*list)[0]) }
func swapFirst[T any](list []T)      { list[0], list[1] = list[1], list[0] }

// notCompared are the fields of a stage that the oracle does not have, because
// they are words or belong to the lab; all others must be compared.
var notCompared = map[string]bool{
	"ID": true, "Script": true, "Arguments": true, "Kind": true, "Places": true, "Optional": true, "Next": true, "Parallel": true, "Seconds": true, "Model": true, "Title": true, "Why": true, "Log": true, "Needs": true,
	"Phase": true, "Uninterruptible": true, "HangsAfter": true, "Journal": true, "Pods": true, "Effect": true, "Story": true,
	"Gates": true, "Steps": true, "Reads": true, "Before": true, "After": true, "Outputs": true, "Invalidates": true, "Checks": true, "Failures": true,
	"Questions": true, "Exercises": true, "Differs": true, "Links": true, "Source": true,
	// What our scripts do on a rerun, and with options of their own.
	"Without": true, "Variable": true, "Setting": true,
}

// TestParityComparesEveryFactOfEveryStage changes each fact that there is, one
// after the other: every text, every switch, every item of every list.
func TestParityComparesEveryFactOfEveryStage(t *testing.T) {
	want := scripts(t)
	c := clone(Builtin())
	changes := 0
	for _, s := range c.Stages {
		if s.Bootkube == "" {
			continue
		}
		name := s.Bootkube
		eachChange(reflect.ValueOf(s).Elem(), s.ID, s.Span, func(what string) {
			changes++
			if !stageDiffers(s, name, want) {
				t.Errorf("not noticed: %s", what)
			}
		})
	}
	if changes < 1000 {
		t.Errorf("only %d changes were tried", changes)
	}
	if differsFrom(c, want) {
		t.Error("a change was not taken back")
	}
}

// stageDiffers says whether a stage is not what the oracle has under a name.
func stageDiffers(s *Stage, name string, want map[string]*script) bool {
	for release, w := range want {
		var a, b factLines
		for _, theirs := range w.stages {
			if theirs.Bootkube == name {
				a = factsOfStage(theirs)
			}
		}
		if c := catalogScript(&Catalog{Bootkube: &Bootkube{}, Stages: []*Stage{s}}, release); len(c.stages) > 0 {
			b = factsOfStage(c.stages[0])
		}
		if !reflect.DeepEqual(a, b) {
			return true
		}
	}
	return false
}

// eachChange makes one change below v at a time, calls visit, and takes the
// change back. A stage is there in the releases of within.
func eachChange(v reflect.Value, at string, within Span, visit func(what string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			name, stage := v.Type().Field(i).Name, v.Type() == reflect.TypeFor[Stage]()
			switch {
			case notCompared[name] || stage && name == "Options":
			case name == "Span" && stage:
				eachSpanChange(v.Field(i), at, Span{}, visit)
			case name == "Span":
				eachSpanChange(v.Field(i), at, within, visit)
			default:
				eachChange(v.Field(i), at+"."+name, within, visit)
			}
		}
	case reflect.String:
		temporarily(v, reflect.ValueOf(otherText(at, v.String())), func() { visit(at) })
	case reflect.Bool:
		temporarily(v, reflect.ValueOf(!v.Bool()).Convert(v.Type()), func() { visit(at) })
	case reflect.Pointer:
		if !v.IsNil() {
			temporarily(v, reflect.Zero(v.Type()), func() { visit(at + " taken away") })
			eachChange(v.Elem(), at, within, visit)
		} else if v.Type() == reflect.TypeFor[*InPlace]() {
			temporarily(v, reflect.New(v.Type().Elem()), func() { visit(at + " set") })
		}
	case reflect.Slice:
		eachListChange(v, at, visit)
		for i := 0; i < v.Len(); i++ {
			eachChange(v.Index(i), fmt.Sprintf("%s[%d]", at, i), within, visit)
		}
	}
}

// eachSpanChange makes the changes of a span that mean something: the item comes
// or goes in a release in which its stage is there.
func eachSpanChange(v reflect.Value, at string, within Span, visit func(what string)) {
	was := v.Interface().(Span)
	for _, changed := range []Span{{otherText(at+".Since", was.Since), was.Until}, {was.Since, otherText(at+".Until", was.Until)}} {
		for _, release := range releaseOrder {
			if within.Holds(release) && was.Holds(release) != changed.Holds(release) {
				temporarily(v, reflect.ValueOf(changed), func() { visit(fmt.Sprintf("%s from %v to %v", at, was, changed)) })
				break
			}
		}
	}
}

// A stage of the newest release alone, and one of the oldest, have spans that
// narrowing does not change.
func TestParityMakesNoChangeOfASpanThatMeansNothing(t *testing.T) {
	for _, c := range []struct {
		item, stage Span
		want        int
	}{
		{Span{}, Span{}, 2}, {Span{}, Span{Since: "main"}, 1}, {Span{}, Span{Until: "4.14"}, 1},
		{Span{Since: "4.20"}, Span{Since: "4.20"}, 1}, {Span{Since: "main"}, Span{}, 2},
	} {
		changes, item := 0, c.item
		eachSpanChange(reflect.ValueOf(&item).Elem(), "item", c.stage, func(string) { changes++ })
		if changes != c.want {
			t.Errorf("%v in a stage %v: %d changes, want %d", c.item, c.stage, changes, c.want)
		}
	}
}

func eachListChange(v reflect.Value, at string, visit func(what string)) {
	n := v.Len()
	for i := 0; i < n; i++ {
		less := reflect.MakeSlice(v.Type(), 0, n)
		less = reflect.AppendSlice(reflect.AppendSlice(less, v.Slice(0, i)), v.Slice(i+1, n))
		temporarily(v, less, func() { visit(fmt.Sprintf("%s without item %d", at, i)) })
		more := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, n+1), v)
		temporarily(v, reflect.Append(more, v.Index(i)), func() { visit(fmt.Sprintf("%s with item %d twice", at, i)) })
	}
	if n == 0 && v.Type().Elem().Kind() == reflect.String {
		temporarily(v, reflect.Append(v, reflect.ValueOf("more").Convert(v.Type().Elem())), func() { visit(at + " with an item") })
	}
}

func temporarily(v, other reflect.Value, do func()) {
	saved := reflect.New(v.Type()).Elem()
	saved.Set(v)
	v.Set(other)
	do()
	v.Set(saved)
}

// otherText gives a text that means something else. A span is narrowed, so
// that the item is lost in at least one release.
func otherText(at, text string) string {
	switch {
	case strings.HasSuffix(at, ".Since") && text == "":
		return "main"
	case strings.HasSuffix(at, ".Since"):
		return releaseOrder[age(text)-1]
	case strings.HasSuffix(at, ".Until") && text == "":
		return "4.14"
	case strings.HasSuffix(at, ".Until"):
		return releaseOrder[age(text)+1]
	}
	return text + "x"
}

// TestParityRefusesKeysItDoesNotMap puts an unknown key into each
// mapping of the oracle in turn.
func TestParityRefusesKeysItDoesNotMap(t *testing.T) {
	o := loadOracle(t)
	data := map[string]factLines{}
	for _, release := range o.releases() {
		data[release] = factsOf(catalogScript(Builtin(), release))
	}
	tried := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				walk(item, fmt.Sprintf("%s[%d]", at, i))
			}
		case map[string]any:
			for key, item := range v {
				walk(item, at+"."+key)
			}
			v["surprise"] = "x"
			if tried++; !o.findsProblem(data) {
				t.Errorf("a new key in %s is passed over", at)
			}
			delete(v, "surprise")
		}
	}
	walk(o.root, "oracle")
	if o.findsProblem(data) || tried < 150 {
		t.Errorf("%d mappings tried, and left are: %v", tried, o.problems)
	}
}

// findsProblem reads the oracle release by release and compares its facts with
// those of the data, up to the first release with a problem.
func (o *oracle) findsProblem(data map[string]factLines) bool {
	o.problems = nil
	for _, release := range o.releases() {
		facts := factsOf(o.script(release))
		if len(o.problems) > 0 || len(differences(facts, data[release])) > 0 {
			return true
		}
	}
	return false
}
