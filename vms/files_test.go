package vms

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/labtest"
)

var update = flag.Bool("update", false, "accept what is made now as right")

func loadLab(t testing.TB, file string) *labs.Lab {
	t.Helper()
	lab, problems := labs.LoadLab(file, labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return lab
}

func shippedLabs(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("../labs/examples/*/" + labs.LabFile)
	if err != nil || len(dirs) < 4 {
		t.Fatal(dirs, err)
	}
	for i, d := range dirs {
		dirs[i] = filepath.Base(filepath.Dir(d))
	}
	return dirs
}

func TestDefinitionsOfShippedLabs(t *testing.T) {
	for _, name := range shippedLabs(t) {
		files, err := Files(labtest.Shipped(t, name))
		if err != nil {
			t.Fatal(err)
		}
		golden := map[string]bool{}
		for _, f := range files {
			wellFormed(t, f)
			file := filepath.Join("testdata", name, filepath.Base(f.Path))
			golden[file] = true
			if *update {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(f.Text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || string(want) != f.Text {
				t.Errorf("%s is not as it was (%v); read the difference, and accept it with: go test ./vms -update", file, err)
			}
		}
		stored, _ := filepath.Glob(filepath.Join("testdata", name, "*"))
		for _, file := range stored {
			if !golden[file] {
				t.Errorf("%s is not made any more", file)
			}
		}
	}
}

func wellFormed(t *testing.T, f File) {
	t.Helper()
	if filepath.Ext(f.Path) != ".xml" {
		return
	}
	for d := xml.NewDecoder(strings.NewReader(f.Text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: %v", f.Path, err)
			return
		}
	}
}

// Values that mean something to XML, to HAProxy, to a path or to a shell end at
// lab.yaml: none of them reaches a definition.
func TestHostileNamesEndAtLabYAML(t *testing.T) {
	hostile := []string{`a"><x/>`, `a'b`, "a&b", "../../etc", "a/b", "a b", "a\nbind :22", "$(id)", "a;b", "-a", "A", "", strings.Repeat("a", 64), "münchen", "a\u202eb", "a_b"}
	for key, text := range map[string]string{
		"metadata.name":          "metadata: {name: %}\nbaseDomain: example.test\n",
		"baseDomain":             "metadata: {name: lab}\nbaseDomain: %\n",
		"bootstrap's name":       "metadata: {name: lab}\nbaseDomain: example.test\nmachines: {bootstrap: {name: %}}\n",
		"bootstrap's MAC":        "metadata: {name: lab}\nbaseDomain: example.test\nmachines: {bootstrap: {mac: %}}\n",
		"bootstrap's address":    "metadata: {name: lab}\nbaseDomain: example.test\nmachines: {bootstrap: {address: %}}\n",
		"gateway":                "metadata: {name: lab}\nbaseDomain: example.test\nmachines: {gateway: %}\n",
		"machine network":        "metadata: {name: lab}\nbaseDomain: example.test\nnetworking: {machineNetwork: [{cidr: %}]}\n",
		"bootstrap's memory":     "metadata: {name: lab}\nbaseDomain: example.test\nmachines: {bootstrap: {memory: %}}\n",
		"bootstrap's processors": "metadata: {name: lab}\nbaseDomain: example.test\nmachines: {bootstrap: {cpus: %}}\n",
	} {
		for _, value := range hostile {
			file := filepath.Join(t.TempDir(), labs.LabFile)
			quoted := "'" + strings.ReplaceAll(strings.ReplaceAll(value, "'", "''"), "\n", "\n\n  ") + "'"
			if err := os.WriteFile(file, []byte("apiVersion: v1\ntopology: compact\n"+strings.ReplaceAll(text, "%", quoted)), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, problems := labs.LoadLab(file, labs.Builtin()); len(problems.Errors()) == 0 {
				t.Errorf("%s: %q is accepted", key, value)
			}
		}
	}
}

// What the table above stops would do no harm here either: XML is escaped.
func TestDefinitionsEscapeWhatTheyAreGiven(t *testing.T) {
	lab := *labtest.Shipped(t, "bootstrap-only")
	lab.Metadata.Name = `a"><evil/>&`
	files, err := Files(&lab)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		wellFormed(t, f)
		if strings.HasSuffix(f.Path, ".xml") && strings.Contains(f.Text, "<evil") {
			t.Errorf("%s:\n%s", f.Path, f.Text)
		}
	}
}

func TestCommandsNameOnlyFilesThatAreGenerated(t *testing.T) {
	for _, name := range shippedLabs(t) {
		lab := labtest.Shipped(t, name)
		files, err := Files(lab)
		if err != nil {
			t.Fatal(err)
		}
		var lines strings.Builder
		for _, c := range Commands(lab) {
			lines.WriteString(c.Line + "\n")
		}
		for _, f := range files {
			if !strings.Contains(lines.String(), f.Path) {
				t.Errorf("%s: no command takes %s", name, f.Path)
			}
		}
		for _, m := range Machines(lab) {
			if !strings.Contains(lines.String(), "virsh define <(sed \"s/SHA256/${sum}/\" vms/domain-"+m.Name+".xml)") {
				t.Errorf("%s: %s is not defined", name, m.Name)
			}
		}
	}
}

func TestNetworksWithoutBalancer(t *testing.T) {
	for _, name := range shippedLabs(t) {
		lab := labtest.Shipped(t, name)
		text, err := NetworkWithoutBalancer(lab, ownerOf(lab)).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		text += "\n"
		file := filepath.Join("testdata", "network-without-balancer", name+".xml")
		if *update {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != text {
			t.Errorf("%s is not as it was (%v); read the difference, and accept it with: go test ./vms -update", file, err)
		}
		if strings.Contains(text, "/"+lab.Machines.Gateway+`"`) || strings.Count(text, lab.Machines.Gateway+`"`) != 1 {
			t.Errorf("%s: a name leads to the gateway, where nothing listens:\n%s", name, text)
		}
	}
}
