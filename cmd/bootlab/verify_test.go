package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/check"
)

// labWithScript is a generated lab in which the script of a stage is another.
func labWithScript(t *testing.T, stage, text string) (dir, script string) {
	t.Helper()
	dir = generated(t)
	script = filepath.Join(dir, "out", "scripts", stage+".sh")
	writeScript(t, script, text)
	return dir, script
}

// writeScript puts a script in its place at once, as somebody may run it.
func writeScript(t *testing.T, file, text string) {
	t.Helper()
	replace(t, file, "#!/bin/bash\n"+text, 0o755)
}

// tapOf is a script that says what that of a stage says whose check is as bad says.
func tapOf(stage, bad string) string {
	status := 0
	if bad != "" {
		status = 3
	}
	return fmt.Sprintf("cat << 'END'\n%sEND\nexit %d\n", saidTAP(stage, bad), status)
}

func saidTAP(stage, bad string) string {
	s := labs.Builtin().Stage(stage)
	var b strings.Builder
	b.WriteString("TAP version 14\n")
	for i, c := range s.Checks {
		if c.ID != bad {
			fmt.Fprintf(&b, "ok %d - %s: x\n", i+1, c.ID)
			continue
		}
		fmt.Fprintf(&b, "not ok %d - %s: x\n  ---\n  id: %s\n  command: |-\n    x\n  expected: |-\n    y\n  found: |2-\n    something else\n  hint: |-\n    z\n  ...\n", i+1, c.ID, c.ID)
	}
	fmt.Fprintf(&b, "1..%d\n", len(s.Checks))
	return b.String()
}

func TestVerifyTellsWhatTheScriptFound(t *testing.T) {
	dir, script := labWithScript(t, "copy-manifests", tapOf("copy-manifests", ""))
	out, stderr, status := bootlab("verify", dir, "copy-manifests")
	if status != exitDone || stderr != "" || !strings.Contains(out, "1 stage: 4 checks passed\n") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	writeScript(t, script, tapOf("copy-manifests", "unchanged"))
	told := labs.Builtin().Stage("copy-manifests").Checks[1]
	out, stderr, status = bootlab("verify", dir, "copy-manifests")
	for _, want := range []string{"ok      arrived", "FAILED  unchanged: " + told.Title, told.Expect, "something else", strings.TrimSpace(told.Hint), "3 checks passed, 1 failed"} {
		if status != exitFound || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q: %s%s", status, want, out, stderr)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("colours, and no terminal")
	}
	writeScript(t, script, "yes | head --bytes=100M\n")
	if out, _, status := bootlab("verify", dir, "copy-manifests"); status != exitUnseen || !strings.Contains(out, "printed more than 4 MiB") {
		t.Errorf("status %d: %.500s", status, out)
	}
	writeScript(t, script, "sleep 60\n")
	if out, _, status := bootlab("verify", dir, "copy-manifests", "--timeout=300ms"); status != exitUnseen || !strings.Contains(out, "no verdict within 300ms") {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestVerifyForOtherPrograms(t *testing.T) {
	dir, _ := labWithScript(t, "copy-manifests", tapOf("copy-manifests", "unchanged"))
	out, stderr, status := bootlab("verify", dir, "copy-manifests", "--output", "json")
	var report check.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || status != exitFound || stderr != "" {
		t.Fatalf("%v, status %d: %s%s", err, status, out, stderr)
	}
	if c := report.Stages[0].Checks[1]; c.Outcome != check.Failed || c.Found != "something else" || report.Summary.Failed != 1 || report.Version != 1 {
		t.Errorf("%+v", report)
	}
	out, _, status = bootlab("verify", dir, "copy-manifests", "--output=junit")
	if err := xml.Unmarshal([]byte(out), new(struct{})); err != nil || status != exitFound || !strings.Contains(out, `failures="1"`) {
		t.Errorf("%v, status %d: %s", err, status, out)
	}
}

func TestVerifyOfALabOnWhichNothingIsDone(t *testing.T) {
	dir := newLab(t)
	if _, stderr, status := bootlab("verify", dir); status != exitFailed || !strings.Contains(stderr, "bootlab generate") {
		t.Errorf("status %d: %s", status, stderr)
	}
	bootlab("generate", dir)
	out, stderr, status := bootlab("verify", dir)
	if status != exitFailed || !strings.Contains(out, "make-pki: not done yet") || !strings.Contains(stderr, "nothing was checked") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if out, _, status := bootlab("verify", dir, "make-pki"); status != exitUnseen || !strings.Contains(out, "COULD NOT RUN") {
		t.Errorf("status %d: %s", status, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "work")); err == nil {
		t.Error("out/work was made")
	}
}

func TestVerifyRefusesWhatDoesNotGoTogether(t *testing.T) {
	dir := sharedLab(t)
	for _, args := range [][]string{
		{}, {dir, "nonsense"}, {dir, ".."}, {dir, "render-kcm..render-cvo"}, {dir, "--output=html"}, {dir, "--watch=0"}, {dir, "--watch=x"},
		{dir, "--watch", "--output=json"}, {dir, "--watch", "--from=x"}, {dir, "--local", "--from=x"}, {dir, "--partial"},
		{dir, "--until-passed"}, {dir, "--timeout=0"},
	} {
		if _, stderr, status := bootlab(append([]string{"verify"}, args...)...); status != exitUsage || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

func TestVerifyWatchesUntilAllPassed(t *testing.T) {
	dir, script := labWithScript(t, "copy-manifests", tapOf("copy-manifests", "unchanged"))
	var out, errs bytes.Buffer
	time.AfterFunc(1500*time.Millisecond, func() { writeScript(t, script, tapOf("copy-manifests", "")) })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if status := run(ctx, []string{"verify", dir, "copy-manifests", "--watch=1", "--until-passed"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); status != exitDone {
		t.Fatal(status, errs.String())
	}
	for what, times := range map[string]int{"copy-manifests unchanged: failed\n": 1, "copy-manifests unchanged: failed -> passed": 1, "copy-manifests arrived": 0} {
		if strings.Count(out.String(), what) != times {
			t.Errorf("%q stands not %d times in\n%s", what, times, out.String())
		}
	}
}

func TestWatchingEndsWithTheVerdict(t *testing.T) {
	dir, _ := labWithScript(t, "copy-manifests", tapOf("copy-manifests", "unchanged"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	if status := run(ctx, []string{"verify", dir, "copy-manifests", "--watch=1"}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); status != exitFound {
		t.Errorf("status %d: %s", status, errs.String())
	}
	if strings.Count(out.String(), "unchanged") != 1 {
		t.Errorf("what did not change is told again:\n%s", out.String())
	}
}

// logBundle is a directory as openshift-install gather bootstrap packs it.
func logBundle(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, "log-bundle-20260102030405", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVerifyOfABundleThatIsNotWhole(t *testing.T) {
	dir := newLab(t)
	files := map[string]string{
		"rendered-assets/openshift/etcd-bootstrap.done": "",
		"bootlab/index.json":                            `{"version":1,"missing":["the asset directory, without keys, kubeconfigs and secrets: there is too much; the first files are left out"]}`,
	}
	if out, _, status := bootlab("verify", dir, "render-etcd", "--from", logBundle(t, files)); status != exitUnseen || strings.Contains(out, "FAILED") ||
		!strings.Contains(out, "was not gathered whole") {
		t.Errorf("status %d: %s", status, out)
	}
	files["bootlab/index.json"] = `{"version":1,"missing":["the asset directory, without keys, kubeconfigs and secrets: \"a.key\" is left out for its name"]}`
	if out, _, _ := bootlab("verify", dir, "render-etcd", "--from", logBundle(t, files)); !strings.Contains(out, "FAILED  client-chain: ") {
		t.Error(out)
	}
}

func TestVerifyOfABundle(t *testing.T) {
	dir := newLab(t)
	files := map[string]string{
		"rendered-assets/openshift/openshift-manifests.done":          "",
		"rendered-assets/openshift/manifests/99_feature-gate.yaml":    "kind: FeatureGate\n",
		"rendered-assets/openshift/bootstrap-manifests/x-secret.yaml": "",
		"bootstrap/services/bootkube.json":                            `[{"timestamp":"2026-01-02T03:04:05Z","phase":"stage start","stage":"etcd-bootstrap"}]`,
	}
	bundle := logBundle(t, files)
	out, stderr, status := bootlab("verify", dir, "--from", bundle)
	for _, want := range []string{"unknown arrived", "cannot be checked in a bundle", "99_feature-gate.yaml is not an object", "render-kcm: not done yet"} {
		if status != exitFound || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q: %s%s", status, want, out, stderr)
		}
	}
	// What the scripts said when the bundle was gathered counts, and nothing else.
	files["bootlab/tap/copy-manifests.tap"] = saidTAP("copy-manifests", "")
	files["bootlab/tap/render-etcd.tap"] = "TAP version 14\nnot ok 1 - done: not run yet; run render-etcd.sh first\n1..1\n"
	bundle = logBundle(t, files)
	if out, stderr, status := bootlab("verify", dir, "copy-manifests", "--from", bundle); status != exitDone || !strings.Contains(out, "4 checks passed") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	if out, _, status := bootlab("verify", dir, "render-etcd", "--from", bundle, "--partial"); status == exitDone || !strings.Contains(out, "not done yet") {
		t.Errorf("status %d: %s", status, out)
	}
	files["bootlab/tap/copy-manifests.tap"] = saidTAP("copy-manifests", "unchanged")
	if out, _, status := bootlab("verify", dir, "copy-manifests", "--partial", "--from", logBundle(t, files)); status != exitFound || !strings.Contains(out, "something else") {
		t.Errorf("status %d: %s", status, out)
	}
	if _, _, status := bootlab("verify", dir, "resolve-api", "--from", bundle, "--partial"); status != exitUnseen {
		t.Errorf("nothing at all is a success: status %d", status)
	}
	for _, bundle := range []string{logBundle(t, map[string]string{"bootstrap/services/bootkube.json": "[]"}), "nowhere", t.TempDir()} {
		if _, stderr, status := bootlab("verify", dir, "--from", bundle); status != exitFailed || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%s: status %d: %s", bundle, status, stderr)
		}
	}
}
