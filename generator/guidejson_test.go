package generator

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
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
	stages := index.group(stagesGroup).Pages
	at := func(id string) int { return slices.IndexFunc(stages, func(p guidePage) bool { return p.ID == id }) }
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
