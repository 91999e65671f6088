package scripts

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// Tree describes every file below some directories: mode, time of change,
// content.
type Tree map[string]string

// lockName is the file that excludes other scripts; taking the lock touches it.
const lockName = ".bootlab.lock"

// Snapshot looks at all that the lab's scripts may write.
func (l *Lab) Snapshot(tb testing.TB) Tree {
	tb.Helper()
	t := Tree{}
	for _, dir := range []string{l.Assets(), l.Asset("/etc/kubernetes"), l.Asset("/var/log/openshift"), filepath.Join(l.Dir, "out")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) || err == nil && d.Name() == lockName {
				return nil
			}
			if err != nil {
				return err
			}
			t[path], err = describe(path, d)
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return t
}

func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	line := fmt.Sprintf("%s %s", info.Mode(), info.ModTime().Format("15:04:05.000000000"))
	if !info.Mode().IsRegular() {
		return line, nil
	}
	data, err := os.ReadFile(path)
	return fmt.Sprintf("%s %x", line, sha256.Sum256(data)), err
}

// Same compares two trees.
func (t Tree) Same(tb testing.TB, other Tree) {
	tb.Helper()
	if changes := t.changes(other); len(changes) > 0 {
		tb.Errorf("changed:\n%s", strings.Join(changes, "\n"))
	}
}

func (t Tree) changes(other Tree) []string {
	var changes []string
	for path, was := range t {
		if is := other[path]; is != was {
			changes = append(changes, fmt.Sprintf("%s: %s, was %s", path, is, was))
		}
	}
	for path, is := range other {
		if _, there := t[path]; !there {
			changes = append(changes, fmt.Sprintf("%s: %s, was not there", path, is))
		}
	}
	sort.Strings(changes)
	return changes
}
