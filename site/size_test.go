package site

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// manyPages is a guide of so many pages, in parts of so many.
func manyPages(t *testing.T, pages, inPart int) fstest.MapFS {
	t.Helper()
	g := guide{Lab: Lab{Name: "mylab"}}
	src := fstest.MapFS{}
	for i := range pages {
		if i%inPart == 0 {
			n := i / inPart
			g.Groups = append(g.Groups, Group{ID: fmt.Sprintf("part%d", n), Title: fmt.Sprintf("Part %d", n)})
		}
		id := fmt.Sprintf("page-%05d", i)
		if i == 0 {
			id = indexID
		}
		last := &g.Groups[len(g.Groups)-1]
		last.Pages = append(last.Pages, Page{ID: id, Title: id, File: "guide/" + id + ".md", Kind: "chapter"})
		src["guide/"+id+".md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "# Page %d\n\nA text about number%d.\n\n## Part\n\nIts end.\n", i, i)}
	}
	data, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	src["guide.json"] = &fstest.MapFile{Data: data}
	return src
}

// bytesOf is the size of all files of a site, which is what it costs to make.
func bytesOf(t *testing.T, src fstest.MapFS) int {
	t.Helper()
	_, files := built(t, src)
	sum := 0
	for _, data := range files {
		sum += len(data)
	}
	return sum
}

func TestTheSiteGrowsWithItsPagesAndNotFaster(t *testing.T) {
	for _, inPart := range []int{10, 50, 100_000} {
		few, many := bytesOf(t, manyPages(t, 400, inPart)), bytesOf(t, manyPages(t, 1600, inPart))
		if factor := float64(many) / float64(few); factor > 4.6 {
			t.Errorf("parts of %d: four times the pages are %.1f times the bytes", inPart, factor)
		}
	}
}

func TestEveryPageIsReachedFromTheMapOfALargeSite(t *testing.T) {
	for _, inPart := range []int{50, 100_000} {
		_, files := built(t, manyPages(t, 300, inPart))
		page := files["page-00123.html"]
		for _, want := range []string{`<a href="page-00123.html" aria-current="page"`, `<a href="page-00122.html"`, `<a href="pages.html#part0"`} {
			if !strings.Contains(page, want) {
				t.Errorf("parts of %d: no %s in the map", inPart, want)
			}
		}
		for i := 1; i < 300; i++ {
			if !strings.Contains(files["pages.html"], fmt.Sprintf(`<a href="page-%05d.html"`, i)) {
				t.Fatalf("page %d is not in the list of all pages", i)
			}
		}
	}
}

func TestTheMapOfASmallSiteListsEveryPage(t *testing.T) {
	_, files := built(t, manyPages(t, 150, 50))
	for i := 1; i < 150; i++ {
		if !strings.Contains(files["page-00123.html"], fmt.Sprintf(`<li><a href="page-%05d.html"`, i)) {
			t.Fatalf("page %d is not in the map", i)
		}
	}
}

// causeGuide has a page in a directory.
func causeGuide() fstest.MapFS {
	src := source("# etcd\n\nSee [full](causes/disk-full.md#fix).\n")
	src["guide.json"].Data = []byte(strings.Replace(plainGuide, `{"id":"render-etcd"`,
		`{"id":"causes/disk-full","title":"The disk is full","file":"guide/causes/disk-full.md","kind":"cause","lang":"de","behind":true},{"id":"render-etcd"`, 1))
	src["guide/causes/disk-full.md"] = &fstest.MapFile{Data: []byte("# The disk is full\n\nBack to [keys](../make-pki.md) and [etcd](../render-etcd.md), [script](../../scripts/make-pki.sh), [below](#fix).\n\n```text\nwrite: no space left on device\n```\n\n## Fix\n\nDelete.\n")}
	return src
}

func TestAPageInADirectoryFindsEverything(t *testing.T) {
	s, files := built(t, causeGuide())
	page := files["causes/disk-full.html"]
	for _, want := range []string{`href="../site.css"`, `src="../site.js"`, `data-root="../"`, `<a href="../make-pki.html">`, `<a href="../scripts/make-pki.sh">`,
		`<a href="#fix">`, `<a href="../causes/disk-full.html" aria-current="page"`, `<html lang="de"`, `class="behind"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if !strings.Contains(files["render-etcd.html"], `<a href="causes/disk-full.html#fix">`) {
		t.Error("no link to the page in the directory")
	}
	for _, want := range []string{`<section class="page" id="causes/disk-full" lang="de">`, `<a href="#causes/disk-full--fix">`, `<a href="#make-pki">`, `<a href="scripts/make-pki.sh">`} {
		if !strings.Contains(files["all.html"], want) {
			t.Errorf("all.html has no %s", want)
		}
	}
	if served := body(t, ask(s.Handler(Live{}), "GET", "localhost", "/causes/disk-full")); !strings.Contains(served, `<a href="/make-pki.html">`) {
		t.Error("served, its links lead elsewhere")
	}
}
