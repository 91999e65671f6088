package generator

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/templates"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// render is the output of a shipped lab in a release. It is made once for all
// tests, which leave it as it is.
func render(t testing.TB, example, release string) *Output {
	t.Helper()
	return rendered(t, example, release).out
}

// rendering is what is made of a shipped lab in a release.
type rendering struct {
	plan  *labs.Plan
	out   *Output
	files map[string]string // the texts by path
}

// renderings are those that a test has asked for, by lab and release.
var renderings = map[[2]string]*rendering{}

func rendered(t testing.TB, example, release string) *rendering {
	t.Helper()
	key := [2]string{example, release}
	if renderings[key] == nil {
		p := plan(t, example, release)
		out := renderPlan(t, p)
		renderings[key] = &rendering{p, out, textsOf(t, out)}
	}
	return renderings[key]
}

// renderPlan makes the output of a plan.
func renderPlan(t testing.TB, p *labs.Plan) *Output {
	t.Helper()
	out, err := Render(p, templates.FS, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// outputs are the labs and releases that tests of every output look at: each lab
// once and each release once, and in the complete run each lab in each release.
func outputs() [][2]string {
	if !sample.All() {
		return append([][2]string{{"compact", "4.21"}}, variants()...)
	}
	var all [][2]string
	for _, e := range labs.ExampleList() {
		for _, id := range labs.Builtin().ReleaseIDs() {
			all = append(all, [2]string{e.Name, id})
		}
	}
	return all
}

// ocpLab is the shipped OCP lab as its owner completes it: with a pull secret.
func ocpLab(t testing.TB) (*labs.Lab, labs.Problems) {
	t.Helper()
	dir := t.TempDir()
	text, err := fs.ReadFile(labs.Examples, "ocp-compact/lab.yaml")
	if err != nil {
		t.Fatal(err)
	}
	secret := `{"auths":{"registry.example":{"auth":"dXNlcjpwYXNz"}}}`
	for name, data := range map[string]string{"lab.yaml": string(text), "pull-secret.json": secret} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return labs.LoadLab(dir, labs.Builtin())
}

// variants are the outputs that are held against what they change in the
// default lab: the other shipped labs, and the other releases.
func variants() [][2]string {
	var list [][2]string
	for _, e := range labs.ExampleList() {
		if e.Name != "compact" {
			list = append(list, [2]string{e.Name, "4.21"})
		}
	}
	for _, id := range labs.Builtin().ReleaseIDs() {
		if id != "4.21" {
			list = append(list, [2]string{"compact", id})
		}
	}
	return list
}

// goldenPages are the pages that stand in full in the golden files, one of each
// kind: a render, a stage of the node alone, one of the workstation, one that
// shares its script, a library, a chapter, a release, a file.
var goldenPages = []string{"render-etcd", "start-bootstrap", "make-ignition", "resolve-api", "lib-registries", "static-pods", "release-4.21", "etcd-member-pod"}

// forGolden is what a person reads in the golden files. The scripts of the node
// that the local run has too are left out: they stand there as their difference.
// So are pages that are built as the chosen ones are, pictures, whose content
// stands in the chapters as mermaid, and the overlay, which holds the node's
// scripts. Of guide.json they hold an outline; guidejson_test.go looks at the rest.
func forGolden(out *Output) *Output {
	local := map[string]bool{}
	for _, f := range out.Files {
		local[f.Path] = true
	}
	kept := &Output{}
	for _, f := range out.Files {
		page, isPage := strings.CutPrefix(f.Path, "guide/")
		ofNode, isNode := strings.CutPrefix(f.Path, "node/")
		switch {
		case path.Ext(f.Path) == ".svg", path.Ext(f.Path) == ".ign":
		case isPage && !slices.Contains(goldenPages, strings.TrimSuffix(page, ".md")):
		case isNode && local["scripts/"+ofNode]:
		case f.Path == "guide.json":
			kept.Files = append(kept.Files, File{Path: "guide-outline.txt", Data: []byte(outline(f.Data))})
		default:
			kept.Files = append(kept.Files, f)
		}
	}
	return kept
}

// onTheNode are the lines in which the node's scripts are not those of the local
// run.
func onTheNode(out *Output) string {
	local, node := &Output{}, &Output{}
	for _, f := range out.Files {
		if name, ok := strings.CutPrefix(f.Path, "node/"); ok {
			node.Files = append(node.Files, File{Path: name, Data: f.Data})
		} else if name, ok := strings.CutPrefix(f.Path, "scripts/"); ok {
			local.Files = append(local.Files, File{Path: name, Data: f.Data})
		}
	}
	both := &Output{}
	for _, f := range node.Files {
		if slices.ContainsFunc(local.Files, func(l File) bool { return l.Path == f.Path }) {
			both.Files = append(both.Files, f)
		}
	}
	return changes(local, both)
}

func TestTheDefaultLabGivesTheGoldenTree(t *testing.T) {
	dir := filepath.Join("testdata", "golden", "compact")
	whole := render(t, "compact", "4.21")
	out := forGolden(whole)
	out.Files = append(out.Files, File{Path: "node.diff", Data: []byte(onTheNode(whole))})
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Files {
			writeGolden(t, filepath.Join(dir, filepath.FromSlash(f.Path)), string(f.Data))
		}
	}
	seen := map[string]bool{}
	for _, f := range out.Files {
		seen[f.Path] = true
		compareGolden(t, filepath.Join(dir, filepath.FromSlash(f.Path)), string(f.Data))
	}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, name); err == nil && !d.IsDir() && !seen[filepath.ToSlash(rel)] {
			t.Errorf("%s is no longer generated", rel)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestOtherLabsAndReleasesChangeWhatTheGoldenFilesSay(t *testing.T) {
	base := forGolden(render(t, "compact", "4.21"))
	for _, v := range variants() {
		t.Run(v[0]+" "+v[1], func(t *testing.T) {
			file := filepath.Join("testdata", "golden", v[0]+"-"+v[1]+".diff")
			got := changes(base, forGolden(render(t, v[0], v[1])))
			if *update {
				writeGolden(t, file, got)
			}
			compareGolden(t, file, got)
		})
	}
}

// changes lists, file by file, the lines that one output has and the other has
// not, in their order.
func changes(base, other *Output) string {
	var b strings.Builder
	old := map[string]string{}
	for _, f := range base.Files {
		old[f.Path] = string(f.Data)
	}
	for _, f := range other.Files {
		gone, come := lineDifference(old[f.Path], string(f.Data))
		if len(gone)+len(come) > 0 {
			b.WriteString("=== " + f.Path + "\n" + strings.Join(append(gone, come...), "\n") + "\n")
		}
		delete(old, f.Path)
	}
	for _, f := range base.Files {
		if _, left := old[f.Path]; left {
			b.WriteString("=== " + f.Path + " is not made\n")
		}
	}
	return b.String()
}

func lineDifference(a, b string) (gone, come []string) {
	count := map[string]int{}
	for _, line := range strings.Split(b, "\n") {
		count[line]++
	}
	for _, line := range strings.Split(a, "\n") {
		if count[line]--; count[line] < 0 && a != "" {
			gone = append(gone, "- "+line)
		}
	}
	for _, line := range strings.Split(b, "\n") {
		if count[line] > 0 {
			count[line]--
			come = append(come, "+ "+line)
		}
	}
	return gone, come
}

func writeGolden(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%v; go test ./generator -update", err)
		return
	}
	if string(want) != got {
		t.Errorf("%s is no longer what is generated, first at %q; look at the change, then go test ./generator -update", file, firstDifference(string(want), got))
	}
}

func firstDifference(a, b string) string {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return right[i]
		}
	}
	return "the end"
}

func TestTheSameLabGivesTheSameBytes(t *testing.T) {
	one, two := renderPlan(t, plan(t, "ha", "4.18")), renderPlan(t, plan(t, "ha", "4.18"))
	if len(one.Files) != len(two.Files) {
		t.Fatal("other files")
	}
	for i, f := range one.Files {
		if g := two.Files[i]; f.Path != g.Path || f.Mode != g.Mode || !bytes.Equal(f.Data, g.Data) {
			t.Errorf("%s differs", f.Path)
		}
	}
}

func TestNoTemplateLeftoverIsInAnyFile(t *testing.T) {
	leftover := regexp.MustCompile(`<no value>|\{\{ *\.[A-Z]`)
	podmanFormat := regexp.MustCompile(`^ +--format '|podman (info|(container|image) inspect( [A-Z]+| "[$]\{CONTAINER\}")?) --format`)
	for _, f := range render(t, "compact", "4.21").Files {
		for _, line := range strings.Split(string(f.Data), "\n") {
			if leftover.MatchString(line) && !podmanFormat.MatchString(line) {
				t.Errorf("%s: %s", f.Path, line)
			}
		}
	}
}

func TestEveryTemplateBelongsToAStageALibraryOrTheChain(t *testing.T) {
	names, err := fs.Glob(templates.FS, "scripts/*.sh.tmpl")
	if err != nil || len(names) == 0 {
		t.Fatal(err, names)
	}
	for _, name := range names {
		id := strings.TrimSuffix(filepath.Base(name), ".sh.tmpl")
		if !strings.HasPrefix(id, "_") && id != chainScript && labs.Builtin().Stage(id) == nil {
			t.Errorf("%s is no stage", name)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for b.Loop() {
		renderPlan(b, plan(b, "compact", "4.21"))
	}
}

func BenchmarkRenderAndWriteThirtyLabs(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		for i := range 30 {
			out := renderPlan(b, plan(b, "compact", "4.21"))
			if _, err := out.Write(filepath.Join(dir, string(rune('a'+i))), WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
