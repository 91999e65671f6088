package site

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"sigs.k8s.io/yaml"
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
	// Pages are id, title, and the kind of those that only explain a file or a
	// detail of another page;
	// Heads are text and anchor, each once; Sections are pairs of numbers into both. The anchor is left out where the browser can make
	// it of the text; the top of a page has neither.
	Pages    [][]string `json:"pages"`
	Heads    [][]string `json:"heads"`
	Sections []int      `json:"sections"`
	// Common are words that are in most sections and therefore left out.
	Common string `json:"common"`
	Words  string `json:"words"`
	// Synonyms are groups of words that find each other.
	Synonyms [][]string `json:"synonyms"`
	// Files are the sections with which the files of their texts begin; a browser
	// reads those that it shows an excerpt of, into Texts.
	Files []int               `json:"files"`
	Texts map[string][]string `json:"texts"`
}

//go:embed synonyms.yaml
var synonyms []byte

// textFile is about how many bytes of text are in one file.
const textFile = 64 << 10

// indexer collects the words of all sections.
type indexer struct {
	data     indexData
	heads    map[[2]string]int
	postings map[string][]int
	sections int
	// text is of the last section, texts are of the sections that are in no file
	// yet, and size is their length.
	text  strings.Builder
	texts []string
	size  int
	files map[string][]byte
}

func newIndexer() *indexer {
	return &indexer{data: indexData{Texts: map[string][]string{}}, heads: map[[2]string]int{}, postings: map[string][]int{}, files: map[string][]byte{}}
}

// addPage reads a page. Code is not searched for, but for what programs print.
func (x *indexer) addPage(p *page, doc *parsed) {
	page := []string{p.ID, p.PlainTitle()}
	switch {
	case p.Kind == "library" || p.Kind == "file":
		page = append(page, p.Kind)
	case p.Parent != "" || strings.Contains(p.ID, "/"):
		page = append(page, "detail")
	}
	x.data.Pages = append(x.data.Pages, page)
	headings := 0
	ast.Walk(doc.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Heading:
			x.addSection(p.headings[headings])
			headings++
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if language(n, doc.source) == "text" && (p.Kind == "chapter" || p.Kind == "cause") {
				x.addText(string(n.Lines().Value(doc.source)))
			}
			return ast.WalkSkipChildren, nil
		case *block:
			if t.kind == kindFold && p.words.say("fold-answer") != t.name {
				x.addText(t.name)
			}
		}
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline {
			x.addText(plainText(n, doc.source))
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
}

func (x *indexer) addSection(h heading) {
	x.endSection()
	head := [2]string{h.Text, h.ID}
	if h.Level == 1 {
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
	x.data.Sections = append(x.data.Sections, len(x.data.Pages)-1, at)
	x.sections++
}

// endSection puts the text of a section with those that share a file.
func (x *indexer) endSection() {
	if x.sections == 0 {
		return
	}
	x.texts = append(x.texts, x.text.String())
	x.size += x.text.Len()
	x.text.Reset()
	if x.size >= textFile {
		x.endFile()
	}
}

func (x *indexer) endFile() {
	if len(x.texts) == 0 {
		return
	}
	number := len(x.data.Files)
	x.data.Files = append(x.data.Files, x.sections-len(x.texts))
	x.files[fmt.Sprintf("search/%d.js", number)] = fmt.Appendf(nil, "searchIndex.texts[%d] = %s;\n", number, asScript(x.texts))
	x.texts, x.size = nil, 0
}

// asScript writes texts as JavaScript.
func asScript(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts and numbers always have a form
	}
	return data
}

var inNoAnchor = regexp.MustCompile(`[^a-z0-9-]`)

// usualAnchor is what the browser makes of a heading; site.js has the same rule.
func usualAnchor(text string) string {
	return inNoAnchor.ReplaceAllString(strings.ReplaceAll(strings.ToLower(text), " ", "-"), "")
}

func (x *indexer) addText(text string) {
	if x.text.Len() > 0 {
		x.text.WriteByte(' ')
	}
	x.text.WriteString(strings.Join(strings.Fields(text), " "))
	section := x.sections - 1
	for _, w := range searchWords(text) {
		list, known := x.postings[w]
		if !known {
			w = strings.Clone(w) // and not all of the text it is a part of
		}
		if len(list) == 0 || list[len(list)-1] != section {
			x.postings[w] = append(list, section)
		}
	}
}

// write makes the files of the index.
func (x *indexer) write(assets map[string][]byte) error {
	x.endSection()
	x.endFile()
	if err := yaml.UnmarshalStrict(synonyms, &x.data.Synonyms); err != nil {
		return fmt.Errorf("synonyms.yaml: %w", err)
	}
	x.writeWords()
	maps.Copy(assets, x.files)
	assets["search-index.js"] = fmt.Appendf(nil, "var searchIndex = %s;\n", asScript(x.data))
	return nil
}

func (x *indexer) writeWords() {
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
	text = strings.ToLower(text)
	var out []string
	flush := func(run string, ideographs bool) {
		switch n := utf8.RuneCountInString(run); {
		case !ideographs && n > 1 && n <= longestWord, ideographs && n == 1:
			out = append(out, run)
		case ideographs:
			runes := []rune(run)
			for i := range n - 1 {
				out = append(out, string(runes[i:i+2]))
			}
		}
	}
	begin := -1 // of the run, while one is open
	inIdeographs := false
	for at, r := range text {
		is := ideograph(r)
		word := is || wordSign(r)
		if begin >= 0 && (!word || is != inIdeographs) {
			flush(text[begin:at], inIdeographs)
			begin = -1
		}
		if word && begin < 0 {
			begin, inIdeographs = at, is
		}
	}
	if begin >= 0 {
		flush(text[begin:], inIdeographs)
	}
	return out
}

// wordSign says whether a sign is a part of a word.
func wordSign(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// ideograph says whether a sign belongs to a script without spaces.
func ideograph(r rune) bool {
	return r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}
