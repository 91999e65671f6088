package mask

import (
	"bytes"
	"strconv"
	"strings"
)

// Lists of numbers that are the bytes of a text: as Go prints them, and as escapes.

// leastNumbers is how many make a list.
const leastNumbers = 8

// mostNumbers is how many of a list are looked at together.
const mostNumbers = 64 << 10

// number reads one of a style and gives where it ends.
type number func(text []byte, at int) (value byte, next int, ok bool)

// escape reads a number that fixed characters begin, and one may end.
func escape(begin string, base, least, most int, end string) number {
	return func(text []byte, at int) (byte, int, bool) {
		if at+len(begin)+least > len(text) || string(text[at:at+len(begin)]) != begin {
			return 0, at, false
		}
		from := at + len(begin)
		to := from
		for to < len(text) && to-from < most && isDigitOf(text[to], base) {
			to++
		}
		value, err := strconv.ParseUint(string(text[from:to]), base, 16)
		if err != nil || value > 255 || to-from < least || !bytes.HasPrefix(text[to:], []byte(end)) {
			return 0, at, false
		}
		return byte(value), to + len(end), true
	}
}

func isDigitOf(c byte, base int) bool {
	switch base {
	case 8:
		return c >= '0' && c <= '7'
	case 10:
		return c >= '0' && c <= '9'
	}
	return hexDigit(c)
}

// escapes are styles in which the numbers stand side by side.
var escapes = []number{
	escape(`\x`, 16, 2, 2, ""), escape(`\\x`, 16, 2, 2, ""), escape(`\u00`, 16, 2, 2, ""), escape(`\\u00`, 16, 2, 2, ""), escape(`\`, 8, 3, 3, ""), escape(`\\`, 8, 3, 3, ""),
	escape("&#x", 16, 1, 3, ";"), escape("&#", 10, 1, 3, ";"), escape("=", 16, 2, 2, ""),
}

// lists are styles in which something parts the numbers.
var lists = []number{escape("0x", 16, 1, 2, ""), escape("", 10, 1, 3, ""), escape("", 16, 2, 2, "")}

// numbers looks into all lists of numbers.
func (f *finding) numbers() {
	if f.depth >= deepest {
		return
	}
	for at := 0; at+2*leastNumbers <= len(f.text); at++ {
		switch c := f.text[at]; {
		case c == '\\' || c == '&' || c == '=':
			if c == '=' && !hexDigit(f.text[at+1]) || c == '&' && f.text[at+1] != '#' {
				continue
			}
			for _, form := range escapes {
				if to := f.escapeList(form, at); to > at {
					at = to - 1
					break
				}
			}
		case hexTable[c] && (at == 0 || !isWord(f.text[at-1])) && f.mayBeList(at):
			last := at
			for _, form := range lists {
				last = max(last, f.numberList(form, at))
			}
			at = max(at, last-1)
		}
	}
}

// mayBeList says, fast, whether four short numbers stand at a place, with the same
// gap between them.
func (f *finding) mayBeList(at int) bool {
	var gap byte
	for n := 0; ; n++ {
		from := at
		for at < len(f.text) && at-from <= 4 && (hexTable[f.text[at]] || f.text[at] == 'x') {
			at++
		}
		if at == from || at-from > 4 {
			return false
		}
		if n == 3 {
			return true
		}
		if at >= len(f.text) || gap != 0 && f.text[at] != gap {
			return false
		}
		if gap = f.text[at]; gap != ' ' && gap != ',' && gap != ':' && gap != '-' {
			return false
		}
		for from = at; at < len(f.text) && at-from < 64 && strings.IndexByte(" ,\r\n\t:-", f.text[at]) >= 0; at++ {
			if f.text[at] == '\n' && gap == ',' {
				return true // what begins the lines of a log may stand between
			}
		}
	}
}

var hexTable = func() (t [256]bool) {
	for c := range t {
		t[c] = hexDigit(byte(c))
	}
	return t
}()

// escapeList decodes a list of escapes; a soft end of a line may part them.
func (f *finding) escapeList(form number, at int) int {
	begin := at
	var out []byte
	for len(out) < mostNumbers {
		value, next, ok := form(f.text, at)
		if !ok {
			gap := f.softBreak(at)
			if gap == 0 {
				break
			}
			if value, next, ok = form(f.text, at+gap); !ok {
				break
			}
		}
		out, at = append(out, value), next
	}
	return f.endOfList(out, begin, at)
}

// softBreak is the length of an end of a line that quoted-printable leaves out.
func (f *finding) softBreak(at int) int {
	for _, gap := range []string{"=\n", "=\r\n"} {
		if f.has(at, gap) {
			return len(gap)
		}
	}
	return 0
}

// numberList decodes a list of numbers that the same gap parts.
func (f *finding) numberList(form number, at int) int {
	begin, end := at, at
	var gap byte
	var out, prefix []byte
	for len(out) < mostNumbers {
		value, next, ok := form(f.text, at)
		if !ok {
			break
		}
		out, end = append(out, value), next
		at = next
		for at < len(f.text) && at-next < 64 && strings.IndexByte(" ,:-\r\n\t", f.text[at]) >= 0 {
			if f.text[at] == '\n' && len(prefix) == 0 {
				prefix = f.lineOf(begin).prefix
			}
			at++
			if n := len(prefix); n > 0 && f.text[at-1] == '\n' && samePrefix(f.text[at:], prefix) == n {
				at, next = at+n, next+n
			}
		}
		if at == next || gap != 0 && f.text[end] != gap {
			break
		}
		gap = f.text[end]
	}
	return f.endOfList(out, begin, end)
}

// endOfList masks a list that holds a secret, and gives where it ends if it is one.
func (f *finding) endOfList(out []byte, begin, end int) int {
	if len(out) < leastNumbers {
		return begin
	}
	if kind := f.decodedText(out); kind != "" {
		f.add(begin, end, kind)
	}
	return end
}

// dump finds the lines that xxd and hexdump --canonical write: a place, the bytes,
// and what of them can be printed.
func (f *finding) dump(from, to int) {
	if f.depth >= deepest || from > 0 && f.text[from-1] > ' ' || !f.has(from, "00000000") {
		return
	}
	l := f.lineOf(from)
	l.content = from
	var out []byte
	var lines []line
	for {
		text := f.text[l.content:l.to]
		n := class(hexDigit).length(text)
		if n < 7 || n > 8 {
			break
		}
		if text = bytes.TrimLeft(text[n:], ": "); len(out) > 0 && len(text) == 0 {
			break
		}
		out = append(out, bytesOfDump(text)...)
		lines = append(lines, l)
		next, ok := f.below(l)
		if !ok || len(out) > mostNumbers {
			break
		}
		l = next
	}
	if len(out) < leastNumbers {
		return
	}
	if kind := f.decodedText(out); kind != "" {
		for _, l := range lines {
			f.add(l.content, l.to, kind)
		}
	}
}

// bytesOfDump are the at most 16 bytes of a line, up to two blanks and what can be
// printed.
func bytesOfDump(text []byte) (out []byte) {
	for at := 0; at+1 < len(text) && len(out) < 16; {
		if text[at] == ' ' {
			at++
			if at < len(text) && text[at] == ' ' && len(out) != 8 {
				return out
			}
			continue
		}
		value, err := strconv.ParseUint(string(text[at:at+2]), 16, 8)
		if err != nil {
			return out
		}
		out = append(out, byte(value))
		at += 2
	}
	return out
}
