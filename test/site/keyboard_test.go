package site

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"bootlab/site"
)

func focus(selector string) chromedp.Action { return chromedp.Focus(selector, chromedp.ByQuery) }

var forPaper = chromedp.ActionFunc(func(ctx context.Context) error {
	return emulation.SetEmulatedMedia().WithMedia("print").Do(ctx)
})

// results are the titles that a search shows.
const results = `[...document.querySelectorAll('#Results [role=option]')].map((o) => o.textContent)`

// ask types a question and waits for the answer.
func ask(t *testing.T, b *tab, question string) []string {
	t.Helper()
	b.run(t, chromedp.Evaluate(`document.getElementById('Search').value = ''; document.getElementById('Found').textContent = ''`, nil))
	b.press(t, question)
	b.wait(t, `document.getElementById('Found').textContent !== ''`)
	time.Sleep(50 * time.Millisecond) // the answer to the last letter
	return value[[]string](t, b, results)
}

func TestSearchByKeyboard(t *testing.T) {
	for from, origin := range origins(t, build(t, sample())) {
		t.Run(from, func(t *testing.T) {
			b := open(t, origin, desktop)
			b.visit(t, "index.html")
			b.press(t, "/")
			b.wait(t, `document.activeElement.id === 'Search'`)
			for question, want := range map[string]string{
				"verif":          "Verification",
				"longer expl":    "The script",
				"SCRIPT":         "The script",
				"临时":             "临时控制平面",
				"集群":             "临时控制平面",
				"render-two":     "render-two",
				"library script": "",
				"at a prompt":    "At a prompt",
				"one script":     "The script",
				"nothingatall":   "",
				"etcd 引导":        "启动",
				"/ verification": "Verification",
			} {
				got := ask(t, b, question)
				if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || !strings.Contains(got[0], want)) {
					t.Errorf("%q finds %q, want %q first", question, got, want)
				}
			}
			if said := value[string](t, b, `document.getElementById('Found').textContent`); said == "" {
				t.Error("how much was found is not said")
			}
			ask(t, b, "verification")
			b.press(t, kb.ArrowDown)
			b.wait(t, `document.getElementById(document.getElementById('Search').getAttribute('aria-activedescendant')).getAttribute('aria-selected') === 'true'`)
			b.press(t, kb.Escape)
			b.wait(t, `document.getElementById('Results').hidden && document.activeElement.id !== 'Search'`)
			b.press(t, "/")
			ask(t, b, "verification")
			b.press(t, kb.ArrowDown+kb.ArrowUp+kb.ArrowDown)
			b.press(t, kb.Enter)
			b.wait(t, `location.pathname.endsWith('/render-one.html') && location.hash === '#verification'`)
			b.fine(t, from)
		})
	}
}

func TestAllOfTheDefaultLabIsFound(t *testing.T) {
	origin, _ := fromServer(t, build(t, shipped(t)), site.Live{})
	b := open(t, origin, desktop)
	b.visit(t, "make-pki.html")
	b.press(t, "/")
	for question, want := range map[string]string{"render-etcd": "render-etcd", "machine config": "machine", "render-kcm flags": "render-kcm"} {
		if got := ask(t, b, question); len(got) == 0 || !strings.Contains(strings.ToLower(got[0]), want) {
			t.Errorf("%q finds %q", question, got)
		}
	}
	b.fine(t, "search")
}

func TestCopyByKeyboardTakesCommandsOnly(t *testing.T) {
	// A page on a disk may not ask for the clipboard's text, so what it writes is
	// read by a page of the server.
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	b := open(t, origin, desktop)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		b.run(t, browser.SetPermission(&browser.PermissionDescriptor{Name: name, AllowWithoutSanitization: true}, browser.PermissionSettingGranted))
	}
	b.visit(t, "index.html")
	for i, want := range []string{
		"openssl x509 -noout -subject \\\n    -in tls/root-ca.crt\necho \"done\"\n",
		"if [[ -n \"${NAME}\" ]]; then\n  printf '%s\\n' \"${NAME}\" --flag\nfi\n",
	} {
		b.run(t, chromedp.Evaluate(`document.querySelectorAll('.copy')[`+string(rune('0'+i))+`].focus()`, nil))
		b.press(t, kb.Enter)
		b.wait(t, `document.activeElement.textContent === 'Copied' && document.getElementById('Said').textContent === 'Copied'`)
		if got := value[string](t, b, `navigator.clipboard.readText()`); got != want {
			t.Errorf("copied %q, want %q", got, want)
		}
	}
	if n := value[int](t, b, `document.querySelectorAll('.copy').length`); n != 2 {
		t.Errorf("%d blocks can be copied, want the two with commands", n)
	}
	b.fine(t, "copying")
}

func TestTheKeyboardSkipsToTheContent(t *testing.T) {
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	b := open(t, origin, desktop)
	b.visit(t, "render-one.html")
	b.press(t, kb.Tab)
	b.wait(t, `document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().top >= 0`)
	b.press(t, kb.Enter)
	b.wait(t, `document.activeElement.id === 'Content'`)
}

func TestOpenPagesFollowTheLab(t *testing.T) {
	states := make(chan map[string]site.State, 1)
	states <- map[string]site.State{"render-one": site.NotBegun}
	now := map[string]site.State{}
	next := make(chan *site.Site, 1)
	origin, handler := fromServer(t, build(t, sample()), site.Live{
		States: func() map[string]site.State {
			select {
			case now = <-states:
			default:
			}
			return now
		},
		Rebuild: func() (*site.Site, error) {
			select {
			case s := <-next:
				return s, nil
			default:
				return nil, nil
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go handler.Watch(ctx, 20*time.Millisecond)
	b := open(t, origin, desktop)
	b.visit(t, "render-one.html")
	here := func(text string) string {
		return `document.querySelector('#Map [aria-current]').textContent.includes('` + text + `') && document.querySelector('.about').textContent.includes('` + text + `')`
	}
	b.wait(t, here("not begun"))
	states <- map[string]site.State{"render-one": site.Running}
	b.wait(t, here("running"))
	states <- map[string]site.State{"render-one": site.Failed, "render-two": site.Done}
	b.wait(t, here("failed")+` && document.querySelector('#Map [data-page=render-two] .state').textContent.includes('done')`)
	b.run(t, chromedp.Evaluate(`window.old = true`, nil))
	next <- build(t, sample())
	b.wait(t, `window.old === undefined && document.readyState === 'complete'`)
	// Nobody sees the page: it listens to nothing, and catches up when it is seen.
	hide := func(hidden string) {
		b.run(t, chromedp.Evaluate(`Object.defineProperty(document, 'hidden', {value: `+hidden+`, configurable: true}); document.dispatchEvent(new Event('visibilitychange'))`, nil))
	}
	b.wait(t, here("failed"))
	b.run(t, chromedp.Evaluate(`window.old = true`, nil))
	hide("true")
	states <- map[string]site.State{"render-one": site.Done}
	next <- build(t, sample())
	for len(next) > 0 || len(states) > 0 {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	if !value[bool](t, b, `window.old === true && `+here("failed")) {
		t.Error("a page that nobody sees is told of changes")
	}
	hide("false")
	b.wait(t, `window.old === undefined && document.readyState === 'complete'`)
	b.wait(t, here("done"))
	b.fine(t, "following")
}

// A browser has six connections for one server.
func TestMorePagesCanBeOpenThanABrowserHasConnections(t *testing.T) {
	origin, _ := fromServer(t, build(t, sample()), site.Live{})
	for range 8 {
		b := open(t, origin, desktop)
		b.visit(t, "render-one.html")
		b.run(t, chromedp.Evaluate(`Object.defineProperty(document, 'hidden', {value: true}); document.dispatchEvent(new Event('visibilitychange'))`, nil))
	}
}
