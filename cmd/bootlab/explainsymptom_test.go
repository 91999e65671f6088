package main

import (
	"regexp"
	"strings"
	"testing"

	"bootlab/labs"
)

// settingName is a name of a lab's setting in a text of the data, quoted.
var settingName = regexp.MustCompile(`\\\$\\\{[A-Z_]+\\\}`)

// What diagnose prints as a thing to read or to ask for can be asked for.
func TestExplainKnowsWhatDiagnoseNames(t *testing.T) {
	flat := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	explained := func(what string) string {
		t.Helper()
		out, stderr, status := bootlab("explain", what)
		if status != exitDone || stderr != "" {
			t.Errorf("explain %s: status %d, %s", what, status, stderr)
		}
		return out
	}
	for _, layer := range labs.BuiltinDiagnosis().Layers {
		if out := explained(layer.ID); !strings.Contains(out, layer.Ask) && labs.Builtin().Stage(layer.ID) == nil {
			t.Errorf("explain %s does not tell its question:\n%s", layer.ID, out)
		}
		if layer.Page != "" {
			explained(layer.Page)
		}
		for _, s := range layer.Symptoms {
			out := explained(s.ID)
			for _, part := range []string{s.ID + ": " + s.Title, flat(s.Cause), flat(s.Fix), s.Source, "In the guide: " + s.Address()} {
				// The lab's own value stands in the place of its name.
				told := settingName.ReplaceAllString(regexp.QuoteMeta(part), `[^ ]+?`)
				if !regexp.MustCompile(told).MatchString(out) {
					t.Errorf("explain %s does not tell %q:\n%s", s.ID, part, out)
				}
			}
		}
	}
}

func TestExplainTellsThatASymptomIsOfAnotherRelease(t *testing.T) {
	out, _, _ := bootlab("explain", "gate-addresses", "--release", "4.21")
	if !strings.Contains(out, "Not in release 4.21: only from 4.16 to 4.17.") {
		t.Error(out)
	}
	if out, _, _ := bootlab("explain", "gate-revisions", "--release", "4.21"); strings.Contains(out, "Not in") {
		t.Error(out)
	}
}

// What people have at hand leads to causes: a line, a port, a unit.
func TestExplainTakesWhatPeopleHave(t *testing.T) {
	for what, want := range map[string][]string{
		"22623":           {"port 22623: machine-config-server on bootstrap, master\n", "Causes that name it:\n", "master-ignition-no-answer"},
		"crio.service":    {"bootstrap/journals/crio.log", "crio-stops"},
		"node-image-pull": {"journalctl --unit=node-image-pull.service", "two-container-refs"},
		`Jan 02 05:08:00 bootstrap release-image-download.sh[47152]: Error: initializing source docker://quay.io/a/b:4.17: reading manifest 4.17 in quay.io/a/b: manifest unknown`: {"no-such-image: ", "known by: manifest unknown"},
		"bootkube.sh: line 81: oc: command not found": {"no-oc: ", "known by: : oc: command not found"},
	} {
		out := explained(t, what)
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("explain %s: no %q in:\n%s", what, part, out)
			}
		}
	}
	if _, stderr, status := bootlab("explain", "a line that nothing knows"); status != exitUsage || !strings.Contains(stderr, "hint:") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
