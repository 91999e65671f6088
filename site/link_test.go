package site

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLinksLeadToPagesScriptsAndPictures(t *testing.T) {
	src := source("# etcd\n\n## 启动\n\n[a](make-pki.md) [b](make-pki.md#checks) [c](../scripts/make-pki.sh) [d](../README.md) [e](#启动)\n" +
		"[f](pictures/stages.svg) [g](https://example.org/?a=1&b=2#c) <https://example.org/h>\n")
	src["guide/pictures/stages.svg"] = &fstest.MapFile{Data: []byte(plainPicture)}
	_, files := built(t, src)
	page := files["render-etcd.html"]
	for _, want := range []string{`"make-pki.html"`, `"make-pki.html#checks"`, `"scripts/make-pki.sh"`, `"index.html"`,
		`"#%E5%90%AF%E5%8A%A8"`, `"pictures/stages.svg"`, `"https://example.org/?a=1&amp;b=2#c" rel="noreferrer"`, `"https://example.org/h" rel="noreferrer"`} {
		if !strings.Contains(page, "<a href="+want) {
			t.Errorf("no link to %s", want)
		}
	}
	for _, want := range []string{`"#make-pki"`, `"#make-pki--checks"`, `"#render-etcd--%E5%90%AF%E5%8A%A8"`} {
		if !strings.Contains(files["all.html"], "<a href="+want) {
			t.Errorf("all.html has no link to %s", want)
		}
	}
}

func TestALinkThatLeadsNowhereIsAnErrorThatNamesPageAndLink(t *testing.T) {
	for _, link := range []string{
		"javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "http://example.org/", "mailto:a@b",
		"//example.org/x", "/etc/passwd", "../../../etc/passwd", "../work/assets/tls/x.key", "other.md", "make-pki.md#nothing", "#nothing",
		"make-pki.md?x=1", "../scripts/none.sh", "../scripts/../work/assets/tls/x.key", "pictures/none.svg", "../site.css", "https:opaque", "%zz",
	} {
		_, err := Build(source("# etcd\n\n[x](<" + link + ">)\n"))
		if err == nil || !strings.Contains(err.Error(), "render-etcd") || !strings.Contains(err.Error(), link) {
			t.Errorf("%s: %v", link, err)
		}
	}
}

func TestAddressesInTextAreNoLinks(t *testing.T) {
	got := content(t, "# etcd\n\nAsk http://localhost:8080 or www.example.org, <javascript:alert(1)>, <http://example.org> or <me@example.org>.\n")
	if strings.Contains(got, "<a href=\"j") || strings.Contains(got, "<a href=\"http") || strings.Contains(got, "mailto") {
		t.Error(got)
	}
}

func TestAllBrokenLinksAreReportedAtOnce(t *testing.T) {
	src := source("# etcd\n\n[x](one.md)\n")
	src["guide/make-pki.md"].Data = []byte("# pki\n\n[x](two.md)\n")
	_, err := Build(src)
	if err == nil || !strings.Contains(err.Error(), "one.md") || !strings.Contains(err.Error(), "two.md") {
		t.Error(err)
	}
}

func TestImagesAreRefused(t *testing.T) {
	if _, err := Build(source("# etcd\n\n![x](https://example.org/x.png)\n")); err == nil || !strings.Contains(err.Error(), "x.png") {
		t.Error(err)
	}
}
