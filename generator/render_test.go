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
	"bootlab/templates"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

// render makes the output of a shipped lab in a release.
func render(t testing.TB, example, release string) *Output {
	t.Helper()
	catalog := labs.Builtin()
	lab, problems := labs.LoadLabFS(labs.Examples, example, catalog)
	if example == "ocp-compact" {
		lab, problems = ocpLab(t)
	}
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = release
	plan, err := catalog.Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Render(plan, templates.FS, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
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

// withoutDrawings leaves out what says nothing new: the pictures' drawings, whose
// content stands in the chapters as mermaid, and the overlay, which holds the
// node's scripts.
func withoutDrawings(out *Output) *Output {
	kept := &Output{}
	for _, f := range out.Files {
		if path.Ext(f.Path) != ".svg" && path.Ext(f.Path) != ".ign" {
			kept.Files = append(kept.Files, f)
		}
	}
	return kept
}

func TestTheDefaultLabGivesTheGoldenTree(t *testing.T) {
	dir := filepath.Join("testdata", "golden", "compact")
	out := withoutDrawings(render(t, "compact", "4.21"))
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
	base := withoutDrawings(render(t, "compact", "4.21"))
	for _, v := range variants() {
		t.Run(v[0]+" "+v[1], func(t *testing.T) {
			file := filepath.Join("testdata", "golden", v[0]+"-"+v[1]+".diff")
			got := changes(base, withoutDrawings(render(t, v[0], v[1])))
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
	one, two := render(t, "ha", "4.18"), render(t, "ha", "4.18")
	if len(one.Files) != len(two.Files) {
		t.Fatal("other files")
	}
	for i, f := range one.Files {
		if g := two.Files[i]; f.Path != g.Path || f.Mode != g.Mode || !bytes.Equal(f.Data, g.Data) {
			t.Errorf("%s differs", f.Path)
		}
	}
}

// Budgets keep scripts readable: code lines, not counting comments and blanks.
// The three that write whole assets are lists by nature, the one that reads what
// others wrote trusts none of it, and the one that hands over to the masters
// tells what happens on the way.
func TestScriptsStayWithinTheirBudget(t *testing.T) {
	long := map[string]int{
		"check-lib": 185, "command-lib": 150, "stage-lib": 204, "release-info": 160, "make-pki": 410, "make-manifests": 720, "make-kubeconfigs": 160, "render-kube-apiserver": 165, "render-mco": 155, "start-bootstrap": 270,
		"unpack-bootstrap-ignition": 260, "make-ignition": 270,
	}
	for _, f := range render(t, "compact", "main").Files {
		if !strings.HasSuffix(f.Path, ".sh") {
			continue
		}
		budget := 150
		if b := long[strings.TrimSuffix(path.Base(f.Path), ".sh")]; b != 0 {
			budget = b
		}
		code := 0
		for i, line := range strings.Split(string(f.Data), "\n") {
			if len([]rune(line)) > 170 {
				t.Errorf("%s:%d has %d columns", f.Path, i+1, len([]rune(line)))
			}
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
				code++
			}
		}
		if code > budget {
			t.Errorf("%s has %d lines of code, more than %d", f.Path, code, budget)
		}
	}
}

func TestNoTemplateLeftoverIsInAnyFile(t *testing.T) {
	leftover := regexp.MustCompile(`<no value>|\{\{ *\.[A-Z]`)
	podmanFormat := regexp.MustCompile(`podman (info|(container|image) inspect( [A-Z]+)?) --format`)
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
		if !strings.HasPrefix(id, "_") && id != chainScript && !slices.Contains(libraries, id) && labs.Builtin().Stage(id) == nil {
			t.Errorf("%s is no stage", name)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for b.Loop() {
		render(b, "compact", "4.21")
	}
}

func BenchmarkRenderAndWriteThirtyLabs(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		for i := range 30 {
			out := render(b, "compact", "4.21")
			if _, err := out.Write(filepath.Join(dir, string(rune('a'+i))), WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
