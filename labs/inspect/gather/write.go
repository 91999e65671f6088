package gather

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/mask"
)

// FileName is the name that the installer gives its bundles, by the time of the
// workstation. Source: openshift/installer cmd/openshift-install/command/gather.go.
func FileName(at time.Time) string { return "log-bundle-" + at.Format("20060102150405") + ".tar.gz" }

// Write writes the archive: the same bytes for the same bundle.
func (b *Bundle) Write(w io.Writer) error {
	zip := gzip.NewWriter(w)
	archive := tar.NewWriter(zip)
	index, err := b.index()
	if err != nil {
		return err
	}
	folder := strings.TrimSuffix(FileName(b.Index.Ended.Local()), ".tar.gz")
	put := func(name string, text []byte) error {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + name, Size: int64(len(text)), Mode: 0o600,
			ModTime: b.Index.Ended.Truncate(time.Second), Format: tar.FormatPAX}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		_, err := archive.Write(text)
		return err
	}
	// The index is first: so it is whole even where the archive is torn.
	if err := put(host.IndexFile, index); err != nil {
		return err
	}
	if err := put("gather.log", b.log()); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		if err := put(name, b.files[name]); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zip.Close())
}

func (b *Bundle) index() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(b.Index)
	return out.Bytes(), err
}

// log tells in words what is there, as gather.log of the installer does.
func (b *Bundle) log() []byte {
	var out bytes.Buffer
	for _, e := range b.Index.Evidence {
		of := e.ID
		if e.Node != "" {
			of += " of " + e.Node
		}
		switch {
		case e.Problem != "":
			fmt.Fprintf(&out, "not collected: %s: %s\n", of, e.Problem)
		case e.File == "":
			fmt.Fprintf(&out, "empty:   %s, status %d\n", of, e.Status)
		default:
			fmt.Fprintf(&out, "collected:     %s: %s\n", of, e.File)
		}
	}
	for _, m := range b.Index.Missing {
		fmt.Fprintf(&out, "missing: %s\n", m)
	}
	for _, kind := range slices.Sorted(maps.Keys(b.Index.Masked)) {
		fmt.Fprintf(&out, "masked:  %d of kind %s\n", b.Index.Masked[kind], kind)
	}
	return out.Bytes()
}

// WriteFile writes the archive as a new file for its owner alone. A file that is
// there already is fs.ErrExist. If ctx ends before, no file is left.
func (b *Bundle) WriteFile(ctx context.Context, name string) error {
	return mask.WriteNew(ctx, name, b.Write)
}
