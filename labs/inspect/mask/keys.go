package mask

import (
	"bytes"
	"regexp"
	"strings"
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
	begins := pemBegin.FindAllIndex(f.text, -1)
	for i, begin := range begins {
		if begin[0] < covered {
			continue
		}
		for len(ends) > 0 && ends[0][0] < begin[1] {
			f.endOnly(ends[0], covered)
			covered, ends = ends[0][1], ends[1:]
		}
		to := f.keyLines(begin[1])
		another := i+1 < len(begins) && len(ends) > 0 && begins[i+1][0] < ends[0][0]
		if len(ends) > 0 && !another && ends[0][0]-begin[1] < longestKey && isKeyText(f.text[begin[1]:ends[0][0]]) {
			to, ends = ends[0][1], ends[1:]
		}
		f.spans = append(f.spans, span{begin[0], to, privateKey, inPEM})
		covered = to
	}
	for _, end := range ends {
		f.endOnly(end, covered)
		covered = end[1]
	}
}

// keyGap is what stands between the lines of a key: the end of a line, or what
// is written for it.
var keyGap = regexp.MustCompile(`[\r\n]+[ \t]*|\\+[nrt]|%0[AaDd]|#01[25]|<br ?/?>|\\*",?\s*\\*"|\t`)

// isKeyText says whether what stands between a key's ends is one: most of its
// lines are base64. Else the ends are only spoken of.
func isKeyText(text []byte) bool {
	if len(text) < 256 {
		return true
	}
	lines, good := 0, 0
	for _, line := range keyGap.Split(string(text), -1) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		lines++
		if isKeyLine([]byte(line), 16) || pemHeader.MatchString(line) {
			good++
		}
	}
	return good*2+2 >= lines && good > 0
}

// isKeyLine says whether a line ends in at least so many characters of base64
// with letters of both cases, as no path or name does.
func isKeyLine(line []byte, least int) bool {
	line = bytes.TrimRight(line, "\r\"',\\ ")
	n, upper, lower := 0, false, false
	for ; n < len(line) && n < 4096; n++ {
		c := line[len(line)-1-n]
		if !isWord(c) && c != '+' && c != '/' && c != '=' && c != '%' {
			break
		}
		upper, lower = upper || c >= 'A' && c <= 'Z', lower || c >= 'a' && c <= 'z'
	}
	return n >= least && upper && lower
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
	if line := bytes.LastIndexByte(f.text[after:from], '\n') + 1 + after; line > after && from-line < 256 {
		// A line of a journal has a prefix.
		above := bytes.LastIndexByte(f.text[after:line-1], '\n') + 1 + after
		if above = max(above, line-4096); f.text[from-1] == '\n' || isKeyLine(f.text[above:line-1], 16) || isKeyLine(f.text[max(after, bytes.LastIndexByte(f.text[:max(above-1, 0)], '\n')+1):max(above-1, after, 0)], 40) {
			from = line
		}
	}
	from = f.gapsBefore(from, after)
	for from > after && f.text[from-1] == '\n' && end[0]-from < longestKey {
		line := bytes.LastIndexByte(f.text[after:from-1], '\n') + 1 + after
		if !endsInBase64(f.text[line : from-1]) {
			break
		}
		from = line
	}
	f.add(from, end[1], privateKey)
}

// gapsBefore steps back over the lines of a key in one line, as far as they are
// some.
func (f *finding) gapsBefore(at, after int) int {
	begin := max(after, at-longestKey)
	if at > begin && f.text[at-1] == '\n' {
		return at
	}
	gaps := keyGap.FindAllIndex(f.text[begin:at], -1)
	for i := len(gaps) - 1; i >= 0; i-- {
		from, to := begin, begin+gaps[i][0]
		if i > 0 {
			from = begin + gaps[i-1][1]
		}
		line := f.text[from:to]
		// The last line of a key may be short.
		if last := i == len(gaps)-1 && len(line) < 64 && len(line) > 0; !last && !isKeyLine(line, 16) || last && !endsInBase64(line) {
			return at
		}
		word := to
		for word > from && (isBase64(f.text[word-1]) || f.text[word-1] == '=') {
			word--
		}
		if at = from; word > from {
			return word
		}
	}
	return at
}

// mostForeign is how many lines of others may stand within a key.
const mostForeign = 5

// keyBehind is where the next line of a key ends, behind a gap in the line or
// behind lines of others; at if there is none.
func (f *finding) keyBehind(at int) int {
	if gap := keyGap.FindIndex(f.text[at:min(len(f.text), at+64)]); gap != nil && gap[0] == 0 {
		to := at + gap[1]
		for to < len(f.text) && to-at < 4096 && (isWord(f.text[to]) || strings.IndexByte("+/=", f.text[to]) >= 0) {
			to++
		}
		if isKeyLine(f.text[at+gap[1]:to], 16) {
			return to
		}
	}
	next := at
	for range mostForeign + 1 {
		if next >= len(f.text) || f.text[next] != '\n' {
			return at
		}
		line := f.text[next+1 : min(len(f.text), next+4096)]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		next += 1 + len(line)
		if isKeyLine(line, 40) {
			return next
		}
	}
	return at
}

// keyLines says where a key ends that has no end: with the last line that could
// be one of it.
func (f *finding) keyLines(at int) int {
	begin := at
	for at < len(f.text) && at-begin < longestKey && inPEM(f.text[at]) && f.text[at] != '\n' {
		at++
	}
	for at < len(f.text) && at-begin < longestKey {
		if next := f.keyLine(at); next > at {
			at = next
		} else if next = f.keyBehind(at); next > at {
			at = next
		} else {
			return at
		}
	}
	return at
}

// keyLine is where the next line ends, if it may be one of a key.
func (f *finding) keyLine(at int) int {
	if f.text[at] != '\n' {
		return at
	}
	line := f.text[at+1 : min(len(f.text), at+longestKey)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if !endsInBase64(line) {
		return at
	}
	return at + 1 + len(line)
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
