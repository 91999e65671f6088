package scripts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/build"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// shipped gives the script directories of every kind of lab for every release,
// the usual lab's first. They are generated once and belong to all tests.
func shipped(t *testing.T) []string {
	t.Helper()
	dirs, err := everyLab()
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

var everyLab = sync.OnceValues(func() ([]string, error) {
	base, err := podman.Base()
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, made := range kindsAndReleases() {
		kind, id := made[0], made[1]
		l := &Lab{
			Dir:     filepath.Join(base, "shipped", kind+"-"+id, "mylab"),
			Release: &standin.Release{ID: id, Image: "quay.io/example/release@sha256:" + strings.Repeat("0", 64)},
		}
		if err := os.MkdirAll(filepath.Dir(l.Dir), 0o755); err != nil {
			return nil, err
		}
		if err := l.generate(Options{From: kind, Edit: withPullSecret}); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", kind, id, err)
		}
		dirs = append(dirs, filepath.Join(l.Dir, "out", "scripts"), filepath.Join(l.Dir, "out", "node"))
	}
	return dirs, nil
})

// kindsAndReleases are the labs that differ, the usual one first. The keys of a
// lab of the tests' own do the same in every release.
func kindsAndReleases() [][2]string {
	all := [][2]string{{usualLab, release}}
	for _, kind := range kindNames() {
		for _, id := range labs.Builtin().ReleaseIDs() {
			one := [2]string{kind, id}
			if _, made := kinds[kind]; one != all[0] && (!made || id == release) {
				all = append(all, one)
			}
		}
	}
	return all
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
	dirs := shipped(t)
	all := distinct(t, dirs)
	t.Logf("%d scripts differ in more than settings", len(all))
	// All of the usual lab's local run, and some of the others.
	usual := slices.IndexFunc(all, func(file string) bool { return !strings.HasPrefix(file, dirs[0]) })
	work := append(all[:usual:usual], sample.Of(t, 20, all[usual:])...)
	limit := make(chan struct{}, 2)
	var wait sync.WaitGroup
	for _, file := range work {
		wait.Add(1)
		go func() {
			defer wait.Done()
			limit <- struct{}{}
			defer func() { <-limit }()
			// Sources are named from where the scripts are.
			dir, name := filepath.Dir(file), filepath.Base(file)
			if filepath.Base(dir) == "checks" {
				dir, name = filepath.Dir(dir), "checks/"+name
			}
			if err := shellcheck(dir, name); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}()
	}
	wait.Wait()
}

// shellcheck looks at a script, and at the libraries that it sources. It is not run
// again on texts that passed.
func shellcheck(dir, name string) error {
	version, err := exec.Command("shellcheck", "--version").Output()
	if err != nil {
		return err
	}
	key := fmt.Sprintf("shellcheck %s %q", version, name)
	libraries, err := filepath.Glob(filepath.Join(dir, "lib", "*.sh"))
	if err != nil {
		return err
	}
	for _, file := range append(libraries, filepath.Join(dir, name)) {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		key += fmt.Sprintf("%q %q\n", filepath.Base(file), data)
	}
	return build.Passed(key, func() error {
		cmd := exec.Command("shellcheck", "--severity=style", "--external-sources", name)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
		return err
	})
}

// distinct parses every script with bash, and gives one of each that differ in
// more than the values in their settings. Libraries come with the scripts that
// source them.
func distinct(t *testing.T, dirs []string) []string {
	t.Helper()
	seen := map[string]bool{}
	var work []string
	for _, dir := range dirs {
		var files []string
		for _, below := range []string{"*.sh", "lib/*.sh", "checks/*.sh"} {
			found, err := filepath.Glob(filepath.Join(dir, below))
			if err != nil || len(found) == 0 {
				t.Fatalf("no %s in %s: %v", below, dir, err)
			}
			files = append(files, found...)
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
				if filepath.Base(filepath.Dir(file)) != "lib" {
					work = append(work, file)
				}
			}
		}
	}
	return work
}

// checkText is a check in checks/STAGE.sh, its command in a here document or, where
// it has no quotes of its own, a here string.
var checkText = regexp.MustCompile(`(?ms)^ *check (\S+) (?:\\\n +)?[^\n]*(?:<< 'COMMAND'\n(.*?)\nCOMMAND$|<<< \\\n  '([^']*)'$)`)

var checkCall = regexp.MustCompile(`(?m)^ *check `)

// TestTheCommandsOfChecksAreCleanBash: to shellcheck a here document is a text, so
// the commands are taken out of it. They see the settings of their file.
func TestTheCommandsOfChecksAreCleanBash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("shellcheck"); err != nil {
		podman.Unavailable(t, "no shellcheck on this machine")
	}
	var all strings.Builder
	seen := map[string]bool{}
	for _, dir := range shipped(t) {
		files, err := filepath.Glob(filepath.Join(dir, "checks", "*.sh"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no checks in %s: %v", dir, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found := checkText.FindAllStringSubmatch(string(data), -1)
			if calls := len(checkCall.FindAll(data, -1)); calls != len(found) {
				t.Errorf("%s: of %d checks %d are found", file, calls, len(found))
			}
			for _, m := range found {
				if text := m[2] + m[3]; !seen[text] {
					seen[text] = true
					all.WriteString(fmt.Sprintf("check_%d() { # %s %s\n%s\n}\n", len(seen), filepath.Base(file), m[1], text))
				}
			}
		}
	}
	// SC2154: settings are those of the file. SC2016: programs of other languages
	// stand in single quotes. SC2043, SC2066: a declared list may hold one file.
	// SC2035, SC2012: names of rendered files are plain, and ls is what a person
	// types.
	dir := t.TempDir()
	head := "#!/usr/bin/env bash\n# shellcheck disable=SC2154,SC2016,SC2043,SC2066,SC2035,SC2012\nset -euo pipefail\n"
	if err := os.WriteFile(filepath.Join(dir, "commands.sh"), []byte(head+all.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d commands", len(seen))
	if err := shellcheck(dir, "commands.sh"); err != nil {
		t.Error(err)
	}
}

var settingLine = regexp.MustCompile(`(?m)^(# Generated by bootlab for lab |(?:readonly )?[A-Z_]+=).*$`)

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
