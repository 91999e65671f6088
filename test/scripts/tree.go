package scripts

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"
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

// withoutTimes gives modes and contents alone.
func (t Tree) withoutTimes() Tree {
	out := Tree{}
	for path, line := range t {
		fields := strings.Fields(line)
		out[path] = strings.Join(slices.Delete(fields, 1, 2), " ")
	}
	return out
}

// Without gives the files that no pattern of paths matches.
func (t Tree) Without(patterns ...string) Tree {
	out := Tree{}
	for path, line := range t {
		if !slices.ContainsFunc(patterns, func(p string) bool { return regexp.MustCompile(p).MatchString(path) }) {
			out[path] = line
		}
	}
	return out
}

// madeAnew are the parts of a file that differ from one run to the next, though
// the file is as it should be: keys, certificates, passwords, times and what
// tells one cluster from another.
var madeAnew = []struct {
	part *regexp.Regexp
	kind string
}{
	{regexp.MustCompile(`-----BEGIN ([A-Z ]+)-----[^-]+-----END [A-Z ]+-----`), "<$1>"},
	{regexp.MustCompile(`\b20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-9:.]+Z`), "<time>"},
	{regexp.MustCompile(`\$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53}`), "<hash of a password>"},
	{regexp.MustCompile(`\A[A-Za-z0-9]{5}(-[A-Za-z0-9]{5}){3}\s*\z`), "<password>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "<id>"},
	{regexp.MustCompile(`\bmylab-[a-z0-9]{5}\b`), "<name>"},
}

// inBase64 is text that may be a file itself.
var inBase64 = regexp.MustCompile(`[A-Za-z0-9+/]{64,}={0,2}`)

// kind gives a text with what is made anew by its kind, in base64 too.
func kind(text []byte) []byte {
	for _, m := range madeAnew {
		text = m.part.ReplaceAll(text, []byte(m.kind))
	}
	return inBase64.ReplaceAllFunc(text, func(word []byte) []byte {
		inside, err := base64.StdEncoding.DecodeString(string(word))
		if err != nil || !utf8.Valid(inside) {
			return word
		}
		return append(append([]byte("<base64 "), kind(inside)...), '>')
	})
}

// aboutOthers are files that tell how podman keeps its images, and sums of the
// files beside them.
var aboutOthers = []string{`/release-info/inspect\.json$`, `/make-manifests\.written$`}

// Kinds describes the files that a lab's stages made by mode and content, what
// is made anew in each run by its kind. Paths are those of the lab.
func (l *Lab) Kinds(tb testing.TB) Tree {
	tb.Helper()
	kinds := Tree{}
	notMade := append([]string{`/var/log/`, `/out/(scripts|guide|node)/`, `\.done$`, `/\.stand-in-hold-`}, aboutOthers...)
	for path := range l.Snapshot(tb).Without(notMade...) {
		info, err := os.Stat(path)
		if err != nil {
			tb.Fatal(err)
		}
		name, err := filepath.Rel(l.Dir, path)
		if err != nil {
			tb.Fatal(err)
		}
		kinds[name] = info.Mode().String()
		if !info.Mode().IsRegular() {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		kinds[name] += fmt.Sprintf(" %x", sha256.Sum256(kind(data)))
	}
	return kinds
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
