package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The records are of the shapes that bootkube.sh and the scripts write.
const (
	handRecord = `[
  {"timestamp": "2026-01-02T03:00:00Z", "phase": "service start"},
  {"timestamp": "2026-01-02T03:00:00Z", "stage": "make-pki", "phase": "stage start"},
  {"timestamp": "2026-01-02T03:00:09Z", "stage": "make-pki", "phase": "stage end", "result": "success"},
  {"timestamp": "2026-01-02T04:00:00Z", "stage": "etcd-bootstrap", "phase": "stage start"},
  {"timestamp": "2026-01-02T04:00:03Z", "stage": "etcd-bootstrap", "phase": "stage end", "result": "failure", "errorLine": "88 main render-etcd.sh", "errorMessage": "podman run failed\n\u001b[31mred"},
  {"timestamp": "2026-01-02T04:01:00Z", "stage": "etcd-bootstrap", "phase": "stage start"},
  {"timestamp": "2026-01-02T04:01:25Z", "stage": "etcd-bootstrap", "phase": "stage end", "result": "success"},
  {"timestamp": "2026-01-02T04:02:00Z", "stage": "cb-bootstrap", "phase": "stage start"}
]
`
	realRecord = `[
  {"timestamp": "2026-02-03T10:00:00Z", "phase": "service start"},
  {"timestamp": "2026-02-03T10:00:00Z", "phase": "service start"},
  {"timestamp": "2026-02-03T10:00:01Z", "stage": "cvo-bootstrap", "phase": "stage start"},
  {"timestamp": "2026-02-03T10:00:06Z", "stage": "cvo-bootstrap", "phase": "stage end", "result": "success"},
  {"timestamp": "2026-02-03T10:00:06Z", "stage": "etcd-bootstrap", "phase": "stage start"},
  {"timestamp": "2026-02-03T10:00:16Z", "stage": "etcd-bootstrap", "phase": "stage end", "result": "success"},
  {"timestamp": "2026-02-03T10:00:16Z", "stage": "resolve-api-url", "phase": "stage start"},
  {"timestamp": "2026-02-03T10:00:17Z", "stage": "resolve-api-url", "phase": "stage end", "result": "failure", "errorLine": "62 resolve_url /usr/local/bin/bootstrap-verify-api-server-urls.sh", "errorMessage": "Unable to resolve API_URL"}
]
`
)

// labWithRecords is a lab whose local run has that record, and a state directory
// of the test's own.
func labWithRecords(t *testing.T, text string) (lab, logs string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	lab = newLab(t)
	logs = filepath.Join(lab, "out", "work", "host", "var", "log", "openshift")
	putRecord(t, filepath.Join(logs, "bootkube.json"), text)
	return lab, logs
}

func putRecord(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const handTable = `STAGE                           ATTEMPT  START (UTC)          END                  DURATION  USUAL     RESULT
make-pki                        1        2026-01-02 03:00:00  2026-01-02 03:00:09  9s        about 8s  success
etcd-bootstrap (render-etcd)    1        2026-01-02 04:00:00  2026-01-02 04:00:03  3s        about 2s  failure
etcd-bootstrap (render-etcd)    2        2026-01-02 04:01:00  2026-01-02 04:01:25  25s       about 2s  success
cb-bootstrap (start-bootstrap)  1        2026-01-02 04:02:00  was cut off          -         -         was cut off

What failed:
  etcd-bootstrap (render-etcd), attempt 1, at line 88 main render-etcd.sh
    | podman run failed
    | ?[31mred
`

func TestTheTimeLineOfALocalRun(t *testing.T) {
	lab, _ := labWithRecords(t, handRecord)
	out, stderr, status := bootlab("timeline", lab)
	if status != exitDone || stderr != "" || out != handTable {
		t.Errorf("status %d: %s\ngot\n%s\nwant\n%s", status, stderr, out, handTable)
	}
	again, _, _ := bootlab("timeline", lab)
	if again != out {
		t.Errorf("the second time\n%s", again)
	}
	// What it took there is usual in another lab of the release.
	later, _ := labAgain(t, strings.ReplaceAll(handRecord, "2026-01", "2026-03"))
	out, _, _ = bootlab("timeline", later)
	for _, want := range []string{"03:00:09  9s        9s ", "04:00:03  3s        25s ", "04:01:25  25s       25s "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// labAgain is another lab on the same host.
func labAgain(t *testing.T, text string) (lab, logs string) {
	t.Helper()
	state := os.Getenv("XDG_STATE_HOME")
	lab, logs = labWithRecords(t, text)
	t.Setenv("XDG_STATE_HOME", state)
	return lab, logs
}

func TestAStageAtWorkRuns(t *testing.T) {
	lab, logs := labWithRecords(t, handRecord)
	putRecord(t, filepath.Join(logs, "bootlab", "approve-csrs.json"), `[{"timestamp":"2026-01-02T04:03:00Z","phase":"stage start","stage":"approve-csrs"}]`)
	assets := filepath.Join(lab, "out", "work", "assets")
	putRecord(t, filepath.Join(assets, ".bootlab.lock"), "")
	putRecord(t, filepath.Join(assets, ".bootlab.approve-csrs.lock"), "")
	hold := func(name string) func() error {
		lock, err := os.Open(filepath.Join(assets, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		return lock.Close
	}
	states := func() string {
		out, _, _ := bootlab("timeline", lab, "--output", "json")
		var report struct{ Spans []struct{ State string } }
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err)
		}
		n := len(report.Spans)
		return report.Spans[n-2].State + ", " + report.Spans[n-1].State
	}
	release := hold(".bootlab.lock")
	if got := states(); got != "runs, was cut off" {
		t.Error(got)
	}
	release()
	defer hold(".bootlab.approve-csrs.lock")()
	if got := states(); got != "was cut off, runs" {
		t.Error(got)
	}
}

const otherTable = `HERE is the local run, OTHER is REAL.

STAGE                           HERE         OTHER            DIFFERENCE
cvo-bootstrap (render-cvo)      -            5s               -
make-pki                        9s           -                -
etcd-bootstrap (render-etcd)    25s          10s              +15s
resolve-api-url (resolve-api)   -            failed after 1s  -
cb-bootstrap (start-bootstrap)  was cut off  -                -

What failed:
  etcd-bootstrap (render-etcd), attempt 1, at line 88 main render-etcd.sh
    | podman run failed
    | ?[31mred

What failed in the other run:
  resolve-api-url (resolve-api), attempt 1, at line 62 resolve_url /usr/local/bin/bootstrap-verify-api-server-urls.sh
    | Unable to resolve API_URL
`

func TestARealRunIsCompared(t *testing.T) {
	lab, _ := labWithRecords(t, handRecord)
	bundle := filepath.Join(t.TempDir(), "log-bundle-20260203101010")
	putRecord(t, filepath.Join(bundle, "bootstrap", "services", "bootkube.json"), realRecord)
	out, stderr, status := bootlab("timeline", lab, "--with", bundle)
	if out = strings.ReplaceAll(out, bundle, "REAL"); status != exitDone || stderr != "" || out != otherTable {
		t.Errorf("status %d: %s\ngot\n%s\nwant\n%s", status, stderr, out, otherTable)
	}
	// The bundle's parent has it one folder deeper.
	if out, stderr, status := bootlab("timeline", lab, "--from", filepath.Dir(bundle)); status != exitDone || !strings.Contains(out, "cvo-bootstrap (render-cvo)") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestTheTimeLineIsDrawn(t *testing.T) {
	lab, _ := labWithRecords(t, handRecord)
	plain, _, status := bootlab("timeline", lab, "--output", "svg")
	if status != exitDone {
		t.Fatal(status)
	}
	bundle := t.TempDir()
	putRecord(t, filepath.Join(bundle, "bootkube.json"), realRecord)
	both, _, _ := bootlab("timeline", lab, "--output", "svg", "--with", bundle)
	for text, wants := range map[string][]string{
		plain: {"Time line of mylab, release 4.21", "The local run: 4 attempts, of which 2 went well, 1 failed, 0 are running and 1 have no end", "etcd-bootstrap", "attempt 2"},
		both:  {"How long each stage took, here and in the other run", "25s here", "10s other", "- other", "Other run: "},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q", want)
			}
		}
		decoder := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if again, _, _ := bootlab("timeline", lab, "--output", "svg", "--with", bundle); again != both {
		t.Error("the same records give another picture")
	}
}

func TestTornRecordsAreWarnedOf(t *testing.T) {
	lab, logs := labWithRecords(t, handRecord[:400])
	putRecord(t, filepath.Join(logs, "bootkube.json.torn"), handRecord[:150])
	out, stderr, status := bootlab("timeline", lab)
	if status != exitDone || !strings.Contains(out, "make-pki") || !strings.Contains(stderr, "warning: the record of bootkube: it is torn, behind entry 4") || !strings.Contains(stderr, "set aside: it is torn, behind entry 1") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestDurationsThatCannotBeKeptAreAWarning(t *testing.T) {
	lab, _ := labWithRecords(t, handRecord)
	file := filepath.Join(t.TempDir(), "file")
	putRecord(t, file, "")
	t.Setenv("XDG_STATE_HOME", file)
	out, stderr, status := bootlab("timeline", lab)
	if status != exitDone || out != handTable || !strings.Contains(stderr, "warning: durations are not kept") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestALabWithoutRecordsHasNoTimeLine(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	lab, empty := newLab(t), t.TempDir()
	for _, args := range [][]string{{"timeline", lab}, {"timeline", lab, "--from", empty}, {"timeline", lab, "--from", filepath.Join(empty, "none.tar.gz")}} {
		if out, stderr, status := bootlab(args...); status != exitFailed || out != "" || !strings.Contains(stderr, "hint: ") || strings.Count(stderr, "error:") != 1 {
			t.Errorf("%v: status %d: %s%s", args, status, out, stderr)
		}
	}
	for _, args := range [][]string{{"timeline"}, {"timeline", lab, "--output", "junit"}, {"timeline", lab, "--from", empty, "--local"}} {
		if _, stderr, status := bootlab(args...); status != exitUsage || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

// labWithMachines is a lab whose bootstrap node is a directory: ssh is a script
// that runs what it is given there, or, when reachable is not set, does not get
// through.
func labWithMachines(t *testing.T, reachable bool) (lab, node string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	lab, node = newLab(t), t.TempDir()
	putRecord(t, filepath.Join(lab, "out", "work", "vms", "ssh_config"), "")
	bin := t.TempDir()
	script := "#!/bin/bash\necho 'ssh: connect: No route to host' >&2\nexit 255\n"
	if reachable {
		script = "#!/bin/bash\nsed \"s#'/\\(var\\|opt\\)/#'" + node + "/\\1/#g\" | bash --noprofile --norc -s\n"
	}
	putRecord(t, filepath.Join(bin, "ssh"), script)
	if err := os.Chmod(filepath.Join(bin, "ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return lab, node
}

// On the workstation lie the records of a local run too, which are not the lab's.
func TestTheTimeLineOfMachines(t *testing.T) {
	lab, node := labWithMachines(t, true)
	putRecord(t, filepath.Join(node, "var/log/openshift/bootkube.json"), realRecord)
	logs := filepath.Join(lab, "out/work/host/var/log/openshift")
	putRecord(t, filepath.Join(logs, "bootkube.json"), `[{"timestamp":"2026-02-03T09:00:00Z","phase":"stage start","stage":"make-pki"},
		{"timestamp":"2026-02-03T12:00:00Z","phase":"stage start","stage":"smoke-test"},{"timestamp":"2026-02-03T12:00:05Z","phase":"stage end","stage":"smoke-test","result":"success"}]`)
	out, stderr, status := bootlab("timeline", lab)
	if status != exitDone || stderr != "" || !strings.Contains(out, "cvo-bootstrap") || !strings.Contains(out, "smoke-test") || strings.Contains(out, "make-pki") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if out, _, _ := bootlab("timeline", lab, "--local"); strings.Contains(out, "cvo-bootstrap") || !strings.Contains(out, "make-pki") {
		t.Errorf("the local run:\n%s", out)
	}
}

func TestANodeThatIsGoneLeavesTheWorkstationsRecords(t *testing.T) {
	lab, _ := labWithMachines(t, false)
	if out, stderr, status := bootlab("timeline", lab); status != exitFailed || out != "" || !strings.Contains(stderr, "No route to host") || !strings.Contains(stderr, "hint: bootlab vms status") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	putRecord(t, filepath.Join(lab, "out/work/host/var/log/openshift/bootkube.json"), `[{"timestamp":"2026-02-03T12:00:00Z","phase":"stage start","stage":"smoke-test"}]`)
	out, stderr, status := bootlab("timeline", lab)
	if status != exitDone || !strings.Contains(out, "smoke-test") || !strings.Contains(stderr, "warning: bootstrap: ") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

// pack makes a .tar.gz of files.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	out := tar.NewWriter(zip)
	for name, text := range files {
		if err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "log-bundle-20260203101010.tar.gz")
	putRecord(t, file, b.String())
	return file
}

// What has no end in a bundle may have been running, or killed: it cannot be asked.
func TestABundleIsReadPacked(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	file := pack(t, map[string]string{"log-bundle-20260203101010/bootstrap/services/bootkube.json": handRecord,
		"log-bundle-20260203101010/bootstrap/services/bootlab/approve-csrs.json": `[{"timestamp":"2026-01-02T04:03:00Z","phase":"stage start","stage":"approve-csrs"}]`})
	out, stderr, status := bootlab("timeline", newLab(t), "--from", file)
	want := strings.ReplaceAll(handTable, "was cut off          -         -         was cut off\n", "-                    -         -         no end\n"+
		"approve-csrs                    1        2026-01-02 04:03:00  -                    -         -         no end\n")
	if status != exitDone || stderr != "" || out != want {
		t.Errorf("status %d: %s\ngot\n%s\nwant\n%s", status, stderr, out, want)
	}
	if _, err := os.Stat(filepath.Join(os.Getenv("XDG_STATE_HOME"), "bootlab")); err == nil {
		t.Error("durations of a bundle were kept")
	}
}

// Thousands of pulls that failed are one row, and a clock that jumps is said.
func TestRetriesAreOneRowAndAJumpIsSaid(t *testing.T) {
	var text strings.Builder
	text.WriteString(`[{"timestamp": "2001-01-01T00:00:20Z", "phase": "service start"}`)
	for i := range 900 {
		at := fmt.Sprintf("2026-01-02T03:%02d:%02dZ", i/60, i%60)
		fmt.Fprintf(&text, `, {"timestamp": "%s", "stage": "pull-release-image", "phase": "stage start"}, {"timestamp": "%s", "stage": "pull-release-image", "phase": "stage end", "result": "failure", "errorMessage": "try %d"}`, at, at, i+1)
	}
	text.WriteString("]\n")
	lab, logs := labWithRecords(t, handRecord)
	putRecord(t, filepath.Join(logs, "release-image.json"), text.String())
	out, stderr, status := bootlab("timeline", lab)
	for _, want := range []string{"1-900 ", "failure, 900 times", "attempts 1-900, the last of which says", "| try 900\n",
		"The clock was set: the record of release-image goes from 2001-01-01 00:00:20 to 2026-01-02 03:00:00."} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if status != exitDone || strings.Count(out, "pull-release-image") != 2 {
		t.Errorf("status %d:\n%s%s", status, out, stderr)
	}
	if out, _, _ = bootlab("timeline", lab, "--output", "json"); !strings.Contains(out, `"times": 900`) || !strings.Contains(out, `"jumps": [`) {
		t.Error("as JSON it says neither")
	}
}
