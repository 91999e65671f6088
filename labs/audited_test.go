package labs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func labFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), LabFile)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAnAuditedLabMayBeOfAnUnknownMinorRelease(t *testing.T) {
	for version, want := range map[string]string{"4.22": "", "5.0": "", "4.12": "", "4.20": "",
		"4.22.1": "another minor release as MAJOR.MINOR", "latest": "has no stage data", "4.22$(x)": "has no stage data", "": "has no stage data"} {
		file := labFile(t, minimal+"release:\n  version: \""+version+"\"\n  image: quay.io/okd/scos-release:x\n")
		lab, problems := LoadAuditedLab(file, Builtin())
		errs := problems.Errors()
		if (len(errs) == 0) != (want == "") || !strings.Contains(errs.Error(), want) || want == "" && lab.Release.Version != version {
			t.Errorf("%q: %v", version, errs)
		}
		if _, problems := LoadLab(file, Builtin()); len(problems.Errors()) == 0 && Builtin().Release(version) == nil {
			t.Errorf("%q is taken without an audited script", version)
		}
	}
	_, problems := LoadAuditedLab(labFile(t, minimal+"release:\n  version: \"4.22\"\n"), Builtin())
	if !strings.Contains(problems.Errors().Error(), "no release image is known for okd 4.22") {
		t.Errorf("without an image: %v", problems)
	}
}

func TestAPlanCanGoByTheStageDataOfAnotherRelease(t *testing.T) {
	lab, problems := LoadAuditedLab(labFile(t, minimal+"release:\n  version: \"4.22\"\n  image: quay.io/okd/scos-release:x\n"), Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := Builtin().ResolveAs(lab, Builtin().Nearest(lab.Release.Version))
	if err != nil || plan.Release.ID != "4.21" || plan.Version() != "4.22" {
		t.Errorf("%v, %+v", err, plan)
	}
	if _, err := Builtin().ResolveAs(lab, "4.22"); err == nil {
		t.Error("stage data of 4.22 is found")
	}
}

func TestChangesOfAnAuditAreCounted(t *testing.T) {
	a := &Audited{Changes: []AuditedChange{
		{Stages: []string{"x", "y"}, Outcome: Applied, Where: "w", What: "flag --a", Line: 3},
		{Outcome: NotApplied, Reason: "why"}, {Stages: []string{"x"}, Outcome: OfNoLab},
	}}
	if got := a.Count(); got != "1 difference applied, 1 not applied" {
		t.Error(got)
	}
	if len(a.Of(Applied, "y")) != 1 || len(a.Of(NotApplied, "y")) != 0 || len(a.With(OfNoLab)) != 1 {
		t.Errorf("%+v", a)
	}
	if got := a.Changes[0].String(); got != "w, line 3: flag --a" {
		t.Error(got)
	}
}
