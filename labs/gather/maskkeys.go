package gather

import (
	"bytes"
	"regexp"
)

// Private keys in PEM: as they are, in JSON (\n), in data URLs (%20, %0A), and
// with the prefixes of a journal before each line.
const (
	pemDash  = `(?:-|%2[dD]|\\u002[dD]){4,5} ?`
	pemBlank = `(?: |%20|\+)`
	pemName  = pemBlank + `(?:[A-Z0-9]+` + pemBlank + `)*PRIVATE` + pemBlank + `KEY(?:` + pemBlank + `BLOCK)? ?`
)

var (
	pemBegin = regexp.MustCompile(pemDash + `BEGIN` + pemName + pemDash)
	pemEnd   = regexp.MustCompile(pemDash + `END` + pemName + pemDash)
)

// longestKey is more than any key takes in any of these forms, in bytes.
const longestKey = 64 << 10

func (f *finding) keys() {
	if !bytes.Contains(f.text, []byte("PRIVATE")) {
		return
	}
	ends := pemEnd.FindAllIndex(f.text, -1)
	covered := 0
	for _, begin := range pemBegin.FindAllIndex(f.text, -1) {
		if begin[0] < covered {
			continue
		}
		for len(ends) > 0 && ends[0][0] < begin[1] {
			f.endOnly(ends[0], covered)
			ends = ends[1:]
		}
		to := f.keyLines(begin[1])
		if len(ends) > 0 && ends[0][0]-begin[1] < longestKey {
			to, ends = ends[0][1], ends[1:]
		}
		f.spans = append(f.spans, span{begin[0], to, privateKey, inPEM})
		covered = to
	}
	for _, end := range ends {
		f.endOnly(end, covered)
	}
}

func inPEM(c byte) bool {
	return isBase64(c) || c == '=' || c == '\n' || c == '\r' || c == '\\' || c == '%' || c == ' '
}

// endOnly finds the key whose beginning is missing.
func (f *finding) endOnly(end []int, after int) {
	from := end[0]
	for from > after && inPEM(f.text[from-1]) && f.text[from-1] != '\n' {
		from--
	}
	for from > after && f.text[from-1] == '\n' && end[0]-from < longestKey {
		line := bytes.LastIndexByte(f.text[after:from-1], '\n') + 1 + after
		if !endsInBase64(f.text[line : from-1]) {
			break
		}
		from = line
	}
	f.add(from, end[1], privateKey)
}

// keyLines says where a key ends that has no end: with the last line that could
// be one of it.
func (f *finding) keyLines(at int) int {
	begin := at
	for at < len(f.text) && at-begin < longestKey && inPEM(f.text[at]) && f.text[at] != '\n' {
		at++
	}
	for at < len(f.text) && f.text[at] == '\n' && at-begin < longestKey {
		line := f.text[at+1:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if !endsInBase64(line) {
			break
		}
		at += 1 + len(line)
	}
	return at
}

var pemHeader = regexp.MustCompile(`(?:Proc-Type|DEK-Info|Comment|Subject): `)

// endsInBase64 says whether a line may be one of a key, or of a key's header. An
// empty one parts the two.
func endsInBase64(line []byte) bool {
	line = bytes.TrimRight(line, "\r\"',")
	n := 0
	for n < len(line) && (isBase64(line[len(line)-1-n]) || line[len(line)-1-n] == '=') {
		n++
	}
	return n >= 16 || n == len(bytes.TrimSpace(line)) || pemHeader.Match(line)
}
