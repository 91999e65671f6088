package main

import (
	"encoding/json"
	"strings"
	"testing"

	"bootlab/labs"
)

func TestReleasesTellsWhatIsKnownAndHowWell(t *testing.T) {
	out, stderr, status := bootlab("releases")
	if status != exitDone || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, r := range labs.Builtin().Releases {
		for _, want := range append([]string{r.ID, r.Confidence, r.Source, r.Note}, imagesOf(r)...) {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", r.ID, want, out)
			}
		}
	}
	if !strings.Contains(out, labs.OCPPullSpec) {
		t.Errorf("no form of OCP's images in\n%s", out)
	}
}

func imagesOf(r *labs.Release) []string {
	var out []string
	for _, p := range r.PullSpecs {
		out = append(out, p.Image, p.Seen)
	}
	return out
}

func TestDiffTellsInThreeForms(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"4.14", "4.15"}, []string{"from 4.14 (confidence medium) to 4.15 (confidence high)\n", "\naround the stages\n", "\n+ render-api (api-bootstrap): ",
			"\n~ render-config (config-bootstrap): ", "\n  + flag --skip-api-rendering\n      the CRDs", "\n  - output config-bootstrap/manifests/\n      in 4.14: "}},
		{[]string{"4.15", "4.14"}, []string{"\n- render-api ", "\n  - flag --skip-api-rendering\n      in 4.15: "}},
		{[]string{"4.14", "main"}, []string{"\n  + flag --skip-api-rendering  [4.15]\n"}},
		{[]string{"4.19", "4.20"}, []string{"no difference is known"}},
		{[]string{"4.20", "4.21", "--stage", "etcd-bootstrap"}, []string{"\n~ render-etcd (etcd-bootstrap): ", "+ option of every podman run --log-driver=k8s-file\n"}},
		{[]string{"4.14", "4.15", "--output", "markdown"}, []string{"# bootkube.sh: from 4.14 ", "\n`render-config`:\n\n", "\n- New flag `--skip-api-rendering`. "}},
	} {
		out, stderr, status := bootlab(append([]string{"diff"}, c.args...)...)
		if status != exitDone || stderr != "" {
			t.Errorf("%v: status %d: %s", c.args, status, stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
	}
}

func TestDiffOfOneStageTellsOfNoOther(t *testing.T) {
	out, _, _ := bootlab("diff", "4.14", "main", "--stage", "render-config")
	if !strings.Contains(out, "render-config") || strings.Contains(out, "render-api (") || strings.Contains(out, "around the stages") {
		t.Error(out)
	}
}

func TestDiffInJSONCanBeReadBack(t *testing.T) {
	out, stderr, status := bootlab("diff", "4.14", "main", "--output", "json")
	if status != exitDone {
		t.Fatal(stderr)
	}
	var c labs.Comparison
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil || c.From != "4.14" || c.To != "main" || len(c.Around) == 0 || len(c.Stages) == 0 {
		t.Errorf("%v: %+v", err, c)
	}
	if strings.Contains(out, `\u003c`) {
		t.Error("a path is written for HTML")
	}
}

func TestAnUnknownReleaseIsRefusedWithTheNearest(t *testing.T) {
	for release, hint := range map[string]string{"4.18.3": "hint: the nearest is 4.18: ", "4.13": "hint: the nearest is 4.14\n", "5.1": "hint: the nearest is main\n"} {
		var complaints []string
		for _, args := range [][]string{{"explain", "render-etcd", "--release", release}, {"diff", release, "4.20"}, {"diff", "4.20", release}} {
			_, stderr, status := bootlab(args...)
			if status != exitUsage || !strings.Contains(stderr, hint) || !strings.Contains(stderr, "known are 4.14, ") {
				t.Errorf("%v: status %d: %s", args, status, stderr)
			}
			complaints = append(complaints, stderr)
		}
		if complaints[0] != complaints[1] || complaints[1] != complaints[2] {
			t.Errorf("%s is refused in different words: %q", release, complaints)
		}
	}
	if _, stderr, status := bootlab("diff", "4.20", "latest"); status != exitUsage || !strings.Contains(stderr, "bootlab releases lists them") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestDiffRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"diff"}, exitUsage, "hint: usage: "},
		{[]string{"diff", "4.20"}, exitUsage, "hint: usage: "},
		{[]string{"diff", "4.20", "4.21", "--output", "xml"}, exitUsage, "is none of text, markdown, json"},
		{[]string{"diff", "4.20", "4.21", "--stage", "render-x"}, exitUsage, "hint: stages: make-pki "},
		{[]string{"diff", "4.14", "4.15", "--stage", "render-auth-api"}, exitUsage, "neither in 4.14 nor in 4.15"},
		{[]string{"releases", "4.20"}, exitUsage, "hint: usage: "},
	} {
		if out, stderr, status := bootlab(c.args...); status != c.status || out != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d: %s%s", c.args, status, out, stderr)
		}
	}
	if out, _, _ := bootlab("__complete", "diff", "4.1"); !strings.Contains(out, "4.18") {
		t.Errorf("diff completes to %s", out)
	}
}
