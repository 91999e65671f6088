package watch

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"bootlab/labs/inspect/host"
)

func TestALocalRunIsSeenByItsFiles(t *testing.T) {
	plan := loadPlan(t, "compact")
	work := t.TempDir()
	hosts := &host.Hosts{Here: host.Local{}, Local: true, AssetDir: filepath.Join(work, "assets"), Root: filepath.Join(work, "host")}
	stage := func(s *Status, name string) Stage {
		for _, one := range s.Stages {
			if one.Name == name {
				return one
			}
		}
		t.Fatalf("there is no stage %s", name)
		return Stage{}
	}
	s := look(context.Background(), hosts, plan)
	if s.Phase != "nothing has been done yet" || len(s.Stages) < 10 || len(s.Rows) > 0 {
		t.Errorf("%+v", s)
	}
	records := filepath.Join(hosts.Root, "var/log/openshift")
	put(t, filepath.Join(hosts.AssetDir, "make-pki.done"), "", 0o600)
	put(t, filepath.Join(records, "bootkube.json"), `[{"timestamp":"2026-11-21T11:00:00Z","stage":"make-pki","phase":"stage start"},
{"timestamp":"2026-11-21T11:00:09Z","stage":"make-pki","phase":"stage end","result":"success"},
{"timestamp":"2026-11-21T11:01:00Z","stage":"etcd-bootstrap","phase":"stage start"}]`, 0o644)
	put(t, filepath.Join(records, "bootlab/render-etcd.log"), "==> first\n\n10 %\r20 %\x1b[2J\n\n", 0o644)
	lock := filepath.Join(hosts.AssetDir, ".bootlab.lock")
	put(t, lock, "", 0o600)

	s = look(context.Background(), hosts, plan)
	if got := stage(s, "render-etcd"); got.State != CutOff {
		t.Errorf("no process has the lock: %+v", got)
	}
	held, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s = look(context.Background(), hosts, plan)
	if got := stage(s, "render-etcd"); got.State != Runs || got.Start.IsZero() {
		t.Errorf("the lock is held: %+v", got)
	}
	if got := stage(s, "make-pki"); got.sentence() != "make-pki: done after 9s" {
		t.Error(got.sentence())
	}
	if s.Phase != "rendering: render-etcd runs" || s.Waiting.For != plan.Stage("render-etcd").Title {
		t.Errorf("%q %+v", s.Phase, s.Waiting)
	}
	if s.Log != (LogLine{"render-etcd", "20 %?[2J"}) {
		t.Errorf("%+v", s.Log)
	}

	put(t, filepath.Join(records, "bootkube.json"), `[{"timestamp":"2026-11-21T11:01:00Z","stage":"etcd-bootstrap","phase":"stage start"},
{"timestamp":"2026-11-21T11:01:02Z","stage":"etcd-bootstrap","phase":"stage end","result":"failure","errorLine":"7 main x","errorMessage":"the image cannot be pulled"}]`, 0o644)
	if s = look(context.Background(), hosts, plan); s.Phase != "rendering: render-etcd has failed: the image cannot be pulled" {
		t.Errorf("%q", s.Phase)
	}
}

func TestWhatRunsBesideHasALockOfItsOwn(t *testing.T) {
	for service, want := range map[string]string{"bootkube": ".bootlab.lock", "approve-csrs": ".bootlab.approve-csrs.lock"} {
		if got := lockOf(service); got != want {
			t.Errorf("%s: %s, want %s", service, got, want)
		}
	}
}
