package site

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// markdown is GitHub's, without HTML: what looks like a tag is text, in blocks
// and in lines. Bare addresses are no links.
func markdown() parser.Parser {
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
}

// The two lines around what is folded, exactly so; the summary is plain text.
var (
	foldOpen  = regexp.MustCompile(`^<details><summary>([^<>]+)</summary>$`)
	foldClose = regexp.MustCompile(`^</details>$`)
)

// noteTitles are the kinds of notes: GitHub's, and one of our own.
var noteTitles = map[string]string{
	"NOTE":          "Note",
	"TIP":           "Tip",
	"IMPORTANT":     "Important",
	"WARNING":       "Warning",
	"CAUTION":       "Caution",
	"MISCONCEPTION": "A common misconception",
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
	// name is the kind of a note, the summary of what is folded, and which column a
	// segment is.
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
		summary := line(open, foldOpen, source)
		if summary == nil {
			continue
		}
		end := open.NextSibling()
		for end != nil && line(end, foldClose, source) == nil && line(end, foldOpen, source) == nil {
			end = end.NextSibling()
		}
		if end == nil || line(end, foldClose, source) == nil {
			continue
		}
		folded := &block{kind: kindFold, name: string(summary[1])}
		for c := open.NextSibling(); c != end; c = open.NextSibling() {
			folded.AppendChild(folded, c) // takes it from its parent
		}
		parent.RemoveChild(parent, end)
		parent.ReplaceChild(parent, open, folded)
		open = folded
	}
}

// line is how a paragraph of one line matches; nil for anything else.
func line(n ast.Node, expected *regexp.Regexp, source []byte) [][]byte {
	if n.Kind() != ast.KindParagraph || n.Lines().Len() != 1 {
		return nil
	}
	segment := n.Lines().At(0)
	return expected.FindSubmatch(bytes.TrimRight(segment.Value(source), " \n"))
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
	if match == nil || noteTitles[string(match[1])] == "" {
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

// inColumns are the headings of the sections that are laid out in columns, and
// the languages of the code that is explained there.
var inColumns = map[string][]string{"The script": {"bash"}, "The file": {"yaml", "json"}}

// layOutScript moves what stands below such a heading, up to the next of its
// level, into rows: prose on the left, the code it explains on the right.
func (p *page) layOutScript() {
	var start ast.Node
	var explained []string
	for _, h := range p.headings {
		if languages := inColumns[h.Text]; h.Level == 2 && languages != nil {
			start, explained = h.node, languages
		}
	}
	if start == nil || start.Parent() != p.doc {
		return
	}
	// A script that is folded keeps its place in the fold.
	parent := ast.Node(p.doc)
	columns := &block{kind: kindScript}
	if fold := nextFold(start); fold != nil {
		parent = fold
		parent.InsertBefore(parent, parent.FirstChild(), columns)
	} else {
		parent.InsertAfter(parent, start, columns)
	}
	var prose, code *block
	for n := columns.NextSibling(); n != nil; n = columns.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			break
		}
		isCode := slices.Contains(explained, language(n, p.source))
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

// nextFold is what is folded below a heading, before the next of its level; nil if
// nothing is.
func nextFold(heading ast.Node) ast.Node {
	for n := heading.NextSibling(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			return nil
		}
		if n.Kind() == kindFold {
			return n
		}
	}
	return nil
}

// isWide says whether a node is laid out in columns.
func isWide(n ast.Node) bool {
	return n.Kind() == kindScript || n.Kind() == kindFold && n.FirstChild() != nil && n.FirstChild().Kind() == kindScript
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
