package site

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// The index is a script, because a page at file:// may load no data. It lists
// the words of every section in a form that the browser turns into a map:
// words in order, each without the letters it shares with the one before, and
// behind it the sections, as distances. A distance ends with a small letter or a
// digit, worth 0 to 35; capitals before it are the rest, to the base of 26.
// Words of headings are not
// in it; the browser has the headings themselves.

const (
	// A word in more than this share of the sections finds nothing.
	commonShare = 0.4
	// What is longer is a digest or a key, and no one types it.
	longestWord = 32
)

type indexData struct {
	// Pages are id and title; Heads are text and anchor, each once; Sections are
	// pairs of numbers into both. The anchor is left out where the browser can make
	// it of the text; the top of a page has neither.
	Pages    [][2]string `json:"pages"`
	Heads    [][]string  `json:"heads"`
	Sections []int       `json:"sections"`
	// Common are words that are in most sections and therefore left out.
	Common string `json:"common"`
	Words  string `json:"words"`
}

// indexer collects the words of all sections.
type indexer struct {
	data     indexData
	heads    map[[2]string]int
	postings map[string][]int
	sections int
}

func searchIndex(pages []*page) ([]byte, error) {
	x := &indexer{heads: map[[2]string]int{}, postings: map[string][]int{}}
	for i, p := range pages {
		x.data.Pages = append(x.data.Pages, [2]string{p.ID, p.PlainTitle()})
		x.addPage(i, p)
	}
	x.write()
	data, err := json.Marshal(x.data)
	return fmt.Appendf(nil, "var searchIndex = %s;\n", data), err
}

func (x *indexer) addPage(number int, p *page) {
	ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Heading:
			x.addSection(number, p, t)
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		}
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
			x.addText(plainText(n, p.source))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
}

func (x *indexer) addSection(number int, p *page, node *ast.Heading) {
	i := slices.IndexFunc(p.headings, func(h *heading) bool { return h.node == node })
	head := [2]string{p.headings[i].Text, p.headings[i].ID}
	if node.Level == 1 {
		head = [2]string{} // the top of the page
	}
	at, known := x.heads[head]
	if !known {
		at = len(x.data.Heads)
		x.heads[head] = at
		words := head[:]
		if head[1] == usualAnchor(head[0]) {
			words = head[:1]
		}
		x.data.Heads = append(x.data.Heads, words)
	}
	x.data.Sections = append(x.data.Sections, number, at)
	x.sections++
}

var inNoAnchor = regexp.MustCompile(`[^a-z0-9-]`)

// usualAnchor is what the browser makes of a heading; site.js has the same rule.
func usualAnchor(text string) string {
	return inNoAnchor.ReplaceAllString(strings.ReplaceAll(strings.ToLower(text), " ", "-"), "")
}

func (x *indexer) addText(text string) {
	section := x.sections - 1
	for _, w := range searchWords(text) {
		list := x.postings[w]
		if len(list) == 0 || list[len(list)-1] != section {
			x.postings[w] = append(list, section)
		}
	}
}

func (x *indexer) write() {
	var all, common []string
	for w, list := range x.postings {
		if len(x.data.Pages) > 1 && float64(len(list)) > commonShare*float64(x.sections) {
			common = append(common, w)
		} else {
			all = append(all, w)
		}
	}
	slices.Sort(all)
	slices.Sort(common)
	x.data.Common = strings.Join(common, " ")
	var lines []string
	before := ""
	for _, w := range all {
		n := shared(before, w)
		var line strings.Builder
		line.WriteString(strconv.FormatInt(int64(n), 36) + w[len(prefix(w, n)):] + " ")
		last := 0
		for _, section := range x.postings[w] {
			line.WriteString(distance(section - last))
			last = section
		}
		lines = append(lines, line.String())
		before = w
	}
	x.data.Words = strings.Join(lines, "\n")
}

// distance writes a number so that its end is seen.
func distance(n int) string {
	text := strconv.FormatInt(int64(n%36), 36)
	for n /= 36; n > 0; n /= 26 {
		text = string(rune('A'+n%26)) + text
	}
	return text
}

// shared counts the letters that two words begin with, 35 at most so that one
// digit tells it.
func shared(a, b string) int {
	n := 0
	for n < 35 && a != "" && b != "" {
		r, size := utf8.DecodeRuneInString(a)
		s, _ := utf8.DecodeRuneInString(b)
		if r != s {
			break
		}
		a, b, n = a[size:], b[size:], n+1
	}
	return n
}

// prefix is the first n letters of a word.
func prefix(w string, n int) string {
	for i := range w {
		if n == 0 {
			return w[:i]
		}
		n--
	}
	return w
}

// searchWords cuts a text into what can be searched for: runs of letters and
// digits in small letters, and pairs of signs where a language puts no spaces
// between words. The browser cuts a question in the same way.
func searchWords(text string) []string {
	var out []string
	flush := func(run []rune, ideographs bool) {
		switch {
		case !ideographs && len(run) > 1 && len(run) <= longestWord:
			out = append(out, string(run))
		case ideographs && len(run) == 1:
			out = append(out, string(run))
		case ideographs:
			for i := range len(run) - 1 {
				out = append(out, string(run[i:i+2]))
			}
		}
	}
	var run []rune
	var inIdeographs bool
	for _, r := range strings.ToLower(text) + " " {
		is := ideograph(r)
		word := is || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		if len(run) > 0 && (!word || is != inIdeographs) {
			flush(run, inIdeographs)
			run = run[:0]
		}
		if word {
			run, inIdeographs = append(run, r), is
		}
	}
	return out
}

// ideograph says whether a sign belongs to a script without spaces.
func ideograph(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}
