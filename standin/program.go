package standin

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"bootlab/standin/images"
	"bootlab/standin/role"
)

// programPath is where images have the program; its other names are links.
const programPath = "/usr/libexec/stand-in"

// Program is the program of package program, which plays every part: static, and
// for the processor of this machine.
type Program struct {
	binary []byte
	layer  v1.Layer // the same in every image
}

// NewProgram takes the program as it was built.
func NewProgram(binary []byte) (*Program, error) {
	layer, err := images.Layer(map[string]images.File{programPath: {Data: binary, Mode: 0o755}})
	return &Program{binary, layer}, err
}

// The program has to be static, as no library is in the images; bootlab itself is
// not where it can load libvirt. So it is a program of its own, and small: podman
// may store it once for each image.
//
//go:generate env CGO_ENABLED=0 go build -trimpath -buildvcs=false "-ldflags=-s -w" -o built/stand-in ./program
//go:generate gzip --best --no-name --force built/stand-in

// built holds the program once go generate has run.
//
//go:embed built
var built embed.FS

// ErrNotBuilt says that bootlab was built without the program.
var ErrNotBuilt = errors.New("this bootlab was built without its stand-ins")

// Builtin is the program that bootlab contains.
func Builtin() (*Program, error) {
	packed, err := built.ReadFile("built/stand-in.gz")
	if err != nil {
		return nil, ErrNotBuilt
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("stand-in.gz: %w", err)
	}
	binary, err := io.ReadAll(reader)
	if err != nil {
		return nil, fmt.Errorf("stand-in.gz: %w", err)
	}
	return NewProgram(binary)
}

// Image is an image that has the program under other names as well, and files.
func (p *Program) Image(files map[string]images.File, names ...string) images.Image {
	image := images.Image{Base: []v1.Layer{p.layer}, Files: map[string]images.File{}}
	for path, f := range files {
		image.Files[path] = f
	}
	for _, name := range names {
		image.Files[name] = images.File{Link: programPath}
	}
	return image
}

// Installer is the program as openshift-install, with what it is told.
func (p *Program) Installer(told role.Installer) ([]byte, error) {
	end, err := told.Encode()
	if err != nil {
		return nil, fmt.Errorf("openshift-install: %w", err)
	}
	return slices.Concat(p.binary, end), nil
}
