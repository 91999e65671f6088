package check

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"bootlab/labs"
)

// present says of each file whether it is there and not empty, and gives those
// that are.
func (l *look) present(files []string) []string {
	var there []string
	for _, file := range files {
		info, err := l.files.stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.wrong("%s is missing", file)
		case err != nil:
			l.unsure(err)
		case info.Size() == 0 && !info.IsDir():
			l.wrong("%s is empty", file)
		default:
			there = append(there, file)
		}
	}
	return there
}

// all is present for what goes no further when a file is not to be had.
func (l *look) all(files []string) bool { return len(l.present(files)) == len(files) && len(files) > 0 }

func (l *look) absent(files []string) {
	for _, file := range files {
		_, err := l.files.stat(file)
		switch {
		case err == nil:
			l.wrong("%s is there", file)
		case !errors.Is(err, fs.ErrNotExist):
			l.unsure(err)
		}
	}
}

func (l *look) count(atLeast int, files []string) {
	number := 0
	for _, file := range files {
		if _, err := l.files.stat(file); err == nil {
			number++
		}
	}
	switch {
	case number >= atLeast:
		l.cannot = nil // more would change nothing
	case len(l.cannot) == 0:
		l.wrong("%d files", number)
	}
}

var errModes = errors.New("modes are not those that the files had")

func (l *look) mode(want string, files []string) {
	if l.files.Bundle {
		l.unsure(errModes)
		return
	}
	for _, file := range files {
		found := "missing"
		info, err := l.files.stat(file)
		switch {
		case err == nil:
			found = octal(info.Mode())
		case !errors.Is(err, fs.ErrNotExist):
			l.unsure(err)
			continue
		}
		if found != want {
			l.wrong("%s: %s", file, found)
		}
	}
}

// octal are the permission bits in four digits, as stat prints them.
func octal(mode fs.FileMode) string {
	bits := mode.Perm()
	for bit, value := range map[fs.FileMode]fs.FileMode{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&bit != 0 {
			bits |= value
		}
	}
	return fmt.Sprintf("%04o", uint32(bits))
}

// same compares files, and all that is in directories.
func (l *look) same(from, to []string) {
	if len(to) != 1 {
		return
	}
	for _, file := range from {
		info, err := l.files.stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			l.wrong("%s is missing", file)
		case err != nil:
			l.unsure(err)
		case info.IsDir():
			l.sameTree(file, to[0]+path.Base(file))
		case strings.HasSuffix(to[0], "/"):
			l.sameFile(file, to[0]+path.Base(file))
		default:
			l.sameFile(file, to[0])
		}
	}
}

// sameTree compares the regular files below two directories.
func (l *look) sameTree(from, to string) {
	root, below, err := l.files.in(from)
	if err != nil {
		l.unsure(err)
		return
	}
	err = fs.WalkDir(root, below, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() {
			inside := strings.TrimPrefix(name, below)
			l.sameFile(from+inside, to+inside)
		}
		return nil
	})
	if err != nil {
		l.unsure(err)
	}
}

func (l *look) sameFile(from, to string) {
	one, err := l.files.read(from)
	if err != nil {
		l.unsure(err)
		return
	}
	info, err := l.files.stat(to)
	if err == nil && info.IsDir() {
		l.wrong("%s is a directory", to)
		return
	}
	if err == nil {
		var other []byte
		if other, err = l.files.read(to); err == nil {
			if !bytes.Equal(one, other) {
				l.wrong("%s is not %s", to, from)
			}
			return
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		l.wrong("%s is not %s", to, from)
		return
	}
	l.unsure(err)
}

// text is a file of which present has said that it is there.
func (l *look) text(file string) ([]byte, bool) {
	data, err := l.files.read(file)
	if err != nil {
		l.unsure(fmt.Errorf("%s: %w", file, err))
		return nil, false
	}
	return data, true
}

// lines of a text, as grep and awk take them: the last one needs no end.
func lines(data []byte) []string {
	text := strings.TrimSuffix(string(data), "\n")
	if text == "" && len(data) == 0 {
		return nil
	}
	return strings.Split(text, "\n")
}

func (d *Declared) line(l *look, c *labs.LineCheck) error {
	pattern, err := d.fill(c.Pattern)
	if err != nil {
		return err
	}
	expression, err := regexp.CompilePOSIX(pattern)
	if err != nil {
		return err
	}
	for _, file := range l.present(d.paths(l, c.Path)) {
		if data, ok := l.text(file); ok && !slices.ContainsFunc(lines(data), expression.MatchString) {
			l.wrong("no such line in %s", file)
		}
	}
	return nil
}

func (d *Declared) value(l *look, c *labs.ValueCheck) error {
	want, err := d.fill(c.Equals)
	if err != nil {
		return err
	}
	files := d.paths(l, c.Path)
	if len(files) == 0 {
		return nil
	}
	if len(l.cannot) > 0 && len(files) == 1 {
		l.cannot = nil // the pattern means one file, and that is it
	}
	if !l.all(files[:1]) {
		return nil
	}
	data, ok := l.text(files[0])
	if !ok {
		return nil
	}
	found, err := valueAt(c.At, data)
	switch {
	case err != nil:
		l.wrong("%s cannot be read: %v", files[0], err)
	case found == "":
		l.wrong("%s is not there", c.At)
	case found != want:
		l.wrong("%s is %s", c.At, found)
	}
	return nil
}

var (
	imageLine  = regexp.MustCompile(`^ *(- )?"?image"? *:`)
	emptyImage = regexp.MustCompile(`: *("" *|'' *)?$`)
	imageName  = regexp.MustCompile(`^ *(?:- )?"?image"? *: *["']?([^"' ]*)`)
)

func (l *look) images(files []string) {
	there := l.present(files)
	if l.bad {
		return
	}
	for _, file := range there {
		data, ok := l.text(file)
		if !ok {
			continue
		}
		var found []string
		if isJSON(data) {
			for _, image := range jsonImages(data) {
				found = append(found, strings.Split("image: "+image, "\n")...)
			}
		} else {
			for _, line := range lines(data) {
				if imageLine.MatchString(line) {
					found = append(found, line)
				}
			}
		}
		if len(found) == 0 {
			l.wrong("no image in %s", file)
		}
		if len(found) == 0 || slices.ContainsFunc(found, emptyImage.MatchString) {
			l.wrong("%s: %s", file, strings.Join(found, "\n"))
		}
	}
}

// namedImages are the images of a manifest, without those that are empty.
func namedImages(data []byte) []string {
	var all []string
	if isJSON(data) {
		for _, image := range jsonImages(data) {
			all = append(all, strings.Split(image, "\n")...)
		}
	} else {
		for _, line := range lines(data) {
			if m := imageName.FindStringSubmatch(line); m != nil {
				all = append(all, m[1])
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(image string) bool { return image == "" })
}

// payload: files name only images of a list, or the release image.
func (d *Declared) payload(l *look, c *labs.PayloadCheck) {
	list := c.List
	if list == "" {
		list = "release-info/images"
	}
	const digest = "release-info/digest"
	if d.Files.Bundle {
		for _, file := range []string{list, digest} {
			if _, err := d.Files.stat(file); err != nil {
				l.unsure(fmt.Errorf("%s, which names the images of the release, is not in it", file))
				return
			}
		}
	}
	files := d.paths(l, c.Paths...)
	if !l.all(append([]string{list, digest}, files...)) {
		return
	}
	known := map[string]bool{}
	for _, file := range []string{digest, list} {
		data, ok := l.text(file)
		if !ok {
			return
		}
		for _, image := range answers(data, file == digest) {
			known[image] = true
		}
	}
	for _, file := range files {
		data, _ := l.text(file)
		for _, image := range namedImages(data) {
			if !known[image] {
				l.wrong("%s: %s is not in the release", file, image)
			}
		}
	}
}

// answers are the images that a list knows.
func answers(data []byte, whole bool) []string {
	if isJSON(data) && !whole {
		return tagImages(data)
	}
	var out []string
	for _, line := range lines(data) {
		if whole {
			out = append(out, line)
		} else if fields := strings.Fields(line); len(fields) > 1 {
			out = append(out, fields[1])
		}
	}
	return out
}
