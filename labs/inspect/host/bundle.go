package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Bundle is what somebody kept of machines: a directory or an archive, of
// bootlab gather or of openshift-install gather bootstrap (log-bundle-ID.tar.gz).
// It may come from anywhere: nothing in it is trusted, and nothing runs.
type Bundle struct {
	// Path is the file or directory that it was opened from.
	Path string
	// Index is the bundle's own; nil in one of the installer.
	Index *Index
	// Notes say what was left out or cut in reading it, and why.
	Notes []string
	// Torn: the archive ends before its end. What came whole is used.
	Torn bool

	ctx  context.Context
	root *os.Root
	temp string    // the directory that it was unpacked to; empty for a directory
	top  fs.FS     // all of it
	fsys fs.FS     // inside its folder log-bundle-ID
	time time.Time // when it was collected, once it is known
}

// limits of what an archive may make of this machine.
type limits struct {
	total   int64 // bytes that are unpacked
	file    int64 // bytes that are kept of a file, the last ones
	entries int   // of the archive, and directories that are made for them
	path    int   // bytes of a path
}

// bundleLimits: the installer's bundles are some 100 MiB when unpacked.
var bundleLimits = limits{total: 2 << 30, file: 256 << 20, entries: 200_000, path: 1024}

// OpenBundle opens a directory, or unpacks a .tar or .tar.gz into a private
// directory that [Bundle.Close] removes. An error says that the file is no
// bundle; Notes list what is damaged or was too much to unpack. Unpacking ends with ctx, and so
// does all later reading of the bundle.
func OpenBundle(ctx context.Context, path string) (*Bundle, error) {
	return openBundle(ctx, path, bundleLimits)
}

func openBundle(ctx context.Context, path string, most limits) (*Bundle, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Path: path, ctx: ctx}
	dir := path
	switch {
	case info.IsDir():
	case info.Mode().IsRegular():
		if dir, err = os.MkdirTemp("", "bootlab-bundle-"); err != nil {
			return nil, err
		}
		b.temp = dir
	default:
		return nil, fmt.Errorf("%s is neither a directory nor a file", path)
	}
	if err := b.open(dir, most); err != nil {
		b.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// ReadBundle unpacks a .tar or .tar.gz into memory, within the same limits and by
// the same rules as [OpenBundle]. name is that of the file, which may tell when the
// bundle was collected.
func ReadBundle(ctx context.Context, name string, archive io.Reader) (*Bundle, error) {
	return readBundle(ctx, name, archive, bundleLimits)
}

func readBundle(ctx context.Context, name string, archive io.Reader, most limits) (*Bundle, error) {
	files := newMemory()
	b := &Bundle{Path: name, ctx: ctx, top: remembered{ctx, files}}
	err := b.unpack(files, archive, most)
	if err == nil {
		err = b.look()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func (b *Bundle) open(dir string, most limits) (err error) {
	if b.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	b.top = rooted{b.ctx, b.root}
	if b.temp != "" {
		f, err := os.Open(b.Path)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := b.unpack(onDisk{b.root}, f, most); err != nil {
			return err
		}
	}
	return b.look()
}

// unpack puts an archive into a tree.
func (b *Bundle) unpack(into tree, archive io.Reader, most limits) error {
	u := &unpacking{ctx: b.ctx, root: into, most: most}
	err := u.unpack(archive)
	b.Notes, b.Torn = u.notes(), u.torn
	return err
}

// look finds the bundle in what is there, and its index.
func (b *Bundle) look() (err error) {
	if b.fsys, err = b.inside(); err != nil {
		return err
	}
	if b.Index, err = readIndex(b.fsys); err != nil {
		b.Notes = append(b.Notes, err.Error()+"; the bundle is read as one of the installer")
	}
	return nil
}

// Close removes what was unpacked.
func (b *Bundle) Close() error {
	var errs []error
	if b.root != nil {
		errs = append(errs, b.root.Close())
	}
	if b.temp != "" {
		errs = append(errs, os.RemoveAll(b.temp))
	}
	return errors.Join(errs...)
}

// FS is the bundle, rooted inside its folder log-bundle-ID. No link leads out of
// it, and what is neither file nor directory cannot be opened.
func (b *Bundle) FS() fs.FS { return b.fsys }

// Local says whether it is of a lab without machines. Only bootlab makes
// such bundles.
func (b *Bundle) Local() bool { return b.Index != nil && b.Index.Local }

// places that a bundle has at least one of, whoever made it.
var bundlePlaces = []string{"bootstrap", "control-plane", "rendered-assets", "resources", "bootlab", "log-bundle-bootstrap"}

// inside finds the folder in which the bundle is: the one given, or the only one
// in it that is a bundle.
func (b *Bundle) inside() (fs.FS, error) {
	top := b.top
	if isBundle(top) {
		return top, nil
	}
	entries, err := fs.ReadDir(top, ".")
	if err != nil {
		return nil, err
	}
	var found []fs.FS
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if sub, err := fs.Sub(top, e.Name()); err == nil && isBundle(sub) {
			found = append(found, sub)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, errors.New("this is no log bundle: it has none of " + strings.Join(bundlePlaces, "/, ") + "/")
	}
	return nil, errors.New("there are several log bundles in it; give one of them")
}

func isBundle(fsys fs.FS) bool {
	for _, place := range bundlePlaces {
		if info, err := fs.Stat(fsys, place); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

var bundleTime = regexp.MustCompile(`log-bundle-([0-9]{14})`)

// Time is when it was collected: from the index; else that of the newest file in
// it, if the name agrees (log-bundle-YYYYMMDDhhmmss is the local time of a
// workstation whose zone nobody knows); else from the name, taken as this
// machine's time.
func (b *Bundle) Time() time.Time {
	if b.Index != nil {
		return b.Index.Ended
	}
	if b.time.IsZero() {
		b.time = b.collected()
	}
	return b.time
}

func (b *Bundle) collected() time.Time {
	last := newest(b.fsys)
	names := []string{filepath.Base(b.Path)}
	if entries, err := fs.ReadDir(b.top, "."); err == nil {
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	for _, name := range names {
		if m := bundleTime.FindStringSubmatch(name); m != nil {
			if t, err := time.ParseInLocation("20060102150405", m[1], time.Local); err == nil {
				if d := last.Sub(t); d.Abs() < anyZone {
					return last
				}
				return t.UTC()
			}
		}
	}
	return last
}

// anyZone is how far two local times may be apart, and the hour that gathering may
// take.
const anyZone = 27 * time.Hour

func newest(fsys fs.FS) time.Time {
	var last time.Time
	fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
		return nil
	})
	return last.UTC()
}

// rooted is a directory out of which no link leads, and whose pipes and devices
// are not opened: that might wait for ever. Reading ends with ctx.
type rooted struct {
	ctx  context.Context
	root *os.Root
}

func (r rooted) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	info, err := r.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no file")}
	}
	if err := r.ctx.Err(); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	return &rootedFile{stoppable{r.ctx, f}, f}, nil
}

// rootedFile is a file of such a directory. It hides how the file would be copied
// in one go.
type rootedFile struct {
	stoppable
	f *os.File
}

func (f *rootedFile) Stat() (fs.FileInfo, error)                   { return f.f.Stat() }
func (f *rootedFile) Close() error                                 { return f.f.Close() }
func (f *rootedFile) Seek(offset int64, whence int) (int64, error) { return f.f.Seek(offset, whence) }
func (f *rootedFile) ReadDir(n int) ([]fs.DirEntry, error)         { return f.f.ReadDir(n) }

// Stat looks without opening.
func (r rooted) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return r.root.Stat(name)
}

// match is fs.Glob, but for directories that cannot be read, in a sure order.
func match(fsys fs.FS, pattern string) []string {
	names, _ := fs.Glob(fsys, pattern)
	sort.Strings(names)
	return names
}
