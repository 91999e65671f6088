package site

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// readRegular reads a file of the guide. It refuses a link, in the name itself
// and in every directory above it: a link inside the output directory can lead
// to a key of the lab, and what is read here is served.
func readRegular(src fs.FS, name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	for end, c := range name {
		if c != '/' {
			continue
		}
		dir := name[:end]
		info, err := fs.Lstat(src, dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s: expected a directory, found a link or a file", dir)
		}
	}
	before, err := fs.Lstat(src, name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: expected a regular file, found %s", name, fileKind(before.Mode()))
	}
	return readSame(src, name, before)
}

// readSame reads the file that was looked at, and no other that took its place
// since.
func readSame(src fs.FS, name string, before fs.FileInfo) ([]byte, error) {
	f, err := src.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// Files in memory have no identity to compare.
	if !now.Mode().IsRegular() || before.Sys() != nil && !os.SameFile(before, now) {
		return nil, fmt.Errorf("%s: the file changed while it was read", name)
	}
	return io.ReadAll(f)
}

func fileKind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a directory"
	}
	return "a special file"
}

// pictureFile is where the guide keeps a picture.
func pictureFile(name string) string { return path.Join("guide/pictures", name+".svg") }

// pictureOf is the name of the picture that a file of the guide holds.
func pictureOf(file string) (name string, ok bool) {
	if path.Dir(file) != "guide/pictures" {
		return "", false
	}
	return strings.CutSuffix(path.Base(file), ".svg")
}
