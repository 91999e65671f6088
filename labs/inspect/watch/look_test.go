package watch

import (
	"context"
	"sync"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
)

// look looks at all places once, all at the same time.
func look(ctx context.Context, hosts *host.Hosts, plan *labs.Plan) *Status {
	w := NewWatch(plan, hosts, nil)
	scene := w.Scene()
	for s := range w.all(ctx) {
		scene.Add(s)
	}
	return scene.Status(time.Now().UTC())
}

// all gives what each eye sees, as it comes.
func (w *Watch) all(ctx context.Context) <-chan *Sight {
	sights := make(chan *Sight)
	var wait sync.WaitGroup
	for _, eye := range w.Eyes() {
		wait.Add(1)
		go func() {
			defer wait.Done()
			sights <- eye.Look(ctx)
		}()
	}
	go func() {
		wait.Wait()
		close(sights)
	}()
	return sights
}
