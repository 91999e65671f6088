package host

import (
	"bytes"
	"io"
	"math/bits"
	"slices"
	"time"
)

// A log of a bundle may be far longer than what is judged of it. All of it is read
// once, and of each kind of line the first and the last are kept: what a service
// says at its start stands at the beginning, and what it failed of may stand
// anywhere.
const (
	tailPart  = 32      // the end that is kept whole is this part of the limit
	kindFirst = 25      // lines of a kind that are kept from its beginning
	kindLast  = 25      // and from its end
	mostKinds = 4000    // kinds that are told apart; lines of later ones count only when they speak of trouble
	kindHead  = 160     // bytes of a line that make its kind
	longLine  = 4 << 10 // bytes that are kept of a line
)

// digest is a writer that keeps a bounded part of a log: one within the limit whole,
// of a longer one its last bytes, and before them the first and the last lines of each
// kind. What is judged stays small so: patterns are tried on each line that is kept.
type digest struct {
	tail  tail
	limit int

	written int64
	line    []byte
	began   int64 // where the line began
	kinds   map[uint64]*kind
}

type kind struct {
	first []kept
	last  []kept // a ring, whose lines are written over
	next  int
}

type kept struct {
	at   int64
	line []byte
}

func newDigest(limit int) *digest {
	return &digest{limit: limit, tail: tail{limit: limit}, kinds: map[uint64]*kind{}}
}

func (d *digest) Write(p []byte) (int, error) {
	n := len(p)
	d.tail.Write(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end >= 0 && len(d.line) == 0 { // most lines come whole, and need no copy
			d.written += int64(end + 1)
			d.keep(p[:min(end+1, longLine)])
			p = p[end+1:]
			continue
		}
		part := p
		if end >= 0 {
			part = p[:end+1]
		}
		if room := longLine - len(d.line); room > 0 {
			d.line = append(d.line, part[:min(room, len(part))]...)
		}
		d.written += int64(len(part))
		p = p[len(part):]
		if end >= 0 {
			d.keep(d.line)
			d.line = d.line[:0]
		}
	}
	return n, nil
}

// trouble are words of lines that are kept although their kind came late.
var trouble = [][]byte{[]byte("rror"), []byte("ail"), []byte("fatal"), []byte("denied"), []byte("refused"), []byte("x509"), []byte("panic"), []byte("illed")}

// keep counts a line in, whose end was just written.
func (d *digest) keep(line []byte) {
	at := d.began
	d.began = d.written
	hash := kindOf(line)
	k := d.kinds[hash]
	if k == nil {
		if len(d.kinds) >= mostKinds {
			if len(d.kinds) >= 2*mostKinds || !slices.ContainsFunc(trouble, func(w []byte) bool { return bytes.Contains(line, w) }) {
				return
			}
		}
		k = &kind{}
		d.kinds[hash] = k
	}
	switch {
	case len(k.first) < kindFirst:
		k.first = append(k.first, kept{at, slices.Clone(line)})
	case len(k.last) < kindLast:
		k.last = append(k.last, kept{at, slices.Clone(line)})
	default:
		old := &k.last[k.next]
		old.at, old.line = at, append(old.line[:0], line...)
		k.next = (k.next + 1) % kindLast
	}
}

// Of what sort a byte of a line is.
const (
	separator = iota
	letter
	digit
)

var sorts = func() (sorts [256]byte) {
	for c := range sorts {
		switch {
		case c >= '0' && c <= '9':
			sorts[c] = digit
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			sorts[c] = letter
		}
	}
	return sorts
}()

// kindOf tells kinds of lines apart by their beginning, in which every word with a
// digit counts as the same: times, process ids, digests, addresses.
func kindOf(line []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	hash, word, number := uint64(offset), uint64(0), byte(0)
	for _, c := range line[:min(len(line), kindHead)] {
		sort := sorts[c]
		if sort != separator {
			number |= sort & digit
			word = bits.RotateLeft64(word, 5) ^ uint64(c)
			continue
		}
		if number != 0 {
			word = '#'
		}
		hash = (hash^word)*prime ^ uint64(c)
		word, number = 0, 0
	}
	return hash
}

// bytes are what is kept, in the order of the log, and whether anything is not.
func (d *digest) bytes() (text []byte, cut bool) {
	end, size := d.tail.bytes(), d.written+int64(len(d.line))
	if size <= int64(d.limit) {
		return end, false
	}
	end = end[max(0, len(end)-d.limit/tailPart):]
	from := size - int64(len(end))
	var lines []kept
	for _, k := range d.kinds {
		lines = append(lines, k.first...)
		lines = append(lines, k.last...)
	}
	slices.SortFunc(lines, func(x, y kept) int { return int(min(max(x.at-y.at, -1), 1)) })
	var out bytes.Buffer
	for _, l := range lines {
		if l.at >= from {
			break
		}
		out.Write(l.line)
		if !bytes.HasSuffix(l.line, []byte("\n")) {
			out.WriteByte('\n')
		}
	}
	if over := out.Len() - 8*d.limit; over > 0 { // a log of many kinds
		rest := out.Bytes()[over:]
		out = *bytes.NewBuffer(rest[bytes.IndexByte(rest, '\n')+1:])
	}
	// The tail may begin in the middle of a line that is kept already.
	if i := bytes.IndexByte(end, '\n'); i >= 0 {
		end = end[i+1:]
	}
	return append(out.Bytes(), end...), true
}

// readLog reads a whole log in one pass and gives what is kept of it.
func readLog(in io.Reader, size int64, limit int) (text []byte, cut bool, err error) {
	if size <= int64(limit) {
		all := &tail{limit: limit}
		_, err = io.Copy(all, in)
		return all.bytes(), all.cut, err
	}
	d := newDigest(limit)
	d.tail.limit = limit / tailPart // it is known to be longer
	_, err = io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{in}, make([]byte, 256<<10))
	text, cut = d.bytes()
	return text, cut, err
}

// fullTimes writes the times at the beginnings of lines as our own journals have
// them (journalctl --output=short-iso): the installer's have no year, and in its
// whole journal a day of the week and a zone. A line of December in a bundle of
// January is of the year before.
//
// Source: openshift/installer installer-gather.sh, --output=short and with-unit;
// systemd src/shared/logs-show.c.
func fullTimes(text []byte, at time.Time) []byte {
	if at.IsZero() {
		return text
	}
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/8)
	for line := range bytes.Lines(text) {
		when, rest, ok := timeOf(line, at)
		if !ok {
			out.Write(line)
			continue
		}
		out.WriteString(when)
		out.Write(rest)
	}
	return out.Bytes()
}

var months = map[string]int{"Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10, "Nov": 11, "Dec": 12}

func timeOf(line []byte, at time.Time) (when string, rest []byte, ok bool) {
	if len(line) < 20 || line[3] != ' ' {
		return "", nil, false
	}
	if m := months[string(line[:3])]; m > 0 && line[9] == ':' && line[12] == ':' && line[6] == ' ' {
		day := 0
		for _, c := range line[4:6] {
			if c >= '0' && c <= '9' {
				day = 10*day + int(c-'0')
			}
		}
		year := at.Year()
		if time.Date(year, time.Month(m), day, 0, 0, 0, 0, time.UTC).After(at.AddDate(0, 0, 2)) {
			year--
		}
		return time.Date(year, time.Month(m), day, 0, 0, 0, 0, time.UTC).Format("2006-01-02T") + string(line[7:15]) + "+0000", line[15:], true
	}
	if len(line) > 28 && line[8] == '-' && line[11] == '-' && line[14] == ' ' && line[17] == ':' {
		rest := line[23:]
		if zone := bytes.IndexByte(rest[1:], ' '); zone >= 0 && rest[0] == ' ' {
			return string(line[4:14]) + "T" + string(line[15:23]) + "+0000", rest[1+zone:], true
		}
	}
	return "", nil, false
}
