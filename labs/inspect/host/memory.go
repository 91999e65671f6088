package host

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// memory is a tree of files that are kept in memory.
type memory struct{ top *node }

// node is a file or a directory of it.
type node struct {
	name     string
	folder   map[string]*node // nil in a file
	chunks   [][]byte         // of a file; a missing one, and what a short one lacks, is zeros
	size     int64
	modified time.Time
	sorted   []fs.DirEntry // of a directory, once it was listed
}

// chunkSize is how much of a file is kept in one piece, in bytes.
const chunkSize = 128 << 10

// longestName is what a file system takes for a name, in bytes.
const longestName = 255

func newMemory() *memory { return &memory{&node{name: ".", folder: map[string]*node{}}} }

func (m *memory) find(op, name string) (*node, error) {
	at := m.top
	if name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if at = at.folder[part]; at == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
	}
	return at, nil
}

// add puts a node into its folder, which is there.
func (m *memory) add(op, name string, n *node) error {
	folder, err := m.find(op, path.Dir(name))
	n.name = path.Base(name)
	switch {
	case err != nil:
		return err
	case folder.folder == nil:
		err = errors.New("not a directory")
	case folder.folder[n.name] != nil:
		err = fs.ErrExist
	case len(n.name) > longestName:
		err = errors.New("file name too long")
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	folder.folder[n.name], folder.sorted = n, nil
	return nil
}

func (m *memory) Mkdir(name string, _ fs.FileMode) error {
	return m.add("mkdir", name, &node{folder: map[string]*node{}, modified: time.Now()})
}

func (m *memory) Lstat(name string) (fs.FileInfo, error) {
	n, err := m.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return nodeInfo{n}, nil
}

func (m *memory) Remove(name string) error {
	folder, err := m.find("remove", path.Dir(name))
	if err == nil {
		delete(folder.folder, path.Base(name))
		folder.sorted = nil
	}
	return err
}

func (m *memory) create(name string) (treeFile, error) {
	n := &node{modified: time.Now()}
	return n, m.add("create", name, n)
}

func (m *memory) date(name string, at time.Time) {
	if n, err := m.find("date", name); err == nil {
		n.modified = at
	}
}

// zeros is what no chunk is kept of: an archive of a few bytes can hold very many.
var zeros [chunkSize]byte

// WriteAt writes a part of a file.
func (n *node) WriteAt(p []byte, at int64) (int, error) {
	written := len(p)
	for len(p) > 0 {
		i, from := int(at/chunkSize), int(at%chunkSize)
		part := p[:min(len(p), chunkSize-from)]
		for len(n.chunks) <= i {
			n.chunks = append(n.chunks, nil)
		}
		if n.chunks[i] != nil || !bytes.Equal(part, zeros[:len(part)]) {
			n.chunks[i] = overwritten(n.chunks[i], part, from)
		}
		p, at = p[len(part):], at+int64(len(part))
	}
	n.size = max(n.size, at)
	return written, nil
}

// overwritten is a chunk with a part in it. One that gets half full gets all
// its room at once.
func overwritten(chunk, part []byte, from int) []byte {
	end := max(from+len(part), len(chunk))
	switch {
	case end >= chunkSize/2 && cap(chunk) < chunkSize:
		chunk = append(make([]byte, 0, chunkSize), chunk...)
	case end > cap(chunk):
		chunk = slices.Grow(chunk, end-len(chunk))
	}
	chunk = chunk[:end]
	copy(chunk[from:], part)
	return chunk
}

// ReadAt reads a part of a file.
func (n *node) ReadAt(p []byte, at int64) (int, error) {
	if at < 0 {
		return 0, errors.New("a negative offset")
	}
	read := 0
	for read < len(p) && at < n.size {
		i, from := int(at/chunkSize), int(at%chunkSize)
		part := p[read:][:min(int64(len(p)-read), int64(chunkSize-from), n.size-at)]
		had := 0
		if chunk := n.chunks[i]; from < len(chunk) {
			had = copy(part, chunk[from:])
		}
		clear(part[had:])
		read, at = read+len(part), at+int64(len(part))
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// Close ends writing a file.
func (*node) Close() error { return nil }

// nodeInfo describes a node.
type nodeInfo struct{ *node }

func (i nodeInfo) Name() string       { return i.name }
func (i nodeInfo) Size() int64        { return i.size }
func (i nodeInfo) ModTime() time.Time { return i.modified }
func (i nodeInfo) IsDir() bool        { return i.folder != nil }
func (i nodeInfo) Sys() any           { return nil }
func (i nodeInfo) Mode() fs.FileMode {
	if i.IsDir() {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

// remembered is a tree in memory as it is read. Reading ends with ctx.
type remembered struct {
	ctx context.Context
	m   *memory
}

// Open opens a file or a directory.
func (r remembered) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if err := r.ctx.Err(); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	n, err := r.m.find("open", name)
	if err != nil {
		return nil, err
	}
	content := io.NewSectionReader(n, 0, n.size)
	return &openNode{stoppable: stoppable{r.ctx, content}, content: content, n: n}, nil
}

// Stat looks without opening.
func (r remembered) Stat(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrInvalid}
	}
	return r.m.Lstat(name)
}

// openNode is a node that is read.
type openNode struct {
	stoppable
	content *io.SectionReader
	n       *node
	given   int // entries that ReadDir gave
}

func (f *openNode) Stat() (fs.FileInfo, error) { return nodeInfo{f.n}, nil }
func (f *openNode) Close() error               { return nil }
func (f *openNode) Seek(offset int64, whence int) (int64, error) {
	return f.content.Seek(offset, whence)
}

func (f *openNode) Read(p []byte) (int, error) {
	if f.n.folder != nil {
		return 0, &fs.PathError{Op: "read", Path: f.n.name, Err: errors.New("is a directory")}
	}
	return f.stoppable.Read(p)
}

func (n *node) entries() []fs.DirEntry {
	if n.sorted == nil {
		for _, name := range slices.Sorted(maps.Keys(n.folder)) {
			n.sorted = append(n.sorted, fs.FileInfoToDirEntry(nodeInfo{n.folder[name]}))
		}
	}
	return n.sorted
}

// ReadDir lists a directory by name, as [fs.ReadDirFile] asks for.
func (f *openNode) ReadDir(most int) ([]fs.DirEntry, error) {
	if f.n.folder == nil {
		return nil, &fs.PathError{Op: "readdir", Path: f.n.name, Err: errors.New("not a directory")}
	}
	left := f.n.entries()[f.given:]
	if most > 0 {
		if len(left) == 0 {
			return nil, io.EOF
		}
		left = left[:min(len(left), most)]
	}
	f.given += len(left)
	return slices.Clone(left), nil
}
