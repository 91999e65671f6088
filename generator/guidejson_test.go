package generator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// pageList reads guide.json of a shipped lab, and the paths of all its files.
func pageList(t *testing.T, example, release string) (*guideIndex, map[string]string) {
	t.Helper()
	files := map[string]string{}
	for _, f := range render(t, example, release).Files {
		files[f.Path] = string(f.Data)
	}
	index := &guideIndex{}
	if err := json.Unmarshal([]byte(files["guide.json"]), index); err != nil {
		t.Fatal(err)
	}
	return index, files
}

// outline is guide.json as a table of contents: a line for each page, with its id,
// title, script, and the stage of bootkube.sh.
func outline(data []byte) string {
	index := &guideIndex{}
	if err := json.Unmarshal(data, index); err != nil {
		return err.Error()
	}
	var b strings.Builder
	lab := index.Lab
	fmt.Fprintf(&b, "%s, %s: %s, %s %s\n", lab.Name, lab.Domain, lab.Topology, lab.Distribution, lab.Release)
	for _, group := range index.Groups {
		fmt.Fprintf(&b, "\n%s: %s\n", group.ID, group.Title)
		for _, p := range group.Pages {
			line := fmt.Sprintf("  %s: %s", p.ID, p.Title)
			if p.File != "guide/"+p.ID+".md" {
				line += ", " + p.File
			}
			for _, part := range []string{p.Script, p.Bootkube} {
				if part != "" {
					line += ", " + part
				}
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestTheListOfPagesNamesEveryPageOnce(t *testing.T) {
	index, files := pageList(t, "compact", "4.21")
	seen := map[string]int{}
	for _, group := range index.Groups {
		for _, p := range group.Pages {
			seen[p.File]++
			if files[p.File] == "" || p.Script != "" && files[p.Script] == "" {
				t.Errorf("page %s: %s or %s is not made", p.ID, p.File, p.Script)
			}
			if p.Title == "" || p.Summary == "" || strings.IndexAny(p.Summary[len(p.Summary)-1:], ".?") < 0 {
				t.Errorf("page %s: title %q, summary %q", p.ID, p.Title, p.Summary)
			}
		}
	}
	for file := range files {
		if strings.HasPrefix(file, "guide/") && strings.HasSuffix(file, ".md") && seen[file] != 1 {
			t.Errorf("%s is listed %d times", file, seen[file])
		}
	}
}

func TestTheListOfPagesTellsHowToKnowAStage(t *testing.T) {
	index, _ := pageList(t, "compact", "4.21")
	if index.Groups[0].ID != startGroup || index.Groups[0].Pages[0].ID != "index" {
		t.Errorf("the guide begins with %+v", index.Groups[0])
	}
	// The scripts that have a page of their own are listed by their stages.
	stages := slices.DeleteFunc(slices.Clone(index.group(stagesGroup).Pages), func(p guidePage) bool { return p.Parent != "" })
	at := func(id string) int { return slices.IndexFunc(stages, func(p guidePage) bool { return p.ID == id }) }
	plan := plan(t, "compact", "4.21")
	if len(stages) != len(plan.Stages) {
		t.Fatalf("%d pages of %d stages", len(stages), len(plan.Stages))
	}
	for i, s := range plan.Stages {
		want := guidePage{ID: s.ID, Title: s.Title, File: "guide/" + s.ID + ".md", Kind: "stage", Script: stages[i].Script,
			Bootkube: s.Bootkube, Marker: s.Marker(), Record: s.RecordName(), Summary: stages[i].Summary}
		if stages[i] != want {
			t.Errorf("%+v, not %+v", stages[i], want)
		}
		if script := "scripts/" + s.ScriptName(); stages[i].Script != "" && (stages[i].Script != script || !s.In(labs.Local)) {
			t.Errorf("%s: script %s", s.ID, stages[i].Script)
		}
	}
	etcd, node := stages[at("render-etcd")], stages[at("verify-api")]
	if etcd.Kind != "stage" || etcd.Script != "scripts/render-etcd.sh" || etcd.Bootkube != "etcd-bootstrap" ||
		etcd.Marker != "etcd-bootstrap.done" || etcd.Record != "etcd-bootstrap" {
		t.Errorf("render-etcd: %+v", etcd)
	}
	if node.Script != "" {
		t.Errorf("verify-api runs on the node alone, and has %s", node.Script)
	}
	if !(at("make-pki") < at("render-etcd") && at("render-etcd") < at("render-kcm")) {
		t.Errorf("the order is not that of the stages: %v", stages)
	}
}
