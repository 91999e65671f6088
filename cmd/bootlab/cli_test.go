package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/cmd/bootlab/cli"
)

// The exit statuses, by short names.
const (
	exitDone   = cli.ExitDone
	exitFailed = cli.ExitFailed
	exitUsage  = cli.ExitUsage
	exitFound  = cli.ExitFound
	exitUnseen = cli.ExitCannotTell
)

// bootlab runs a command line and gives what it printed and its status.
func bootlab(args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(context.Background(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return out.String(), errs.String(), status
}

// newLab makes a lab in a directory of the test's own.
func newLab(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mylab")
	if _, stderr, status := bootlab("init", dir); status != exitDone {
		t.Fatal(stderr)
	}
	return dir
}

func TestInitCheckAndGenerateWorkInOrderAndTwice(t *testing.T) {
	dir := newLab(t)
	if out, stderr, status := bootlab("check", dir); status != exitDone || !strings.Contains(out, "is right") {
		t.Fatal(out, stderr)
	}
	for _, want := range []string{" 0 unchanged", " 0 files written"} {
		out, stderr, status := bootlab("generate", dir)
		if status != exitDone || stderr != "" || !strings.Contains(out, want) || !strings.Contains(out, "make-pki.sh") {
			t.Errorf("status %d, want %q in:\n%s%s", status, want, out, stderr)
		}
	}
}

func TestInitNeverOverwritesALab(t *testing.T) {
	dir := newLab(t)
	file := filepath.Join(dir, "lab.yaml")
	if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := bootlab("init", dir)
	if status != exitFailed || !strings.Contains(stderr, "exists already") || !strings.Contains(stderr, "hint:") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Error("lab.yaml was overwritten")
	}
}

func TestEveryShippedLabCanBeInitialised(t *testing.T) {
	out, _, _ := bootlab("labs")
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		name := strings.Fields(line)[0]
		dir := filepath.Join(t.TempDir(), "mylab")
		if _, stderr, status := bootlab("init", dir, "--from", name); status != exitDone {
			t.Errorf("%s: %s", name, stderr)
		}
	}
}

func TestABrokenLabIsReportedAndNothingIsGenerated(t *testing.T) {
	dir := newLab(t)
	file := filepath.Join(dir, "lab.yaml")
	if err := os.WriteFile(file, []byte("metadata:\n  name: mylab\nbasedomain: example.test\ntopology: tiny\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "generate"} {
		_, stderr, status := bootlab(command, dir)
		for _, want := range []string{"lab.yaml:3:1: basedomain", "did you mean baseDomain", "lab.yaml:4:11: topology", "allowed: "} {
			if status != exitFailed || !strings.Contains(stderr, want) {
				t.Errorf("%s: status %d, no %q in:\n%s", command, status, want, stderr)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("out was made")
	}
}

func TestAnEditedScriptIsKept(t *testing.T) {
	dir := generated(t)
	script := filepath.Join(dir, "out", "scripts", "render-etcd.sh")
	data, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, script, string(data)+"# mine\n", 0o755)
	_, stderr, status := bootlab("generate", dir)
	if status != exitFailed || !strings.Contains(stderr, "scripts/render-etcd.sh") || !strings.Contains(stderr, "--force") {
		t.Errorf("status %d: %s", status, stderr)
	}
	out, stderr, status := bootlab("generate", dir, "--force")
	if status != exitDone || !strings.Contains(out, "render-etcd.sh.edited") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func TestAnOutputThatCannotBeWrittenIsOneClearError(t *testing.T) {
	dir := newLab(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := bootlab("generate", dir, "--to", filepath.Join(file, "out"))
	if status != exitFailed || strings.Count(stderr, "error:") != 1 {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestWrongCommandLinesAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"bogus"}, {"generate"}, {"generate", "a", "b"}, {"check"}, {"init"}, {"generate", "--bogus", "x"},
		{"explain"}, {"explain", "a", "b"}, {"explain", "a", "--release"}, {"version", "x"}} {
		_, stderr, status := bootlab(args...)
		if status != exitUsage || !strings.HasPrefix(stderr, "error: ") || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%v: status %d: %s", args, status, stderr)
		}
	}
}

func TestExplainKnowsStagesFilesFlagsAndKeys(t *testing.T) {
	for what, want := range map[string]string{
		"render-etcd":                   "In bootkube.sh of 4.21: stage etcd-bootstrap",
		"render-etcd.sh":                "render-etcd: ",
		"etcd-bootstrap":                "render-etcd: ",
		"manifests/cluster-config.yaml": "render-etcd reads",
		"--etcd-image":                  "render-etcd: --etcd-image=",
		"--net=host":                    "every podman run",
		"/etc/kubernetes/manifests/etcd-member-pod.yaml": "render-etcd copies",
		"networking.machineNetwork":                      "in lab.yaml",
	} {
		out, stderr, status := bootlab("explain", what)
		if status != exitDone || !strings.Contains(out, want) {
			t.Errorf("explain %s: status %d, no %q in:\n%s%s", what, status, want, out, stderr)
		}
	}
}

func TestExplainFollowsTheRelease(t *testing.T) {
	if out, _, _ := bootlab("explain", "--operand-kubernetes-version", "--release", "4.18"); !strings.Contains(out, "render-kube-apiserver") {
		t.Errorf("4.18: %s", out)
	}
	if _, stderr, status := bootlab("explain", "--operand-kubernetes-version", "--release=4.17"); status != exitUsage || !strings.Contains(stderr, "4.17") {
		t.Errorf("4.17: status %d: %s", status, stderr)
	}
	if _, stderr, status := bootlab("explain", "render-etcd", "--release", "4.22"); status != exitUsage || !strings.Contains(stderr, "known are") {
		t.Errorf("4.22: status %d: %s", status, stderr)
	}
}

func TestCompletionScriptsAreWritten(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if out, stderr, status := bootlab("completion", shell); status != exitDone || !strings.Contains(out, "bootlab") {
			t.Errorf("%s: status %d: %s", shell, status, stderr)
		}
	}
	if out, _, _ := bootlab("__complete", "explain", "render-e"); !strings.Contains(out, "render-etcd") {
		t.Errorf("explain completes to %s", out)
	}
}

func TestAFailedWriteToTheTerminalIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer full.Close()
	var errs bytes.Buffer
	if status := run(context.Background(), []string{"labs"}, cli.Streams{In: strings.NewReader(""), Out: full, Err: &errs}); status != exitFailed {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
