package site

import (
	"fmt"
	"io"
	"net/http"
	"sync"
)

// event is a message to the pages that are open.
type event struct{ name, data string }

func (e event) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, e.data)
	return err
}

// mostStreams bounds how many pages may listen at once.
const mostStreams = 64

// hub hands events to every open page.
type hub struct {
	mu      sync.Mutex
	streams map[chan event]bool
	closed  chan struct{}
	once    sync.Once
}

func (h *hub) close() { h.once.Do(func() { close(h.closed) }) }

func (h *hub) join() chan event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.streams) >= mostStreams {
		return nil
	}
	if h.streams == nil {
		h.streams = map[chan event]bool{}
	}
	stream := make(chan event, 8)
	h.streams[stream] = true
	return stream
}

func (h *hub) leave(stream chan event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, stream)
}

// tell never waits: a page that does not read loses events, and gets the states
// whole when it asks again.
func (h *hub) tell(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for stream := range h.streams {
		select {
		case stream <- e:
		default:
			delete(h.streams, stream)
			close(stream)
		}
	}
}

// stream sends events, beginning with the first ones, until the page is left or
// the server ends.
func (h *hub) stream(w http.ResponseWriter, r *http.Request, first ...event) {
	flusher, ok := w.(http.Flusher)
	stream := h.join()
	if !ok || stream == nil {
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer h.leave(stream)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, e := range first {
		if e.write(w) != nil {
			return
		}
	}
	for {
		flusher.Flush()
		select {
		case e, open := <-stream:
			if !open || e.write(w) != nil {
				return
			}
		case <-r.Context().Done():
			return
		case <-h.closed:
			return
		}
	}
}
