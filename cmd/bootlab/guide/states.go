package guide

import (
	"os"
	"path/filepath"

	"bootlab/labs/inspect/record"
	"bootlab/labs/inspect/watch"
	"bootlab/site"
)

// labStates tells how far the local run in a guide's directory is. It reads
// what the scripts leave and never fails: what cannot be read counts as not
// there.
func labStates(dir string, pages []site.Page) map[string]site.State {
	bootkube := bootkubeRecord(filepath.Join(dir, "work", "host"))
	assets := filepath.Join(dir, "work", "assets")
	running := watch.Locked(filepath.Join(assets, ".bootlab.lock"))
	states := map[string]site.State{}
	for _, p := range pages {
		if p.Kind != "stage" || p.Marker == "" {
			continue
		}
		_, err := os.Stat(filepath.Join(assets, p.Marker))
		states[p.ID] = stageState(err == nil, bootkube.LastOf(p.Record), running)
	}
	return states
}

// stageState puts marker and record together. A start without an end means a
// stage that runs, or one that was killed.
func stageState(marked bool, last *record.Entry, running bool) site.State {
	started := last != nil && last.Phase == record.StageStart
	switch {
	case started && running:
		return site.Running
	case started && !marked, last != nil && last.Result == record.Failure:
		return site.Failed
	case marked:
		return site.Done
	}
	return site.NotBegun
}

// bootkubeRecord is what the scripts recorded below a root, as far as it can be
// read.
func bootkubeRecord(root string) *record.Service {
	file, err := os.Open(filepath.Join(root, filepath.FromSlash(record.Dir), "bootkube.json"))
	if err != nil {
		return &record.Service{Log: &record.Log{}}
	}
	defer file.Close()
	return &record.Service{Log: record.Read(file)}
}
