package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// shipped generates every kind of lab for every release and gives the script
// directories.
func shipped(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, kind := range kindNames() {
		for _, id := range labs.Builtin().ReleaseIDs() {
			if _, made := kinds[kind]; made && id != release {
				continue // its keys do the same in every release
			}
			l := &Lab{
				Dir:     filepath.Join(t.TempDir(), "mylab"),
				Release: &standin.Release{ID: id, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64)},
			}
			if err := l.generate(Options{From: kind, Edit: withPullSecret}); err != nil {
				t.Fatalf("%s, %s: %v", kind, id, err)
			}
			dirs = append(dirs, filepath.Join(l.Dir, "out", "scripts"), filepath.Join(l.Dir, "out", "node"))
		}
	}
	return dirs
}

// withPullSecret puts the pull secret in place that some shipped labs name.
func withPullSecret(dir, text string) (string, error) {
	secret := []byte(`{"auths":{"quay.io":{"auth":"YTpi"}}}` + "\n")
	return text, os.WriteFile(filepath.Join(dir, "pull-secret.json"), secret, 0o600)
}

func TestEveryScriptOfEveryShippedLabAndReleaseIsCleanBash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		podman.Unavailable(t, "no shellcheck on this machine")
	}
	work := distinct(t, shipped(t))
	t.Logf("%d scripts differ in more than settings", len(work))
	limit := make(chan struct{}, 2)
	var wait sync.WaitGroup
	for _, file := range work {
		wait.Add(1)
		go func() {
			defer wait.Done()
			limit <- struct{}{}
			defer func() { <-limit }()
			cmd := exec.Command("shellcheck", "--severity=style", "--external-sources", filepath.Base(file))
			cmd.Dir = filepath.Dir(file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}()
	}
	wait.Wait()
}

// distinct parses every script with bash, and gives one of each that differ in
// more than the values in their settings. Libraries come with the scripts that
// source them.
func distinct(t *testing.T, dirs []string) []string {
	t.Helper()
	seen := map[string]bool{}
	var work []string
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.sh"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no scripts in %s: %v", dir, err)
		}
		if out, err := exec.Command("bash", append([]string{"-c", `for f; do bash -n "$f" || exit 1; done`, "bash"}, files...)...).CombinedOutput(); err != nil {
			t.Errorf("bash -n: %s", out)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if key := withoutValues(data); !seen[key] {
				seen[key] = true
				if !strings.HasSuffix(file, "-lib.sh") {
					work = append(work, file)
				}
			}
		}
	}
	return work
}

var settingLine = regexp.MustCompile(`(?m)^(# For lab |(?:readonly )?[A-Z_]+=).*$`)

func withoutValues(script []byte) string {
	head, body, _ := bytes.Cut(script, []byte("\nsource "))
	return string(settingLine.ReplaceAll(head, []byte("$1"))) + string(body)
}

func TestScriptsStayReadable(t *testing.T) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local)
	files, err := filepath.Glob(filepath.Join(good.Scripts(), "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if strings.TrimRight(line, " \t") != line {
				t.Errorf("%s:%d ends in a space", filepath.Base(file), i+1)
			}
		}
		for _, word := range []string{"<no value>", "curl -k", "--insecure"} {
			if bytes.Contains(data, []byte(word)) {
				t.Errorf("%s holds %q", filepath.Base(file), word)
			}
		}
	}
}
