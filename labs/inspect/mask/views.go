package mask

import (
	"bytes"
	"sort"
)

// Texts within a text: strings of JSON, the lines of one program in a journal,
// coloured words, UTF-16. Each is read as what it says, and what is found in it is
// masked where it stands.

// farthestView is how much around a Secret's kind is read, in bytes.
const farthestView = 256 << 10

// view is what a part of a text says.
type view struct {
	text  []byte
	parts []viewPart
}

// viewPart says where a part of a view stands in the text: so many bytes of the
// text are one of the view.
type viewPart struct{ at, text, width int }

// add takes a part of the text as it is.
func (v *view) add(text []byte, from, to int) {
	if last := len(v.parts) - 1; last < 0 || v.parts[last].width != 1 || v.parts[last].text+len(v.text)-v.parts[last].at != from {
		v.parts = append(v.parts, viewPart{len(v.text), from, 1})
	}
	v.text = append(v.text, text[from:to]...)
}

// addByte takes a byte for some bytes of the text.
func (v *view) addByte(c byte, from, to int) {
	v.parts = append(v.parts, viewPart{len(v.text), from, to - from})
	v.text = append(v.text, c)
}

// place is where a byte of the view begins and ends in the text.
func (v *view) place(at int) (from, to int) {
	p := v.parts[sort.Search(len(v.parts), func(i int) bool { return v.parts[i].at > at })-1]
	from = p.text + (at-p.at)*p.width
	return from, from + p.width
}

// addSpans adds what was found in a view, line by line: what stands between its
// lines stays.
func (f *finding) addSpans(v *view, found []span) {
	for _, s := range found {
		for from := s.from; from < s.to; {
			to := from + 1
			for to < s.to && !f.apart(v, to) {
				to++
			}
			end := to
			for end > from && v.text[end-1] == '\n' && end < s.to {
				end--
			}
			if end > from {
				first, _ := v.place(from)
				_, last := v.place(end - 1)
				f.add(first, last, s.kind)
			}
			from = to
		}
	}
}

// apart says whether the text has more between two bytes of a view than an escape.
func (f *finding) apart(v *view, at int) bool {
	_, before := v.place(at - 1)
	from, _ := v.place(at)
	return from-before > 2 && v.text[at-1] == '\n'
}

// through looks for secrets of all kinds in a view.
func (f *finding) through(v *view) {
	if f.depth >= deepest || len(v.text) < shortestView || f.tired() {
		return
	}
	f.walked += len(v.text) / 4
	deeper := &finding{m: f.m, text: v.text, depth: f.depth + 1, unpacked: f.budget(), walked: f.walked}
	found := deeper.all()
	f.walked = deeper.walked
	f.addSpans(v, found)
}

// shortestView is the least that is read by itself, in bytes.
const shortestView = 8

// mostInView is how much is read forth and back in one view, in bytes.
const mostInView = 8 << 20

// look finds the Secrets in a view.
func (f *finding) look(v *view) {
	f.walked += 16 * len(v.text)
	deeper := &finding{m: f.m, text: v.text, viewed: true, depth: f.depth + 1}
	deeper.walked = max(f.walked, longestWalk-mostInView)
	begun := deeper.walked
	deeper.yamlSecrets()
	f.walked += deeper.walked - begun
	f.addSpans(v, deeper.sorted())
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
	v := &view{}
	for begin := first; begin < last; {
		end := f.lineEnd(begin)
		if n := samePrefix(f.text[begin:end], prefix); n > 0 {
			v.add(f.text, min(begin+n+1, end), end)
			v.addByte('\n', end, end+1)
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
		if f.walked > longestWalk {
			return
		}
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
