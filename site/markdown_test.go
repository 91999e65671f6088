package site

import (
	"strings"
	"testing"
)

func TestWhatLooksLikeHTMLIsText(t *testing.T) {
	for _, text := range []string{
		"<script>alert(1)</script>",
		"a <img src=x onerror=alert(1)> b",
		"<div>\n\n*text*\n\n</div>",
		"<!-- comment -->",
		"<details>\n\ntext\n\n</details>",
		"<details open><summary>Answer</summary>\n\ntext\n\n</details>",
		"- item <b onclick=x>\n",
		"| a | b |\n|---|---|\n| <svg onload=x> | <i> |\n",
		"```<script>\n</code></pre><script>\n```",
		"```bash\n'</code><script>alert(1)</script>\n```",
		"```console\n$ '<script>\n<script>\n```",
		"> [!NOTE]\n> <script>\n",
		"## <script>alert(1)</script>",
		"`</code><script>`",
	} {
		got := content(t, "# etcd\n\n"+text+"\n")
		for _, tag := range []string{"<script", "<img", "<div>", "<!--", "<svg", "onerror=\"", "<b ", "<details"} {
			if strings.Contains(got, tag) {
				t.Errorf("%q became\n%s", text, got)
			}
		}
	}
}

func TestAFoldedAnswerIsFolded(t *testing.T) {
	got := content(t, "# etcd\n\n<details><summary>Answer</summary>\n\nBecause *so*:\n\n```bash\necho a\n```\n\n</details>\n\nAfter.\n")
	want := "<details class=\"answer\">\n<summary>Answer</summary>\n<p>Because <em>so</em>:</p>"
	if !strings.Contains(got, want) || strings.Count(got, "</details>") != 1 || !strings.Contains(got, "</details>\n<p>After.</p>") {
		t.Error(got)
	}
}

func TestALineOfAFoldWithoutItsPartnerIsText(t *testing.T) {
	for _, text := range []string{
		"<details><summary>Answer</summary>\n\nNo end.\n",
		"No begin.\n\n</details>\n",
		"> <details><summary>Answer</summary>\n\n</details>\n",
	} {
		if got := content(t, "# etcd\n\n"+text); strings.Contains(got, "<details") || strings.Contains(got, "</details>") {
			t.Errorf("%q became\n%s", text, got)
		}
	}
}

func TestNotesHaveTheirKindInWords(t *testing.T) {
	for mark, key := range noteKinds {
		title := wordsIn("en").say(key)
		got := content(t, "# etcd\n\n> [!"+mark+"]\n> One **two**.\n>\n> - three\n")
		want := `<div class="note ` + strings.ToLower(mark) + `" role="note">` + "\n<p class=\"kind\">" + title + "</p>\n<p>One <strong>two</strong>.</p>"
		if !strings.Contains(got, want) || strings.Contains(got, "[!") || !strings.Contains(got, "<li>three</li>") {
			t.Errorf("%s: %s", mark, got)
		}
	}
	for _, quote := range []string{"> Only quoted.\n", "> [!OTHER]\n> Text.\n", "> Text [!NOTE]\n"} {
		if got := content(t, "# etcd\n\n"+quote); strings.Contains(got, "note") || !strings.Contains(got, "<blockquote>") {
			t.Errorf("%q became %s", quote, got)
		}
	}
}

func TestHeadingsHaveTheAnchorsThatGitHubGives(t *testing.T) {
	got := content(t, "# etcd: *the* `first` stage\n\n## What it reads?\n\n## What it reads?\n\n### 启动 etcd\n\n## !!!\n\n## kube-apiserver_x (1)\n")
	for _, id := range []string{"etcd-the-first-stage", "what-it-reads", "what-it-reads-1", "启动-etcd", "section", "kube-apiserver_x-1"} {
		if strings.Count(got, ` id="`+id+`"`) != 1 {
			t.Errorf("id %s stands there %d times in\n%s", id, strings.Count(got, ` id="`+id+`"`), got)
		}
	}
}

func TestHeadingsOutOfOrderAreErrors(t *testing.T) {
	for _, text := range []string{"Text first.\n\n# Title\n", "## No title\n", "# A\n\n### Too deep\n", "# A\n\n# B\n", ""} {
		if _, err := Build(source(text)); err == nil || !strings.Contains(err.Error(), "render-etcd") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAScriptIsLaidOutInRowsOfProseAndCode(t *testing.T) {
	got := content(t, "# etcd\n\n## The script\n\nOne.\n\n```bash\na\n```\n\n```bash\nb\n```\n\nTwo.\n\n```yaml\nc: d\n```\n\n```bash\ne\n```\n\n## Verification\n\nLast.\n")
	columns, tail, found := strings.Cut(got, `<h2 id="verification">`)
	if !found || !strings.Contains(tail, "Last.") || strings.Contains(tail, "columns") {
		t.Fatal(got)
	}
	if n := strings.Count(columns, `<div class="prose">`); n != 2 || strings.Count(columns, `<div class="listing">`) != 2 {
		t.Errorf("%d rows:\n%s", n, columns)
	}
	order := []string{"One.", ">a\n", ">b\n", "Two.", `<i class="a">c</i>: d`, ">e\n"}
	at := 0
	for _, text := range order {
		next := strings.Index(columns[at:], text)
		if next < 0 {
			t.Fatalf("%q is not behind the one before it:\n%s", text, columns)
		}
		at += next
	}
}

func TestTablesBringNoStyle(t *testing.T) {
	got := content(t, "# etcd\n\n| a | b |\n|:--|--:|\n| 1 | `x\\|y` |\n")
	if strings.Contains(got, "style=") || strings.Contains(got, "align=") || !strings.Contains(got, "<code>x|y</code>") {
		t.Error(got)
	}
}

func TestATableWithoutHeadsHasNone(t *testing.T) {
	got := content(t, "# etcd\n\n| | |\n|--|--|\n| a | b |\n\n| | Why |\n|--|--|\n| c | d |\n")
	if strings.Contains(got, "<th></th>") || strings.Count(got, "<thead>") != 1 || strings.Count(got, "<th>") != 1 || strings.Count(got, "<tbody>") != 2 || strings.Count(got, "</tbody>") != 2 {
		t.Error(got)
	}
}

func TestCellsKnowTheHeadOfTheirColumn(t *testing.T) {
	got := content(t, "# etcd\n\n| File | *Why* \"x\" |\n|--|--|\n| a | b |\n| c | d |\n")
	if strings.Contains(got, `data-h="File"`) || strings.Count(got, `<td data-h="Why &#34;x&#34;">`) != 2 {
		t.Error(got)
	}
}

func TestHeadingsLinkToThemselves(t *testing.T) {
	got := content(t, "# etcd\n\n## What it reads\n")
	if !strings.Contains(got, `<h2 id="what-it-reads">What it reads <a class="p" href="#what-it-reads">#</a></h2>`) || strings.Count(got, `class="p"`) != 1 {
		t.Error(got)
	}
	_, files := built(t, source("# etcd\n\n## What it reads\n"))
	if !strings.Contains(files["all.html"], `<a class="p" href="#render-etcd--what-it-reads"`) {
		t.Error("all.html has no such link")
	}
}

func TestAnythingCanBeFolded(t *testing.T) {
	got := content(t, "# etcd\n\n## The script\n\n<details><summary>Flags &amp; sources</summary>\n\nOne.\n\n```bash\na\n```\n\n</details>\n\n## Verification\n")
	if !strings.Contains(got, "<summary>Flags &amp; sources</summary>\n<div class=\"columns\">") || !strings.Contains(got, `<div class="script">`) {
		t.Error(got)
	}
}

func TestControlCharactersAreRefused(t *testing.T) {
	if _, err := Build(source("# etcd\n\na\x01b\n")); err == nil || !strings.Contains(err.Error(), "control character") {
		t.Error(err)
	}
}
