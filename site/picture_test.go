package site

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
)

const plainPicture = `<svg xmlns="http://www.w3.org/2000/svg" class="pic" viewBox="0 0 10 10" role="img" aria-labelledby="s-title s-desc">
<title id="s-title">The "stages" &amp; more</title><desc id="s-desc">One &lt; two.</desc>
<style>
:where(.pic){--pic-fg:#111}
@media (prefers-color-scheme:dark){:where(.pic){--pic-fg:#eee}}
:where(.pic text){fill:var(--pic-fg)}
</style>
<defs><marker id="s-head"><path d="M0 0"/></marker></defs>
<path marker-end="url(#s-head)" d="M0 0 L5 5"/><use href="#s-head"/><text x="1" y="2">a &lt; b</text></svg>`

// withPicture is a guide with a picture on two pages.
func withPicture(picture string) fstest.MapFS {
	src := source("# etcd\n\n```mermaid stages\nflowchart LR\n  a --> b\n```\n\n```mermaid stages\n```\n")
	src["guide/pictures/stages.svg"] = &fstest.MapFile{Data: []byte(picture)}
	return src
}

func TestAPictureStandsInThePageWithCaptionAndNoStyle(t *testing.T) {
	_, files := built(t, withPicture(plainPicture))
	page := files["render-etcd.html"]
	for _, want := range []string{`<figure class="picture">`, `<svg class="pic"`, "<figcaption>The &#34;stages&#34; &amp; more ", `a &lt; b</text>`,
		`aria-labelledby="s-title s-desc"`, `aria-labelledby="s-title-2 s-desc-2"`, `url(#s-head-2)`, `href="#s-head-2"`, `id="s-head-2"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if strings.Contains(page, "<style") || strings.Contains(page, "flowchart") {
		t.Error("style or mermaid stands in the page")
	}
	style := files["pictures.css"]
	for _, want := range []string{":where(.pic){--pic-fg:#111}",
		"@media (prefers-color-scheme:dark){:root:not([data-theme=light]){:where(.pic){--pic-fg:#eee}}}",
		"@media screen{:root[data-theme=dark]{:where(.pic){--pic-fg:#eee}}}", ":where(.pic text){fill:var(--pic-fg)}"} {
		if !strings.Contains(style, want) {
			t.Errorf("no %s in\n%s", want, style)
		}
	}
	if alone := files["pictures/stages.svg"]; !strings.Contains(alone, "<style>") || !strings.Contains(alone, `xmlns="http://www.w3.org/2000/svg"`) {
		t.Error(alone)
	}
}

func TestPicturesStayWellFormedXML(t *testing.T) {
	_, files := built(t, withPicture(plainPicture))
	d := xml.NewDecoder(strings.NewReader(files["pictures/stages.svg"]))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPictureWithAnythingInItThatRunsOrLoadsIsRefused(t *testing.T) {
	for name, inside := range map[string]string{
		"script":           `<script>alert(1)</script>`,
		"script of HTML":   `<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>`,
		"handler":          `<rect onload="alert(1)"/>`,
		"foreign object":   `<foreignObject><b/></foreignObject>`,
		"link":             `<a href="https://example.org"><rect/></a>`,
		"image":            `<image href="https://example.org/x.png"/>`,
		"use from outside": `<use href="https://example.org/x.svg#a"/>`,
		"old link":         `<use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="#a"/>`,
		"fill from web":    `<rect fill="url(https://example.org/#a)"/>`,
		"inline style":     `<rect style="fill:red"/>`,
		"import":           `<style>@import "x.css";</style>`,
		"url in style":     `<style>a{background:url(x)}</style>`,
		"hidden url":       `<style>a{background:u\72l(x)}</style>`,
		"animation":        `<animate attributeName="href"/>`,
		"id twice":         `<g id="a"/><g id="a"/>`,
		"id with space":    `<g id="a b"/>`,
		"lost reference":   `<use href="#nothing"/>`,
		"not closed":       `<g>`,
		"entity":           `&xxe;`,
	} {
		picture := `<svg xmlns="http://www.w3.org/2000/svg">` + inside + `</svg>`
		if _, err := Build(withPicture(picture)); err == nil || !strings.Contains(err.Error(), "stages.svg") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, picture := range map[string]string{
		"document type": `<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg xmlns="http://www.w3.org/2000/svg"></svg>`,
		"no picture":    `<html xmlns="http://www.w3.org/1999/xhtml"/>`,
		"two":           `<svg xmlns="http://www.w3.org/2000/svg"/><svg xmlns="http://www.w3.org/2000/svg"/>`,
		"empty":         ``,
	} {
		if _, err := Build(withPicture(picture)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestAPictureThatIsNotThereIsAnError(t *testing.T) {
	for _, name := range []string{"nothing", "../../etc/passwd"} {
		_, err := Build(source("# etcd\n\n```mermaid " + name + "\na\n```\n"))
		if err == nil || !strings.Contains(err.Error(), "render-etcd") || !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
	}
}
