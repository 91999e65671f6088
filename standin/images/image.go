// Package images makes container images from scratch, and serves them.
package images

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"path"
	"runtime"
	"sort"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// File is one file of a layer.
type File struct {
	Data []byte
	Mode int64 // 0644 if it is 0
	// Link makes the file a symbolic link to this path.
	Link string
}

// Image describes an image from scratch.
type Image struct {
	// Base are layers below the files, as Layer makes them.
	Base       []v1.Layer
	Files      map[string]File // by absolute path
	Entrypoint []string
	Command    []string
	Env        []string
	Labels     map[string]string
}

// Build makes the image in the format of docker's version 2, schema 2, which
// is what release payloads consist of. The same description gives the same
// bytes.
func (i Image) Build() (v1.Image, error) {
	layers := append([]v1.Layer(nil), i.Base...)
	if len(i.Files) > 0 {
		layer, err := Layer(i.Files)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	image, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config.Entrypoint, config.Config.Cmd = i.Entrypoint, i.Command
	config.Config.Labels = i.Labels
	config.Config.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, i.Env...)
	return mutate.ConfigFile(image, config)
}

// Layer packs files, with the directories above them.
func Layer(files map[string]File) (v1.Layer, error) {
	var packed bytes.Buffer
	if err := pack(&packed, files); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
}

func pack(to io.Writer, files map[string]File) error {
	w := tar.NewWriter(to)
	for _, dir := range directories(files) {
		header := &tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: time.Unix(0, 0)}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(files) {
		if err := packFile(w, strings.TrimPrefix(name, "/"), files[name]); err != nil {
			return err
		}
	}
	return w.Close()
}

func packFile(w *tar.Writer, name string, f File) error {
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: f.Mode, Size: int64(len(f.Data)), ModTime: time.Unix(0, 0)}
	if f.Mode == 0 {
		header.Mode = 0o644
	}
	if f.Link != "" {
		header.Typeflag, header.Linkname, header.Size = tar.TypeSymlink, f.Link, 0
	}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	if f.Link != "" {
		return nil
	}
	_, err := w.Write(f.Data)
	return err
}

// directories lists every directory above the files, parents first.
func directories(files map[string]File) []string {
	all := map[string]File{}
	for name := range files {
		for dir := path.Dir(strings.TrimPrefix(name, "/")); dir != "."; dir = path.Dir(dir) {
			all[dir] = File{}
		}
	}
	return sortedKeys(all)
}

func sortedKeys(m map[string]File) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
