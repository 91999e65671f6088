package mask

import (
	"bytes"
	"strings"
)

// Pairs of a name and a value, as environments of containers have them: what
// stands beside the name of a secret is one.

// farthestPair is how far the other half of a pair is looked for, in bytes.
const farthestPair = 4 << 10

func isPairName(name []byte) bool {
	switch string(name) {
	case "name", "key", "value", "Name", "Key", "Value":
		return true
	}
	return false
}

// pairAround looks for the other half of a pair, if a name that announces a secret
// is one: "name": "DB_PASSWORD".
func (f *finding) pairAround(n name) {
	at := n.from - len(n.quote)
	if at <= 0 || string(f.text[at:n.from]) != string(n.quote) {
		return
	}
	for blanks := 0; at > 0 && blanks < 64 && strings.IndexByte(" \t\r\n", f.text[at-1]) >= 0; blanks++ {
		at--
	}
	colon := at - 1
	if colon < 0 || f.text[colon] != ':' {
		return
	}
	key := f.nameBefore(colon)
	if !isPairName(f.text[key.from:key.to]) {
		return
	}
	switch {
	case len(key.quote) > 0 && key.quote[len(key.quote)-1] == '"' && bytes.Equal(key.quote, n.quote):
		f.pairOfJSON(n, key.from)
	case colon+1 == n.from && f.text[key.from] == 'N':
		f.pairOfGo(colon)
	case f.ownLine(key.from):
		f.pairOfYAML(key, colon)
	}
}

// pairOfJSON reads the object for the value.
func (f *finding) pairOfJSON(n name, key int) {
	level := len(n.quote) - 1
	open := f.objectBegin(key-len(n.quote), level, farthestPair)
	if open < 0 {
		return
	}
	r := &jsonReader{text: f.text[:min(len(f.text), key+farthestPair)], level: level, at: open + 1, depth: 1}
	for r.next() && r.depth > 0 {
		if r.token != '"' || r.depth != 1 || !r.beforeColon() || !strings.EqualFold(string(f.text[r.from:r.to]), "value") {
			continue
		}
		if colon := r.next(); colon && r.next() && r.token == '"' {
			f.half([2]int{n.from, n.to}, [2]int{r.from, r.to})
		}
		return
	}
}

// objectBegin is where the brace stands that opens the object around a place; -1
// if it is farther than most bytes.
func (f *finding) objectBegin(begin, level, most int) int {
	r := &jsonReader{text: f.text, level: level}
	depth, at := 0, begin-1
	defer func() { f.walked += begin - at }()
	for ; at >= 0 && begin-at < most; at-- {
		switch f.text[at] {
		case '}', ']':
			depth++
		case '{', '[':
			if depth--; depth < 0 {
				return at
			}
		case '"':
			if r.isQuote(at) {
				for at--; at >= 0 && begin-at < most && !(f.text[at] == '"' && r.isQuote(at)); at-- {
				}
			}
		}
	}
	return -1
}

// half adds the value of two halves, if the other is the name of a secret.
func (f *finding) half(name, value [2]int) {
	kind := nameKind(f.text[name[0]:name[1]])
	if kind != "" && (kind != weakKind || secretNotName(f.text[value[0]:value[1]])) {
		f.add(value[0], value[1], kind)
	}
}

// pairOfGo finds Name:X,Value:Y, as Go prints a container's environment.
func (f *finding) pairOfGo(colon int) {
	to := f.until(colon+1, ", \t\r\n\"")
	if value := []byte(",Value:"); nameKind(f.text[colon+1:to]) != "" && bytes.HasPrefix(f.text[to:], value) {
		from := to + len(value)
		f.half([2]int{colon + 1, to}, [2]int{from, f.until(from, ",}\r\n\"")})
	}
}

// pairOfYAML finds the value in the line below, or above.
func (f *finding) pairOfYAML(n name, colon int) {
	end := f.lineEnd(colon)
	word := bytes.Trim(f.text[colon+1:end], " \t\r\"'")
	kind := nameKind(word)
	if kind == "" {
		return
	}
	at := bytes.Index(f.text[colon:end], word) + colon
	name := [2]int{at, at + len(word)}
	column := n.from - (bytes.LastIndexByte(f.text[:n.from], '\n') + 1)
	for _, line := range []int{end + 1, f.lineAbove(n.from)} {
		if line < 0 || line >= len(f.text) {
			continue
		}
		if from, to := f.yamlValue(line, column); from < to {
			f.half(name, [2]int{from, to})
			return
		}
	}
}

func (f *finding) lineAbove(at int) int {
	begin := bytes.LastIndexByte(f.text[:at], '\n')
	if begin < 0 || bytes.IndexByte(f.text[begin:at], '-') >= 0 {
		return -1
	}
	return bytes.LastIndexByte(f.text[:begin], '\n') + 1
}

// yamlValue is what stands behind value: in this column of a line, and in the
// lines of its block.
func (f *finding) yamlValue(line, column int) (from, to int) {
	key, end := line+column, f.lineEnd(line)
	if key >= end || len(bytes.Trim(f.text[line:key], " -")) > 0 || !bytes.HasPrefix(f.text[key:end], []byte("value:")) {
		return 0, 0
	}
	from, to = key+len("value:"), end
	text := bytes.TrimSpace(f.text[from:to])
	if !blockMarker.Match(text) || len(text) == 0 {
		from += bytes.Index(f.text[from:to], text)
		trimmed := bytes.Trim(text, "\"'")
		from += bytes.Index(text, trimmed)
		return from, from + len(trimmed)
	}
	from = end + 1
	for at := from; at < len(f.text) && f.indentOf(at) > column; at = to + 1 {
		to = f.lineEnd(at)
	}
	return from, to
}
