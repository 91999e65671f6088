package scripts

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"bootlab/test/podman"
)

// paths are the directories that PathWithout made, by what they lack: each has a
// link for some two thousand programs.
var paths = struct {
	sync.Mutex
	made map[string]string
}{made: map[string]string{}}

// PathWithout gives a PATH with every program of the system but the named. Its
// directory belongs to all tests.
func (l *Lab) PathWithout(tb testing.TB, missing ...string) string {
	tb.Helper()
	paths.Lock()
	defer paths.Unlock()
	key := strings.Join(missing, " ")
	if paths.made[key] == "" {
		dir := podman.SharedDir(tb, podman.Account{UID: os.Getuid(), GID: os.Getgid()})
		linkSystem(tb, dir, missing)
		paths.made[key] = dir
	}
	return "PATH=" + paths.made[key]
}

// linkSystem puts a link to each program of the system but the missing into dir.
func linkSystem(tb testing.TB, dir string, missing []string) {
	tb.Helper()
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
