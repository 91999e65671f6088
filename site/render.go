package site

import (
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// rendering turns the nodes of one page after another into fragments.
type rendering struct {
	site   *Site
	src    fs.FS
	page   *page
	engine renderer.Renderer
	// pictures counts the pictures of the page.
	pictures map[string]int
	// columns: between the columns of a script, where code is no command.
	columns bool
	// labels are the heads of the table that is rendered, and cell is which of its
	// cells comes next.
	labels []string
	cell   int
}

func newRendering(s *Site, src fs.FS) *rendering {
	r := &rendering{site: s, src: src}
	r.engine = renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(r, 100),
		util.Prioritized(html.NewRenderer(), 1000),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
	))
	return r
}

// render makes the fragments of a page: title, text before the section that lays
// a script out in columns, that section, and the rest.
func (r *rendering) render(p *page, doc *parsed) error {
	r.page, r.pictures = p, map[string]int{}
	var head, wide, tail []ast.Node
	into := &head
	for n := doc.title.NextSibling(); n != nil; n = n.NextSibling() {
		if next := n.NextSibling(); next != nil && isWide(next) && into == &head {
			into = &wide
		} else if !isWide(n) && into == &wide {
			into = &tail
		}
		*into = append(*into, n)
	}
	for _, part := range []struct {
		target *fragment
		nodes  []ast.Node
	}{{&p.heading, []ast.Node{doc.title}}, {&p.head, head}, {&p.wide, wide}, {&p.tail, tail}} {
		out := &pieces{}
		for _, n := range part.nodes {
			if err := r.engine.Render(out, doc.source, n); err != nil {
				return err
			}
		}
		*part.target = out.fragment()
	}
	return nil
}

// isWide says whether a block holds the columns of a script.
func isWide(n ast.Node) bool {
	if n.Kind() != kindFold {
		return n.Kind() == kindScript
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if isWide(c) {
			return true
		}
	}
	return false
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
	reg.Register(extast.KindTableHeader, r.tableHeader)
	reg.Register(extast.KindTableCell, r.tableCell)
	reg.Register(kindFold, wrapped(func(b *block) (string, string) {
		return "<details class=\"answer\">\n<summary>" + escape.Replace(b.name) + "</summary>\n", "</details>\n"
	}))
	reg.Register(kindNote, wrapped(func(b *block) (string, string) {
		return `<div class="note ` + strings.ToLower(b.name) + `" role="note">` + "\n<p class=\"kind\">" +
			escape.Replace(r.page.words.say(noteKinds[b.name])) + "</p>\n", "</div>\n"
	}))
	reg.Register(kindScript, r.script)
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

func (r *rendering) script(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	r.columns = entering
	text := "</div>\n"
	if entering {
		text = "<div class=\"columns\">\n"
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

func (r *rendering) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	anchor, _ := id.([]byte)
	kind := headingSlot
	if !entering {
		kind = endSlot
	}
	w.(*pieces).add(slot{kind: kind, level: h.Level, text: string(anchor)})
	return ast.WalkContinue, nil
}

// link asks that a site outside is not told where the reader came from.
func (r *rendering) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</a>")
		return ast.WalkContinue, err
	}
	destination := string(n.(*ast.Link).Destination)
	if href, ok := outside(destination); ok {
		_, err := w.WriteString(outsideLink(href))
		return ast.WalkContinue, err
	}
	w.WriteString(`<a href="`)
	w.(*pieces).add(slot{kind: linkSlot, text: destination})
	_, err := w.WriteString(`">`)
	return ast.WalkContinue, err
}

func outsideLink(href string) string {
	return `<a href="` + template.HTMLEscapeString(href) + `" rel="noreferrer">`
}

// autoLink makes a link of <https://…>; any other address between angle
// brackets stays text.
func (r *rendering) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	a := n.(*ast.AutoLink)
	label := template.HTMLEscapeString(string(a.Label(source)))
	out := "&lt;" + label + "&gt;"
	if href, ok := outside(string(a.URL(source))); ok && a.AutoLinkType == ast.AutoLinkURL {
		out = outsideLink(href) + label + "</a>"
	}
	_, err := w.WriteString(out)
	return ast.WalkContinue, err
}

func (r *rendering) image(_ util.BufWriter, _ []byte, n ast.Node, _ bool) (ast.WalkStatus, error) {
	return ast.WalkStop, fmt.Errorf("image %s: expected a picture of the guide, as a fence `mermaid NAME`", n.(*ast.Image).Destination)
}

// table lets a wide table scroll by itself; the keyboard reaches it for that.
func (r *rendering) table(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, err := w.WriteString("</table>\n</div>\n")
		return ast.WalkContinue, err
	}
	r.labels = r.labels[:0]
	for cell := n.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		r.labels = append(r.labels, strings.TrimFunc(plainText(cell, source), unicode.IsSpace))
	}
	_, err := w.WriteString("<div class=\"table\" tabindex=\"0\">\n<table>\n")
	return ast.WalkContinue, err
}

// tableHeader leaves out a head in which nothing stands: markdown wants one
// even where a table has none.
func (r *rendering) tableHeader(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	empty := strings.Join(r.labels, "") == ""
	text := "<thead>\n<tr>\n"
	switch {
	case entering && empty:
		return ast.WalkSkipChildren, nil
	case !entering:
		text = "</tr>\n</thead>\n"
		if empty {
			text = ""
		}
		if n.NextSibling() != nil {
			text += "<tbody>\n"
		}
	}
	r.cell = 0
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

// tableCell gives a cell the head of its column, for screens on which a row is
// a card; the first cell is what the card is about. A column without a head has no th.
func (r *rendering) tableCell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	_, inHead := n.Parent().(*extast.TableHeader)
	if n.PreviousSibling() == nil && entering {
		r.cell = 0
	}
	label := ""
	if r.cell < len(r.labels) {
		label = r.labels[r.cell]
	}
	tag, attribute := "td", ""
	switch {
	case inHead && label != "":
		tag = "th"
	case !inHead && label != "" && n.PreviousSibling() != nil:
		attribute = ` data-h="` + template.HTMLEscapeString(label) + `"`
	}
	text := "<" + tag + attribute + ">"
	if !entering {
		text = "</" + tag + ">\n"
		r.cell++
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
		if err := r.site.readPicture(r.src, name); err != nil {
			return ast.WalkStop, err
		}
		r.page.pictures = true
		r.pictures[name]++
		w.(*pieces).add(slot{kind: pictureSlot, text: name, nth: r.pictures[name]})
		return ast.WalkSkipChildren, nil
	}
	text := string(n.Lines().Value(source))
	block := codeBlock{language: language(n, source), text: text, words: r.page.words, fragment: r.columns, root: asRoot(n, source)}
	_, err := w.WriteString(block.html())
	return ast.WalkSkipChildren, err
}

// fenceWords are the words in the line that opens a fence.
func fenceWords(n ast.Node, source []byte) []string {
	f, ok := n.(*ast.FencedCodeBlock)
	if !ok || f.Info == nil {
		return nil
	}
	return strings.Fields(string(f.Info.Segment.Value(source)))
}

// pictureName is the word behind mermaid in the line of a fence.
func pictureName(n ast.Node, source []byte) (string, bool) {
	words := fenceWords(n, source)
	if len(words) != 2 || words[0] != "mermaid" {
		return "", false
	}
	return words[1], true
}

// asRoot says whether a fence holds commands for root on the node: its line
// then ends with the word root.
func asRoot(n ast.Node, source []byte) bool {
	words := fenceWords(n, source)
	return len(words) == 2 && words[1] == "root"
}
