package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bootlab/cmd/bootlab/cli"
)

// shared is a generated lab that the tests of this package have in common.
var shared struct {
	once  sync.Once
	dir   string            // holds the lab; empty if no test asked
	files map[string]string // what each file was when it was made
	err   error
}

// TestMain fails if a test changed the shared lab, which other tests read.
func TestMain(m *testing.M) {
	status := m.Run()
	if shared.dir != "" {
		now, err := filesBelow(shared.dir)
		if shared.err == nil && (err != nil || !maps.Equal(now, shared.files)) {
			fmt.Fprintln(os.Stderr, "FAIL: a test changed the lab that all tests share; it needs one of generated(t):", changes(shared.files, now), err)
			status = max(status, 1)
		}
		os.RemoveAll(shared.dir)
	}
	os.Exit(status)
}

// changes names the files in which two trees differ.
func changes(before, after map[string]string) []string {
	var out []string
	for name, was := range before {
		if after[name] != was {
			out = append(out, name)
		}
	}
	for name := range after {
		if before[name] == "" {
			out = append(out, name)
		}
	}
	return out
}

// filesBelow gives size, mode and time of each file.
func filesBelow(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			out[name] = fmt.Sprint(info.Size(), info.Mode(), info.ModTime())
		}
		return err
	})
	return out, err
}

// sharedLab is a lab with its scripts and guide, made once for all tests of the
// package. A test that changes a file takes generated.
func sharedLab(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() {
		// Where t.TempDir is, for the links of generated.
		if shared.dir, shared.err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "bootlab-shared-"); shared.err != nil {
			return
		}
		lab := filepath.Join(shared.dir, "mylab")
		for _, args := range [][]string{{"init", lab}, {"generate", lab}} {
			if _, stderr, status := bootlab(args...); status != cli.ExitDone {
				shared.err = fmt.Errorf("bootlab %s: %s", strings.Join(args, " "), stderr)
				return
			}
		}
		shared.files, shared.err = filesBelow(shared.dir)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return filepath.Join(shared.dir, "mylab")
}

// generated is such a lab for one test. Its files are links to those of the shared
// one, so a test that changes one uses replace.
func generated(t testing.TB) string {
	t.Helper()
	from, to := sharedLab(t), filepath.Join(t.TempDir(), "mylab")
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(name, from)
		if entry.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		return os.Link(name, target)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// replace puts another file in the place of one, at once.
func replace(t *testing.T, file, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}
