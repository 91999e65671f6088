package site

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// rendering turns nodes of one page into HTML, either for a document of its own
// or as a part of the one that holds all pages.
type rendering struct {
	site *Site
	page *page
	// single: all pages in one document. Anchors then begin with the page's id,
	// and headings go down one level.
	single bool
	// shown counts how often a picture stands in the document.
	shown map[string]int
}

// renderPage makes the HTML of a page, in both forms.
func (s *Site) renderPage(p *page) error {
	own := &rendering{site: s, page: p, shown: map[string]int{}}
	title, err := own.html(p.title)
	if err != nil {
		return err
	}
	p.Heading = title
	var head, script, tail []ast.Node
	into := &head
	for n := p.title.NextSibling(); n != nil; n = n.NextSibling() {
		if next := n.NextSibling(); n.Kind() == ast.KindHeading && next != nil && isWide(next) || isWide(n) {
			into = &script
		} else if into == &script {
			into = &tail
		}
		*into = append(*into, n)
	}
	for _, part := range []struct {
		target *template.HTML
		nodes  []ast.Node
	}{{&p.Head, head}, {&p.Wide, script}, {&p.Tail, tail}} {
		if *part.target, err = own.html(part.nodes...); err != nil {
			return err
		}
	}
	return nil
}

// renderWhole makes the HTML of a page as a part of all pages.
func (s *Site) renderWhole(p *page, shown map[string]int) (template.HTML, error) {
	r := &rendering{site: s, page: p, single: true, shown: shown}
	var nodes []ast.Node
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		nodes = append(nodes, n)
	}
	return r.html(nodes...)
}

func (r *rendering) html(nodes ...ast.Node) (template.HTML, error) {
	engine := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(r, 100),
		util.Prioritized(html.NewRenderer(), 1000),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
	))
	var b bytes.Buffer
	for _, n := range nodes {
		if err := engine.Render(&b, r.page.source, n); err != nil {
			return "", err
		}
	}
	return template.HTML(b.String()), nil
}

// RegisterFuncs names the nodes that are rendered otherwise than goldmark does.
func (r *rendering) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, r.heading)
	reg.Register(ast.KindLink, r.link)
	reg.Register(ast.KindAutoLink, r.autoLink)
	reg.Register(ast.KindImage, r.image)
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(ast.KindCodeBlock, r.code)
	reg.Register(extast.KindTable, r.table)
	reg.Register(kindFold, wrapped(func(b *block) (string, string) {
		class := "answer"
		if isWide(b) {
			class = "answer folded"
		}
		return "<details class=\"" + class + "\">\n<summary>" + template.HTMLEscapeString(b.name) + "</summary>\n", "</details>\n"
	}))
	reg.Register(kindNote, wrapped(func(b *block) (string, string) {
		return `<div class="note ` + strings.ToLower(b.name) + `" role="note">` + "\n<p class=\"kind\">" + noteTitles[b.name] + "</p>\n", "</div>\n"
	}))
	reg.Register(kindScript, wrapped(func(*block) (string, string) { return "<div class=\"columns\">\n", "</div>\n" }))
	reg.Register(kindSegment, wrapped(func(b *block) (string, string) { return `<div class="` + b.name + "\">\n", "</div>\n" }))
}

// wrapped puts something before and behind the children of a block.
func wrapped(around func(*block) (before, behind string)) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		before, behind := around(n.(*block))
		if entering {
			_, err := w.WriteString(before)
			return ast.WalkContinue, err
		}
		_, err := w.WriteString(behind)
		return ast.WalkContinue, err
	}
}

// id is the anchor as it stands in the document that is made.
func (r *rendering) id(p *page, anchor string) string {
	if r.single {
		return p.ID + "--" + anchor
	}
	return anchor
}

func (r *rendering) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	level := h.Level
	if r.single {
		level = min(level+1, 6)
	}
	if !entering {
		_, err := fmt.Fprintf(w, "</h%d>\n", level)
		return ast.WalkContinue, err
	}
	id, _ := h.AttributeString("id")
	anchor, _ := id.([]byte)
	_, err := fmt.Fprintf(w, `<h%d id="%s">`, level, template.HTMLEscapeString(r.id(r.page, string(anchor))))
	return ast.WalkContinue, err
}

func (r *rendering) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</a>")
		return ast.WalkContinue, err
	}
	href, err := r.resolve(string(n.(*ast.Link).Destination))
	if err != nil {
		return ast.WalkStop, err
	}
	_, err = w.WriteString(openLink(href))
	return ast.WalkContinue, err
}

// openLink asks that a site outside is not told where the reader came from.
func openLink(href string) string {
	outside := ""
	if strings.HasPrefix(href, "https://") {
		outside = ` rel="noreferrer"`
	}
	return `<a href="` + template.HTMLEscapeString(href) + `"` + outside + `>`
}

// autoLink makes a link of <https://…>; any other address between angle
// brackets stays text.
func (r *rendering) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	a := n.(*ast.AutoLink)
	label := string(a.Label(source))
	out := "&lt;" + template.HTMLEscapeString(label) + "&gt;"
	if href, err := r.resolve(string(a.URL(source))); err == nil && a.AutoLinkType == ast.AutoLinkURL {
		out = openLink(href) + template.HTMLEscapeString(label) + "</a>"
	}
	_, err := w.WriteString(out)
	return ast.WalkContinue, err
}

func (r *rendering) image(_ util.BufWriter, _ []byte, n ast.Node, _ bool) (ast.WalkStatus, error) {
	return ast.WalkStop, fmt.Errorf("image %s: expected a picture of the guide, as a fence `mermaid NAME`", n.(*ast.Image).Destination)
}

// table lets a wide table scroll by itself; the keyboard reaches it for that.
func (r *rendering) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	text := "</table>\n</div>\n"
	if entering {
		text = "<div class=\"table\" tabindex=\"0\">\n<table>\n"
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

// code renders a fence: a picture, an example at a prompt, or a text in colours.
func (r *rendering) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if name, ok := pictureName(n, source); ok {
		figure, err := r.figure(name)
		if err == nil {
			_, err = w.WriteString(figure)
		}
		return ast.WalkSkipChildren, err
	}
	if r.page.code[n] == "" {
		r.page.code[n] = codeBlock(language(n, source), string(n.Lines().Value(source)))
	}
	_, err := w.WriteString(r.page.code[n])
	return ast.WalkSkipChildren, err
}

// pictureName is the word behind mermaid in the line of a fence.
func pictureName(n ast.Node, source []byte) (string, bool) {
	f, ok := n.(*ast.FencedCodeBlock)
	if !ok || f.Info == nil {
		return "", false
	}
	words := strings.Fields(string(f.Info.Segment.Value(source)))
	if len(words) != 2 || words[0] != "mermaid" {
		return "", false
	}
	return words[1], true
}

func (r *rendering) figure(name string) (string, error) {
	p := r.site.pictures[name]
	if p == nil {
		return "", fmt.Errorf("there is no picture %q", name)
	}
	r.page.pictures = true
	r.shown[name]++
	return "<figure class=\"picture\">\n<div class=\"scroll\" tabindex=\"0\">\n" + p.inline(r.shown[name]) +
		"\n</div>\n<figcaption>" + template.HTMLEscapeString(p.title) +
		` <a href="` + r.up() + `pictures/` + name + `.svg">The picture alone</a></figcaption>` + "\n</figure>\n", nil
}
