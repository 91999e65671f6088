package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/site"
)

// pages are of every kind: all of the sample, and of the default lab its
// first, a usual and its largest.
var pages = map[string][]string{
	"sample":  {"index.html", "chapter.html", "render-one.html", "render-two.html", "stage-lib.html", "all.html", "404.html"},
	"shipped": {"index.html", "render-etcd.html", "make-manifests.html", "lib-stage.html"},
}

func guides(t *testing.T) map[string]*site.Site {
	return map[string]*site.Site{"sample": build(t, sample()), "shipped": build(t, shipped(t))}
}

// origins are where the pages of a site come from.
func origins(t *testing.T, s *site.Site) map[string]string {
	served, _ := fromServer(t, s, site.Live{})
	return map[string]string{"disk": "file://" + onDisk(t, s) + "/", "server": served}
}

// everyPage visits every kind of page, from a disk and from the server.
func everyPage(t *testing.T, screens []screen, look func(t *testing.T, b *tab, name string)) {
	for guide, s := range guides(t) {
		for from, origin := range origins(t, s) {
			for _, seen := range screens {
				t.Run(guide+" from "+from+", "+seen.String(), func(t *testing.T) {
					b := open(t, origin, seen)
					for _, name := range pages[guide] {
						b.visit(t, name)
						look(t, b, name)
						b.fine(t, name)
					}
				})
			}
		}
	}
}

func darkToo(screens ...screen) []screen {
	var out []screen
	for _, s := range screens {
		dark := s
		dark.dark = true
		out = append(out, s, dark)
	}
	return out
}

// sideways names what reaches over the right edge without a box of its own to
// scroll in.
const sideways = `(() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide <= 0) return '';
  const out = [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1
    && !e.closest('pre, .table, .scroll'));
  return wide + ' px, ' + out.slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join(' | ');
})()`

func TestPagesLoadNothingElseAndNeverScrollSideways(t *testing.T) {
	everyPage(t, darkToo(phone, desktop, zoomed), func(t *testing.T, b *tab, name string) {
		if over := value[string](t, b, sideways); over != "" {
			t.Errorf("%s is too wide: %s", name, over)
		}
	})
}

func TestDarkAndLightDiffer(t *testing.T) {
	colours := map[string]bool{}
	for _, s := range darkToo(desktop) {
		origin, _ := fromServer(t, build(t, sample()), site.Live{})
		b := open(t, origin, s)
		b.visit(t, "index.html")
		colours[value[string](t, b, `getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.querySelector('.pic rect')).fill`)] = true
	}
	if len(colours) != 2 {
		t.Errorf("light and dark give %v", colours)
	}
}

func TestTheSwitchOfColoursHoldsOnTheNextPage(t *testing.T) {
	for from, origin := range origins(t, build(t, sample())) {
		t.Run(from, func(t *testing.T) {
			b := open(t, origin, desktop)
			b.visit(t, "index.html")
			const look = `getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.querySelector('.pic rect')?.ownerSVGElement || document.body).getPropertyValue('--pic-fg')`
			before := value[string](t, b, look)
			b.run(t, focus("#Theme"))
			b.press(t, "\r")
			after := value[string](t, b, look)
			if before == after || value[string](t, b, `document.getElementById('Theme').getAttribute('aria-label')`) != "Switch to light colours" {
				t.Errorf("before %s, after %s", before, after)
			}
			b.visit(t, "index.html")
			if again := value[string](t, b, look); again != after {
				t.Errorf("the next page has %s, not %s", again, after)
			}
			value[int](t, b, `(localStorage.clear(), 0)`)
			b.fine(t, from)
		})
	}
}

func TestNothingMovesForWhoAskedForStillness(t *testing.T) {
	still := desktop
	still.still = true
	everyPage(t, []screen{still}, func(t *testing.T, b *tab, name string) {
		moving := value[[]string](t, b, `[...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e);
			return s.animationName !== 'none' || s.transitionDuration !== '0s' || s.scrollBehavior === 'smooth'; }).map((e) => e.tagName)`)
		if len(moving) > 0 {
			t.Errorf("%s: these move: %v", name, moving)
		}
	})
}

func TestEverythingIsReadWithScriptsOff(t *testing.T) {
	off := desktop
	off.noScripts = true
	everyPage(t, []screen{off}, func(t *testing.T, b *tab, name string) {
		got := value[[]bool](t, b, `[document.querySelector('main h1').getClientRects().length > 0,
			document.querySelectorAll('#Map a').length > 4,
			[...document.querySelectorAll('.scripted')].every((e) => e.getClientRects().length === 0),
			document.querySelectorAll('.copy').length === 0]`)
		for i, what := range []string{"title", "map of all pages", "hidden search", "no copy button"} {
			if !got[i] {
				t.Errorf("%s: %s is missing", name, what)
			}
		}
	})
	origin, _ := fromServer(t, build(t, sample()), site.Live{States: func() map[string]site.State { return map[string]site.State{"render-one": site.Done} }})
	b := open(t, origin, off)
	b.visit(t, "render-one.html")
	if text := value[string](t, b, `document.querySelector('#Map [href$="render-one.html"]').textContent`); !strings.Contains(text, "done") {
		t.Errorf("the map says %q", text)
	}
	b.fine(t, "render-one.html")
}

// The columns of a script stand side by side on a wide screen and below each
// other on a phone; a row begins at one height.
func TestProseAndCodeOfAScriptStandTogether(t *testing.T) {
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	const rows = `[...document.querySelectorAll('.columns > .prose')].map((p) => {
		const a = p.getBoundingClientRect(), b = p.nextElementSibling.getBoundingClientRect();
		return [a.left, a.top, a.right, a.bottom, b.left, b.top];
	})`
	b := open(t, origin, desktop)
	b.visit(t, "render-one.html")
	wide := value[[][]float64](t, b, rows)
	if len(wide) != 2 || wide[1][1] < wide[0][3] {
		t.Errorf("rows at %v", wide)
	}
	for _, r := range wide {
		if r[4] < r[2] || r[1] != r[5] {
			t.Errorf("wide: prose and code are at %v", r)
		}
	}
	b = open(t, origin, phone)
	b.visit(t, "render-one.html")
	for _, r := range value[[][]float64](t, b, rows) {
		if r[5] < r[3] || r[0] != r[4] {
			t.Errorf("narrow: prose and code are at %v", r)
		}
	}
}

func TestThePageForPaperHasNoNavigationAndOpensAnswers(t *testing.T) {
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	b := open(t, origin, desktop)
	b.run(t, forPaper)
	b.visit(t, "index.html")
	got := value[[]bool](t, b, `[document.querySelector('#Map').getClientRects().length === 0, document.querySelector('.top').getClientRects().length === 0,
		document.querySelector('details p').getBoundingClientRect().height > 0]`)
	for i, what := range []string{"the map is left out", "the head is left out", "answers are open"} {
		if !got[i] {
			t.Errorf("not so: %s", what)
		}
	}
}

func TestFilesOnDiskAreWhatTheServerGives(t *testing.T) {
	s := build(t, sample())
	dir := onDisk(t, s)
	if _, err := os.Stat(filepath.Join(dir, "scripts", "render-one.sh")); err != nil {
		t.Error(err)
	}
	origin, _ := fromServer(t, s, site.Live{})
	b := open(t, origin, desktop)
	b.visit(t, "index.html")
	for _, name := range []string{"site.css", "site.js", "search-index.js", "scripts/render-one.sh", "pictures/stages.svg"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := value[string](t, b, `fetch('/`+name+`').then((r) => r.text())`); got != string(data) {
			t.Errorf("%s differs", name)
		}
	}
}
