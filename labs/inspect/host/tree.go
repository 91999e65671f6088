package host

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// tree is what an archive is unpacked into: a directory, or memory where there is
// no disk. Names are those of [fs.ValidPath].
type tree interface {
	Mkdir(name string, perm fs.FileMode) error
	Lstat(name string) (fs.FileInfo, error)
	Remove(name string) error
	// create makes a new file; one that is there already is fs.ErrExist.
	create(name string) (treeFile, error)
	// date gives a file its time of change.
	date(name string, at time.Time)
}

// treeFile is a file that is written.
type treeFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// onDisk is a directory out of which nothing leads.
type onDisk struct{ *os.Root }

func (d onDisk) create(name string) (treeFile, error) {
	return d.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func (d onDisk) date(name string, at time.Time) {
	os.Chtimes(filepath.Join(d.Name(), name), at, at)
}
