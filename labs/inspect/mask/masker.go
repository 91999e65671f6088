// Package mask takes secrets out of texts, files and bundles, and lists what it
// took out and what still looks like a secret.
package mask

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
)

// Kinds of secrets, as the marks name them.
const (
	privateKey    = "private-key"
	tokenKind     = "token"
	passwordKind  = "password"
	passwordHash  = "password-hash"
	loginKind     = "registry-login"
	secretKind    = "secret-object"
	ownKind       = "secret-of-this-lab"
	packedKind    = "packed-data-that-could-not-be-read"
	authorization = "authorization"
	tangledKind   = "text-that-could-not-be-looked-through"
)

// mark stands where a secret stood. It holds nothing that JSON or YAML would
// read as more than text, and says no more than the kind.
func mark(kind string) string { return "<masked:" + kind + ">" }

const markText = "<masked:"

var markBegin = []byte(markText)

// Masker takes secrets out of texts. It knows them by form, by the name that
// stands before them, and some of them by themselves: those of the lab.
type Masker struct {
	own    literals
	counts map[string]int

	keeping bool // places are kept
	places  []place
	line    int // of what is written, from 0
}

// place is where a mark stands.
type place struct {
	line int
	kind string
}

// took counts a secret, and remembers its place.
func (m *Masker) took(kind string) {
	m.counts[kind]++
	if m.keeping {
		m.places = append(m.places, place{m.line, kind})
	}
}

// New makes a masker that also knows these secrets, wherever and in
// whatever encoding they stand. What is shorter than 8 bytes is not known: it
// would be found everywhere.
func New(own ...[]byte) *Masker {
	return &Masker{own: newLiterals(own), counts: map[string]int{}}
}

// Counts says how many secrets of each kind were taken out so far.
func (m *Masker) Counts() map[string]int { return maps.Clone(m.counts) }

// Sizes of the window through which a stream is looked at. What the window before
// ended with is read again, as far as the two have in common, and as much of it is
// left to the next: so a secret stands in one of them with what tells that it is
// one, if both fit into that.
const (
	window = 16 << 20
	common = 2 << 20
)

// Bytes gives the text without its secrets.
func (m *Masker) Bytes(text []byte) []byte {
	var out bytes.Buffer
	m.Copy(&out, bytes.NewReader(text))
	return out.Bytes()
}

// Copy copies a text of any length, with lines of any length, without its
// secrets. It holds one window of it,
// 16 MiB; an object of 2 MiB is never cut.
func (m *Masker) Copy(w io.Writer, r io.Reader) error { return m.copy(w, r, window, common) }

func (m *Masker) copy(w io.Writer, r io.Reader, size, common int) error {
	buffer := make([]byte, 0, 64<<10)
	var rest class   // what goes on from the last window, and is masked already
	base := 0        // what stands before was written already
	listing := false // a list of Secrets has begun
	before := min(common, (size-common)/2)
	for first := true; ; first = false {
		var end bool
		var err error
		if buffer, end, err = fill(buffer, r, size); err != nil {
			return err
		}
		if rest != nil {
			n := rest.length(buffer)
			buffer = append(buffer[:0], buffer[n:]...)
			if len(buffer) > 0 {
				rest = nil
			}
			if n > 0 && !end {
				continue // the window is full again first
			}
		}
		f := &finding{m: m, text: buffer, torn: !first, open: !end, listing: listing}
		spans := f.all()
		done := len(buffer)
		if !end {
			done = safeEnd(buffer, spans, base, common)
		}
		if err := m.write(w, buffer[:done], base, spans); err != nil {
			return err
		}
		if end {
			return nil
		}
		listing = listing || bytes.Contains(buffer, []byte("SecretList"))
		if len(spans) > 0 && spans[len(spans)-1].to == len(buffer) && done == len(buffer) && spans[len(spans)-1].rest != nil {
			rest = spans[len(spans)-1].rest
			buffer, base = buffer[:0], 0
			continue
		}
		keep := max(0, done-before)
		buffer, base = append(buffer[:0], buffer[keep:]...), done-keep
	}
}

// fill reads until the window is full or the text ends.
func fill(buffer []byte, r io.Reader, size int) (_ []byte, end bool, err error) {
	for len(buffer) < size {
		if len(buffer) == cap(buffer) {
			buffer = slices.Grow(buffer, min(len(buffer)+64<<10, size-len(buffer)))
		}
		n, err := r.Read(buffer[len(buffer):min(cap(buffer), size)])
		buffer = buffer[:len(buffer)+n]
		switch {
		case errors.Is(err, io.EOF):
			return buffer, true, nil
		case err != nil:
			return buffer, false, err
		}
	}
	return buffer, false, nil
}

// safeEnd is how far a window is done: not into what the next one must see
// whole.
func safeEnd(text []byte, spans []span, base, common int) int {
	done := len(text) - common
	// A line's end parts nothing but blocks of lines, a blank no word.
	for _, gap := range []string{"\n", " \t\",;"} {
		low := max(base, done-common/2)
		if at := bytes.LastIndexAny(text[low:max(low, done)], gap); at >= 0 {
			done = low + at + 1
			break
		}
	}
	for _, s := range spans {
		if s.from < done && done < s.to {
			if s.from > base {
				return s.from
			}
			return s.to
		}
	}
	return max(done, base)
}

// write writes a text, but for its beginning, with marks in place of the spans.
func (m *Masker) write(w io.Writer, text []byte, begin int, spans []span) error {
	at := begin
	for _, s := range spans {
		if s.to <= begin {
			continue
		}
		if s.from >= len(text) {
			break
		}
		if err := m.writePart(w, text[at:max(s.from, at)]); err != nil {
			return err
		}
		if _, err := io.WriteString(w, mark(s.kind)); err != nil {
			return err
		}
		m.took(s.kind)
		at = min(s.to, len(text))
	}
	return m.writePart(w, text[at:])
}

func (m *Masker) writePart(w io.Writer, text []byte) error {
	if m.keeping {
		m.line += bytes.Count(text, []byte("\n"))
	}
	_, err := w.Write(text)
	return err
}

// span is a secret in a text.
type span struct {
	from, to int
	kind     string
	// rest is how the secret goes on when the window ends in it.
	rest class
}

// class is a set of bytes.
type class func(byte) bool

// length is how much of the beginning of a text is of the class.
func (c class) length(text []byte) int {
	n := 0
	for n < len(text) && c(text[n]) {
		n++
	}
	return n
}

// finding looks for secrets in one text.
type finding struct {
	m     *Masker
	text  []byte
	torn  bool // the text's beginning is missing
	open  bool // the text's end is missing
	depth int  // how often it was decoded
	spans []span

	listing  bool      // a list of Secrets began before the text
	viewed   bool      // the text is part of another, see view
	coloured [2]int    // where the first colour begins, and the last
	equals   [2]int    // likewise for =3D
	gaveUp   bool      // see tired
	seen     [2][2]int // lines whose ends were looked for
	lists    [][2]int  // items of lists of Secrets
	listed   bool      // lists were looked for
	walked   int       // bytes, see longestWalk
	unpacked *int      // bytes, see mostUnpacked
}

// deepest is how many encodings around a secret are looked through: a key in a
// Secret in an Ignition file in a MachineConfig in a Secret has six.
const deepest = 8

// all gives the secrets in order; none overlaps another.
func (f *finding) all() []span {
	f.keys()
	f.objects()
	f.scan()
	f.formed()
	f.givenSecrets()
	f.encoded()
	f.views()
	return f.sorted()
}

// sorted gives what was found so far in order; none overlaps another.
func (f *finding) sorted() []span {
	slices.SortStableFunc(f.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	var out []span
	for _, s := range f.spans {
		if last := len(out) - 1; last >= 0 && s.from < out[last].to {
			if s.to > out[last].to {
				out[last].to, out[last].rest = s.to, s.rest
			}
			continue
		}
		if s.to > s.from && !bytes.HasPrefix(f.text[s.from:], markBegin) {
			out = append(out, s)
		}
	}
	return out
}

func (f *finding) add(from, to int, kind string) {
	f.spans = append(f.spans, span{from: from, to: to, kind: kind})
}

// givenSecrets finds the secrets that the masker was given.
func (f *finding) givenSecrets() {
	f.m.own.each(f.text, func(from, to int) { f.add(from, to, ownKind) })
}
