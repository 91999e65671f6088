package generator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"
)

// manifestName is the file in an output directory that holds the hash of every
// file that was written there. A name behind it is what an interrupted write
// was about to do.
const (
	manifestName = ".bootlab-manifest.json"
	pendingName  = ".bootlab-manifest.pending.json"
	// stagingPrefix begins the name of a directory for files on their way.
	stagingPrefix = ".bootlab-staging-"
)

// WriteOptions say how to treat files that a person changed.
type WriteOptions struct {
	// Force overwrites edited files; each is kept beside itself as NAME.edited.
	Force bool
}

// Report is what a write did, in paths relative to the output directory.
type Report struct {
	Written, Unchanged, Removed, Kept []string
}

// EditedError names the generated files that were changed by hand since, and
// would have been overwritten. Nothing was written.
type EditedError struct {
	Dir   string
	Paths []string
}

func (e *EditedError) Error() string {
	return fmt.Sprintf("%d generated files in %s were changed by hand: %s", len(e.Paths), e.Dir, strings.Join(e.Paths, ", "))
}

// hashes maps paths to the hex SHA-256 of what was written there.
type hashes map[string]string

// Write puts the files below dir. Each file is whole or untouched; files that
// earlier writes left and this output no longer has are removed; files that a
// person edited are never overwritten without Force, and files that are not
// ours are never touched. A write that was killed is completed by the next one, and
// of two at once one waits for the other. dir itself may be a link, but no directory
// in it: nothing is written or removed elsewhere.
func (o *Output) Write(dir string, opts WriteOptions) (*Report, error) {
	w := &writer{dir: dir, opts: opts, known: map[string][]string{}, next: hashes{}, real: map[string]error{".": nil}}
	unlock, err := w.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, f := range o.Files {
		w.next[f.Path] = "" // until it is written, or compared with what is there
	}
	for _, name := range []string{manifestName, pendingName} {
		if err := w.remember(name); err != nil {
			return nil, err
		}
	}
	if err := w.examine(o); err != nil {
		return nil, err
	}
	return w.commit(o)
}

// writer carries one Write.
type writer struct {
	dir    string
	opts   WriteOptions
	known  map[string][]string // path to the hashes that were ours
	next   hashes
	locked bool // no other write is under way
	todo   []File
	edited []string
	report Report
	// real says of directories whether they are ones, and no links.
	real map[string]error
}

// How often a write asks whether another has ended, and how long it waits between.
const (
	lockTries = 300
	lockPause = 100 * time.Millisecond
)

// lock keeps other writes out of the directory, which it makes, until unlock is
// called or the process ends. It leaves no file. A file system that cannot lock
// directories, as NFS, goes without.
func (w *writer) lock() (unlock func(), err error) {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.Open(w.dir)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			w.locked = err == nil
			return func() { dir.Close() }, nil
		}
		time.Sleep(lockPause)
	}
	dir.Close()
	return nil, fmt.Errorf("%s: another bootlab is writing there, and has not ended after %s", w.dir, lockTries*lockPause)
}

// mustBeReal refuses a path whose way leads over a link.
func (w *writer) mustBeReal(dir string) error {
	if err, known := w.real[dir]; known {
		return err
	}
	err := w.mustBeReal(path.Dir(dir))
	if err == nil {
		info, failed := os.Lstat(w.path(dir))
		switch {
		case errors.Is(failed, fs.ErrNotExist):
		case failed != nil:
			err = failed
		case info.Mode()&fs.ModeSymlink != 0:
			err = fmt.Errorf("%s is a link: remove it, so that what is written there stays in %s", w.path(dir), w.dir)
		}
	}
	w.real[dir] = err
	return err
}

func sum(write func(io.Writer) error) (string, error) {
	h := sha256.New()
	err := write(h)
	return hex.EncodeToString(h.Sum(nil)), err
}

func sumOfFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return sum(func(w io.Writer) error { _, err := io.Copy(w, f); return err })
}

// parent is the directory of a path in the output.
func parent(file string) string { return path.Dir(file) }

func (w *writer) path(rel string) string { return filepath.Join(w.dir, filepath.FromSlash(rel)) }

func (w *writer) remember(name string) error {
	data, err := os.ReadFile(w.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var old hashes
	if err == nil {
		err = json.Unmarshal(data, &old)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", w.path(name), err)
	}
	for path, hash := range old {
		if !filepath.IsLocal(filepath.FromSlash(path)) {
			return fmt.Errorf("%s: names %q, which is outside the directory", w.path(name), path)
		}
		w.known[path] = append(w.known[path], hash)
	}
	return nil
}

// examine finds out what is to be written, before anything is.
func (w *writer) examine(o *Output) error {
	for _, f := range o.Files {
		state, err := w.state(f)
		if err != nil {
			return err
		}
		switch state {
		case same:
			w.report.Unchanged = append(w.report.Unchanged, f.Path)
			continue
		case edited:
			w.edited = append(w.edited, f.Path)
		}
		w.todo = append(w.todo, f)
	}
	if len(w.edited) > 0 && !w.opts.Force {
		return &EditedError{Dir: w.dir, Paths: w.edited}
	}
	return nil
}

type state int

const (
	absent state = iota
	same         // already what it will be
	ours         // what an earlier write left
	edited       // changed by somebody since, or never ours
)

func (w *writer) state(f File) (state, error) {
	path := f.Path
	if err := w.mustBeReal(parent(path)); err != nil {
		return absent, err
	}
	info, err := os.Lstat(w.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return absent, nil
	}
	if err != nil {
		return absent, err
	}
	if !info.Mode().IsRegular() {
		return absent, fmt.Errorf("%s is in the way: it is no regular file", w.path(path))
	}
	found, err := sumOfFile(w.path(path))
	if err != nil {
		return absent, err
	}
	if _, wanted := w.next[path]; wanted {
		if w.next[path], err = sum(f.writeTo); err != nil {
			return absent, err
		}
	}
	switch {
	case found == w.next[path] && info.Mode().Perm() == f.Mode:
		return same, nil
	case found == w.next[path], slices.Contains(w.known[path], found):
		return ours, nil
	}
	return edited, nil
}

// commit stages all new content first, so that a full disk changes nothing,
// then renames it into place.
func (w *writer) commit(o *Output) (*Report, error) {
	stale := w.stale()
	w.sweep()
	if len(w.todo) == 0 && len(stale) == 0 && w.settled() {
		return &w.report, nil
	}
	staging, err := os.MkdirTemp(w.dir, stagingPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(staging)
	for i, f := range w.todo {
		if err := w.stage(stagedName(staging, i), f); err != nil {
			return nil, err
		}
	}
	if err := w.writeManifest(staging); err != nil {
		return nil, err
	}
	if err := w.place(staging); err != nil {
		return nil, err
	}
	if err := w.remove(stale); err != nil {
		return nil, err
	}
	if err := os.Rename(w.path(pendingName), w.path(manifestName)); err != nil {
		return nil, err
	}
	return &w.report, nil
}

// stage writes a file and notes its hash: what is not there yet is made once.
func (w *writer) stage(name string, f File) error {
	return writeExactly(name, func(file io.Writer) (err error) {
		w.next[f.Path], err = sum(func(h io.Writer) error { return f.writeTo(io.MultiWriter(file, h)) })
		return err
	}, f.Mode)
}

// sweep removes the staging directories that killed writes left. Those of others
// that run are never among them: they hold the lock.
func (w *writer) sweep() {
	entries, err := os.ReadDir(w.dir)
	if err != nil || !w.locked {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagingPrefix) {
			os.RemoveAll(filepath.Join(w.dir, e.Name()))
		}
	}
}

// settled says whether the manifest on disk is that of this output.
func (w *writer) settled() bool {
	if _, err := os.Lstat(w.path(pendingName)); err == nil {
		return false
	}
	if len(w.known) != len(w.next) {
		return false
	}
	for path, hash := range w.next {
		if known := w.known[path]; len(known) != 1 || known[0] != hash {
			return false
		}
	}
	return true
}

func stagedName(staging string, i int) string { return filepath.Join(staging, fmt.Sprint(i)) }

func writeExactly(path string, write func(io.Writer) error, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

// writeManifest says what this write is about to do, before it does it. It is
// made in the staging directory, whose name could not be known before.
func (w *writer) writeManifest(staging string) error {
	data, err := json.MarshalIndent(w.next, "", " ")
	if err != nil {
		return err
	}
	temporary := filepath.Join(staging, "manifest")
	manifest := File{Data: append(data, '\n')}
	if err := writeExactly(temporary, manifest.writeTo, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, w.path(pendingName))
}

func (w *writer) place(staging string) error {
	made := map[string]bool{}
	for i, f := range w.todo {
		target := w.path(f.Path)
		if parent := filepath.Dir(target); !made[parent] {
			if err := os.MkdirAll(parent, 0o755); err != nil {
				return err
			}
			made[parent] = true
		}
		if slices.Contains(w.edited, f.Path) {
			if err := w.keep(f.Path); err != nil {
				return err
			}
		}
		if err := os.Rename(stagedName(staging, i), target); err != nil {
			return err
		}
		w.report.Written = append(w.report.Written, f.Path)
	}
	return nil
}

// keep renames an edited file to the first name that is free.
func (w *writer) keep(path string) error {
	kept := path + ".edited"
	for n := 2; ; n++ {
		if _, err := os.Lstat(w.path(kept)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = fmt.Sprintf("%s.edited-%d", path, n)
	}
	w.report.Kept = append(w.report.Kept, kept)
	return os.Rename(w.path(path), w.path(kept))
}

// stale are files of earlier writes that this output no longer has, unless a
// person edited them.
func (w *writer) stale() []string {
	var out []string
	for path := range w.known {
		if _, still := w.next[path]; still {
			continue
		}
		if s, err := w.state(File{Path: path}); err == nil && s == ours {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out
}

func (w *writer) remove(stale []string) error {
	for _, path := range stale {
		if err := os.Remove(w.path(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		w.report.Removed = append(w.report.Removed, path)
	}
	return nil
}
