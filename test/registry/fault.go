package registry

import (
	"net/http"
	"time"
)

// Fault is a way in which a registry misbehaves. The zero value does nothing.
type Fault struct {
	// Kind limits the fault to "manifests" or "blobs"; empty is both.
	Kind string
	// Times ends the fault after so many requests; 0 is never.
	Times int
	// Delay passes before the answer begins.
	Delay time.Duration
	// Status replaces the answer, if it is not 0.
	Status int
	// BytesPerSecond slows the answer down, if it is not 0.
	BytesPerSecond int
	// CutAfter breaks the connection after so many bytes, if it is not 0.
	CutAfter int
}

// breakage is a running fault.
type breakage struct {
	Fault
	served int
	ended  chan struct{}
}

// Break puts a fault on a repository, in place of one that it has.
func (r *Registry) Break(repository string, fault Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endFault(repository)
	r.faults[repository] = &breakage{Fault: fault, ended: make(chan struct{})}
}

// Fix removes all faults; answers that they hold back go on at once.
func (r *Registry) Fix() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for repository := range r.faults {
		r.endFault(repository)
	}
}

// endFault needs the lock.
func (r *Registry) endFault(repository string) {
	if f := r.faults[repository]; f != nil {
		close(f.ended)
		delete(r.faults, repository)
	}
}

// faultFor gives the fault that hits a request now, and counts it.
func (r *Registry) faultFor(repository, kind string) *breakage {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.faults[repository]
	if f == nil || kind == "" || f.Kind != "" && f.Kind != kind || f.Times > 0 && f.served >= f.Times {
		return nil
	}
	f.served++
	r.refusals[repository]++
	return f
}

func (f *breakage) serve(w http.ResponseWriter, req *http.Request, store http.Handler) {
	f.pause(req, f.Delay)
	if f.Status != 0 {
		http.Error(w, http.StatusText(f.Status), f.Status)
		return
	}
	if f.BytesPerSecond > 0 || f.CutAfter > 0 {
		w = &hindered{ResponseWriter: w, fault: f, req: req}
	}
	store.ServeHTTP(w, req)
}

// pause ends early with the fault or the client.
func (f *breakage) pause(req *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-f.ended:
	case <-req.Context().Done():
	}
}

// hindered is an answer that trickles or breaks off.
type hindered struct {
	http.ResponseWriter
	fault *breakage
	req   *http.Request
	sent  int
}

func (h *hindered) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) {
		piece := data[written:]
		if per := h.fault.BytesPerSecond / 10; per > 0 && len(piece) > per {
			piece = piece[:per]
		}
		if cut := h.fault.CutAfter; cut > 0 && h.sent+len(piece) > cut {
			panic(http.ErrAbortHandler)
		}
		n, err := h.ResponseWriter.Write(piece)
		written += n
		h.sent += n
		if err != nil {
			return written, err
		}
		if h.fault.BytesPerSecond > 0 {
			h.flush()
			h.fault.pause(h.req, 100*time.Millisecond)
		}
	}
	return written, h.req.Context().Err()
}

func (h *hindered) flush() {
	if f, ok := h.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
