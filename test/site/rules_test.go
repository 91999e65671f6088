package site

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	cases "bootlab/labs/sample"
	"bootlab/site"
	"bootlab/test/checkout"
	"bootlab/test/podman"
)

// axe is the text of axe-core, which setup fetched.
func axe(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(checkout.Root(), ".cache", "axe-core", "axe.min.js"))
	if err != nil {
		podman.Unavailable(t, "no axe-core in this checkout; ./setup test fetches it")
	}
	return string(data)
}

// violations runs all rules of axe-core and names what breaks one.
const violations = `axe.run({resultTypes: ['violations']}).then((r) => r.violations.map((v) =>
	v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 150)).join(' | ')))`

func TestNoRuleOfAccessibilityIsBroken(t *testing.T) {
	text := axe(t)
	for guide, s := range guides(t) {
		origin, _ := fromServer(t, s, site.Live{States: func() map[string]site.State {
			return map[string]site.State{"render-one": site.Running, "render-etcd": site.Done}
		}})
		for _, seen := range darkToo(phone, desktop) {
			t.Run(guide+", "+seen.String(), func(t *testing.T) {
				b := open(t, origin, seen)
				for _, name := range pages[guide] {
					b.visit(t, name)
					value[[]int](t, b, `(document.querySelectorAll('details').forEach((d) => { d.open = true; }), [])`)
					b.run(t, chromedp.Evaluate(text, nil))
					for _, v := range value[[]string](t, b, violations) {
						t.Errorf("%s: %s", name, v)
					}
				}
			})
		}
	}
}

// Every page in the complete run, a sample and all.html otherwise: a page takes
// about a second. What colours can break is the same on
// all pages of a kind, and takes most of the time: the test above looks at it.
// all.html has what the pages have, but other ids and levels of headings: on so
// many nodes only the rules run that look at these. The frame is the same on
// all pages too, and is taken away.
func TestNoPageBreaksARule(t *testing.T) {
	text := axe(t)
	const withoutColours = `axe.run({resultTypes: ['violations'], preload: false, ...(location.pathname.endsWith('/all.html')
	? {runOnly: ['heading-order', 'empty-heading', 'empty-table-header', 'page-has-heading-one', 'duplicate-id-aria', 'link-name', 'html-has-lang', 'valid-lang']}
	: {rules: {'color-contrast': {enabled: false}}})}).then((r) => r.violations.map((v) =>
	v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 150)).join(' | ')))`
	s := build(t, shipped(t))
	origin, _ := fromServer(t, s, site.Live{})
	names := slices.DeleteFunc(s.Names(), func(name string) bool { return !strings.HasSuffix(name, ".html") || name == "all.html" })
	chosen := cases.Of(t, 15, names)
	if len(chosen) < 15 {
		t.Errorf("%d pages are looked at", len(chosen))
	}
	// A tab has only so much patience, and all.html takes most of it. Each is closed
	// before the next: every one that is open holds a connection to the server, and
	// a browser has six.
	for _, group := range slices.Insert(slices.Collect(slices.Chunk(chosen, 8)), 0, []string{"all.html"}) {
		t.Run(group[0], func(t *testing.T) {
			b := open(t, origin, desktop)
			b.run(t, chromedp.ActionFunc(func(ctx context.Context) error {
				_, err := page.AddScriptToEvaluateOnNewDocument(text).Do(ctx)
				return err
			}))
			for _, name := range group {
				b.visit(t, name)
				value[[]int](t, b, `(document.querySelectorAll('details').forEach((d) => { d.open = true; }), [])`)
				value[[]int](t, b, `(document.querySelectorAll('.top, #Map, footer').forEach((e) => e.remove()), [])`)
				for _, v := range value[[]string](t, b, withoutColours) {
					t.Errorf("%s: %s", name, v)
				}
			}
		})
	}
}

func TestTheSearchBreaksNoRuleWhileItIsOpen(t *testing.T) {
	text := axe(t)
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	b := open(t, origin, desktop)
	b.visit(t, "index.html")
	b.press(t, "/")
	ask(t, b, "script")
	b.run(t, chromedp.Evaluate(text, nil))
	for _, v := range value[[]string](t, b, violations) {
		t.Error(v)
	}
}

// A page that breaks rules is told from one that does not.
func TestTheRulesCanBeBroken(t *testing.T) {
	text := axe(t)
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	b := open(t, origin, desktop)
	b.visit(t, "index.html")
	b.run(t, chromedp.Evaluate(text, nil), chromedp.Evaluate(`document.querySelector('main p').style.color = '#ddd'`, nil))
	if found := value[[]string](t, b, violations); len(found) == 0 {
		t.Error("grey on white passes")
	}
}

// notKnown is what tidy says of an attribute that is younger than it, and of
// the title of a picture, which it takes for the title of a page.
var notKnown = []string{`proprietary attribute "aria-current"`, `<title> proprietary attribute "id"`}

func TestEveryPageIsValidHTML(t *testing.T) {
	if _, err := exec.LookPath("tidy"); err != nil {
		podman.Unavailable(t, "no tidy on this machine; ./setup test installs it")
	}
	for _, s := range guides(t) {
		pages, err := filepath.Glob(filepath.Join(onDisk(t, s), "*.html"))
		if err != nil || len(pages) < 5 {
			t.Fatal(pages, err)
		}
		for _, name := range pages {
			for _, complaint := range complaints(t, name) {
				t.Errorf("%s: %s", filepath.Base(name), complaint)
			}
		}
	}
	broken := filepath.Join(t.TempDir(), "broken.html")
	if err := os.WriteFile(broken, []byte("<!doctype html><title>x</title><p><div></p>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if len(complaints(t, broken)) == 0 {
		t.Error("tidy finds nothing wrong with what is wrong")
	}
}

func complaints(t *testing.T, name string) []string {
	t.Helper()
	var errs bytes.Buffer
	tidy := exec.Command("tidy", "-errors", "-quiet", name)
	tidy.Stderr = &errs
	_ = tidy.Run() // its status says no more than its words
	var out []string
	for lines := bufio.NewScanner(&errs); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		counts := !slices.ContainsFunc(notKnown, func(text string) bool { return strings.Contains(line, text) })
		if line != "" && counts {
			out = append(out, line)
		}
	}
	return out
}
