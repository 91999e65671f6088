package site

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"
)

// plainGuide is the least that makes a site.
const plainGuide = `{"lab":{"name":"mylab","domain":"mylab.example.test","topology":"compact","distribution":"okd","release":"4.21"},
"groups":[{"id":"start","title":"Start here","pages":[{"id":"index","title":"Index","file":"README.md","kind":"chapter","summary":"First."}]},
{"id":"stages","title":"The stages","pages":[
{"id":"make-pki","title":"Make keys","file":"guide/make-pki.md","kind":"stage","script":"scripts/make-pki.sh","marker":"make-pki.done","record":"make-pki","summary":"Keys."},
{"id":"render-etcd","title":"Render etcd","file":"guide/render-etcd.md","kind":"stage","bootkube":"etcd-bootstrap","summary":"Etcd."}]}]}`

// source is a guide whose page render-etcd has a text of the test's.
func source(text string) fstest.MapFS {
	file := func(data string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(data)} }
	return fstest.MapFS{
		"guide.json":            file(plainGuide),
		"README.md":             file("# My lab\n\nBegin with [keys](guide/make-pki.md), then [etcd](guide/render-etcd.md).\n"),
		"guide/make-pki.md":     file("# make-pki: Make keys\n\nText.\n\n## Checks\n\nMore.\n"),
		"guide/render-etcd.md":  file(text),
		"scripts/make-pki.sh":   file("#!/usr/bin/env bash\n"),
		"work/assets/tls/x.key": file("-----BEGIN PRIVATE KEY-----\n"),
	}
}

// built is the site of a page's text, and its files by path.
func built(t *testing.T, src fstest.MapFS) (*Site, map[string]string) {
	t.Helper()
	s, err := Build(src)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		all[f.Path] = string(f.Data)
	}
	return s, all
}

// content is what stands between the marks of the main part of a page.
func content(t *testing.T, text string) string {
	t.Helper()
	_, files := built(t, source(text))
	_, rest, _ := strings.Cut(files["render-etcd.html"], "<main")
	main, _, found := strings.Cut(rest, `<nav class="turn"`)
	if !found {
		t.Fatal("the page has no main part")
	}
	return main
}

func TestTheSiteHasAPageForEveryPageOfTheGuide(t *testing.T) {
	_, files := built(t, source("# etcd\n"))
	for _, want := range []string{"index.html", "make-pki.html", "render-etcd.html", "all.html", "404.html",
		"site.css", "site.js", "pictures.css", "search-index.js", "icon.svg", "scripts/make-pki.sh"} {
		if _, made := files[want]; !made {
			t.Errorf("there is no %s", want)
		}
	}
	for name := range files {
		if strings.Contains(name, "work") || strings.Contains(files[name], "PRIVATE KEY") {
			t.Errorf("%s comes from where the scripts work", name)
		}
	}
}

func TestTheSameGuideGivesTheSameBytes(t *testing.T) {
	src := source("# etcd\n\n## A\n\n```bash\necho a\n```\n")
	_, first := built(t, src)
	for range 5 {
		_, again := built(t, src)
		for name, data := range first {
			if again[name] != data {
				t.Fatalf("%s is another one", name)
			}
		}
	}
}

func TestAGuideThatLeadsOutOfItselfIsRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"a page above the guide":     {`"guide/make-pki.md"`, `"guide/../../../etc/passwd"`},
		"a page among the keys":      {`"guide/make-pki.md"`, `"work/assets/tls/x.key"`},
		"a script above the guide":   {`"scripts/make-pki.sh"`, `"scripts/../work/x.sh"`},
		"a script that is not there": {`"scripts/make-pki.sh"`, `"scripts/other.sh"`},
		"an id with a slash":         {`"id":"make-pki"`, `"id":"../make-pki"`},
		"an id that is the site's":   {`"id":"make-pki"`, `"id":"all"`},
		"an id twice":                {`"id":"make-pki"`, `"id":"render-etcd"`},
		"a file twice":               {`"guide/make-pki.md"`, `"guide/render-etcd.md"`},
		"an unknown kind":            {`"kind":"chapter"`, `"kind":"<b>"`},
		"no index":                   {`"id":"index"`, `"id":"other"`},
		"no JSON":                    {`{"lab"`, `{"lab`},
	} {
		t.Run(name, func(t *testing.T) {
			src := source("# etcd\n")
			src["guide.json"].Data = bytes.Replace(src["guide.json"].Data, []byte(change[0]), []byte(change[1]), 1)
			if _, err := Build(src); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestLabValuesAreTextOnEveryPage(t *testing.T) {
	src := source("# etcd\n")
	hostile := `\"><script>alert(1)</script>`
	src["guide.json"].Data = []byte(strings.ReplaceAll(plainGuide, `"mylab`, `"`+hostile+`mylab`))
	_, files := built(t, src)
	for name, data := range files {
		if strings.HasSuffix(name, ".html") && strings.Contains(data, "<script>") {
			t.Errorf("%s holds the value as it came", name)
		}
	}
}
