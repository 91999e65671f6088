package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

// workLeft puts files into a lab's local run; a marker is a name alone. What the
// machine of the test is like does not count: its podman and df are stand-ins.
func workLeft(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = newLab(t)
	for name, text := range files {
		file := filepath.Join(dir, "out", "work", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bin := t.TempDir()
	for name, script := range map[string]string{
		"podman": "#!/bin/sh\nexit 125\n",
		"df":     "#!/bin/sh\necho 'head'\necho ' 98304000 62914048 62500000 /'\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return dir
}

// stageRecord is a record of stages and how they ended.
func stageRecord(stages ...string) string {
	var entries []string
	for i := 0; i < len(stages); i += 2 {
		entries = append(entries,
			`{"timestamp": "2026-01-02T03:04:05Z", "phase": "stage start", "stage": "`+stages[i]+`"}`,
			`{"timestamp": "2026-01-02T03:04:06Z", "phase": "stage end", "stage": "`+stages[i]+`", "result": "`+stages[i+1]+`", "errorMessage": "a command failed"}`)
	}
	return `[{"timestamp": "2026-01-02T03:04:05Z", "phase": "service start"},` + strings.Join(entries, ",\n") + "]\n"
}

const recordPlace = "host/var/log/openshift/bootkube.json"

// everyMarker are those of all stages that copy or render.
func everyMarker(t *testing.T) map[string]string {
	t.Helper()
	plan, err := cli.LoadPlan(cli.Streams{}, newLab(t))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{recordPlace: stageRecord("release-info", "success", "cco-bootstrap", "success")}
	for _, s := range plan.Stages {
		if s.In(labs.Local) && s.Marker() != "" && !s.Optional {
			files["assets/"+s.Marker()] = ""
		}
	}
	return files
}

func TestDiagnoseSaysHowALocalRunStands(t *testing.T) {
	failed := map[string]string{
		recordPlace:                   stageRecord("release-info", "success", "etcd-bootstrap", "failure"),
		"assets/release-info.done":    "",
		"assets/release-info/version": "4.21.0\n",
		"assets/release-info/images":  "etcd quay.io/example/etcd\n",
		"assets/release-info/digest":  "quay.io/example/release\n",
		"host/var/log/openshift/bootlab/render-etcd.log": "==> render-etcd.sh begins, 2026-01-02T03:04:05Z\n" +
			"  $ podman run --name etcd-render\nF0102 03:04:06.123456       1 render.go:61] missing required flag: --etcd-image\n",
	}
	for name, c := range map[string]struct {
		files  map[string]string
		status int
	}{
		"not-begun": {nil, exitDone},
		"cause":     {failed, exitFound},
		"healthy":   {everyMarker(t), exitDone},
	} {
		t.Run(name, func(t *testing.T) {
			dir := workLeft(t, c.files)
			text, stderr, status := bootlab("diagnose", dir)
			if status != c.status || stderr != "" {
				t.Fatalf("status %d: %s%s", status, text, stderr)
			}
			document, _, status := bootlab("diagnose", dir, "--output", "json")
			if status != c.status {
				t.Errorf("as JSON: status %d", status)
			}
			sameAsKept(t, "testdata/diagnose/"+name+".txt", strings.ReplaceAll(text, dir, "LAB"))
			sameAsKept(t, "testdata/diagnose/"+name+".json", strings.ReplaceAll(document, dir, "LAB"))
			if !json.Valid([]byte(document)) {
				t.Error("it is no JSON")
			}
		})
	}
}

// sameAsKept compares with a file of testdata, or writes it with BOOTLAB_UPDATE.
func sameAsKept(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("BOOTLAB_UPDATE") != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nand not\n%s", file, got, want)
	}
}

func TestDiagnoseJudgesABundleThatIsADirectory(t *testing.T) {
	dir := newLab(t)
	bundle := filepath.Join(t.TempDir(), "log-bundle-20260102030405")
	for name, text := range map[string]string{
		"bootstrap/services/release-image.json": stageRecord("pull-release-image", "failure"),
		"bootstrap/journals/release-image.log": "Jan 02 03:04:05 bootstrap release-image-download.sh[1201]: Pulling quay.io/okd/scos-release:4.21...\n" +
			"Jan 02 03:04:06 bootstrap release-image-download.sh[1210]: Error: initializing source docker://quay.io/okd/scos-release:4.21: reading manifest 4.21 in quay.io/okd/scos-release: unauthorized: access to the requested resource is not authorized\n" +
			"Jan 02 03:04:06 bootstrap release-image-download.sh[1201]: Pull failed. Retrying quay.io/okd/scos-release:4.21...\n",
		"bootstrap/network/hostname.txt": "bootstrap\n",
	} {
		file := filepath.Join(bundle, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, stderr, status := bootlab("diagnose", dir, "--from", bundle)
	if status != exitFound || !strings.Contains(out, "Cause: The registry rejects the login") || !strings.Contains(out, "unauthorized") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestDiagnoseRefusesWhatIsNoBundle(t *testing.T) {
	dir := newLab(t)
	_, stderr, status := bootlab("diagnose", dir, "--from", filepath.Join(dir, "nowhere"))
	if status != exitFailed || strings.Count(stderr, "error:") != 1 || !strings.Contains(stderr, "hint:") {
		t.Errorf("status %d: %s", status, stderr)
	}
	for _, args := range [][]string{{"--output", "yaml"}, {"--from", "x", "--local"}} {
		if _, stderr, status := bootlab(append([]string{"diagnose", dir}, args...)...); status != exitUsage {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// Where the walk finds nothing wrong, the scripts are asked what their checks say.
func TestAFailedCheckOfALabIsAFinding(t *testing.T) {
	dir := workLeft(t, everyMarker(t))
	plan, err := cli.LoadPlan(cli.Streams{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	scripts := filepath.Join(dir, "out", "scripts")
	if err := os.MkdirAll(scripts, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.Stages {
		verdict := "not ok 1 - done: not run yet; run " + s.ScriptName() + " first\n1..1\n"
		status := "4"
		if s.ID == "render-etcd" {
			verdict, status = "", "3"
			for i, c := range s.Checks {
				verdict += fmt.Sprintf("not ok %d - %s: %s\n  ---\n  id: %s\n  expected: |-\n    x\n  found: |2-\n    something else\n  hint: |-\n    render it again\n  ...\n", i+1, c.ID, c.Title, c.ID)
			}
			verdict += fmt.Sprintf("1..%d\n", len(s.Checks))
		}
		script := "#!/bin/bash\ncat <<'END'\nTAP version 14\n" + verdict + "END\nexit " + status + "\n"
		if err := os.WriteFile(filepath.Join(scripts, s.ScriptName()), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, stderr, status := bootlab("diagnose", dir)
	if status != exitFound || !strings.Contains(out, "Cause not known.") || !strings.Contains(out, "failed: check ") || !strings.Contains(out, "found: something else") {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
}
