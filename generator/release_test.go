package generator

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

func TestEveryReleaseHasAPageInItsOwnGroup(t *testing.T) {
	for _, release := range []string{"4.14", "4.21", "main"} {
		index, files := pageList(t, "compact", release)
		var groups, want, got []string
		for _, g := range index.Groups {
			groups = append(groups, g.ID)
		}
		if at := slices.Index(groups, releasesGroup); at < 1 || groups[at-1] != hangsGroup || groups[at+1] != referenceGroup {
			t.Errorf("%s: the groups are %v", release, groups)
		}
		for _, id := range labs.Builtin().ReleaseIDs() {
			want = append(want, "release-"+id)
		}
		for _, p := range index.group(releasesGroup).Pages {
			got = append(got, p.ID)
			own := p.ID == "release-"+release
			if strings.HasSuffix(p.Title, "this lab's") != own || strings.HasPrefix(files[p.File], "# "+p.Title+"\n") == false {
				t.Errorf("%s: page %s is called %q", release, p.ID, p.Title)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the pages are %v", release, got)
		}
	}
}

func TestThePageOfAReleaseTellsWhatItIsAndWhatIsNew(t *testing.T) {
	_, files := pageList(t, "compact", "4.21")
	for id, texts := range map[string][]string{
		"4.14": {"has 519 lines", "confidence: medium", "Releases before this one are not known here.", "| `etcd-bootstrap` | [render-etcd](render-etcd.md) |"},
		"4.15": {"## What changed since [4.14](release-4.14.md)", "- New flag `--skip-api-rendering`. The CRDs", "[render-api](render-api.md) is new. ",
			"- Removed copy `config-bootstrap/manifests/* -> manifests/`. Its reason in 4.14: "},
		"4.16": {"`render-node-tuning-bootcmd` is new. ", "| `render-node-tuning-bootcmd`, only in a bootstrap-in-place installation |"},
		"4.20": {"identical to 4.19's", "Nothing that is known here."},
		"4.21": {"- okd: `quay.io/okd/scos-release:", "Around the stages:\n\n- New option of every podman run `--log-driver=k8s-file`. "},
	} {
		page := files["guide/release-"+id+".md"]
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("%s does not say %q:\n%s", id, text, page)
			}
		}
	}
	for _, absent := range []string{"auth-api-bootstrap", "## What changed"} {
		if strings.Contains(files["guide/release-4.14.md"], absent) {
			t.Errorf("4.14 has %s", absent)
		}
	}
}

// since is the part of a stage's page about earlier releases.
func since(page string) string {
	_, rest, _ := strings.Cut(page, "\n## Since earlier releases\n")
	part, _, _ := strings.Cut(rest, "\n## ")
	return part
}

func TestAStageTellsWhatChangedInItNewestFirst(t *testing.T) {
	const flag = "  - New flag `--operand-kubernetes-version=$KUBERNETES_VERSION`. "
	for release, want := range map[string]bool{"4.17": false, "4.18": true, "main": true} {
		_, files := pageList(t, "compact", release)
		if got := strings.Contains(since(files["guide/render-kube-apiserver.md"]), flag); got != want {
			t.Errorf("%s: the flag of 4.18 is told: %v, want %v", release, got, want)
		}
		if strings.Contains(files["guide/make-pki.md"], "Since earlier") {
			t.Errorf("%s: make-pki never changed", release)
		}
	}
	_, files := pageList(t, "compact", "4.21")
	if got := since(files["guide/render-auth-api.md"]); !strings.Contains(got, "- [4.19](release-4.19.md)\n  - The stage is new.\n") {
		t.Errorf("render-auth-api: %s", got)
	}
}

var releaseItem = regexp.MustCompile(`(?m)^- \[(.*)\]\(release-(.*)\.md\)$`)

// The order and the limit hold for every stage, in every release.
func TestNoStageTellsOfALaterRelease(t *testing.T) {
	known := labs.Builtin().ReleaseIDs()
	sections := 0
	for own, release := range known {
		for _, f := range render(t, "compact", release).Files {
			before := own + 1
			for _, m := range releaseItem.FindAllStringSubmatch(since(string(f.Data)), -1) {
				at := slices.Index(known, m[1])
				if at < 1 || at >= before || m[1] != m[2] {
					t.Errorf("%s: %s tells of %s", release, f.Path, m[0])
				}
				before = at
				sections++
			}
		}
	}
	if sections < 20 {
		t.Errorf("only %d items were looked at", sections)
	}
}

func TestMarkdownOfAComparison(t *testing.T) {
	link := func(id string) string { return "<" + id + ">" }
	item := func(text, why string) *labs.Item { return &labs.Item{Text: text, Why: why} }
	c := &labs.Comparison{From: "4.14", To: "4.18",
		Around: []labs.Change{{Kind: labs.Removed, Part: "variable", Was: item("A", "for all"), Release: "4.15"}},
		Stages: []labs.StageChange{
			{Kind: labs.Added, ID: "new", Why: "First. Second.", Release: "4.16"},
			{Kind: labs.Removed, ID: "old", Why: "Gone things.", Release: "4.17"},
			{Kind: labs.Moved, ID: "late", After: "new", Release: "4.18"},
			{Kind: labs.Moved, ID: "early", Release: "4.18"},
			{Kind: labs.Changed, ID: "other", Changes: []labs.Change{
				{Kind: labs.Changed, Part: "command", Was: item("a", ""), Is: item("b", "quicker"), Release: "4.18"},
				{Kind: labs.Added, Part: "check", Is: item("all is well", ""), Release: "4.18"}}},
		}}
	const want = "Around the stages:\n\n- Removed variable `A` (4.15). Its reason in 4.14: for all.\n\n" +
		"<new> is new (4.16). First.\n\n<old> is gone (4.17). Gone things.\n\n<late> is now behind <new> (4.18).\n\n<early> is now the first (4.18).\n\n" +
		"<other>:\n\n- Changed command `a`, now `b` (4.18). Quicker.\n- New check: all is well (4.18).\n"
	if got := ChangesMarkdown(c, link); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := ChangesMarkdown(&labs.Comparison{From: "4.19", To: "4.20"}, link); got != "Nothing that is known here.\n" {
		t.Error(got)
	}
}
