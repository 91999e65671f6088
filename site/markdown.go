package site

import (
	"bytes"
	"regexp"
	"slices"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// markdown is GitHub's, without HTML: what looks like a tag is text, in blocks
// and in lines. Bare addresses are no links.
var markdown = sync.OnceValue(func() parser.Parser {
	p := parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
	goldmark.New(goldmark.WithParser(p), goldmark.WithExtensions(extension.Table, extension.Strikethrough))
	return p
})

// The two lines around something folded, exactly so; what the first one says is
// text.
var (
	foldOpen  = regexp.MustCompile(`^<details><summary>([^<>]+)</summary>$`)
	foldClose = regexp.MustCompile(`^</details>$`)
)

// noteKinds are the kinds of notes, GitHub's and one of our own, and the keys of
// their titles.
var noteKinds = map[string]string{
	"NOTE":          "note",
	"TIP":           "tip",
	"IMPORTANT":     "important",
	"WARNING":       "warning",
	"CAUTION":       "caution",
	"MISCONCEPTION": "misconception",
}

var noteLine = regexp.MustCompile(`^\[!([A-Z]+)\]\s*$`)

var (
	kindFold    = ast.NewNodeKind("Fold")
	kindNote    = ast.NewNodeKind("Note")
	kindScript  = ast.NewNodeKind("Script")
	kindSegment = ast.NewNodeKind("Segment")
)

// block is a node of the site's own: something folded, a note, the columns of
// a script, or one column of a row in it.
type block struct {
	ast.BaseBlock
	kind ast.NodeKind
	// name is the kind of a note, which column a segment is, and what a fold says.
	name string
}

func (b *block) Kind() ast.NodeKind { return b.kind }

// Dump writes the node for a reader of test output.
func (b *block) Dump(source []byte, level int) {
	ast.DumpHelper(b, source, level, map[string]string{"name": b.name}, nil)
}

// shape finds the folded answers and the notes.
func shape(n ast.Node, source []byte) {
	fold(n, source)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() != ast.TypeBlock {
			continue
		}
		if q, ok := c.(*ast.Blockquote); ok {
			if note := asNote(q, source); note != nil {
				n.ReplaceChild(n, c, note)
				c = note
			}
		}
		shape(c, source)
	}
}

// fold puts what stands between the two lines into a node of its own. A line
// without its partner stays text.
func fold(parent ast.Node, source []byte) {
	for open := parent.FirstChild(); open != nil; open = open.NextSibling() {
		opens := matchLine(open, foldOpen, source)
		if opens == nil {
			continue
		}
		end := open.NextSibling()
		for end != nil && matchLine(end, foldClose, source) == nil && matchLine(end, foldOpen, source) == nil {
			end = end.NextSibling()
		}
		if end == nil || matchLine(end, foldClose, source) == nil {
			continue
		}
		summary := util.ResolveEntityNames(util.ResolveNumericReferences(opens[1]))
		folded := &block{kind: kindFold, name: string(bytes.TrimSpace(summary))}
		for c := open.NextSibling(); c != end; c = open.NextSibling() {
			folded.AppendChild(folded, c) // takes it from its parent
		}
		parent.RemoveChild(parent, end)
		parent.ReplaceChild(parent, open, folded)
		open = folded
	}
}

// matchLine matches a paragraph of one line.
func matchLine(n ast.Node, line *regexp.Regexp, source []byte) [][]byte {
	if n.Kind() != ast.KindParagraph || n.Lines().Len() != 1 {
		return nil
	}
	segment := n.Lines().At(0)
	return line.FindSubmatch(bytes.TrimRight(segment.Value(source), " \n"))
}

// asNote makes a note of a quote that begins with a line such as [!NOTE]; nil
// for any other quote.
func asNote(q *ast.Blockquote, source []byte) *block {
	first := q.FirstChild()
	if first == nil || first.Kind() != ast.KindParagraph {
		return nil
	}
	line := first.Lines().At(0)
	match := noteLine.FindSubmatch(bytes.TrimSpace(line.Value(source)))
	if match == nil || noteKinds[string(match[1])] == "" {
		return nil
	}
	for c := first.FirstChild(); c != nil; c = first.FirstChild() {
		t, isText := c.(*ast.Text)
		first.RemoveChild(first, c)
		if isText && (t.SoftLineBreak() || t.HardLineBreak()) {
			break
		}
	}
	if first.ChildCount() == 0 {
		q.RemoveChild(q, first)
	}
	note := &block{kind: kindNote, name: string(match[1])}
	for c := q.FirstChild(); c != nil; c = q.FirstChild() {
		note.AppendChild(note, c)
	}
	return note
}

// inColumns are the headings of the sections that are laid out in columns, as
// keys of words, and the languages of the code that is explained there.
var inColumns = map[string][]string{"heading-script": {"bash"}, "heading-file": {"yaml", "json"}}

// explained are the languages of the code below a heading that is laid out in
// columns; none for any other.
func (p *page) explained(h heading) []string {
	for key, languages := range inColumns {
		if h.Level == 2 && h.Text == p.words.say(key) {
			return languages
		}
	}
	return nil
}

// layOutScript moves what stands below such a heading, up to the next of its
// level or the end of what is folded there, into rows: prose on the left, the
// code it explains on the right.
func (d *parsed) layOutScript(p *page) {
	var first ast.Node
	var languages []string
	for i, h := range p.headings {
		if explained := p.explained(h); explained != nil {
			first, languages = d.nodes[i].NextSibling(), explained
		}
	}
	if fold := nextFold(first); fold != nil {
		first = fold.FirstChild()
	}
	if first == nil || first.Parent() != d.doc && first.Parent().Kind() != kindFold {
		return
	}
	columns := &block{kind: kindScript}
	first.Parent().InsertBefore(first.Parent(), first, columns)
	var prose, code *block
	for n := columns.NextSibling(); n != nil; n = columns.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			break
		}
		isCode := slices.Contains(languages, language(n, d.source))
		if prose == nil || !isCode && code.ChildCount() > 0 {
			prose, code = &block{kind: kindSegment, name: "prose"}, &block{kind: kindSegment, name: "listing"}
			columns.AppendChild(columns, prose)
			columns.AppendChild(columns, code)
		}
		if isCode {
			code.AppendChild(code, n)
		} else {
			prose.AppendChild(prose, n)
		}
	}
}

// nextFold is what is folded in a section, from a node of it on; nil if nothing is.
func nextFold(n ast.Node) ast.Node {
	for ; n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			return nil
		}
		if n.Kind() == kindFold {
			return n
		}
	}
	return nil
}

// language is the first word behind a fence; empty for anything else.
func language(n ast.Node, source []byte) string {
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		return string(f.Language(source))
	}
	return ""
}

// unescaped is a text as it is read: backslashes and entities resolved.
func unescaped(t *ast.Text, source []byte) []byte {
	value := t.Segment.Value(source)
	if t.IsRaw() {
		return value
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
}
