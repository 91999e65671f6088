package site

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onDisk writes a guide to a directory, with a key beside it that no one may
// read through the site.
func onDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, file := range source("# etcd\n\n```mermaid stages\n```\n") {
		write(t, filepath.Join(dir, name), file.Data)
	}
	write(t, filepath.Join(dir, "guide/pictures/stages.svg"), []byte(plainPicture))
	write(t, filepath.Join(dir, "guide/pictures/unused.svg"), []byte(plainPicture))
	write(t, filepath.Join(dir, "scripts/unnamed.sh"), []byte("#!/usr/bin/env bash\n"))
	return dir
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func guideIn(t *testing.T, dir string) fs.FS {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root.FS()
}

// A link inside the directory of the guide can lead to a key of the lab: no name
// that the guide uses is read through one.
func TestNothingIsReadThroughALink(t *testing.T) {
	for _, name := range []string{"scripts/make-pki.sh", "scripts", "guide/render-etcd.md", "guide", "guide/pictures/stages.svg", "guide/pictures",
		"guide.json", "README.md"} {
		t.Run(name, func(t *testing.T) {
			dir := onDisk(t)
			moved, link := filepath.Join(dir, "work", "moved"), filepath.Join(dir, name)
			if err := os.Rename(link, moved); err != nil {
				t.Fatal(err)
			}
			target, err := filepath.Rel(filepath.Dir(link), moved)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			if _, err := Build(guideIn(t, dir)); err == nil || !strings.Contains(err.Error(), "link") {
				t.Errorf("it was read: %v", err)
			}
		})
	}
}

func TestWhatTheGuideDoesNotNameIsNotServed(t *testing.T) {
	dir := onDisk(t)
	if err := os.Symlink("../work/assets/tls/x.key", filepath.Join(dir, "scripts", "x.sh")); err != nil {
		t.Fatal(err)
	}
	s, err := Build(guideIn(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Join(s.Names(), " ")
	if !strings.Contains(names, "scripts/make-pki.sh") || !strings.Contains(names, "pictures/stages.svg") {
		t.Errorf("what the guide names is missing: %s", names)
	}
	for _, name := range []string{"scripts/x.sh", "scripts/unnamed.sh", "pictures/unused.svg"} {
		if strings.Contains(names, name) {
			t.Errorf("%s is served", name)
		}
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := onDisk(t)
	script := filepath.Join(dir, "scripts", "make-pki.sh")
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(script, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Build(guideIn(t, dir)); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Error(err)
	}
}
