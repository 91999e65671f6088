package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"bootlab/site"
)

// recordEntry is a line of the progress records, in the installer's format.
type recordEntry struct {
	Phase  string `json:"phase"`
	Stage  string `json:"stage"`
	Result string `json:"result"`
}

// labStates tells how far the rehearsal in a guide's directory is. It reads
// what the scripts leave and never fails: what cannot be read counts as not
// there.
func labStates(dir string, pages []site.Page) map[string]site.State {
	last := lastEntries(filepath.Join(dir, "work", "host", "var", "log", "openshift", "bootkube.json"))
	assets := filepath.Join(dir, "work", "assets")
	atWork := locked(filepath.Join(assets, ".bootlab.lock"))
	states := map[string]site.State{}
	for _, p := range pages {
		if p.Kind != "stage" || p.Marker == "" {
			continue
		}
		_, err := os.Stat(filepath.Join(assets, p.Marker))
		states[p.ID] = stageState(err == nil, last[p.Record], atWork)
	}
	return states
}

// stageState puts marker and record together. A start without an end means a
// stage that runs, or one that was killed.
func stageState(marked bool, last recordEntry, atWork bool) site.State {
	switch {
	case last.Phase == "stage start" && atWork:
		return site.Running
	case last.Phase == "stage start" && !marked, last.Phase == "stage end" && last.Result == "failure":
		return site.Failed
	case marked:
		return site.Done
	}
	return site.NotBegun
}

// lastEntries is the last entry of each stage.
func lastEntries(file string) map[string]recordEntry {
	last := map[string]recordEntry{}
	data, err := os.ReadFile(file)
	if err != nil {
		return last
	}
	var entries []recordEntry
	if err := json.Unmarshal(data, &entries); err != nil {
		return last
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Phase, "stage ") {
			last[e.Stage] = e
		}
	}
	return last
}

// locked says whether a script holds the lock of the asset directory. It asks
// the kernel's list: taking the lock for a moment would stop a script that
// begins just then. Where there is no such list, whoever began is believed to
// be at work.
func locked(file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	list, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return true
	}
	inode := fmt.Sprintf(":%d ", stat.Ino)
	for _, line := range strings.Split(string(list), "\n") {
		if strings.Contains(line, " FLOCK ") && strings.Contains(line, inode) {
			return true
		}
	}
	return false
}
