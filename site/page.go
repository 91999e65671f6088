package site

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// page is a page of the guide, rendered.
type page struct {
	Page
	words      words
	headings   []heading
	anchors    map[string]bool
	Prev, Next *page
	// pictures: at least one stands on the page.
	pictures bool
	// group is the part of the guide that the page is in, and place where in it.
	group, place int
	// heading is the first heading, and head, wide, tail the rest: before, in and
	// after the section that lays a script out in columns.
	heading, head, wide, tail fragment
}

// heading is an entry of the contents.
type heading struct {
	Level int
	ID    string
	Text  string
	// Folded: the contents leave it out.
	Folded bool
}

// parsed is the markdown of a page; it is let go when the page is rendered.
type parsed struct {
	source []byte
	doc    ast.Node
	title  *ast.Heading
	// nodes are the headings, in the order of the page's.
	nodes []*ast.Heading
}

// parsePage reads the markdown of a page and gives its headings their ids.
func parsePage(meta Page, source []byte) (*page, *parsed, error) {
	if bad := bytes.IndexFunc(source, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }); bad >= 0 {
		return nil, nil, fmt.Errorf("page %s (%s): byte %d is a control character", meta.ID, meta.File, bad)
	}
	p := &page{Page: meta, words: wordsIn(meta.Lang), anchors: map[string]bool{}}
	d := &parsed{source: source, doc: markdown().Parse(text.NewReader(source))}
	shape(d.doc, source)
	if err := p.readHeadings(d); err != nil {
		return nil, nil, fmt.Errorf("page %s (%s): %w", meta.ID, meta.File, err)
	}
	if meta.Kind == "stage" || meta.Kind == "library" || meta.Kind == "file" {
		d.layOutScript(p)
	}
	return p, d, nil
}

// fragments are all parts of the page, in order.
func (p *page) fragments() []*fragment { return []*fragment{&p.heading, &p.head, &p.wide, &p.tail} }

// readHeadings wants one title, at the top, and no level left out below it.
func (p *page) readHeadings(d *parsed) error {
	level := 0
	err := ast.Walk(d.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		words := strings.Join(strings.Fields(plainText(h, d.source)), " ")
		if h.Level > level+1 || h.Level == 1 && level > 0 {
			return ast.WalkStop, fmt.Errorf("heading %q has level %d below level %d: expected one title and no level left out", words, h.Level, level)
		}
		level = h.Level
		id := p.anchor(words)
		h.SetAttributeString("id", []byte(id))
		if h.Level == 1 {
			d.title = h
		}
		p.headings = append(p.headings, heading{h.Level, id, words, folded(h)})
		d.nodes = append(d.nodes, h)
		return ast.WalkSkipChildren, nil
	})
	if err == nil && (d.title == nil || d.doc.FirstChild() != ast.Node(d.title)) {
		err = fmt.Errorf("expected a title (# …) in its first line")
	}
	return err
}

// anchor makes an id of a heading as GitHub does, so that a link to it works
// there too: letters and digits of any script stay, spaces become hyphens.
func (p *page) anchor(words string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_', r == '-':
			return unicode.ToLower(r)
		case unicode.IsSpace(r):
			return '-'
		}
		return -1
	}, words)
	if slug == "" {
		slug = "section"
	}
	id := slug
	for n := 1; p.anchors[id]; n++ {
		id = fmt.Sprintf("%s-%d", slug, n)
	}
	p.anchors[id] = true
	return id
}

// Contents are the headings of the second and third level that are not folded; one
// alone needs no list.
func (p *page) Contents() []heading {
	var out []heading
	for _, h := range p.headings {
		if (h.Level == 2 || h.Level == 3) && !h.Folded {
			out = append(out, h)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// folded says whether a node is inside of something that is folded.
func folded(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.Kind() == kindFold {
			return true
		}
	}
	return false
}

// PlainTitle is the title without marks, for the browser's tab.
func (p *page) PlainTitle() string { return p.headings[0].Text }

// plainText is what a reader sees of a node.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch t := n.(type) {
		case *ast.Text:
			b.Write(unescaped(t, source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(t.Value)
		case *ast.AutoLink:
			b.Write(t.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
