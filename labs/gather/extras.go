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
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"bootlab/labs"
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

// TAP is the directory of a bundle with what the checks of each stage said, as
// STAGE.tap.
const TAP = "bootlab/tap"

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
	return plain(text, err)
}

// errNoText is that of a file in which no secret could be found.
var errNoText = errors.New("it is no text")

// mostPacked is how often a file may be packed itself.
const mostPacked = 3

// plain unpacks what is a packed file itself. What is not text then could hold
// any secret.
func plain(text []byte, err error) ([]byte, error) {
	for n := 0; n < mostPacked && bytes.HasPrefix(text, []byte{0x1f, 0x8b}); n++ {
		unpacked, torn := unpack(text, largestExtra)
		if torn != nil {
			return nil, fmt.Errorf("%w: %w", errNoText, torn)
		}
		text = unpacked
	}
	if len(text) > 0 && !isReadable(text) {
		return nil, errNoText
	}
	return text, err
}

// isReadable says whether the beginning of a file is text in any language.
func isReadable(text []byte) bool {
	if isText(text) {
		return true
	}
	head := text[:min(len(text), 4096)]
	for n := 0; n < utf8.UTFMax && len(head) < len(text) && len(head) > 0 && !utf8.Valid(head); n++ {
		head = head[:len(head)-1]
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
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
		strings.HasPrefix(place, "rendered-assets/") && isSecretName(p.name) {
		return ""
	}
	return place
}

// isSecretName says whether a file's name alone makes it stay away, as in the
// installer's bundles: installer-gather.sh removes *secret*, *kubeconfig*, *.key
// and .kube. In bundles that counts for rendered files alone.
func isSecretName(name string) bool {
	for _, part := range strings.Split(strings.ToLower(name), "/") {
		if strings.Contains(part, "secret") || strings.Contains(part, "kubeconfig") ||
			strings.Contains(part, "password") || strings.HasSuffix(part, ".key") || part == ".kube" {
			return true
		}
	}
	return false
}
