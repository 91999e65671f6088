package site

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

// made is a program that does nothing.
var made = Diagnosis{Version: "bootlab 1.2.3", Program: &Program{Wasm: []byte("\x1f\x8b"), Support: []byte("const support = '</script>';")}}

var metaPolicy = regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`)

// policyOf is the policy that stands in a page.
func policyOf(t *testing.T, page string) string {
	t.Helper()
	m := metaPolicy.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no policy in the page")
	}
	return html.UnescapeString(m[1])
}

// No other page may run WebAssembly, and this one may ask for nothing.
func TestOnlyThePageDiagnoseRunsAProgram(t *testing.T) {
	s, err := BuildWith(source("# Keys\n\nText.\n"), made)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".html") {
			continue
		}
		pages++
		policy := policyOf(t, string(f.Data))
		header := ask(s.Handler(Live{}), "GET", "localhost", "/"+f.Path).Header.Get("Content-Security-Policy")
		for _, p := range []string{policy, header} {
			if strings.Contains(p, "wasm-unsafe-eval") != (f.Path == diagnosePage) || strings.Contains(p, "connect-src 'none'") != (f.Path == diagnosePage) || strings.Contains(p, "unsafe-inline") {
				t.Errorf("%s has the policy %s", f.Path, p)
			}
		}
	}
	if pages < 5 {
		t.Errorf("%d pages were looked at", pages)
	}
}

// The page that is one file allows its own script and style by their sums alone, and
// nothing in the program ends the script.
func TestThePageOfOneFileAllowsItsOwnScriptAlone(t *testing.T) {
	data, err := DiagnosePage(made)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for element, directive := range map[string]string{"script": "script-src", "style": "style-src"} {
		_, rest, _ := strings.Cut(page, "<"+element+">")
		text, _, _ := strings.Cut(rest, "</"+element+">")
		if strings.Count(page, "<"+element) != 1 || len(text) < 1000 || !strings.Contains(policyOf(t, page), directive+" "+hashOf([]byte(text))) {
			t.Errorf("the policy %s does not allow %s", policyOf(t, page), element)
		}
	}
	if strings.Contains(page, `src="`) || strings.Contains(page, "index.html") {
		t.Error("the page names something beside it")
	}
}

// Without the program the page names the command, and loads no script.
func TestAPageWithoutItsProgramSaysSo(t *testing.T) {
	_, files := built(t, source("# Keys\n\nText.\n"))
	page := files[diagnosePage]
	if strings.Contains(page, "<script") || !strings.Contains(page, "make build") || !strings.Contains(page, "bootlab diagnose log-bundle-ID.tar.gz") || files[diagnoseProgram] != "" {
		t.Errorf("the page is\n%s", page)
	}
}

// The guide's markdown leads to the page at its place beside the guide.
func TestTheGuideLeadsToThePageDiagnose(t *testing.T) {
	_, files := built(t, source("# etcd\n\nOr [in the browser](../site/diagnose.html).\n"))
	if page := files["render-etcd.html"]; !strings.Contains(page, `<a href="diagnose.html">in the browser</a>`) {
		t.Errorf("the link is not in\n%s", page)
	}
}

// A cause leads to its page where the guide has it.
func TestThePageDiagnoseKnowsThePagesOfCauses(t *testing.T) {
	s, err := BuildWith(causeGuide(), made)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.document(diagnosePage, view{})
	if err != nil || !strings.Contains(string(page), "causes/disk-full") {
		t.Errorf("%v\n%s", err, page)
	}
}
