package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/test/podman"
)

// PathWithout gives a PATH with every program of the system but the named.
func (l *Lab) PathWithout(tb testing.TB, missing ...string) string {
	tb.Helper()
	dir := podman.TempDir(tb, l.Env.Account)
	for _, from := range strings.Split(podman.SystemPath, ":") {
		entries, err := os.ReadDir(from)
		if err != nil {
			continue // not every system has every directory
		}
		for _, e := range entries {
			if slices.Contains(missing, e.Name()) {
				continue
			}
			if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())); err != nil && !os.IsExist(err) {
				tb.Fatal(err)
			}
		}
	}
	return "PATH=" + dir
}

// Wrap puts a bash script in front of a program; $REAL leads to the program.
func (l *Lab) Wrap(tb testing.TB, program, script string) {
	tb.Helper()
	real := ""
	for _, dir := range strings.Split(podman.SystemPath, ":") {
		if _, err := os.Stat(filepath.Join(dir, program)); err == nil {
			real = filepath.Join(dir, program)
			break
		}
	}
	file := filepath.Join(l.Env.Bin, program)
	text := "#!/bin/bash\nREAL=" + real + "\n" + script + "\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		tb.Fatal(err)
	}
	l.Env.Own(tb, l.Env.Bin)
}
