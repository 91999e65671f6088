package host

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"
)

// unpacking puts an archive's files into a tree. Entries that point out of
// it, links and devices are left out and counted; memory does not grow with what
// the archive claims.
type unpacking struct {
	ctx  context.Context // its end ends reading
	root tree
	most limits

	left    int64 // bytes that may still be unpacked
	holes   int64 // bytes that may still be read of files: more than left only where files have holes
	entries int   // of the archive, and directories that were made
	files   int
	made    map[string]bool // directories, as far as they are remembered
	buffer  []byte          // through which files go
	torn    bool
	over    string              // which limit ended it
	skipped map[string][]string // why, and the first names
	counts  map[string]int
}

// unpack reads the whole archive. An error means that it is none.
func (u *unpacking) unpack(archive io.Reader) error {
	u.left, u.holes, u.skipped, u.counts, u.made = u.most.total, u.most.total, map[string][]string{}, map[string]int{}, map[string]bool{}
	in := bufio.NewReaderSize(stoppable{u.ctx, archive}, 64<<10)
	var stream io.Reader = in
	if magic, _ := in.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		zip, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("this is no gzip file: %w", err)
		}
		stream = zip
	}
	err := u.each(tar.NewReader(&metered{stream, &u.left}))
	var mine *diskError
	switch {
	case u.ctx.Err() != nil:
		return u.ctx.Err()
	case errors.As(err, &mine):
		return mine.error
	case errors.Is(err, errOver):
		u.over = err.Error()
	case err != nil && u.entries == 0:
		return fmt.Errorf("this is no tar archive: %w", err)
	case err != nil:
		u.torn = true
	}
	if u.files == 0 {
		return errors.New("there is no file in this archive")
	}
	return nil
}

// stoppable is a stream that ends with its context: what is hostile may take long.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// errOver ends reading, and is no fault of the archive's form.
var errOver = errors.New("over the limit")

// diskError is one of this machine, and says nothing of the archive.
type diskError struct{ error }

// metered counts down what passes. Everything in the stream counts, also headers
// and what is left out.
type metered struct {
	r    io.Reader
	left *int64
}

func (m *metered) Read(p []byte) (int, error) {
	if *m.left <= 0 {
		return 0, fmt.Errorf("%w of bytes", errOver)
	}
	if int64(len(p)) > *m.left {
		p = p[:*m.left]
	}
	n, err := m.r.Read(p)
	*m.left -= int64(n)
	return n, err
}

func (u *unpacking) each(t *tar.Reader) error {
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := u.charge(); err != nil {
			return err
		}
		if err := u.entry(h, t); err != nil {
			return err
		}
	}
}

// charge counts an entry, or a directory that one brings with it.
func (u *unpacking) charge() error {
	if u.entries++; u.entries > u.most.entries {
		return fmt.Errorf("%w of %d entries", errOver, u.most.entries)
	}
	return nil
}

func (u *unpacking) entry(h *tar.Header, content io.Reader) error {
	name, why := u.place(h)
	if why != "" {
		u.skip(why, h.Name)
		return nil
	}
	if h.Typeflag == tar.TypeDir {
		return u.unless(u.folder(name), h)
	}
	if err := u.folder(path.Dir(name)); err != nil {
		return u.unless(err, h)
	}
	// O_EXCL: the first of two with the same name stays.
	f, err := u.root.create(name)
	if err != nil {
		return u.unless(err, h)
	}
	u.files++
	return u.keep(f, name, h, &metered{stoppable{u.ctx, content}, &u.holes})
}

// unless leaves an entry out that could not be made, unless the error is one that
// ends reading.
func (u *unpacking) unless(err error, h *tar.Header) error {
	switch {
	case err == nil || errors.Is(err, errOver):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &diskError{err}
	}
	u.skip("there twice, in the place of another, or with a name that cannot be", h.Name)
	return nil
}

// mostDepth is more than any bundle has, in names of a path. To reach a file the
// kernel is asked for each of them.
const mostDepth = 32

// place is where an entry goes; why says why it goes nowhere.
func (u *unpacking) place(h *tar.Header) (name, why string) {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeGNUSparse:
	case tar.TypeSymlink, tar.TypeLink:
		return "", "a link"
	default:
		return "", "neither file nor directory"
	}
	if path.IsAbs(h.Name) {
		return "", "a path that begins at the root"
	}
	if len(h.Name) > u.most.path || strings.ContainsRune(h.Name, 0) {
		return "", "a path that is too long"
	}
	for _, part := range strings.Split(h.Name, "/") {
		if part == ".." {
			return "", "a path that leads out"
		}
	}
	name = path.Clean(h.Name)
	if strings.Count(name, "/") >= mostDepth {
		return "", "a path that is too deep"
	}
	if name == "." && h.Typeflag != tar.TypeDir || !fs.ValidPath(name) {
		return "", "a path that is none"
	}
	return name, ""
}

// folder makes a directory and those above it.
func (u *unpacking) folder(name string) error {
	if name == "." || u.made[name] {
		return nil
	}
	if err := u.folder(path.Dir(name)); err != nil {
		return err
	}
	err := u.root.Mkdir(name, 0o700)
	switch {
	case err == nil:
		err = u.charge()
	case errors.Is(err, fs.ErrExist):
		if info, missing := u.root.Lstat(name); missing == nil && info.IsDir() {
			err = nil // it was made and forgotten
		}
	}
	if err == nil {
		u.remember(name)
	}
	return err
}

// mostRemembered bounds the memory for the names of directories.
const mostRemembered = 20_000

func (u *unpacking) remember(dir string) {
	if len(u.made) >= mostRemembered {
		clear(u.made)
	}
	u.made[dir] = true
}

// keep writes the last bytes of a file. A larger one goes round in its own
// place, so that no more is ever on the disk, and is then put in order.
func (u *unpacking) keep(f treeFile, name string, h *tar.Header, content io.Reader) error {
	defer f.Close()
	size, err := u.writeRound(f, content)
	if size > u.most.file {
		u.skip(fmt.Sprintf("the beginning of a file longer than %d MiB", u.most.file>>20), h.Name)
		if err := u.unwind(f, name, size%u.most.file); err != nil {
			return err
		}
	}
	u.date(name, h)
	return err
}

func (u *unpacking) writeRound(f treeFile, content io.Reader) (size int64, err error) {
	if u.buffer == nil {
		u.buffer = make([]byte, 64<<10)
	}
	for {
		n, err := content.Read(u.buffer)
		for part := u.buffer[:n]; len(part) > 0; {
			at := size % u.most.file
			now := min(int64(len(part)), u.most.file-at)
			if _, err := f.WriteAt(part[:now], at); err != nil {
				return size, &diskError{err}
			}
			part, size = part[now:], size+now
		}
		if err == io.EOF {
			return size, nil
		}
		if err != nil {
			return size, err
		}
	}
}

// unwind rewrites a file whose oldest byte is at begin.
func (u *unpacking) unwind(f treeFile, name string, begin int64) error {
	if begin == 0 {
		return nil
	}
	if err := u.root.Remove(name); err != nil {
		return &diskError{err}
	}
	out, err := u.root.create(name)
	if err != nil {
		return &diskError{err}
	}
	defer out.Close()
	if _, err := io.Copy(io.NewOffsetWriter(out, 0), io.MultiReader(io.NewSectionReader(f, begin, u.most.file-begin), io.NewSectionReader(f, 0, begin))); err != nil {
		return &diskError{err}
	}
	return nil
}

// date gives a file the time of the archive; without it, only [Bundle.Time] of
// an unnamed bundle is worse.
func (u *unpacking) date(name string, h *tar.Header) {
	if !h.ModTime.IsZero() {
		u.root.date(name, h.ModTime)
	}
}

// skip counts what is left out, and keeps a few names.
func (u *unpacking) skip(why, name string) {
	u.counts[why]++
	if len(u.skipped[why]) < 3 {
		if len(name) > 200 {
			name = name[:200] + "…"
		}
		u.skipped[why] = append(u.skipped[why], fmt.Sprintf("%q", name))
	}
}

// notes tells of all that, in the order of the reasons.
func (u *unpacking) notes() []string {
	var notes []string
	if u.torn {
		notes = append(notes, "the archive is torn: it ends in the middle, and what came before is used")
	}
	if u.over != "" {
		notes = append(notes, "the archive is "+u.over+"; what came before is used")
	}
	for _, why := range sortedKeys(u.counts) {
		note := fmt.Sprintf("left out, %s: %s", why, strings.Join(u.skipped[why], ", "))
		if more := u.counts[why] - len(u.skipped[why]); more > 0 {
			note += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, note)
	}
	return notes
}
