package mask

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
)

// Report says what was masked in a bundle, what still looks like a secret, and what
// is not in the copy.
type Report struct {
	Masked   []Masked  `json:"masked"`
	Suspects []Suspect `json:"suspects"`
	LeftOut  []LeftOut `json:"leftOut"`
	Notes    []string  `json:"notes"`
	Files    int       `json:"files"` // that were copied
}

// Masked is what was masked of one kind in one file. The name of a file in a packed
// one follows its name and a colon.
type Masked struct {
	File  string `json:"file"`
	Kind  string `json:"kind"`
	Count int    `json:"count"`
	Lines []int  `json:"lines"` // of the masked copy, from 1, at most 100; 0 where a document of JSON was written again
}

// LeftOut is a file that is not in the copy.
type LeftOut struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// limits of what a bundle may make of this machine, as labs/inspect/host has them.
type limits struct {
	total   int64 // bytes that are unpacked
	packed  int64 // bytes that one packed file is unpacked to
	entries int   // of all archives
	path    int   // bytes of a path
	depth   int   // archives and packed files within each other
}

var bundleLimits = limits{total: 2 << 30, packed: 512 << 20, entries: 200_000, path: 1024, depth: 6}

// Bundle writes a masked copy of a bundle to a new file: of an archive of tar or
// zip, packed by gzip or not, of a directory (as .tar.gz), or of one file of text.
// The copy is whole or absent: an error means that nothing is written. A file that
// is there already is fs.ErrExist. What cannot be looked through is not in the copy,
// and is named.
func (m *Masker) Bundle(ctx context.Context, from, to string) (*Report, error) {
	return m.bundle(ctx, from, to, bundleLimits)
}

// Stream writes a masked copy of an archive, or of one file of text, as [Masker.Bundle]
// does, from where it comes to where it goes. name is that of the file. After an error
// the copy is not whole.
func (m *Masker) Stream(ctx context.Context, name string, from io.Reader, to io.Writer) (*Report, error) {
	c := m.copying(ctx, bundleLimits)
	defer c.end()
	return c.report, c.stream(name, from, to)
}

// copying begins a copy, which end ends.
func (m *Masker) copying(ctx context.Context, most limits) *copying {
	m.keeping = true
	return &copying{ctx: ctx, m: m, most: most, left: most.total, report: &Report{Masked: []Masked{}, Suspects: []Suspect{}, LeftOut: []LeftOut{}, Notes: []string{}}}
}

func (c *copying) end() { c.m.keeping, c.m.places = false, nil }

func (m *Masker) bundle(ctx context.Context, from, to string, most limits) (*Report, error) {
	c := m.copying(ctx, most)
	defer c.end()
	if _, err := os.Lstat(to); err == nil {
		return nil, &fs.PathError{Op: "write", Path: to, Err: fs.ErrExist}
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	write := func(w io.Writer) error { return c.source(from, w) }
	switch {
	case info.IsDir():
		write = func(w io.Writer) error { return c.directory(from, w) }
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a directory nor a file", from)
	}
	if err := WriteNew(ctx, to, write); err != nil {
		return nil, err
	}
	return c.report, nil
}

// copying fills a masked copy.
type copying struct {
	ctx     context.Context
	m       *Masker
	most    limits
	left    int64
	entries int
	report  *Report
}

// errOver ends copying: a part of a bundle is none.
var errOver = errors.New("over the limit")

// leftOut is why a file is not copied.
type leftOut string

func (l leftOut) Error() string { return string(l) }

// source copies a file.
func (c *copying) source(from string, w io.Writer) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.stream(from, f, w)
}

// stream copies what is read of a file.
func (c *copying) stream(name string, r io.Reader, w io.Writer) error {
	var why leftOut
	err := c.any(filepath.Base(name), r, w, 0)
	if errors.As(err, &why) {
		return fmt.Errorf("%s cannot be masked: %s", name, why)
	}
	if err == nil && c.report.Files == 0 {
		return fmt.Errorf("%s: there is no file in this archive", name)
	}
	return err
}

// directory packs one, without what its links lead to.
func (c *copying) directory(from string, w io.Writer) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	packed := gzip.NewWriter(w)
	out := tar.NewWriter(packed)
	top := filepath.Base(filepath.Clean(from))
	if top == "." || top == ".." || top == "/" {
		top = "bundle"
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			c.leave(name, "it cannot be read")
			return nil
		}
		if d.IsDir() {
			return c.ctx.Err()
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() {
			c.leave(name, "a link, or neither file nor directory")
			return nil
		}
		f, err := root.Open(name)
		if err != nil {
			c.leave(name, "it cannot be read")
			return nil
		}
		defer f.Close()
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(top, name), Mode: int64(info.Mode().Perm()), ModTime: info.ModTime()}
		return c.entry(out, h, "", f, 1)
	})
	return errors.Join(err, out.Close(), packed.Close())
}

func (c *copying) leave(name, why string) {
	c.report.LeftOut = append(c.report.LeftOut, LeftOut{string(c.m.quiet([]byte(name))), why})
}

// note tells something once.
func (c *copying) note(text string) {
	if !slices.Contains(c.report.Notes, text) {
		c.report.Notes = append(c.report.Notes, text)
	}
}

// metered counts what is read against the limit, and ends with the context.
type metered struct {
	c    *copying
	r    io.Reader
	left int64 // of this file
	name string
}

func (r *metered) Read(p []byte) (int, error) {
	if err := r.c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.left -= int64(n)
	if r.c.left -= int64(n); r.c.left < 0 {
		return n, fmt.Errorf("%w of %d MiB unpacked", errOver, r.c.most.total>>20)
	}
	if r.left < 0 {
		return n, leftOut(fmt.Sprintf("it unpacks to more than %d MiB", r.c.most.packed>>20))
	}
	// What is torn is used as far as it goes.
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) {
		r.c.note(r.name + " is torn: it ends in the middle, and what came before is used")
		err = io.EOF
	}
	return n, err
}

// any copies a stream of any form.
func (c *copying) any(name string, r io.Reader, w io.Writer, depth int) error {
	if depth > c.most.depth {
		return leftOut("it is packed too often")
	}
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return c.gzip(name, in, w, depth)
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return c.tar(name, in, w, depth)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return c.zip(name, in, w, depth)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return c.wideText(name, in, w)
	case len(head) > 0 && (!isReadable(head) || formOf(head) != ErrNoText.Error()):
		return leftOut(formOf(head))
	}
	return c.text(name, in, w)
}

// formOf names what is not looked through.
func formOf(head []byte) string {
	for _, f := range []struct{ magic, form string }{
		{"\xfd7zXZ", "packed by xz"}, {"\x28\xb5\x2f\xfd", "packed by zstd"}, {"BZh", "packed by bzip2"}, {"7z\xbc\xaf", "packed by 7z"},
	} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return "it is " + f.form + ", which cannot be looked through"
		}
	}
	return ErrNoText.Error()
}

func (c *copying) gzip(name string, in io.Reader, w io.Writer, depth int) error {
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return leftOut("it begins as a packed file and is none")
	}
	inner := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".tgz")
	packed := gzip.NewWriter(w)
	most := c.most.packed
	if depth == 0 {
		most = c.most.total + 1
	}
	if err := c.any(inner, &metered{c, unpacked, most, name}, packed, depth+1); err != nil {
		return err
	}
	return packed.Close()
}

func (c *copying) tar(name string, in io.Reader, w io.Writer, depth int) error {
	t, out := tar.NewReader(&metered{c, in, c.most.total + 1, name}), tar.NewWriter(w)
	prefix := ""
	if depth > 1 {
		prefix = name + ": "
	}
	for first := true; ; first = false {
		h, err := t.Next()
		var why leftOut
		switch {
		case err == io.EOF:
			return out.Close()
		case errors.Is(err, errOver), errors.As(err, &why), c.ctx.Err() != nil:
			return errors.Join(err, c.ctx.Err())
		case err != nil && first:
			return leftOut("it begins as an archive and is none")
		case err != nil:
			c.note(name + " is torn: it ends in the middle, and what came before is used")
			return out.Close()
		}
		if c.entries++; c.entries > c.most.entries {
			return fmt.Errorf("%w of %d entries", errOver, c.most.entries)
		}
		if why := c.badEntry(h); why != "" {
			c.leave(prefix+h.Name, why)
			continue
		}
		if err := c.entry(out, h, prefix, t, depth+1); err != nil {
			return err
		}
	}
}

// badEntry is why an entry of an archive has no place in the copy.
func (c *copying) badEntry(h *tar.Header) string {
	switch {
	case h.Typeflag == tar.TypeSymlink, h.Typeflag == tar.TypeLink:
		return "a link"
	case h.Typeflag != tar.TypeReg && h.Typeflag != tar.TypeDir && h.Typeflag != tar.TypeGNUSparse:
		return "neither file nor directory"
	case path.IsAbs(h.Name), slices.Contains(strings.Split(h.Name, "/"), ".."):
		return "a path that leads out"
	case len(h.Name) > c.most.path || strings.ContainsRune(h.Name, 0):
		return "a path that is too long"
	}
	return ""
}

// entry copies one file of an archive. It goes to a file of its own first: an
// archive says its length before it.
func (c *copying) entry(out *tar.Writer, h *tar.Header, prefix string, content io.Reader, depth int) error {
	clean := &tar.Header{Typeflag: tar.TypeReg, Name: string(c.m.quiet([]byte(h.Name))), Mode: h.Mode & 0o777, ModTime: h.ModTime, Format: tar.FormatPAX}
	if h.Typeflag == tar.TypeDir {
		clean.Typeflag = tar.TypeDir
		return out.WriteHeader(clean)
	}
	s := &spool{}
	defer s.close()
	err := c.any(prefix+h.Name, &metered{c, content, c.most.total + 1, prefix + h.Name}, s, depth)
	var why leftOut
	if errors.As(err, &why) {
		c.leave(prefix+h.Name, string(why))
		return nil
	}
	if err != nil {
		return err
	}
	clean.Size = s.size
	if err := out.WriteHeader(clean); err != nil {
		return err
	}
	return s.copyTo(out)
}

// largestZip bounds an archive of zip, which is read from its end, in bytes.
const largestZip = 64 << 20

func (c *copying) zip(name string, in io.Reader, w io.Writer, depth int) error {
	data, err := io.ReadAll(io.LimitReader(in, largestZip+1))
	if err != nil {
		return err
	}
	if len(data) > largestZip {
		return leftOut(fmt.Sprintf("an archive of zip of more than %d MiB", largestZip>>20))
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return leftOut("it begins as an archive and is none")
	}
	prefix := name + ": "
	if depth == 0 {
		prefix = ""
	}
	out := zip.NewWriter(w)
	for _, f := range archive.File {
		if c.entries++; c.entries > c.most.entries {
			return fmt.Errorf("%w of %d entries", errOver, c.most.entries)
		}
		if err := c.zipped(out, f, prefix, depth); err != nil {
			return err
		}
	}
	return out.Close()
}

func (c *copying) zipped(out *zip.Writer, f *zip.File, prefix string, depth int) error {
	if f.Mode().IsDir() {
		return nil
	}
	why := c.badEntry(&tar.Header{Typeflag: tar.TypeReg, Name: f.Name})
	if !f.Mode().IsRegular() {
		why = "a link, or neither file nor directory"
	}
	content, err := f.Open()
	if err != nil {
		why = "it cannot be unpacked"
	}
	if why != "" {
		c.leave(prefix+f.Name, why)
		return nil
	}
	defer content.Close()
	s := &spool{}
	defer s.close()
	err = c.any(prefix+f.Name, &metered{c, content, c.most.packed, prefix + f.Name}, s, depth+1)
	var left leftOut
	if errors.As(err, &left) {
		c.leave(prefix+f.Name, string(left))
		return nil
	}
	if err != nil {
		return err
	}
	to, err := out.CreateHeader(&zip.FileHeader{Name: string(c.m.quiet([]byte(f.Name))), Method: zip.Deflate, Modified: f.Modified})
	if err != nil {
		return err
	}
	return s.copyTo(to)
}

// largestDocument is how much of a text is masked at once, so that JSON stays JSON,
// in bytes. A longer one is masked window by window.
const largestDocument = 32 << 20

// text copies what is text.
func (c *copying) text(name string, in io.Reader, w io.Writer) error {
	s := &suspector{file: string(c.m.quiet([]byte(name)))}
	out := io.MultiWriter(w, s)
	c.m.places, c.m.line = nil, 0
	head, err := io.ReadAll(io.LimitReader(&readable{r: in}, largestDocument))
	if err != nil {
		return err
	}
	switch whole := secretFile(name, head); {
	case whole != "":
		c.m.took(whole)
		_, err = io.WriteString(out, mark(whole)+"\n")
	case len(head) < largestDocument:
		_, err = out.Write(c.m.Document(head))
	default:
		err = c.m.Copy(out, io.MultiReader(bytes.NewReader(head), &readable{r: in}))
	}
	if err != nil {
		return err
	}
	s.end()
	c.report.Files++
	c.report.Suspects = append(c.report.Suspects, s.found[:min(len(s.found), max(0, mostSuspects-len(c.report.Suspects)))]...)
	c.list(s.file)
	return nil
}

// mostLines is how many lines of a kind are listed of a file.
const mostLines = 100

// list takes what was masked in a file into the report.
func (c *copying) list(name string) {
	from := len(c.report.Masked)
	for _, p := range c.m.places {
		i := from
		for i < len(c.report.Masked) && c.report.Masked[i].Kind != p.kind {
			i++
		}
		if i == len(c.report.Masked) {
			c.report.Masked = append(c.report.Masked, Masked{File: name, Kind: p.kind})
		}
		row := &c.report.Masked[i]
		row.Count++
		if line := p.line + 1; len(row.Lines) < mostLines && (len(row.Lines) == 0 || row.Lines[len(row.Lines)-1] != line) {
			row.Lines = append(row.Lines, line)
		}
	}
	slices.SortFunc(c.report.Masked[from:], func(a, b Masked) int { return strings.Compare(a.Kind, b.Kind) })
	c.m.places = nil
}

// secretFile is the kind of a file that is a secret as a whole: of one word, with a
// name that announces it, or in a directory of secrets.
func secretFile(name string, text []byte) string {
	base := strings.TrimSuffix(path.Base(name), ".txt")
	word := bytes.TrimSpace(text)
	if len(word) == 0 || len(text) > 64<<10 || bytes.HasPrefix(word, markBegin) {
		return ""
	}
	inSecrets := slices.Contains(strings.Split(path.Dir(name), "/"), "secrets")
	switch kind := nameKind([]byte(base)); {
	case inSecrets && !bytes.Contains(text, []byte("-----BEGIN CERTIFICATE-----")) && !bytes.HasPrefix(word, []byte("{")) && !bytes.Contains(text, []byte("kind:")):
		return secretKind
	case kind != "" && len(word) < 4096 && !bytes.ContainsAny(word, " \n\t") && word[0] != '{':
		if kind == weakKind {
			return secretKind
		}
		return kind
	}
	return ""
}

// readable ends where a file holds much that is no text.
type readable struct {
	r   io.Reader
	odd int // bytes, of the last 64 KiB or more
	of  int
}

func (r *readable) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	for _, c := range p[:n] {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0x1b {
			r.odd++
		}
	}
	if r.of += n; r.of >= 64<<10 || err != nil {
		// What is packed or encrypted has some 10 of 100.
		if r.of > 4<<10 && r.odd*100 > r.of*6 {
			return n, leftOut("a part of it is no text")
		}
		r.odd, r.of = 0, 0
	}
	return n, err
}

// wideText copies a text of UTF-16 that says so.
func (c *copying) wideText(name string, in io.Reader, w io.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, largestDocument+1))
	if err != nil {
		return err
	}
	if len(data) > largestDocument {
		return leftOut(fmt.Sprintf("a text of UTF-16 of more than %d MiB", largestDocument>>20))
	}
	var order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	} = binary.LittleEndian
	if data[0] == 0xfe {
		order = binary.BigEndian
	}
	var wide []uint16
	for at := 0; at+1 < len(data); at += 2 {
		wide = append(wide, order.Uint16(data[at:]))
	}
	var masked bytes.Buffer
	if err := c.text(name, strings.NewReader(string(utf16.Decode(wide))), &masked); err != nil {
		return err
	}
	var out []byte
	for _, unit := range utf16.Encode([]rune(masked.String())) {
		out = order.AppendUint16(out, unit)
	}
	_, err = w.Write(out)
	return err
}

// quiet masks a text that is not listed, as the name of a file.
func (m *Masker) quiet(text []byte) []byte {
	counts, places, line := m.Counts(), m.places, m.line
	out := m.Bytes(text)
	m.counts, m.places, m.line = counts, places, line
	return out
}
