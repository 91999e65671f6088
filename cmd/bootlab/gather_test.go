package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// putLocalRun puts files into a lab's local run.
func putLocalRun(t *testing.T, lab string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(lab, "out", "work", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The same is said of a bundle as of what it was gathered from.
func TestGatherThenDiagnoseSaysTheSame(t *testing.T) {
	lab := newLab(t)
	putLocalRun(t, lab, map[string]string{
		"host/var/log/openshift/bootkube.json": `[{"timestamp":"2026-01-02T03:04:05Z","phase":"service start"},{"timestamp":"2026-01-02T03:04:06Z","phase":"stage start","stage":"etcd-bootstrap"},` +
			`{"timestamp":"2026-01-02T03:04:07Z","phase":"stage end","stage":"etcd-bootstrap","result":"failure","errorLine":"1","errorMessage":"podman: unauthorized: access to the requested resource is not authorized"}]`,
		"host/var/log/openshift/bootlab/render-etcd.log": "Error: reading manifest: unauthorized: access to the requested resource is not authorized\n",
		"assets/auth/kubeadmin-password":                 "AbCdE-fGhIj-23456-kLmNo",
	})
	file := filepath.Join(t.TempDir(), "mylab.tar.gz")
	out, stderr, status := bootlab("gather", lab, "--local", "--to", file)
	if status != exitDone || !strings.HasPrefix(out, file+"\n") || !strings.Contains(out, "--from "+file) || !strings.Contains(stderr, "collected      the end of each script's log") {
		t.Fatalf("status %d:\n%s%s", status, out, stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	live, _, liveStatus := bootlab("diagnose", lab, "--local")
	kept, notes, keptStatus := bootlab("diagnose", lab, "--from", file)
	if live != kept || liveStatus != keptStatus || notes != "" {
		t.Errorf("live, status %d:\n%s\nkept, status %d:\n%s%s", liveStatus, live, keptStatus, kept, notes)
	}
	_, stderr, status = bootlab("gather", lab, "--local", "--to", file)
	if status != exitFailed || !strings.Contains(stderr, "is there already") || !strings.Contains(stderr, "hint:") {
		t.Errorf("a second time: status %d: %s", status, stderr)
	}
}

func TestGatherNamesItsBundleByTime(t *testing.T) {
	lab := newLab(t)
	putLocalRun(t, lab, map[string]string{"assets/make-pki.done": ""})
	before := time.Now().Truncate(time.Second)
	if out, stderr, status := bootlab("gather", lab); status != exitDone {
		t.Fatalf("status %d:\n%s%s", status, out, stderr)
	}
	after := time.Now()
	found, _ := filepath.Glob(filepath.Join(lab, "out", "work", "gather", "*"))
	if len(found) != 1 {
		t.Fatalf("files %v", found)
	}
	at, err := time.ParseInLocation("log-bundle-20060102150405.tar.gz", filepath.Base(found[0]), time.Local)
	if err != nil || at.Before(before) || at.After(after) {
		t.Errorf("%s is of %s, want it between %s and %s: %v", found[0], at, before, after, err)
	}
}

func TestGatherRefusesWhatCannotBe(t *testing.T) {
	lab := newLab(t)
	for want, args := range map[string][]string{
		"timeout":         {"--timeout", "0s"},
		"is no directory": {"--to", filepath.Join(lab, "none", "x.tar.gz")},
	} {
		_, stderr, status := bootlab(append([]string{"gather", lab}, args...)...)
		if status == exitDone || !strings.Contains(stderr, want) || !strings.Contains(stderr, "hint:") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}
