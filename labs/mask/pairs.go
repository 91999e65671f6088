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

// pair looks for the other half of what stands behind a colon.
func (f *finding) pair(n name, colon int) {
	first := strings.ToLower(string(f.text[n.from:n.to]))
	switch {
	case len(n.quote) > 0 && n.quote[len(n.quote)-1] == '"':
		f.pairOfJSON(first, len(n.quote)-1, colon)
	case colon+1 < len(f.text) && isWord(f.text[colon+1]) && f.text[n.from] == 'N':
		f.pairOfGo(colon)
	case first != "value" && f.ownLine(n.from):
		f.pairOfYAML(n, colon)
	}
}

// pairOfJSON reads the rest of the object.
func (f *finding) pairOfJSON(first string, level, colon int) {
	end := min(len(f.text), colon+1+farthestPair)
	r := &jsonReader{text: f.text[:end], level: level, at: colon + 1, depth: 1}
	if !r.next() || r.token != '"' {
		return
	}
	one := [2]int{r.from, r.to}
	kind := nameKind(f.text[one[0]:one[1]])
	if (kind == "") == (first != "value") {
		return
	}
	for r.next() && r.depth > 0 {
		if r.token != '"' || r.depth != 1 || !r.beforeColon() {
			continue
		}
		key := strings.ToLower(string(f.text[r.from:r.to]))
		if key != "value" && key != "name" && key != "key" || (key == "value") == (first == "value") {
			continue
		}
		if r.next() && r.next() && r.token == '"' {
			f.half(first == "value", one, [2]int{r.from, r.to})
		}
		return
	}
}

// half adds the value of two halves, if the other is the name of a secret.
func (f *finding) half(valueFirst bool, name, value [2]int) {
	if valueFirst {
		name, value = value, name
	}
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
		f.half(false, [2]int{colon + 1, to}, [2]int{from, f.until(from, ",}\r\n\"")})
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
			f.half(false, name, [2]int{from, to})
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
