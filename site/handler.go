package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Live is what a served site knows beyond its files. Every part may be left out.
type Live struct {
	// Rebuild gives a new site when its source has changed, and nil when not.
	Rebuild func() (*Site, error)
	// Report is told once of each error that Rebuild returns; the site before it
	// stays.
	Report func(error)
	// States tells how far the lab is, by the ids of pages.
	States func() map[string]State
	// Clock is a line that says what will end next; empty where nothing does.
	Clock func() string
	// Names are hosts that a browser may ask for, beside this machine's loopback
	// addresses. Addresses stands for any host that is an address and no name.
	Names     []string
	Addresses bool
}

// Handler serves a site from memory. Nothing that is asked for becomes a path
// on a disk.
type Handler struct {
	live Live
	hub  hub

	mu       sync.Mutex
	site     *Site
	built    int // how many sites there have been
	states   map[string]State
	clock    string
	reported string
}

// Handler serves the site. [Handler.Watch] keeps it up to date.
func (s *Site) Handler(live Live) *Handler {
	h := &Handler{live: live, site: s, hub: hub{closed: make(chan struct{})}}
	if live.States != nil {
		h.states = live.States()
	}
	if live.Clock != nil {
		h.clock = live.Clock()
	}
	return h
}

// Watch looks for changes until the context ends, and ends the streams to the
// browsers then.
func (h *Handler) Watch(ctx context.Context, every time.Duration) {
	defer h.hub.close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.look()
		}
	}
}

func (h *Handler) look() {
	if h.live.Rebuild != nil {
		site, err := h.live.Rebuild()
		h.report(err)
		if err == nil && site != nil {
			h.mu.Lock()
			h.site = site
			h.built++
			h.mu.Unlock()
			h.hub.tell(event{"reload", "{}"})
		}
	}
	h.lookAtStates()
	h.lookAtClock()
}

func (h *Handler) lookAtStates() {
	if h.live.States == nil {
		return
	}
	states := h.live.States()
	h.mu.Lock()
	changed := !maps.Equal(states, h.states)
	h.states = states
	site := h.site
	h.mu.Unlock()
	if changed {
		h.hub.tell(site.statesEvent(states))
	}
}

func (h *Handler) lookAtClock() {
	if h.live.Clock == nil {
		return
	}
	clock := h.live.Clock()
	h.mu.Lock()
	changed := clock != h.clock
	h.clock = clock
	h.mu.Unlock()
	if changed {
		h.hub.tell(clockEvent(clock))
	}
}

func (h *Handler) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if err != nil && text != h.reported && h.live.Report != nil {
		h.live.Report(err)
	}
	h.reported = text
}

// now is the site, and how it is shown at the moment.
func (h *Handler) now() (*Site, view) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.site, view{root: "/", live: true, built: h.built, states: h.states, clock: h.clock}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	switch {
	case !h.allowed(r.Host):
		http.Error(w, "this site answers to the addresses of this machine only, not to the name that was asked for", http.StatusMisdirectedRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "expected GET or HEAD", http.StatusMethodNotAllowed)
	case r.URL.Path == "/events":
		site, shown := h.now()
		first := []event{{"built", strconv.Itoa(shown.built)}, site.statesEvent(shown.states)}
		if h.live.Clock != nil {
			first = append(first, clockEvent(shown.clock))
		}
		h.hub.stream(w, r, first...)
	default:
		h.file(w, r)
	}
}

func setHeaders(header http.Header) {
	header.Set("Content-Security-Policy", policy("'self'")+"; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
}

// allowed refuses names that are not this machine's own: a page elsewhere could
// have its name resolved to a loopback address, and read what is served here.
func (h *Handler) allowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback() || h.live.Addresses
	}
	if host == "localhost" {
		return true
	}
	for _, name := range h.live.Names {
		if host == strings.ToLower(name) {
			return true
		}
	}
	return false
}

// file answers with a file of the site, or with the page that says there is
// none.
func (h *Handler) file(w http.ResponseWriter, r *http.Request) {
	site, shown := h.now()
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = indexID + ".html"
	}
	data, known := site.assets[name]
	status := http.StatusOK
	var err error
	switch {
	case known:
	case site.hasDocument(name):
		data, err = site.document(name, shown)
	case site.hasDocument(name + ".html"): // an address that is typed by hand
		name += ".html"
		data, err = site.document(name, shown)
	default:
		status, name = http.StatusNotFound, "404.html"
		data, err = site.document(name, shown)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, r, name, status, data)
}

func send(w http.ResponseWriter, r *http.Request, name string, status int, data []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType(name))
	if path.Ext(name) == ".svg" {
		// Looked at alone, a picture brings its own style and nothing else.
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	}
	if name == diagnosePage {
		header.Set("Content-Security-Policy", diagnosePolicy("'self'"+wasmAllowed, "'self'")+"; frame-ancestors 'none'")
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			w.Write(data)
		}
		return
	}
	sum := sha256.Sum256(data)
	tag := hex.EncodeToString(sum[:16])
	header.Set("Vary", "Accept-Encoding")
	if len(data) > smallest && takesGzip(r) {
		data, tag = zipped(data), tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// smallest is how many bytes are not worth to be made fewer.
const smallest = 1 << 10

// takesGzip says whether a browser reads what gzip writes. One that asks for a
// part of a file gets a part of the file.
func takesGzip(r *http.Request) bool {
	if r.Header.Get("Range") != "" {
		return false
	}
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" && strings.Trim(strings.TrimSpace(quality), "q=0.") != "" || name == "gzip" && quality == "" {
			return true
		}
	}
	return false
}

func zipped(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one that there is
	}
	w.Write(data) // a buffer takes everything
	w.Close()
	return b.Bytes()
}

// contentType does not depend on what this machine knows of file names.
func contentType(name string) string {
	types := map[string]string{
		".html": "text/html; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".js":   "text/javascript; charset=utf-8",
		".svg":  "image/svg+xml",
		".sh":   "text/plain; charset=utf-8",
		".jq":   "text/plain; charset=utf-8",
	}
	if known := types[path.Ext(name)]; known != "" {
		return known
	}
	return mime.FormatMediaType("application/octet-stream", nil)
}

// statesEvent tells the states of pages, and where the lab stands.
func (s *Site) statesEvent(states map[string]State) event {
	type place struct {
		*Here
		Href string `json:"href,omitempty"`
	}
	told := struct {
		Pages map[string]shownState `json:"pages"`
		Here  *place                `json:"here,omitempty"`
	}{Pages: map[string]shownState{}}
	for id, state := range states {
		told.Pages[id] = s.words.state(state)
	}
	if here := s.here(states); here != nil {
		told.Here = &place{Here: here}
		if here.Page != nil {
			told.Here.Href = here.Page.HTML()
		}
	}
	return event{"states", string(asScript(told))}
}

func clockEvent(text string) event {
	return event{"clock", string(asScript(text))}
}
