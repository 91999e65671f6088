package check

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
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

var (
	imageLine  = regexp.MustCompile(`^ *(- )?"?image"? *:`)
	emptyImage = regexp.MustCompile(`: *("" *|'' *)?$`)
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
