package site

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"bootlab/test/podman"
)

// patience bounds one test with the browser.
const patience = 2 * time.Minute

// started is the one browser of this test process.
var started = sync.OnceValues(func() (context.Context, error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, fmt.Errorf("no chromium on this machine; ./setup test installs it")
	}
	// Chromium's own sandbox needs what containers and root often lack, and the
	// pages are ours.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	browser, _ := chromedp.NewContext(allocator, quiet)
	return browser, chromedp.Run(browser)
})

// quiet: a browser newer than the protocol's bindings sends what they do not
// know.
var quiet = chromedp.WithErrorf(func(string, ...any) {})

// stop ends the browser, if there is one.
func stop() {
	if browser, err := started(); err == nil {
		chromedp.Cancel(browser)
	}
}

// tab is a tab of the browser, and what went wrong in it.
type tab struct {
	ctx context.Context
	// Origin begins every address that a page may ask for.
	origin string

	mu       sync.Mutex
	problems []string
}

// screen is what a page is looked at with.
type screen struct {
	width, height int64
	scale         float64
	dark, still   bool
	noScripts     bool
}

func (s screen) String() string {
	name := fmt.Sprintf("%d px", s.width)
	for _, part := range []struct {
		is   bool
		name string
	}{{s.dark, "dark"}, {s.still, "reduced motion"}, {s.noScripts, "scripts off"}, {s.scale > 1, "zoomed"}} {
		if part.is {
			name += " " + part.name
		}
	}
	return name
}

var (
	phone   = screen{width: 375, height: 700}
	desktop = screen{width: 1440, height: 900}
	// zoomed is the desktop at 200 %: half as many pixels of CSS, each twice as
	// large.
	zoomed = screen{width: 720, height: 450, scale: 2}
)

// open makes a tab that notes errors and requests that leave the origin.
func open(t testing.TB, origin string, s screen) *tab {
	t.Helper()
	browser, err := started()
	if err != nil {
		podman.Unavailable(t, err.Error())
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	b := &tab{ctx: ctx, origin: origin}
	chromedp.ListenTarget(ctx, b.note)
	scheme, motion := "light", "no-preference"
	if s.dark {
		scheme = "dark"
	}
	if s.still {
		motion = "reduce"
	}
	b.run(t, network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetDeviceMetricsOverride(s.width, s.height, max(s.scale, 1), s.width < 600),
		emulation.SetScriptExecutionDisabled(s.noScripts),
		emulation.SetFocusEmulationEnabled(true), // else a tab behind another counts as hidden
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}}))
	return b
}

func (b *tab) note(event any) {
	problem := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.origin) && !ofThePage(url) {
			problem = "asks for " + url
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 && e.Type != network.ResourceTypeDocument {
			problem = fmt.Sprintf("%s answers %d", e.Response.URL, e.Response.Status)
		}
	case *network.EventLoadingFailed:
		if !e.Canceled {
			problem = "cannot load something: " + e.ErrorText
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			problem = "says " + e.Entry.Text
		}
	case *runtime.EventExceptionThrown:
		problem = "throws " + e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		problem = "writes to the console"
	}
	if problem != "" {
		b.mu.Lock()
		b.problems = append(b.problems, problem)
		b.mu.Unlock()
	}
}

// ofThePage says whether an address is of something that a page holds itself.
func ofThePage(url string) bool {
	return strings.HasPrefix(url, "blob:") || strings.HasPrefix(url, "data:")
}

func (b *tab) run(t testing.TB, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// visit opens a page of the origin.
func (b *tab) visit(t testing.TB, name string) {
	t.Helper()
	b.run(t, chromedp.Navigate(b.origin+name))
}

// value is what an expression gives in the page.
func value[T any](t testing.TB, b *tab, expression string) T {
	t.Helper()
	var out T
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, &out, awaiting)); err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return out
}

func awaiting(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// wait polls until an expression is true.
func (b *tab) wait(t testing.TB, expression string) {
	t.Helper()
	b.waitLong(t, 15*time.Second, expression)
}

// waitLong is wait for what takes longer than a page takes to change.
func (b *tab) waitLong(t testing.TB, most time.Duration, expression string) {
	t.Helper()
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var now bool
		// While a page is left there is nothing to evaluate in.
		if err := chromedp.Run(b.ctx, chromedp.Evaluate(expression, &now)); err == nil && now {
			return
		}
	}
	t.Fatalf("this did not come true: %s", expression)
}

// press sends keys to whatever has the focus.
func (b *tab) press(t testing.TB, keys string) {
	t.Helper()
	b.run(t, chromedp.KeyEvent(keys))
}

// fine reports what went wrong in the tab since the last look.
func (b *tab) fine(t *testing.T, what string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		t.Errorf("%s %s", what, p)
	}
	b.problems = nil
}

// quoted writes a value as JavaScript.
func quoted(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
