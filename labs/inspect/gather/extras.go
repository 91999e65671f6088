package gather

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
	"bootlab/labs/inspect/mask"
)

//go:embed extras.yaml
var extrasData []byte

// extras are what is gathered beside the evidence, each of which gives files.
var extras = sync.OnceValue(func() []*labs.Evidence {
	var data struct {
		Extras []*labs.Evidence `yaml:"extras"`
	}
	if err := yaml.Unmarshal(extrasData, &data); err != nil {
		panic(err)
	}
	for _, e := range data.Extras {
		if e.Local == "same" {
			e.Local = e.Run
		}
	}
	return data.Extras
})

// largestExtra bounds one file of an extra when it is unpacked, in bytes.
const largestExtra = 32 << 20

// packedFile is one of an extra, still packed.
type packedFile struct {
	name string
	text []byte // base64 of gzip
}

// packedFiles takes the files out of what an extra printed. What stands before
// the first name is the rest of a file whose beginning was cut.
func packedFiles(text []byte) []packedFile {
	var files []packedFile
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if name, isName := bytes.CutPrefix(line, []byte("==> ")); isName {
			files = append(files, packedFile{name: string(name)})
		} else if len(files) > 0 {
			last := &files[len(files)-1]
			last.text = append(last.text, line...)
		}
	}
	return files
}

// unpack gives the file's text, as far as it came.
func (p packedFile) unpack() ([]byte, error) {
	if len(p.text) == 0 {
		return nil, errors.New("it came without text")
	}
	zip, err := gzip.NewReader(bufio.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(p.text))))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(zip, largestExtra+1))
	if len(text) > largestExtra {
		text, err = text[:largestExtra], fmt.Errorf("it is longer than %d MiB", largestExtra>>20)
	}
	return mask.Plain(text, err, largestExtra)
}

// place is where the file goes in the bundle; empty if nowhere. The names come
// from a machine.
func (p packedFile) place(folder string) string {
	place := path.Join(folder, p.name)
	inside := strings.HasPrefix(place, folder+"/")
	if folder == "." {
		inside = place != "." && place != "gather.log" && !strings.HasPrefix(place, "bootlab/")
	}
	if !fs.ValidPath(p.name) || !fs.ValidPath(place) || !inside || len(place) > 500 || strings.ContainsFunc(place, unicode.IsControl) ||
		strings.HasPrefix(place, "rendered-assets/") && mask.IsSecretName(p.name) {
		return ""
	}
	return place
}
