package mask

import (
	"bytes"
	"strings"
)

// Secrets that no colon tells: in tags, in sentences, in lines of two words, in
// lines below a name.

// isTag says whether a name is that of a tag of XML.
func (f *finding) isTag(at int) bool {
	for n := 0; at > 0 && n < 32 && (isWord(f.text[at-1]) || f.text[at-1] == ':'); n++ {
		at--
	}
	return at > 0 && f.text[at-1] == '<'
}

// tagged finds what stands between a tag and the next, which may be a <Value>.
func (f *finding) tagged(n name) {
	at := n.to
	for range 3 {
		end := f.until(at, ">\r\n")
		if end >= len(f.text) || f.text[end] != '>' || end-at > 256 || end > at && f.text[end-1] == '/' {
			return
		}
		for at = end + 1; at < len(f.text) && strings.IndexByte(" \t\r\n", f.text[at]) >= 0; at++ {
		}
		if at >= len(f.text) || f.text[at] != '<' || f.has(at, "</") || f.has(at, markText) {
			break
		}
	}
	if to := f.until(at, "<\r\n"); to > at && !f.has(at, markText) {
		f.add(at, to, n.kind)
	}
}

// mostWords is how many words of a sentence may stand between a name and the
// secret.
const mostWords = 6

// spoken finds a secret in a sentence or a line of words. at is behind the name.
func (f *finding) spoken(n name, at int) {
	if f.inLineOfWords(n, at) {
		return
	}
	if n.kind == authorization {
		return
	}
	skip := false
	for range mostWords {
		for at < len(f.text) && strings.IndexByte(" \t\"'`([{:=\\", f.text[at]) >= 0 {
			at++
		}
		to := f.until(at, " \t\r\n\"'`)]},;\\")
		word := f.text[at:to]
		switch {
		case len(word) == 0:
			return
		case skip:
			skip = false
		case isFiller(word):
			skip = string(word) == "for" || string(word) == "of" || string(word) == "user"
		default:
			if looksRandom(bytes.TrimRight(word, ".:!")) {
				f.add(at, to, n.kind)
			}
			return
		}
		at = to
	}
}

// isFiller knows words that stand between "password" and the password.
func isFiller(word []byte) bool {
	switch strings.ToLower(strings.TrimRight(string(word), ":")) {
	case "is", "was", "are", "set", "to", "as", "with", "for", "of", "user", "the", "a", "be", "now", "will", "has", "been", "changed", "reset", "default", "temporary", "new", "value", "and", "string", "used", "using":
		return true
	}
	return false
}

// looksRandom says whether a word of a sentence is no word, name, path or time.
func looksRandom(word []byte) bool {
	if len(word) < 8 || !secretNotName(word) || bytes.ContainsAny(word, "/:<>|") || bytes.HasPrefix(word, markBegin) {
		return false
	}
	digits, letters, dots := 0, 0, 0
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case isWord(c):
			letters++
		case c == '.':
			dots++
		}
	}
	return digits > 0 && letters > 1 && dots == 0 && !isDate(word)
}

func isDate(word []byte) bool {
	return len(word) >= 10 && word[4] == '-' && word[7] == '-' && isNumber(word[:4]) && isNumber(word[5:7])
}

// inLineOfWords finds the values of a Dockerfile's ENV and of a netrc: whatever
// the word, it is the secret.
func (f *finding) inLineOfWords(n name, at int) bool {
	before := bytes.TrimRight(f.text[max(0, n.from-256):n.from], " \t")
	for _, word := range []string{"ENV", "setenv", "SetEnv"} {
		if bytes.HasSuffix(before, []byte(word)) && len(before) < n.from {
			f.add(at, f.endOfLine(at), n.kind)
			return true
		}
	}
	if line := f.lineBegin(n.from); f.beginsLine(n.from) && line > 0 {
		before = f.text[max(f.lineBegin(line-1), line-256) : line-1]
	}
	words := bytes.Fields(before)
	if len(words) < 2 || n.from > 0 && f.text[n.from-1] > ' ' {
		return false
	}
	if last := string(words[len(words)-2]); last == "login" || last == "account" {
		to := f.until(at, " \t\r\n\"'\\")
		if value := f.text[at:to]; !isCommon(value) {
			f.add(at, to, n.kind)
			return true
		}
	}
	return false
}

// longestBlock is how many lines a value of YAML may have.
const longestBlock = 200

// block finds the lines of a value that stands below its name: of a block that |
// or > begins, of a list, or of plain words. Where the next line is a key, it is
// none.
func (f *finding) block(n name, at int) {
	l := f.lineOf(n.from)
	marker := f.text[at] == '|' || f.text[at] == '>'
	if marker && !blockMarker.Match(f.text[at:f.endOfLine(at)]) {
		return
	}
	if !marker && !f.ownLine(n.from) && len(l.prefix) == 0 {
		return
	}
	if !marker && n.kind == weakKind {
		return
	}
	indent, first := l.indent(), true
	for range longestBlock {
		next, ok := f.below(l)
		if !ok {
			return
		}
		text := f.text[next.content:next.to]
		item := !marker && (bytes.HasPrefix(text, []byte("- ")) || first && n.plural && bytes.HasPrefix(text, []byte("-")))
		switch {
		case len(text) == 0:
		case item && n.plural && next.indent() >= indent:
			f.blockLine(n, next.content+2, next.to)
		case next.indent() <= indent, !marker && (item || n.plural || yamlKey.Match(text) || bytes.HasPrefix(text, []byte("{"))):
			return
		default:
			f.blockLine(n, next.content, next.to)
		}
		first = false
		l = next
	}
}

// blockLine adds one of them, without its quotes.
func (f *finding) blockLine(n name, from, to int) {
	for from < to && strings.IndexByte(" \"'", f.text[from]) >= 0 {
		from++
	}
	for to > from && strings.IndexByte(" \"',", f.text[to-1]) >= 0 {
		to--
	}
	if from < to && (n.kind != weakKind || secretNotName(f.text[from:to])) {
		f.add(from, to, n.kind)
	}
}

// goesOnBelow finds the further lines of a value of YAML without quotes.
func (f *finding) goesOnBelow(n name, at int) {
	l := f.lineOf(n.from)
	indent := l.indent()
	for range longestBlock {
		next, ok := f.below(l)
		if !ok || next.indent() <= indent || next.content == next.to {
			return
		}
		if text := f.text[next.content:next.to]; yamlKey.Match(text) || text[0] == '-' || text[0] == '#' || bytes.IndexByte(text, ' ') >= 0 && len(l.prefix) > 0 {
			return
		}
		f.blockLine(n, next.content, next.to)
		l = next
	}
}
