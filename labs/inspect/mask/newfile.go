package mask

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteNew writes a file beside its place and then puts it there, for its owner
// alone. A file that is there already is fs.ErrExist. If ctx ends before, or
// writing fails, no file is left.
func WriteNew(ctx context.Context, name string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".part-")
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(f.Name()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	if err := errors.Join(write(stoppableWriter{ctx, f}), f.Sync(), f.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link replaces nothing; not every file system has links.
	if err := os.Link(f.Name(), name); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	return os.Rename(f.Name(), name)
}

// stoppableWriter is a file that is written until its context ends.
type stoppableWriter struct {
	ctx context.Context
	w   io.Writer
}

func (s stoppableWriter) Write(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}
