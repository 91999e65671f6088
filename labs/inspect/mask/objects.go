package mask

import (
	"bytes"
	"regexp"
)

// Objects that are secret as a whole: what Secrets of Kubernetes hold, and the
// logins of a pull secret. JSON may stand in a string of JSON, and that again in
// one: then its quotes have backslashes before them, as many as the level says.

var (
	// Each begins with fixed characters, by which it is found fast.
	authsBlock  = regexp.MustCompile(`auths(\\*)"\s*:\s*\{`)
	dataBlock   = regexp.MustCompile(`ata(\\*)"\s*:\s*\{`)
	yamlSecret  = regexp.MustCompile(`kind:[ \t]*(?:[!&][^\s,]*[ \t]+)*["']?Secret["']?[ \t]*(?:#[^\n]*)?(?:\r?\n|\r?$|[,}\\])`)
	yamlData    = regexp.MustCompile(`^((?:[ -])*)["']?(?:data|stringData)["']?:(.*)$`)
	yamlKey     = regexp.MustCompile(`^[ \t]*(?:"[^"]*"|'[^']*'|[^\s:"'][^\s:]*):(?:[ \t]+|$)`)
	yamlTags    = regexp.MustCompile(`^[ \t]*(?:[&!][^\s,]*[ \t\r]*)+`)
	flowData    = regexp.MustCompile(`[{,\s"'](?:data|stringData)["']?:[ \t\r\n]*\{`)
	itemsBlock  = regexp.MustCompile(`items(\\*)"\s*:\s*\[`)
	blockMarker = regexp.MustCompile(`^[|>][-+0-9]*[ \t]*\r?$`)
)

func (f *finding) objects() {
	for _, at := range f.blocks(authsBlock, "auths") {
		if f.tired() {
			return
		}
		for _, value := range f.object(at).values {
			f.add(value[0], value[1], loginKind)
		}
	}
	if !f.listing && !bytes.Contains(f.text, []byte("Secret")) {
		return
	}
	for _, at := range f.blocks(dataBlock, "data", "stringData") {
		if f.tired() {
			return
		}
		o := f.object(at)
		if f.inSecretList(at.key) {
			o.kind = "Secret"
		}
		if kind, whole := f.kindAround(at.key, o); kind == "Secret" || kind == "" && (!whole || f.listing) {
			for _, value := range o.values {
				f.add(value[0], value[1], secretKind)
			}
		}
	}
	f.yamlSecrets()
}

// yamlSecrets finds those that are written in YAML.
func (f *finding) yamlSecrets() {
	seen := 0
	for _, at := range yamlSecret.FindAllIndex(f.text, -1) {
		if at[0] < seen {
			continue
		}
		if f.tired() {
			return
		}
		switch last := f.text[at[1]-1]; {
		case last == '\\':
			continue // the string is read by itself
		case last == ',' || last == '}':
			f.flowSecret(at[0])
			continue
		}
		line := bytes.LastIndexByte(f.text[:at[0]], '\n') + 1
		if before := f.text[line:at[0]]; len(bytes.Trim(before, " -")) == 0 {
			f.yamlSecret(line)
		} else if !f.viewed {
			seen = f.inJournal(line, at[0])
		}
	}
}

// longestWalk is how much is read forth and back in one text to find out whose
// data some are, in bytes. No text needs it that was not made for it.
const longestWalk = 64 << 20

// tired ends such a walk: then nothing of the text is shown.
func (f *finding) tired() bool {
	if f.walked > longestWalk && !f.gaveUp {
		f.gaveUp = true
		f.add(0, len(f.text), tangledKind)
	}
	return f.walked > longestWalk
}

// block is where the key of a block of JSON begins, with its quote, and where the
// brace is over.
type block struct {
	key, open int
	level     int // backslashes before its quotes
}

// blocks finds what begins with one of the keys.
func (f *finding) blocks(form *regexp.Regexp, keys ...string) (all []block) {
	for _, at := range form.FindAllSubmatchIndex(f.text, -1) {
		for _, key := range keys {
			quote := append(f.text[at[2]:at[3]:at[3]], '"')
			if begin := at[2] - len(key) - len(quote); begin >= 0 && string(f.text[begin:at[2]]) == string(quote)+key {
				all = append(all, block{begin, at[1], len(quote) - 1})
			}
		}
	}
	return all
}

// object is a block of JSON in a text.
type object struct {
	level  int      // backslashes before its quotes
	end    int      // behind its closing brace, or the end of the text
	closed bool     // the closing brace is there
	values [][2]int // its strings that are values
	kind   string   // if the list it stands in tells
}

// object reads a block.
func (f *finding) object(at block) object {
	o := object{end: len(f.text), level: at.level}
	r := &jsonReader{text: f.text, level: o.level, at: at.open, depth: 1}
	for r.next() {
		if r.token == '"' && !r.beforeColon() {
			o.values = append(o.values, [2]int{r.from, r.to})
		}
		if r.depth == 0 {
			o.end, o.closed = r.at, true
			break
		}
	}
	f.walked += r.at - at.open
	return o
}

// jsonReader goes from token to token: strings, braces, brackets, colons and
// commas of one level. What else there is it passes over, so that it also reads
// what is torn.
type jsonReader struct {
	text     []byte
	level    int
	at       int
	depth    int
	token    byte
	from, to int // of a string's content
}

func (r *jsonReader) next() bool {
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch c {
		case '{', '[':
			r.depth++
		case '}', ']':
			r.depth--
		case '"':
			if !r.isQuote(r.at - 1) {
				if r.backslashes(r.at-1) < r.level {
					return false // the string in which all this stands ends here
				}
				continue
			}
			r.from, r.to = r.at, r.stringEnd(r.at)
			r.at = min(r.to+r.level+1, len(r.text))
		case ':', ',':
		default:
			continue
		}
		r.token = c
		return true
	}
	return false
}

func (r *jsonReader) backslashes(at int) int {
	n := 0
	for at-n > 0 && r.text[at-n-1] == '\\' {
		n++
	}
	return n
}

func (r *jsonReader) isQuote(at int) bool { return r.backslashes(at) == r.level }

// stringEnd is where the content of a string ends that begins at from.
func (r *jsonReader) stringEnd(from int) int {
	for at := from; at < len(r.text); at++ {
		if r.text[at] != '"' {
			continue
		}
		// An empty string's quotes stand side by side.
		if n := min(r.backslashes(at), at-from); n <= r.level {
			return at - n
		}
	}
	return len(r.text)
}

// beforeColon says whether the string just read is a key.
func (r *jsonReader) beforeColon() bool {
	rest := bytes.TrimLeft(r.text[r.at:min(len(r.text), r.at+64)], " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// farthest is how far the rest of an object is read for its kind, in bytes.
const farthest = 1 << 20

// kindAround is the kind of the object that a block stands in: before or behind
// it. Not whole means that an end of the object is missing.
func (f *finding) kindAround(begin int, o object) (kind string, whole bool) {
	kind, behind := f.kindBehind(o)
	if o.kind != "" {
		return o.kind, true
	}
	if kind != "" {
		return kind, true
	}
	kind, before := f.kindBefore(begin, o.level)
	return kind, behind && before
}

func (f *finding) kindBehind(o object) (string, bool) {
	r := &jsonReader{text: f.text[:min(len(f.text), o.end+farthest)], level: o.level, at: o.end, depth: 1}
	defer func() { f.walked += r.at - o.end }()
	for o.closed && r.next() {
		if r.depth == 0 {
			return "", true
		}
		if kind := r.kind(); kind != "" {
			return kind, true
		}
	}
	return "", false
}

// kind is the value behind a key "kind" of this depth.
func (r *jsonReader) kind() string {
	if r.token != '"' || r.depth != 1 || string(r.text[r.from:r.to]) != "kind" || !r.beforeColon() {
		return ""
	}
	if r.next() && r.token == ':' && r.next() && r.token == '"' {
		return string(r.text[r.from:r.to])
	}
	return ""
}

// kindBefore reads backwards: to the brace that opens the object.
func (f *finding) kindBefore(begin, level int) (string, bool) {
	r := &jsonReader{text: f.text, level: level}
	depth, at := 0, begin-1
	defer func() { f.walked += begin - at }()
	for ; at >= 0 && begin-at < farthest; at-- {
		switch f.text[at] {
		case '}', ']':
			depth++
		case '{', '[':
			if depth--; depth < 0 {
				return "", true
			}
		case '"':
			if !r.isQuote(at) {
				continue
			}
			end := at - level
			for at--; at >= 0 && !(f.text[at] == '"' && r.isQuote(at)); at-- {
			}
			if at < 0 {
				return "", false
			}
			if text := f.text[at+1 : max(at+1, end)]; depth == 0 && string(text) == "kind" {
				after := &jsonReader{text: f.text, level: level, at: at - level, depth: 1}
				if after.next() {
					return after.kind(), true
				}
			}
			at -= level
		}
	}
	return "", false
}

// yamlSecret finds the data of the Secret whose kind stands at this line.
func (f *finding) yamlSecret(at int) {
	indent := 0
	for f.text[at+indent] == ' ' || f.text[at+indent] == '-' || f.text[at+indent] == '\t' {
		indent++
	}
	first := f.firstLine(at, indent)
	f.walked += at - first
	for line := first; line < len(f.text); {
		end := f.lineEnd(line)
		f.walked += end - line
		m := yamlData.FindSubmatchIndex(f.text[line:end])
		switch {
		case line > at && (f.leaves(line, end, indent) || f.indentOf(line) < indent && f.isItem(line)):
			return
		case m != nil && m[3] == indent:
			line = f.yamlBlock(line+m[4], end, indent)
		default:
			line = end + 1
		}
	}
}

// firstLine goes up to the first line of the mapping.
func (f *finding) firstLine(at, indent int) int {
	for at > 0 {
		above := bytes.LastIndexByte(f.text[:at-1], '\n') + 1
		if f.leaves(above, at-1, indent) {
			return at
		}
		at = above
		// A dash begins an item: what is above is another's.
		if f.isItem(at) && f.indentOf(at) < indent {
			return at
		}
	}
	return at
}

func (f *finding) indentOf(line int) int {
	n := 0
	for line+n < len(f.text) && f.text[line+n] == ' ' {
		n++
	}
	return n
}

func (f *finding) isItem(line int) bool {
	return bytes.HasPrefix(f.text[line+f.indentOf(line):], []byte("- "))
}

// leaves says whether a line is outside of the mapping with this indent.
func (f *finding) leaves(line, end, indent int) bool {
	text := f.text[line:end]
	if len(bytes.TrimSpace(text)) == 0 {
		return false
	}
	n := f.indentOf(line)
	return bytes.HasPrefix(text, []byte("---")) || n < indent && !(f.isItem(line) && n+2 == indent)
}

// yamlBlock finds the values below data:, and gives the line behind them. at is
// behind the colon.
func (f *finding) yamlBlock(at, end, indent int) int {
	if m := yamlTags.FindIndex(f.text[at:end]); m != nil {
		at += m[1]
	}
	if text := bytes.TrimSpace(f.text[at:end]); len(text) > 0 && text[0] != '#' {
		if text[0] != '{' {
			f.content(at, end)
			return end + 1
		}
		// {key: value, ...} may go over several lines.
		open := at + bytes.IndexByte(f.text[at:end], '{') + 1
		to := f.flowEnd(open)
		f.content(open, to)
		return f.lineEnd(to) + 1
	}
	child := -1
	for line := end + 1; line < len(f.text); {
		end = f.lineEnd(line)
		text := f.text[line:end]
		n := f.indentOf(line)
		switch {
		case len(bytes.TrimSpace(text)) == 0:
		case n <= indent:
			return line
		default:
			if child < 0 {
				child = n
			}
			if m := yamlKey.FindIndex(text); n == child && m != nil {
				if rest := bytes.TrimSpace(text[m[1]:]); !blockMarker.Match(rest) {
					f.content(line+m[1], end)
				}
			} else {
				f.content(line, end)
			}
		}
		line = end + 1
	}
	return len(f.text)
}

// content finds what stands there without the blanks and quotes around it.
func (f *finding) content(from, to int) {
	for from < to && bytes.IndexByte([]byte(" \t\r\"'"), f.text[from]) >= 0 {
		from++
	}
	for to > from && bytes.IndexByte([]byte(" \t\r\"'"), f.text[to-1]) >= 0 {
		to--
	}
	if to > from {
		f.add(from, to, secretKind)
	}
}
