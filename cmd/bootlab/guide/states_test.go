package guide

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"bootlab/labs/inspect/record"
	"bootlab/site"
)

func TestStatesOfStages(t *testing.T) {
	start, good, bad := &record.Entry{Phase: record.StageStart}, &record.Entry{Phase: record.StageEnd, Result: record.Success}, &record.Entry{Phase: record.StageEnd, Result: record.Failure}
	for _, c := range []struct {
		marked  bool
		last    *record.Entry
		running bool
		want    site.State
	}{
		{false, nil, false, site.NotBegun},
		{false, nil, true, site.NotBegun},
		{true, nil, false, site.Done},
		{true, good, true, site.Done},
		{false, good, false, site.NotBegun}, // what it was made from was regenerated
		{false, start, true, site.Running},
		{true, start, true, site.Running},
		{false, start, false, site.Failed}, // killed
		{false, bad, false, site.Failed},
		{true, bad, false, site.Failed},
	} {
		if got := stageState(c.marked, c.last, c.running); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestStatesComeFromMarkersRecordsAndLock(t *testing.T) {
	out := t.TempDir()
	assets, logs := filepath.Join(out, "work", "assets"), filepath.Join(out, "work", "host", "var", "log", "openshift")
	pages := []site.Page{{ID: "a", Kind: "stage", Marker: "a.done", Record: "a"}, {ID: "b", Kind: "stage", Marker: "b.done", Record: "b"}, {ID: "text", Kind: "chapter"}}
	look := func(want string) {
		t.Helper()
		if got := fmt.Sprint(labStates(out, pages)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	look("map[a:not begun b:not begun]")
	for _, dir := range []string{assets, logs} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(assets, "a.done", "")
	put(logs, "bootkube.json", `[{"phase":"service start"},{"phase":"stage start","stage":"a"},{"phase":"stage end","stage":"a","result":"success"},{"phase":"stage start","stage":"b"}]`)
	put(assets, ".bootlab.lock", "")
	look("map[a:done b:failed]")
	lock, err := os.Open(filepath.Join(assets, ".bootlab.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	look("map[a:done b:running]")
	lock.Close()
	look("map[a:done b:failed]")
	put(logs, "bootkube.json", `[{"phase":"stage start","stage":"b"},{"phase":"stage st`)
	look("map[a:done b:failed]")
	put(logs, "bootkube.json", `[{"phase":"stage st`)
	look("map[a:done b:not begun]")
}
