package mask

import (
	"bytes"
)

// Secrets of Kubernetes in YAML that is itself within something: a string of
// JSON, the lines of a journal, braces, a list of JSON.

// farthestView is how much around a Secret's kind is read, in bytes.
const farthestView = 256 << 10

// view is a part of a text without what stands between its lines. at says where
// each of its bytes stands.
type view struct {
	text []byte
	at   []int
}

func (v *view) add(text []byte, from, to int) {
	for i := from; i < to; i++ {
		v.text, v.at = append(v.text, text[i]), append(v.at, i)
	}
}

// mostInView is how much is read forth and back in one view, in bytes.
const mostInView = 8 << 20

// look finds the Secrets in a view.
func (f *finding) look(v view) {
	f.walked += 16 * len(v.text)
	deeper := &finding{m: f.m, text: v.text, viewed: true, depth: f.depth + 1}
	deeper.walked = max(f.walked, longestWalk-mostInView)
	begun := deeper.walked
	deeper.yamlSecrets()
	f.walked += deeper.walked - begun
	for _, s := range deeper.sorted() {
		if s.from >= s.to {
			continue
		}
		// A span of several lines leaves what stands between them.
		from := s.from
		for i := s.from + 1; i <= s.to; i++ {
			if i == s.to || v.text[i-1] == '\n' {
				end := i
				if v.text[end-1] == '\n' {
					end--
				}
				if from < end {
					f.add(v.at[from], v.at[end-1]+1, s.kind)
				}
				from = i
			}
		}
	}
}

// inString looks through the string of JSON in which a place stands, and gives
// its end.
func (f *finding) inString(at int) int {
	r := &jsonReader{text: f.text}
	slash := at + bytes.IndexByte(f.text[at:], '\\')
	level := 0
	for slash+level < len(f.text) && f.text[slash+level] == '\\' {
		level++
	}
	from, to := at, at
	for from > 0 && at-from < farthestView && !(f.text[from-1] == '"' && r.backslashes(from-1) < level) {
		from--
	}
	for to < len(f.text) && to-at < farthestView && !(f.text[to] == '"' && r.backslashes(to) < level) {
		to++
	}
	f.look(f.unquoted(from, to, level))
	return to
}

// unquoted is a string of JSON with its ends of lines and quotes.
func (f *finding) unquoted(from, to, level int) (v view) {
	for i := from; i < to; i++ {
		if f.text[i] != '\\' {
			v.add(f.text, i, i+1)
			continue
		}
		begin := i
		for i < to && f.text[i] == '\\' {
			i++
		}
		if i < to && i-begin == level && f.text[i] == 'n' {
			v.text, v.at = append(v.text, '\n'), append(v.at, begin)
		} else if i < to && f.text[i] != 'n' {
			v.add(f.text, i, i+1)
		}
	}
	return v
}

// inJournal looks through the lines around that have the same beginning, and
// gives where the last of them ends.
func (f *finding) inJournal(line, at int) int {
	prefix := bytes.TrimRight(f.text[line:at], " -")
	if len(prefix) == 0 || at > line && f.text[at-1] != ' ' && f.text[at-1] != '-' {
		return 0
	}
	first, last := line, f.lineEnd(at)
	for others := 0; first > 0 && line-first < farthestView/8 && others < mostOthers; {
		first = bytes.LastIndexByte(f.text[:first-1], '\n') + 1
		others = f.others(others, first, prefix)
	}
	for others := 0; last < len(f.text) && last-at < farthestView/8 && others < mostOthers; {
		next := last + 1
		last = f.lineEnd(min(next, len(f.text)))
		others = f.others(others, next, prefix)
	}
	var v view
	for begin := first; begin < last; {
		end := f.lineEnd(begin)
		if n := samePrefix(f.text[begin:end], prefix); n > 0 {
			v.add(f.text, min(begin+n+1, end), end)
			v.text, v.at = append(v.text, '\n'), append(v.at, end)
		}
		begin = end + 1
	}
	f.look(v)
	return last
}

// mostOthers is how many lines of others may stand between two of one program.
const mostOthers = 20

func (f *finding) others(so, line int, prefix []byte) int {
	if line < len(f.text) && samePrefix(f.text[line:min(len(f.text), line+len(prefix))], prefix) > 0 {
		return 0
	}
	return so + 1
}

// samePrefix is the length of the prefix of a line, if it differs from the other
// in nothing but digits.
func samePrefix(line, prefix []byte) int {
	if len(line) < len(prefix) {
		return 0
	}
	for i, c := range prefix {
		if d := line[i]; c != d && !(c >= '0' && c <= '9' && d >= '0' && d <= '9') {
			return 0
		}
	}
	return len(prefix)
}

// flowEnd is where braces end that were opened before.
func (f *finding) flowEnd(at int) int {
	begin, depth := at, 0
	defer func() { f.walked += at - begin }()
	for ; at < len(f.text); at++ {
		switch c := f.text[at]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return at
			}
		case '"', '\'':
			if end := bytes.IndexByte(f.text[at+1:min(len(f.text), at+1+farthestView)], c); end >= 0 && bytes.IndexByte([]byte(" \t\n:,{["), f.text[at-1]) >= 0 {
				at += end + 1
			}
		}
	}
	return len(f.text)
}

// flowSecret finds the data in the braces in which a Secret's kind stands.
func (f *finding) flowSecret(at int) {
	open, depth := at-1, 0
	for ; open >= 0 && at-open < farthestView; open-- {
		if f.text[open] == '}' {
			depth++
		} else if f.text[open] == '{' {
			if depth--; depth < 0 {
				break
			}
		}
	}
	f.walked += 16 * (at - open)
	if open < 0 || depth >= 0 {
		return
	}
	end := f.flowEnd(open + 1)
	f.walked += 32 * (end - open)
	for _, data := range flowData.FindAllIndex(f.text[open:end], -1) {
		f.content(open+data[1], min(end, f.flowEnd(open+data[1])))
	}
}

// inSecretList says whether a place is within the items of a list of Secrets,
// which have no kind of their own.
func (f *finding) inSecretList(at int) bool {
	if !f.listed {
		f.listed = true
		f.secretLists()
	}
	for _, l := range f.lists {
		if l[0] < at && at < l[1] {
			return true
		}
	}
	return false
}

func (f *finding) secretLists() {
	if !bytes.Contains(f.text, []byte("SecretList")) {
		return
	}
	end := 0
	for _, b := range f.blocks(itemsBlock, "items") {
		if b.key < end || f.tired() {
			continue
		}
		o := f.object(b)
		if kind, _ := f.kindAround(b.key, o); kind == "SecretList" {
			f.lists, end = append(f.lists, [2]int{b.open, o.end}), o.end
		}
	}
}
