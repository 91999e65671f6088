package site

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ask gets a path under a host.
func ask(h http.Handler, method, host, path string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost/", nil)
	r.URL.Path, r.Host = path, host
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	var b strings.Builder
	if _, err := bufio.NewReader(r.Body).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheServerHasEveryFileAndNothingElse(t *testing.T) {
	s, files := built(t, source("# etcd\n"))
	h := s.Handler(Live{})
	for name := range files {
		if r := ask(h, "GET", "localhost", "/"+name); r.StatusCode != http.StatusOK || r.Header.Get("ETag") == "" {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	for _, path := range []string{"/guide.json", "/work/assets/tls/x.key", "/../guide.json", "/scripts/../../lab.yaml", "/scripts/", "//index.html",
		"/scripts/..%2f..%2fguide.json", `/..\guide.json`, "/index.html/", "/static/site.css", "/layout/page.html", "/make-pki/", "/map", "/guide"} {
		r := ask(h, "GET", "localhost", path)
		if text := body(t, r); r.StatusCode != http.StatusNotFound || !strings.Contains(text, `href="/index.html"`) {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

func TestEveryAnswerHasThePolicy(t *testing.T) {
	s, _ := built(t, source("# etcd\n"))
	h := s.Handler(Live{})
	for _, path := range []string{"/", "/site.js", "/none", "/scripts/make-pki.sh"} {
		header := ask(h, "GET", "localhost", path).Header
		got := header.Get("Content-Security-Policy")
		if !strings.Contains(got, "default-src 'none'") || strings.Contains(got, "unsafe") || !strings.Contains(got, "frame-ancestors 'none'") ||
			header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: %v", path, header)
		}
	}
	if kind := ask(h, "GET", "localhost", "/scripts/make-pki.sh").Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("a script is %s", kind)
	}
}

func TestOnlyNamesOfThisMachineAreAnswered(t *testing.T) {
	s, _ := built(t, source("# etcd\n"))
	closed, open := s.Handler(Live{}), s.Handler(Live{Names: []string{"lab.example"}, Addresses: true})
	for host, want := range map[string][2]bool{
		"localhost": {true, true}, "localhost:8080": {true, true}, "127.0.0.1:8080": {true, true}, "127.9.9.9": {true, true}, "[::1]:8080": {true, true},
		"LOCALHOST.": {true, true}, "attacker.example": {false, false}, "attacker.example:8080": {false, false}, "127.0.0.1.attacker.example": {false, false},
		"localhost.attacker.example": {false, false}, "192.0.2.1:8080": {false, true}, "lab.example:8080": {false, true}, "": {false, false}, "[::1": {true, true},
	} {
		for i, h := range []http.Handler{closed, open} {
			for _, path := range []string{"/", "/events-not", "/site.js"} {
				got := ask(h, "HEAD", host, path).StatusCode != http.StatusMisdirectedRequest
				if got != want[i] {
					t.Errorf("host %q, path %s, open %v: answered %v", host, path, i == 1, got)
				}
			}
		}
	}
}

func TestNothingCanBeSentToTheServer(t *testing.T) {
	s, _ := built(t, source("# etcd\n"))
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		if r := ask(s.Handler(Live{}), method, "localhost", "/"); r.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, r.Status)
		}
	}
}

func TestStatesStandInThePageWithoutScripts(t *testing.T) {
	s, files := built(t, source("# etcd\n"))
	h := s.Handler(Live{States: func() map[string]State { return map[string]State{"make-pki": Done, "render-etcd": Failed} }})
	page := body(t, ask(h, "GET", "localhost", "/render-etcd.html"))
	for _, want := range []string{`<span class="state done"><span aria-hidden="true">✓</span> done</span>`, `<span class="state failed"><span aria-hidden="true">✗</span> failed</span>`, `data-live="/events"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if strings.Contains(files["render-etcd.html"], "data-live") || strings.Contains(files["render-etcd.html"], `class="state`) {
		t.Error("the file for disks listens to a server")
	}
}

// listen reads events of a served site until the test ends.
func listen(t *testing.T, url string) chan string {
	t.Helper()
	r, err := http.Get(url + "/events")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(r.Body); scanner.Scan(); {
			if scanner.Text() != "" {
				lines <- scanner.Text()
			}
		}
	}()
	return lines
}

func expect(t *testing.T, lines chan string, want ...string) {
	t.Helper()
	for _, text := range want {
		select {
		case line, open := <-lines:
			if !open || !strings.Contains(line, text) {
				t.Fatalf("want %q, got %q, open %v", text, line, open)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no %q came", text)
		}
	}
}

func TestChangesAreToldAndShown(t *testing.T) {
	s, _ := built(t, source("# etcd\n\nOld.\n"))
	next, _ := built(t, source("# etcd\n\nNew.\n"))
	var step atomic.Int32
	var reports atomic.Int32
	h := s.Handler(Live{
		Rebuild: func() (*Site, error) {
			switch step.Load() {
			case 1:
				step.Store(2)
				return next, nil
			case 3:
				return nil, errors.New("half written")
			}
			return nil, nil
		},
		Report: func(error) { reports.Add(1) },
		States: func() map[string]State {
			if step.Load() >= 2 {
				return map[string]State{"make-pki": Running}
			}
			return map[string]State{"make-pki": NotBegun}
		},
	})
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, stop := context.WithCancel(context.Background())
	watched := make(chan bool)
	go func() { h.Watch(ctx, 5*time.Millisecond); close(watched) }()
	lines := listen(t, server.URL)
	expect(t, lines, "event: built", "data: 0", "event: states", "not begun")
	step.Store(1)
	expect(t, lines, "event: reload", "data:", "event: states", `{"pages":{"make-pki":{"icon":"▸","text":"running","class":"running"}}`)
	if page := body(t, ask(h, "GET", "localhost", "/render-etcd.html")); !strings.Contains(page, "New.") {
		t.Error("the old page is shown")
	}
	step.Store(3)
	for range 2000 {
		if reports.Load() > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if n := reports.Load(); n != 1 {
		t.Errorf("one error was reported %d times", n)
	}
	stop()
	<-watched
	for range lines { // ends with the watch
	}
}

func TestStreamsAreBounded(t *testing.T) {
	var h hub
	for range mostStreams {
		if h.join() == nil {
			t.Fatal("refused too early")
		}
	}
	if h.join() != nil {
		t.Error("there is no end")
	}
}

func TestAPageThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	var h hub
	stream := h.join()
	for range 100 {
		h.tell(event{"states", "{}"})
	}
	for range stream { // closed, after what fitted in
	}
	h.leave(stream)
}

func TestTheClockStandsInLivePages(t *testing.T) {
	s, files := built(t, source("# etcd\n"))
	var later atomic.Bool
	h := s.Handler(Live{Clock: func() string {
		if later.Load() {
			return ""
		}
		return "certificates: <a> ends"
	}})
	server := httptest.NewServer(h)
	defer server.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go h.Watch(ctx, 5*time.Millisecond)
	if page := body(t, ask(h, "GET", "localhost", "/render-etcd.html")); !strings.Contains(page, `<p id="Clock">certificates: &lt;a&gt; ends</p>`) {
		t.Errorf("no clock in\n%s", page)
	}
	lines := listen(t, server.URL)
	expect(t, lines, "event: built", "data: 0", "event: states", `{"pages":{}}`, "event: clock", `"certificates: \u003ca\u003e ends"`)
	later.Store(true)
	expect(t, lines, "event: clock", `""`)
	if page := body(t, ask(h, "GET", "localhost", "/render-etcd.html")); !strings.Contains(page, `<p id="Clock" hidden></p>`) {
		t.Errorf("no hidden clock in\n%s", page)
	}
	if strings.Contains(files["render-etcd.html"], `id="Clock"`) {
		t.Error("the file for disks has a clock")
	}
}

// coded gets a page from a browser that accepts these codings.
func coded(h http.Handler, accept string) *http.Response {
	r := httptest.NewRequest("GET", "http://localhost/render-etcd", nil)
	r.Header.Set("Accept-Encoding", accept)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestPagesAreSentShorterToWhoCanReadThem(t *testing.T) {
	s, files := built(t, source("# etcd\n\nText.\n"))
	h := s.Handler(Live{})
	plain := coded(h, "")
	text := body(t, plain)
	for accept, want := range map[string]string{"gzip": "gzip", "br, gzip;q=0.5": "gzip", "gzip;q=0": "", "gzip;q=0.0": "", "br": "", "": ""} {
		got := coded(h, accept)
		if got.Header.Get("Content-Encoding") != want || got.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", accept, got.Header)
		}
		if want == "" {
			continue
		}
		if got.Header.Get("ETag") == plain.Header.Get("ETag") {
			t.Error("two forms have one tag")
		}
		unzipped, err := gzip.NewReader(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := io.ReadAll(unzipped); err != nil || string(again) != text {
			t.Errorf("%q: it is not the same page: %v", accept, err)
		}
	}
	if len(files) == 0 || len(text) < smallest {
		t.Error("the page is too short to tell")
	}
}

func TestAnAddressNeedsNoEnding(t *testing.T) {
	s, _ := built(t, source("# etcd\n"))
	h := s.Handler(Live{})
	for _, path := range []string{"/render-etcd", "/index", "/all", "/pages"} {
		if r := ask(h, "GET", "localhost", path); r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}

func TestTheFirstPageSaysWhereTheLabIs(t *testing.T) {
	s, files := built(t, source("# etcd\n"))
	for _, c := range []struct {
		name   string
		states map[string]State
		want   []string
	}{
		{"nothing has run", map[string]State{"make-pki": NotBegun, "render-etcd": NotBegun}, []string{"No stage of this lab has run yet.", `<a href="/make-pki.html">Begin: make-pki</a>`}},
		{"one is done", map[string]State{"make-pki": Done, "render-etcd": NotBegun}, []string{"1 of 2 stages of this lab are done.", `<a href="/render-etcd.html">Next: render-etcd</a>`}},
		{"one runs", map[string]State{"make-pki": Done, "render-etcd": Running}, []string{`<a href="/render-etcd.html">Running now: render-etcd</a>`}},
		{"one failed", map[string]State{"make-pki": Failed, "render-etcd": NotBegun}, []string{"0 of 2", `<a href="/make-pki.html">Failed: make-pki</a>`}},
		{"all are done", map[string]State{"make-pki": Done, "render-etcd": Done}, []string{"All 2 stages of this lab are done."}},
	} {
		h := s.Handler(Live{States: func() map[string]State { return c.states }})
		page := body(t, ask(h, "GET", "localhost", "/"))
		_, box, _ := strings.Cut(page, `<div id="Here"`)
		box, _, _ = strings.Cut(box, "</div>")
		for _, want := range c.want {
			if !strings.Contains(box, want) {
				t.Errorf("%s: no %s in %s", c.name, want, box)
			}
		}
		if strings.Count(box, "<a ") > 1 || strings.Contains(body(t, ask(h, "GET", "localhost", "/make-pki")), `id="Here"`) {
			t.Errorf("%s: more than one button, or on another page", c.name)
		}
	}
	if strings.Contains(files["index.html"], `id="Here"`) {
		t.Error("the file for disks knows a lab that runs")
	}
}
