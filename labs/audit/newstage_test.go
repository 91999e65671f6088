package audit

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"bootlab/generator"
	"bootlab/labs"
	"bootlab/templates"
)

// addedStage is a stage of bootkube.sh that only the newest release has.
const addedStage = `id: render-example
bootkube: example-bootstrap
kind: render
phase: render
uninterruptible: true
since: main
title: Render an example
seconds: 1
log: Rendering example manifests...
why: A stage that is data and a template, and nothing else.
source: made up for this test
needs: [podman, jq]
reads:
  - path: release-info/images
    why: names the operator's image
  - path: release-info/digest
    why: proves that release-info ran
removeFirst: example-bootstrap
run:
  image: cluster-ingress-operator
  name: example-render
  command: render
  flags:
    - flag: --output-dir
      value: /assets/example-bootstrap
      why: where the files go
outputs:
  - path: example-bootstrap/example-pod.yaml
    why: a static pod
copies:
  - from: example-bootstrap/*
    to: manifests/
    why: cluster-bootstrap creates them with the rest
markers:
  - file: example-bootstrap.done
pods:
  - id: example
    file: example-pod.yaml
    name: bootstrap-example
effect:
  - on: node
    title: The example starts
    text: with the stage
story:
  - of: the example
    text: The example is told.
checks:
  - id: copied
    title: the files wait among the manifests
    expect: the rendered files in manifests/
    hint: Run render-example.sh again.
    same: {from: example-bootstrap/*, to: manifests/}
`

// filesOf is a file tree that a test may add to.
func filesOf(t *testing.T, tree fs.FS) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		out[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// withNewStage is the catalog and the templates with one more stage.
func withNewStage(t *testing.T) (*labs.Catalog, fs.FS) {
	t.Helper()
	data, err := fs.Sub(labs.Data, "data")
	if err != nil {
		t.Fatal(err)
	}
	files := filesOf(t, data)
	files["stages/render-example.yaml"] = &fstest.MapFile{Data: []byte(addedStage)}
	order := string(files["bootkube.yaml"].Data)
	files["bootkube.yaml"].Data = []byte(strings.Replace(order, "\n  - render-mco\n", "\n  - render-example\n  - render-mco\n", 1))
	catalog, err := labs.LoadCatalog(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := catalog.Validate(); err != nil {
		t.Fatal(err)
	}
	wording := filesOf(t, templates.FS)
	wording["scripts/render-example.sh.tmpl"] = &fstest.MapFile{Data: []byte(`{{define "steps"}}{{template "render-steps" .}}{{end}}` + "\n")}
	return catalog, wording
}

// One YAML file, its line in the order and one template make a stage: scripts,
// guide, pictures and audit take all the rest from them.
func TestAStageIsDataAndATemplate(t *testing.T) {
	catalog, wording := withNewStage(t)
	for release, want := range map[string]bool{"4.21": false, "main": true} {
		lab := planFor(t, release).Lab
		plan, err := catalog.Resolve(lab)
		if err != nil {
			t.Fatal(err)
		}
		out, err := generator.Render(plan, wording, generator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]string{}
		for _, f := range out.Files {
			files[f.Path] = string(f.Data)
		}
		for name, text := range map[string]string{
			"scripts/render-example.sh":        "example-render",
			"scripts/checks/render-example.sh": "example-bootstrap",
			"node/render-example.sh":           "example-render",
			"node/run-bootkube-until.sh":       "render-example example-bootstrap example-bootstrap.done example-render whole",
			"scripts/render-all.sh":            "render-example",
			"guide/render-example.md":          "Render an example",
			"guide/pictures/stages.svg":        "The example starts",
			"guide/pictures/static-pods.svg":   "bootstrap-example",
			"guide/pictures/timeline.svg":      "The example is told.",
			"guide/pictures/files.svg":         "render-example",
		} {
			if got := strings.Contains(files[name], text); got != want {
				t.Errorf("%s: %s has %q: %v, want %v", release, name, text, got, want)
			}
		}
		before := writeScript(labs.Builtin().Bootkube, release, stagesOfRelease(labs.Builtin(), release), style{})
		after := writeScript(catalog.Bootkube, release, stagesOfRelease(catalog, release), style{})
		if found := findings(Compare(parsed(t, after), catalog, release)); found != "" {
			t.Errorf("%s: the audit of the same stages finds\n%s", release, found)
		}
		if found := findings(Compare(parsed(t, before), catalog, release)); strings.Contains(found, "example-bootstrap") != want {
			t.Errorf("%s: the audit of a script without the stage finds\n%s", release, found)
		}
	}
}
