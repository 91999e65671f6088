package generator

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"bootlab/labs"
	"bootlab/templates"
)

// withSteps are the templates with other steps for one stage.
func withSteps(t *testing.T, id, steps string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	err := fs.WalkDir(templates.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(templates.FS, name)
		all[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all["scripts/"+id+".sh.tmpl"] = &fstest.MapFile{Data: []byte(steps)}
	return all
}

// protocolLines are what a value of lab.yaml must not smuggle into a script.
const protocolLines = "x\nsource y\nbegin z\n\n# comment\nfinish\nfi\nfi 9>&-\nif step 9 'it'; then\nSTAGE=other\nit's \\ $(touch stolen) `touch stolen` ${HOME}\n} # end"

func TestNoValueOfTheLabChangesTheDryRun(t *testing.T) {
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	lab.SSHKey, lab.PullSecret, lab.Proxy.NoProxy = protocolLines, protocolLines, protocolLines
	steps := `{{define "steps"}}
if step {{.Step}} 'Write what the settings hold'; then
  printf '%s' "${SSH_KEY}" > key
  printf '%s' "${PULL_SECRET_FILE}" > secret
  printf '%s' "${NO_PROXY_GIVEN}" > proxy
  printf '%s\n' "${MASTERS}" > masters
fi 9>&-
{{end}}`
	out, err := Render(plan, withSteps(t, "render-api", steps), Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := out.Write(dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	shown, err := exec.Command("bash", filepath.Join(dir, "scripts", "render-api.sh"), "--dry-run").Output()
	if err != nil {
		t.Fatal(err)
	}
	rest, ok := strings.CutPrefix(string(shown), "set -Eeuo pipefail\ncd -- "+filepath.Join(dir, "work", "assets")+"\n")
	if !ok {
		t.Fatalf("the dry run does not begin with set and cd:\n%s", shown)
	}
	work := t.TempDir()
	run := exec.Command("bash", "-c", "set -Eeuo pipefail\n"+rest)
	run.Dir = work
	if text, err := run.CombinedOutput(); err != nil || len(text) > 0 {
		t.Fatalf("%v: %s\n%s", err, text, shown)
	}
	entries, err := os.ReadDir(work)
	if err != nil || len(entries) != 4 {
		t.Errorf("%v, %v: the dry run writes four files", entries, err)
	}
	masters := ""
	for _, m := range lab.Machines.Masters {
		masters = strings.TrimPrefix(masters+"\n"+m.Name+" "+m.Address, "\n")
	}
	for name, want := range map[string]string{
		"key": protocolLines, "proxy": protocolLines, "secret": dir + "/../" + protocolLines,
		"masters": masters + "\n",
	} {
		if got, err := os.ReadFile(filepath.Join(work, name)); string(got) != want {
			t.Errorf("%s holds %q, not %q (%v)", name, got, want, err)
		}
	}
}

func TestASettingOfSeveralLinesIsOneAssignmentPerLine(t *testing.T) {
	for value, want := range map[string]string{
		"a": "'a'", "it's": `'it'\''s'`, "a\n": "'a'",
		"a b\nc\\'\n\nd": "$'a b\\n'\nX+=$'c\\\\\\'\\n'\nX+=$'\\n'\nX+='d'",
	} {
		got, err := shsetting("X", value)
		if err != nil || got != want {
			t.Errorf("%q becomes %s, not %s (%v)", value, got, want, err)
		}
		out, err := exec.Command("bash", "-c", "X="+got+"\nprintf %s \"$X\"").Output()
		if err != nil || string(out) != strings.TrimSuffix(value, "\n") {
			t.Errorf("%q is %q in bash (%v)", value, out, err)
		}
	}
}
