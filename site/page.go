package site

import (
	"fmt"
	"html/template"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// page is a page of the guide, parsed and rendered.
type page struct {
	Page
	source     []byte
	doc        ast.Node
	title      *ast.Heading
	headings   []*heading
	anchors    map[string]bool
	Prev, Next *page
	// code holds the blocks of code as HTML: marking them is most of the work,
	// and every page is rendered twice.
	code map[ast.Node]string
	// pictures: at least one stands on the page.
	pictures bool

	// Heading is the first heading, and Head, Wide, Tail the rest: before, in and
	// after the section that lays a script out in columns.
	Heading          template.HTML
	Head, Wide, Tail template.HTML
	// Whole is all of it, as a part of the document that holds every page.
	Whole template.HTML
}

// heading is an entry of the contents.
type heading struct {
	node  *ast.Heading
	Level int
	ID    string
	Text  string
}

// parsePage reads the markdown of a page and gives its headings their ids.
func parsePage(meta Page, source []byte) (*page, error) {
	p := &page{Page: meta, source: source, anchors: map[string]bool{}, code: map[ast.Node]string{}}
	p.doc = markdown().Parse(text.NewReader(source))
	shape(p.doc, source)
	if err := p.readHeadings(); err != nil {
		return nil, fmt.Errorf("page %s (%s): %w", meta.ID, meta.File, err)
	}
	if meta.Kind == "stage" || meta.Kind == "library" || meta.Kind == "file" {
		p.layOutScript()
	}
	return p, nil
}

// readHeadings wants one title, at the top, and no level left out below it.
func (p *page) readHeadings() error {
	level := 0
	err := ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		words := strings.Join(strings.Fields(plainText(h, p.source)), " ")
		if h.Level > level+1 || h.Level == 1 && level > 0 {
			return ast.WalkStop, fmt.Errorf("heading %q has level %d below level %d: expected one title and no level left out", words, h.Level, level)
		}
		level = h.Level
		id := p.anchor(words)
		h.SetAttributeString("id", []byte(id))
		if h.Level == 1 {
			p.title = h
		}
		p.headings = append(p.headings, &heading{h, h.Level, id, words})
		return ast.WalkSkipChildren, nil
	})
	if err == nil && (p.title == nil || p.doc.FirstChild() != ast.Node(p.title)) {
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
func (p *page) Contents() []*heading {
	var out []*heading
	for _, h := range p.headings {
		if (h.Level == 2 || h.Level == 3) && !folded(h.node) {
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
