package mask

import "bytes"

// line is one of a text: what every line of a log begins with, an indent, and
// what it says.
type line struct {
	begin, content, to int
	prefix             []byte // without the indent; empty outside of logs
}

// indent is how many characters stand before the content.
func (l line) indent() int { return l.content - l.begin - len(l.prefix) }

// lineOf is the line in which a key of YAML, or the like, begins at a place.
func (f *finding) lineOf(at int) line {
	begin := f.lineBegin(at)
	prefix := bytes.TrimRight(f.text[begin:at], " \t-\"'")
	if len(prefix) > 0 && begin+len(prefix) < at && f.text[begin+len(prefix)] == ' ' {
		prefix = f.text[begin : begin+len(prefix)+1]
	}
	return line{begin, at, f.endOfLine(at), prefix}
}

// endOfLine is where a line ends, without what ends it.
func (f *finding) endOfLine(at int) int {
	end := f.lineEnd(at)
	if end > at && f.text[end-1] == '\r' {
		end--
	}
	return end
}

// below is the next line of the same log; lines of others may stand between.
func (f *finding) below(l line) (line, bool) {
	at := l.to
	for range mostForeign + 1 {
		if at = f.lineEnd(at) + 1; at >= len(f.text) {
			return l, false
		}
		end := f.endOfLine(at)
		if n := samePrefix(f.text[at:end], l.prefix); n == len(l.prefix) {
			next := line{at, at + n, end, l.prefix}
			for next.content < end && (f.text[next.content] == ' ' || f.text[next.content] == '\t') {
				next.content++
			}
			return next, true
		}
		if trimmed := bytes.TrimRight(l.prefix, " "); len(l.prefix) > 0 && at+len(trimmed) >= end && samePrefix(f.text[at:end], trimmed) > 0 {
			return line{at, end, end, l.prefix}, true // an empty line has no blank behind the prefix
		}
		at = end
	}
	return l, false
}

// lineEnd is where the line ends in which a place is.
func (f *finding) lineEnd(at int) int { return f.lineAround(at)[1] }

// lineBegin is where it begins.
func (f *finding) lineBegin(at int) int { return f.lineAround(at)[0] }

// lineAround remembers the last two: a line may be very long.
func (f *finding) lineAround(at int) [2]int {
	for i, l := range f.seen {
		if l[0] <= at && at <= l[1] && l[1] > 0 {
			if i == 1 {
				f.seen[0], f.seen[1] = f.seen[1], f.seen[0]
			}
			return l
		}
	}
	l := [2]int{bytes.LastIndexByte(f.text[:at], '\n') + 1, len(f.text)}
	if i := bytes.IndexByte(f.text[at:], '\n'); i >= 0 {
		l[1] = at + i
	}
	f.seen[1], f.seen[0] = f.seen[0], l
	return l
}
