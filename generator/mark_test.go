package generator

import (
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/templates"
)

// auditedLab is the output of the default lab as if made from an audited script.
func auditedLab(t *testing.T, changes ...labs.AuditedChange) map[string]string {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = "4.22"
	plan, err := labs.Builtin().ResolveAs(lab, "4.21")
	if err != nil {
		t.Fatal(err)
	}
	plan.Audited = &labs.Audited{File: "fork.sh", SHA256: strings.Repeat("0f", 32), Nearest: "4.21", Changes: changes}
	out, err := Render(plan, templates.FS, Options{})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range out.Files {
		files[f.Path] = string(f.Data)
	}
	return files
}

func TestTheMarkNamesWhatAFileLacks(t *testing.T) {
	etcd := labs.AuditedChange{Stages: []string{"render-etcd"}, Where: "etcd-bootstrap", What: "flag --unheard", Found: "`$(a)` | b", Line: 7, Outcome: labs.NotApplied, Reason: "a\nshellcheck disable=all " + strings.Repeat("word ", 60)}
	other := labs.AuditedChange{Where: "new-bootstrap", What: "stage", Line: 9, Outcome: labs.NotApplied, Reason: "no data"}
	files := auditedLab(t, etcd, other, labs.AuditedChange{Where: "x", What: "y", Outcome: labs.Applied})
	for path, c := range map[string]struct{ has, lacks string }{
		"scripts/render-etcd.sh":         {"\n# - etcd-bootstrap, line 7: flag --unheard: a shellcheck", "new-bootstrap"},
		"node/render-etcd.sh":            {"\n# - etcd-bootstrap, line 7: flag --unheard", "new-bootstrap"},
		"guide/render-etcd.md":           {"\n> - `etcd-bootstrap, line 7: flag --unheard", "new-bootstrap"},
		"scripts/render-all.sh":          {"\n# - new-bootstrap, line 9: stage: no data", "--unheard"},
		"scripts/render-kcm.sh":          {"1 difference applied, 2 not applied", "--unheard"},
		"guide/audited-script.md":        {"| [render-etcd](render-etcd.md) | 7 | `flag --unheard` |  | `'$(a)' \\| b` |", "# - "},
		"guide/release-4.21.md":          {"# Release 4.21\n\n> [!WARNING]", "this lab's"},
		"guide/static-pods.md":           {"`fork.sh`", "--unheard"},
		"scripts/checks/release-info.sh": {"RELEASE='4.22'", "--unheard"},
		"scripts/make-manifests.sh":      {"RELEASE='4.22'", "--unheard"},
		"scripts/lib/stage.sh":           {strings.Repeat("0f", 32), "--unheard"},
		"guide.json":                     {"4.22 (made from fork.sh, not reviewed)", "--unheard"},
	} {
		if !strings.Contains(files[path], c.has) || strings.Contains(files[path], c.lacks) {
			t.Errorf("%s: want %q and not %q in\n%.1500s", path, c.has, c.lacks, files[path])
		}
	}
	for path, text := range files {
		for _, line := range strings.Split(text, "\n") {
			if strings.HasSuffix(path, ".sh") && strings.HasPrefix(strings.TrimSpace(line), "# shellcheck disable=all") {
				t.Errorf("%s has a directive of the audited file", path)
			}
		}
	}
}

func TestAPlanThatWasNotAuditedHasNoMark(t *testing.T) {
	for _, f := range render(t, "compact", "4.21").Files {
		if strings.Contains(string(f.Data), "audited script") || strings.Contains(f.Path, auditPage) {
			t.Errorf("%s has the mark", f.Path)
		}
	}
}

func TestFollowsKnowsWhatTemplatesSayThemselves(t *testing.T) {
	lab, _ := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	follows, err := Follows(plan, templates.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		stage, field string
		want         bool
	}{
		{"render-etcd", "FlagLines", true}, {"render-etcd", "Copies", true}, {"render-cvo", "RemoveFirst", true},
		{"wait-for-etcd", "FlagLines", true}, {"wait-for-etcd", "OperatorImage", true}, {"copy-manifests", "Copies", true},
		{"copy-manifests", "FlagLines", false}, {"make-pki", "Copies", false}, {"render-etcd", "Nonsense", false},
	} {
		if got := follows(plan.Stage(c.stage), c.field); got != c.want {
			t.Errorf("%s, %s: %v", c.stage, c.field, got)
		}
	}
	if stage := (&labs.Stage{ID: "without-a-script"}); !follows(stage, "FlagLines") {
		t.Error("a stage without a script is not followed")
	}
}
