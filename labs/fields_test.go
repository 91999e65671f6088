package labs

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// keysOf lists the paths of the YAML keys of a struct and of all below it.
func keysOf(t reflect.Type, path string) []string {
	var out []string
	for i := range t.NumField() {
		key := yamlName(t.Field(i))
		if key == "" || key == "-" {
			continue
		}
		full := joinPath(path, key)
		out = append(out, full)
		inner, at := t.Field(i).Type, full
		if inner.Kind() == reflect.Slice {
			inner, at = inner.Elem(), full+"[]"
		}
		if inner.Kind() == reflect.Struct {
			out = append(out, keysOf(inner, at)...)
		}
	}
	return out
}

func TestFieldsExplainEveryKeyInTheOrderOfTheLab(t *testing.T) {
	var got []string
	for _, f := range Fields() {
		got = append(got, f.Path)
	}
	if want := keysOf(reflect.TypeFor[Lab](), ""); !slices.Equal(got, want) {
		t.Errorf("explained:\n%s\n\nkeys:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFieldsAreComplete(t *testing.T) {
	for _, f := range Fields() {
		for name, text := range map[string]string{"why": f.Why, "default": f.Default, "allowed": f.Allowed, "source": f.Source} {
			if strings.TrimSpace(text) == "" || strings.TrimSpace(text) != text {
				t.Errorf("%s: %s is %q", f.Path, name, text)
			}
		}
		if !strings.HasSuffix(f.Why, ".") || strings.Count(f.Why, ". ") > 2 {
			t.Errorf("%s: why is not one to three sentences: %s", f.Path, f.Why)
		}
		for name, text := range map[string]string{"default": f.Default, "allowed": f.Allowed} {
			if strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s ends in a full stop, which is added where it is printed", f.Path, name)
			}
		}
	}
}

// TestFieldsSayWhatTheCodeAllows holds the words that repeat a fact of the
// code or of other data against it.
func TestFieldsSayWhatTheCodeAllows(t *testing.T) {
	fields := map[string]Field{}
	for _, f := range Fields() {
		fields[f.Path] = f
	}
	last := len(releaseOrder) - 1
	for path, want := range map[string]string{
		"release.version":      releaseOrder[0] + " to " + releaseOrder[last-1] + ", " + releaseOrder[last],
		"release.distribution": strings.Join(Distributions, ", "),
		"topology":             strings.Join(Topologies, ", "),
	} {
		if got := fields[path].Allowed; got != want {
			t.Errorf("%s: allowed is %q, and the code has %q", path, got, want)
		}
	}
	lab := mustLoad(t, minimal)
	for path, want := range map[string]string{
		"apiVersion":                       lab.APIVersion,
		"release.distribution":             lab.Release.Distribution,
		"topology":                         lab.Topology,
		"networking.networkType":           lab.Networking.NetworkType,
		"networking.clusterNetwork[].cidr": lab.Networking.ClusterNetwork[0].CIDR,
		"networking.serviceNetwork":        lab.Networking.ServiceNetwork[0],
		"machines.bootstrap.name":          lab.Machines.Bootstrap.Name,
	} {
		if got := fields[path].Default; got != want {
			t.Errorf("%s: default is %q, and the code has %q", path, got, want)
		}
	}
}

func TestExamplesAreShortAndSayWhatTheyAreFor(t *testing.T) {
	var got []string
	for _, e := range ExampleList() {
		got = append(got, e.Name+": "+e.About)
		text, err := fs.ReadFile(Examples, e.Name+"/"+LabFile)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "#"); n > 2 {
			t.Errorf("%s has %d lines of comment", e.Name, n)
		}
		if !strings.Contains(string(text), "baseDomain: bootlab.test\n") {
			t.Errorf("%s has another domain", e.Name)
		}
	}
	want := []string{
		"bootstrap-only: One virtual machine, for a laptop with 16 GiB: every stage by hand on a real bootstrap node, up to the point where masters would be needed.",
		"compact: A bootstrap machine and three masters that also run workloads: the smallest cluster that goes through the whole bootstrap.",
		"ha: Three masters and two workers: the shape of a cluster in production, with the approval of workers as a step of its own.",
		"ocp-compact: The compact cluster with OCP in place of OKD: name the release you have, and save your pull secret beside this file.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s", strings.Join(got, "\n"))
	}
}

func TestExamplesLoad(t *testing.T) {
	for _, e := range ExampleList() {
		_, ps := LoadLabFS(Examples, e.Name, labCatalog(t))
		want := ""
		if e.Name == "ocp-compact" { // no secret is shipped with it
			want = "ocp-compact/lab.yaml:10:13: pullSecret: \"pull-secret.json\": file does not exist\n" +
				"    10 | pullSecret: pull-secret.json\n       |             ^\n" +
				"  hint: a path that does not begin with / or ~/ begins where lab.yaml is"
		}
		if got := ps.Error(); got != want {
			t.Errorf("%s: %s", e.Name, got)
		}
	}
}
