package overlay

import (
	"bytes"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/templates"
)

// planOf resolves a shipped lab.
func planOf(t *testing.T) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// everyByte is a script as no script is.
func everyByte() []byte {
	var b []byte
	for c := range 256 {
		b = append(b, byte(c))
	}
	return b
}

var someScripts = []Script{
	{"first.sh", 0o755, []byte("#!/usr/bin/env bash\necho '100%' \"ü\" \\ <&>\n")},
	{"lib/some.sh", 0o644, everyByte()},
	{"checks/first.json", 0o644, []byte("{}\n")},
	{"empty.sh", 0o700, nil},
}

func rendered(t *testing.T) config {
	t.Helper()
	text, err := Render(planOf(t), templates.FS, someScripts, "first.sh")
	if err != nil {
		t.Fatal(err)
	}
	var c config
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestScriptsArriveByteForByteWithTheirModes(t *testing.T) {
	c := rendered(t)
	for i, s := range someScripts {
		f := c.Storage.Files[i]
		if f.Path != Scripts+"/"+s.Name || f.Mode != int(s.Mode) || !f.Overwrite {
			t.Errorf("%+v", f)
		}
		data, err := url.PathUnescape(strings.TrimPrefix(f.Contents.Source, "data:,"))
		if err != nil || data != string(s.Data) {
			t.Errorf("%s arrives as %q, %v", s.Name, data, err)
		}
		if want := fmt.Sprintf("sha512-%x", sha512.Sum512(s.Data)); f.Contents.Verification.Hash != want {
			t.Errorf("%s has the hash %s", s.Name, f.Contents.Verification.Hash)
		}
	}
}

func TestEachServiceHasItsHold(t *testing.T) {
	var got []string
	for _, unit := range rendered(t).Systemd.Units {
		if len(unit.DropIns) != 1 || unit.DropIns[0].Name != "10-bootlab.conf" {
			t.Fatalf("%+v", unit)
		}
		name := strings.TrimSuffix(unit.Name, ".service")
		got = append(got, name)
		lines := strings.Split(unit.DropIns[0].Contents, "\n")
		if !slices.Contains(lines, "ConditionPathExists=/etc/bootlab/automatic/"+name) {
			t.Errorf("%s has no condition: %q", name, lines)
		}
		locks := slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "ExecCondition=") })
		if locks != (name == "bootkube") {
			t.Errorf("%s and the lock: %q", name, lines)
		}
	}
	if !slices.Equal(got, []string{"bootkube", "approve-csr", "progress"}) {
		t.Errorf("holds are on %v", got)
	}
}

// TestTheLockIsThatOfTheScripts: the drop-in and the scripts must mean the same
// file.
func TestTheLockIsThatOfTheScripts(t *testing.T) {
	if Lock != "/opt/openshift/.bootlab.lock" {
		t.Errorf("the drop-in takes %s", Lock)
	}
	for file, line := range map[string]string{"stage.sh": "\nLOCK=.bootlab.lock ", "host.sh": "\n  exec 9> \"${LOCK}\"\n"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "templates", "scripts", "lib", file+".tmpl"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), line) {
			t.Errorf("lib/%s takes another lock: it has no %q", file, line)
		}
	}
}

func TestEachDirectoryComesBeforeWhatItHolds(t *testing.T) {
	var got []string
	for _, d := range rendered(t).Storage.Directories {
		got = append(got, d.Path)
		if d.Mode != 0o755 {
			t.Errorf("%+v", d)
		}
	}
	if want := []string{"/etc/bootlab", "/etc/bootlab/automatic", "/opt/bootlab", "/opt/bootlab/lib", "/opt/bootlab/checks"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestTheWelcomeNamesTheFirstScript(t *testing.T) {
	for _, f := range rendered(t).Storage.Files {
		if f.Path != welcome {
			continue
		}
		text, err := url.PathUnescape(strings.TrimPrefix(f.Contents.Source, "data:,"))
		if err != nil || !strings.Contains(text, "sudo /opt/bootlab/first.sh --step") || !strings.Contains(text, "Bootstrap node of the lab compact\n") {
			t.Errorf("%v: %s", err, text)
		}
		for i, line := range strings.Split(text, "\n") {
			if len(line) > 80 {
				t.Errorf("line %d is longer than a terminal: %s", i+1, line)
			}
		}
		return
	}
	t.Error("there is no welcome")
}

func TestTheSamePlanGivesTheSameOverlay(t *testing.T) {
	one, err := Render(planOf(t), templates.FS, someScripts, "first.sh")
	if err != nil {
		t.Fatal(err)
	}
	two, err := Render(planOf(t), templates.FS, someScripts, "first.sh")
	if err != nil || !bytes.Equal(one, two) {
		t.Error("other bytes", err)
	}
}

func TestAMissingTemplateIsAnError(t *testing.T) {
	if _, err := Render(planOf(t), os.DirFS(t.TempDir()), someScripts, "first.sh"); err == nil {
		t.Error("no error")
	}
}
