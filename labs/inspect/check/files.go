package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"bootlab/labs"
)

// Files are what the declarations of checks look at.
type Files struct {
	// Assets is the asset directory, Host the root of its host. Host is nil where
	// nothing of that is kept.
	Assets, Host fs.FS
	// Bundle: modes are not kept, and files whose names say that they are secret
	// are left out.
	Bundle bool
	// Incomplete is why files may be missing that were there; nil if none are.
	Incomplete error
	// Now is the time that certificates are judged by: when the files were
	// looked at.
	Now time.Time
}

// fileLimit is how much of a file is read. The largest that a check looks at, a
// list of resource definitions, has a megabyte.
const fileLimit = 64 << 20

// secretNames are parts of names that keep a file, or all in a directory, out of
// a bundle. The installer's remove *secret*, *kubeconfig*, *.key and .kube from
// rendered-assets; those of bootlab *password* too, and directories of such names.
// Source: openshift/installer
// data/data/bootstrap/files/usr/local/bin/installer-gather.sh, 4.14 to main.
var secretNames = []string{"secret", "kubeconfig", "password"}

// leaves says whether a bundle may leave a file out by its name.
func (f *Files) leaves(name string) bool {
	if !f.Bundle {
		return false
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "/"), func(part string) bool {
		return part == ".kube" || path.Ext(part) == ".key" ||
			slices.ContainsFunc(secretNames, func(secret string) bool { return strings.Contains(part, secret) })
	})
}

// errLeftOut is why a file is not to be had that may have been there.
var errLeftOut = errors.New("files whose names say that they are secret are left out of a bundle")

// errOutside is the same for files outside of what is kept.
var errOutside = errors.New("it keeps nothing of the host outside the asset directory")

// in finds the file system and the name in it of a path of stage data: with a
// leading slash it is the host's.
func (f *Files) in(name string) (fs.FS, string, error) {
	from, below := f.Assets, name
	if strings.HasPrefix(name, "/") {
		from, below = f.Host, strings.TrimLeft(name, "/")
	}
	below = path.Clean(below)
	if from == nil || !fs.ValidPath(below) {
		return nil, "", errOutside
	}
	return from, below, nil
}

// stat looks for a file; fs.ErrNotExist if it is not there, errLeftOut or
// errOutside if it cannot be known.
func (f *Files) stat(name string) (fs.FileInfo, error) {
	from, below, err := f.in(name)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(from, below)
	if err == nil {
		return info, nil
	}
	if f.leaves(name) {
		return nil, errLeftOut
	}
	if errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "not a directory") {
		if f.Incomplete != nil {
			return nil, f.Incomplete
		}
		return nil, fs.ErrNotExist
	}
	return nil, err
}

func (f *Files) read(name string) ([]byte, error) {
	from, below, err := f.in(name)
	if err != nil {
		return nil, err
	}
	file, err := from.Open(below)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, fileLimit+1))
	switch {
	case len(data) > fileLimit:
		return nil, fmt.Errorf("it is larger than %d MiB", fileLimit>>20)
	case f.Bundle && bytes.Contains(data, []byte(masked)):
		return nil, errMasked
	}
	return data, err
}

// masked begins what bootlab gather puts in the place of a secret: what is left
// of such a file proves nothing about it.
const masked = "<masked:"

var errMasked = errors.New("secrets in it were taken out when it was gathered")

// plainPattern are the paths in which the shell matches * and ?; in any other
// they mean themselves (generator/quote.go quotes those).
var plainPattern = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+*?-]+$`)

// expand gives the files that a path means, sorted as the shell sorts in the
// C locale. A pattern that matches nothing stays as it is, as in the shell. more
// says that there may be others, which a bundle leaves out.
func (f *Files) expand(pattern string) (names []string, more bool, err error) {
	if !plainPattern.MatchString(pattern) || !strings.ContainsAny(pattern, "*?") {
		return []string{pattern}, false, nil
	}
	from, below, err := f.in(pattern)
	if err != nil {
		return nil, false, err
	}
	matches, err := fs.Glob(from, below)
	if err != nil {
		return nil, false, err
	}
	for _, m := range matches {
		if !hidden(below, m) {
			if strings.HasPrefix(pattern, "/") {
				m = "/" + m
			}
			names = append(names, m)
		}
	}
	more = f.Bundle || f.Incomplete != nil
	if len(names) == 0 && !more {
		names = []string{pattern}
	}
	slices.Sort(names)
	return names, more, nil
}

// hidden says whether a wildcard matched a leading dot, which in the shell it
// does not.
func hidden(pattern, name string) bool {
	patterns, names := strings.Split(pattern, "/"), strings.Split(name, "/")
	for i := range names {
		if i < len(patterns) && strings.HasPrefix(names[i], ".") && !strings.HasPrefix(patterns[i], ".") {
			return true
		}
	}
	return false
}

// ofFiles says whether a condition hangs on files, which only somebody who looks
// at them can decide.
func ofFiles(w labs.Condition) bool { return w.File != "" || w.Dir != "" || w.NotEmpty != "" }

// counts says whether a condition on files holds; an error when it cannot be known.
func (f *Files) counts(w labs.Condition) (bool, error) {
	switch {
	case w.File != "":
		info, err := f.stat(w.File)
		return err == nil && info.Mode().IsRegular(), unless(err, fs.ErrNotExist)
	case w.Dir != "":
		info, err := f.stat(w.Dir)
		return err == nil && info.IsDir(), unless(err, fs.ErrNotExist)
	case w.NotEmpty != "":
		from, below, err := f.in(w.NotEmpty)
		if err != nil {
			return false, err
		}
		entries, err := fs.ReadDir(from, below)
		switch {
		case len(entries) == 0 && f.Incomplete != nil:
			return false, f.Incomplete
		case len(entries) == 0 && f.Bundle && err == nil:
			return false, errLeftOut
		}
		return len(entries) > 0, unless(err, fs.ErrNotExist)
	}
	return true, nil
}

func unless(err, none error) error {
	if errors.Is(err, none) {
		return nil
	}
	return err
}

// isJSON says whether the first sign of a text begins an object.
func isJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\n"), []byte("{"))
}
