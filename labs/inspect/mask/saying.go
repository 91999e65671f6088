package mask

import (
	"bytes"
	"strconv"
)

// What a string of JSON, a coloured line, quoted-printable and UTF-16 say.

var colourBegins = []string{"\x1b[", `\u001b[`, `\x1b[`, `\033[`, `#033[`, `^[[`, `\e[`}

func viewRules() []rule {
	all := []rule{{"00000000", (*finding).dump}}
	for _, begin := range colourBegins {
		all = append(all, rule{begin, func(f *finding, from, to int) {
			if f.coloured[1] == 0 {
				f.coloured[0] = from
			}
			f.coloured[1] = to
		}})
	}
	return append(all, rule{"=3d", func(f *finding, from, to int) {
		if f.equals[1] == 0 {
			f.equals[0] = from
		}
		f.equals[1] = to
	}})
}

// views looks at all that a text says in another way.
func (f *finding) views() {
	if f.viewed || f.depth >= deepest {
		return
	}
	f.numbers()
	f.strings()
	f.colours()
	f.softLines()
	f.wide()
}

// longestString is how much of a string of JSON is read at once, in bytes.
const longestString = 2 << 20

// strings looks into the strings of JSON that have escapes.
func (f *finding) strings() {
	r := &jsonReader{text: f.text}
	for at := 0; at < len(f.text); {
		i := bytes.IndexByte(f.text[at:], '\\')
		if i < 0 {
			return
		}
		from := at + i
		low := max(at, from-longestString)
		for from > low && f.text[from-1] != '\n' && !(f.text[from-1] == '"' && r.backslashes(from-1)%2 == 0) {
			from--
		}
		to := at + i
		for to < len(f.text) && to-from < longestString && f.text[to] != '\n' && !(f.text[to] == '"' && r.backslashes(to)%2 == 0) {
			to++
		}
		if v := f.unescaped(from, to); v != nil {
			f.through(v)
		}
		at = max(to, at+i+1)
	}
}

var simpleEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\', '/': '/'}

// unescaped is what a string of JSON says; nil if that is what stands there.
func (f *finding) unescaped(from, to int) *view {
	v := &view{}
	changed := false
	for at := from; at < to; {
		i := bytes.IndexByte(f.text[at:to], '\\')
		if i < 0 || at+i+1 >= to {
			v.add(f.text, at, to)
			break
		}
		if i > 0 {
			v.add(f.text, at, at+i)
		}
		at += i
		c, n := f.escaped(at)
		if n == 0 {
			v.add(f.text, at, at+1)
			at++
			continue
		}
		v.addByte(c, at, at+n)
		changed = true
		at += n
	}
	if !changed {
		return nil
	}
	return v
}

// escaped is the character that an escape stands for, and its length; 0 if it is
// none, or one of another alphabet.
func (f *finding) escaped(at int) (byte, int) {
	next := f.text[at+1]
	if c, is := simpleEscapes[next]; is {
		return c, 2
	}
	if next == 'u' && at+6 <= len(f.text) {
		if c, err := strconv.ParseUint(string(f.text[at+2:at+6]), 16, 16); err == nil && c < 0x80 {
			return byte(c), 6
		}
	}
	return 0, 0
}

// colours looks at what coloured words say.
func (f *finding) colours() {
	if f.coloured[1] == 0 {
		return
	}
	from := bytes.LastIndexByte(f.text[:f.coloured[0]], '\n') + 1
	to := f.lineEnd(f.coloured[1])
	v := &view{}
	for at := from; at < to; {
		n := f.colour(at)
		if n > 0 {
			at += n
			continue
		}
		next := at + 1
		for next < to && bytes.IndexByte([]byte("\x1b\\#^"), f.text[next]) < 0 {
			next++
		}
		v.add(f.text, at, next)
		at = next
	}
	f.coloured = [2]int{}
	f.through(v)
}

// colour is the length of what sets one.
func (f *finding) colour(at int) int {
	for _, begin := range colourBegins {
		if !f.has(at, begin) {
			continue
		}
		end := at + len(begin)
		for end < len(f.text) && (f.text[end] >= '0' && f.text[end] <= '9' || f.text[end] == ';' || f.text[end] == '?') {
			end++
		}
		if end < len(f.text) && isWord(f.text[end]) {
			return end + 1 - at
		}
	}
	return 0
}

// softLines looks at lines of quoted-printable: an equals sign at the end of one
// says that it goes on.
func (f *finding) softLines() {
	if f.equals[1] > 0 {
		// An equals sign that is written so tells too; a name may stand a line before.
		v := &view{}
		line, end := f.lineBegin(max(0, f.lineBegin(f.equals[0])-1)), f.lineEnd(f.equals[1])
		f.equals = [2]int{}
		for line < end {
			to := f.lineEnd(line)
			if to > line && f.text[to-1] == '=' && to < end {
				f.printable(v, line, to-1)
			} else {
				f.printable(v, line, min(to+1, len(f.text)))
			}
			line = to + 1
		}
		f.through(v)
	}
	for at := 0; at < len(f.text); {
		i := bytes.IndexByte(f.text[at:], '\n')
		if i < 0 {
			return
		}
		if end := at + i; end == at || f.text[end-1] != '=' && !(f.text[end-1] == '\r' && end-at > 1 && f.text[end-2] == '=') {
			at = end + 1
			continue
		}
		v, escapes := &view{}, 0
		line := at
		if at > 0 {
			line = f.lineBegin(at - 1)
			f.printable(v, line, at)
			line = at
		}
		for line < len(f.text) {
			end := f.lineEnd(line)
			soft := end
			if soft > line && f.text[soft-1] == '\r' {
				soft--
			}
			if soft == line || f.text[soft-1] != '=' || end >= len(f.text) {
				f.printable(v, line, end)
				line = end + 1
				break
			}
			escapes += f.printable(v, line, soft-1)
			if soft-line == 76 || soft-line >= 60 && soft-line < 76 && wordBefore(f.text[line:soft-1]) < longLine {
				escapes++
			}
			line = end + 1
		}
		// The padding of base64 is the same sign.
		if escapes > 0 {
			f.through(v)
		}
		at = line
	}
}

// wordBefore is how long the word is with which a text ends.
func wordBefore(text []byte) int {
	n := 0
	for n < len(text) && isBase64(text[len(text)-1-n]) {
		n++
	}
	return n
}

// printable adds a line of quoted-printable, and counts its escapes.
func (f *finding) printable(v *view, from, to int) (escapes int) {
	for at := from; at < to; {
		if f.text[at] == '=' && at+2 < to {
			if c, err := strconv.ParseUint(string(f.text[at+1:at+3]), 16, 8); err == nil {
				v.addByte(byte(c), at, at+3)
				at += 3
				escapes++
				continue
			}
		}
		v.add(f.text, at, at+1)
		at++
	}
	return escapes
}

// shortestWide is how many characters of UTF-16 are looked at.
const shortestWide = 8

// wide looks at UTF-16: every second byte is 0.
func (f *finding) wide() {
	for at := 0; at < len(f.text); {
		i := bytes.IndexByte(f.text[at:], 0)
		if i < 0 {
			return
		}
		from := max(at+i-1, at)
		if at+i == from {
			from++ // the first of big-endian
		}
		v := &view{}
		to := from
		for to < len(f.text) && isPlain(f.text[to]) && (to == from || f.text[to-1] == 0) {
			end := min(to+2, len(f.text))
			if end == to+2 && f.text[to+1] != 0 {
				end = to + 1
			}
			v.addByte(f.text[to], to, end)
			to += 2
		}
		if len(v.text) >= shortestWide {
			f.through(v)
		}
		at = max(at+i+1, min(to, len(f.text)))
	}
}

func isPlain(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\t' || c == '\r' }

// isWide says whether bytes are a text in UTF-16.
func isWide(text []byte) bool {
	head := text[:min(len(text), 512)&^1]
	if len(head) < 2*shortestWide {
		return false
	}
	var zero [2]int
	for i, c := range head {
		if c == 0 {
			zero[i%2]++
		}
	}
	return max(zero[0], zero[1])*10 >= len(head)/2*8 && min(zero[0], zero[1])*10 <= len(head)/2
}

// narrow is the text of UTF-16 without what is not ASCII.
func narrow(text []byte) []byte {
	out := make([]byte, 0, len(text)/2)
	for _, c := range text {
		if c != 0 {
			out = append(out, c)
		}
	}
	return out
}
