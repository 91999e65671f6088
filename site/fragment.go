package site

import (
	"bytes"
	"html/template"
	"strconv"
	"strings"
)

// fragment is HTML with slots: what a page of its own and the document with all
// pages write differently. Markdown is parsed and rendered once, and neither
// its nodes nor a second copy of its HTML stay in memory.
type fragment struct {
	html  string
	slots []slot
}

type slotKind int

const (
	linkSlot    slotKind = iota // the address in href
	headingSlot                 // the tag that opens a heading
	endSlot                     // the permanent link of a heading, and its end
	pictureSlot
)

// slot is a place in a fragment.
type slot struct {
	at     int
	kind   slotKind
	level  int    // of a heading
	text   string // what the markdown says: a destination, an anchor, a picture
	target *page  // of a link to a page
	nth    int    // which one of its kind on its page a picture is
}

// pieces collects a fragment while goldmark renders into it.
type pieces struct {
	bytes.Buffer
	slots []slot
}

// Buffered and Flush make it a writer that goldmark puts no buffer around.
func (*pieces) Buffered() int { return 0 }
func (*pieces) Flush() error  { return nil }

func (p *pieces) add(s slot) {
	s.at = p.Len()
	p.slots = append(p.slots, s)
}

func (p *pieces) fragment() fragment { return fragment{p.String(), p.slots} }

// form is the document that a fragment becomes a part of.
type form struct {
	site *Site
	page *page
	// root leads to the first directory of the site.
	root string
	// single: all pages in one document. Anchors then begin with the page's id,
	// and headings go down one level.
	single bool
	// shown counts how often a picture stands in a document with all pages.
	shown map[string]int
}

// write fills the slots.
func (f *form) write(b *bytes.Buffer, of fragment) {
	at := 0
	for _, s := range of.slots {
		b.WriteString(of.html[at:s.at])
		at = s.at
		switch s.kind {
		case linkSlot:
			b.WriteString(template.HTMLEscapeString(f.href(s)))
		case headingSlot:
			b.WriteString("<h" + strconv.Itoa(f.level(s)) + ` id="` + template.HTMLEscapeString(f.id(f.page, s.text)) + `">`)
		case endSlot:
			f.endHeading(b, s)
		case pictureSlot:
			f.picture(b, s)
		}
	}
	b.WriteString(of.html[at:])
}

// html is a fragment for the layout.
func (f *form) html(of fragment) template.HTML {
	var b bytes.Buffer
	b.Grow(len(of.html) + 64*len(of.slots))
	f.write(&b, of)
	return template.HTML(b.String())
}

func (f *form) level(s slot) int {
	if f.single {
		return min(s.level+1, 6)
	}
	return s.level
}

// id is an anchor as it stands in the document.
func (f *form) id(p *page, anchor string) string {
	if f.single {
		return p.ID + "--" + anchor
	}
	return anchor
}

// endHeading closes a heading behind a link to itself. The title of a page has
// the address of the page. Scripts give the link a name in words.
func (f *form) endHeading(b *bytes.Buffer, s slot) {
	level := strconv.Itoa(f.level(s))
	if s.level > 1 {
		b.WriteString(` <a class="p" href="` + template.HTMLEscapeString(fragmentOf(f.id(f.page, s.text))) + `">#</a>`)
	}
	b.WriteString("</h" + level + ">\n")
}

// href is the address of a link that was resolved.
func (f *form) href(s slot) string {
	_, anchor, _ := strings.Cut(s.text, "#")
	switch {
	case s.target == nil:
		return f.root + s.text
	case f.single && anchor == "":
		return "#" + s.target.ID
	case f.single:
		return fragmentOf(f.id(s.target, anchor))
	case anchor == "":
		return f.root + s.target.HTML()
	case s.target == f.page:
		return fragmentOf(anchor)
	}
	return f.root + s.target.HTML() + fragmentOf(anchor)
}

// picture writes a picture of the guide; an id in it stands only once in the
// document.
func (f *form) picture(b *bytes.Buffer, s slot) {
	nth := s.nth
	if f.single {
		f.shown[s.text]++
		nth = f.shown[s.text]
	}
	p := f.site.pictures[s.text]
	b.WriteString("<figure class=\"picture\">\n<div class=\"scroll\" tabindex=\"0\">\n" + p.inline(nth) + "\n</div>\n<figcaption>" +
		template.HTMLEscapeString(p.title) + ` <a href="` + f.root + `pictures/` + s.text + `.svg">` +
		template.HTMLEscapeString(f.page.words.say("picture-alone")) + "</a></figcaption>\n</figure>\n")
}
