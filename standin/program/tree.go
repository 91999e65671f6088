package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// tree is what a render writes, by path below its output directory. A path that
// ends in a slash is a directory, for those that may stay empty.
type tree map[string]file

type file struct {
	data string
	mode os.FileMode
}

// write puts the tree into a directory that must not be there: bootkube.sh
// removes it first.
func (t tree) write(dir string, dirMode os.FileMode) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		refuse("%s is there already, bootkube.sh removes it first", dir)
	}
	t.add(dir, dirMode)
}

// add puts the tree into a directory, beside and over what is there. It says so on
// the stream of the log: from two streams of a container lines arrive in any order.
func (t tree) add(dir string, dirMode os.FileMode) {
	paths := make([]string, 0, len(t))
	for p := range t {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	hold("start")
	for i, p := range paths {
		if i == len(paths)/2 {
			hold("middle")
		}
		if err := writeFile(dir+"/"+p, t[p], dirMode); err != nil {
			klogFatal("failed writing assets: %v", err)
		}
		fmt.Fprintln(os.Stderr, "Writing asset:", filepath.Join(dir, p))
	}
	hold("end")
}

func writeFile(path string, f file, dirMode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil || strings.HasSuffix(path, "/") {
		return err
	}
	return os.WriteFile(path, []byte(marked(f.data)), f.mode)
}

// origin is what the files of this process say they come from.
var origin = "stand-in"

// marked says in the first line of a text that it comes from a stand-in. YAML has
// comments, and what stands before a block of PEM is no part of it; JSON has
// nothing of the kind, and an empty file stays empty.
func marked(data string) string {
	if data == "" || strings.HasPrefix(data, "{") {
		return data
	}
	return "# Written by bootlab's stand-in for " + origin + ", not by the real program.\n" + data
}

// hold lets a test stop a render: it waits for as long as the asset directory
// holds the file .stand-in-hold-POINT, and says so in a file beside it.
func hold(point string) {
	name := "/assets/.stand-in-hold-" + point
	for tries := 0; tries < 1200; tries++ {
		if _, err := os.Stat(name); err != nil {
			return
		}
		if tries == 0 {
			os.WriteFile(name+".reached", nil, 0o644)
		}
		time.Sleep(50 * time.Millisecond)
	}
	refuse("%s was there for a minute", name)
}
