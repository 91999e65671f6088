package site

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:embed layout
var layouts embed.FS

// layout is the frame of all pages with one kind of content in it.
func layout(content string) *template.Template {
	t := template.Must(template.ParseFS(layouts, "layout/page.html", "layout/map.html", "layout/"+content))
	return t.Lookup("page.html").Option("missingkey=error")
}

// frames are parsed when the first site is built, not when a program starts.
var frames = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, name := range append(ownDocuments(), "guide.html") {
		out[name] = layout(name)
	}
	out[diagnosePage] = diagnoseFrame()
	return out
})

// diagnoseFrame is all of the page diagnose.
var diagnoseFrame = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(layouts, "layout/"+diagnosePage))
})

// ownDocuments are the pages that the site makes itself.
func ownDocuments() []string { return []string{"404.html", "all.html", "pages.html"} }

// policy is the Content-Security-Policy of every page: nothing inside the page
// runs or styles, nothing is loaded but from beside it.
func policy(own string) string {
	return "default-src 'none'; script-src " + own + "; style-src " + own + "; img-src " + own +
		"; connect-src 'self'; base-uri 'none'; form-action 'none'"
}

// ownFiles also names file:, because 'self' means nothing to some browsers when
// a page is opened from a disk.
const ownFiles = "'self' file:"

// view is how a document is shown.
type view struct {
	// root leads to the site's first directory; where it is empty, pages know it
	// themselves.
	root string
	// live pages listen for changes.
	live   bool
	built  int // how many sites there have been before this one
	states map[string]State
	clock  string
}

// document is what the layout sees.
type document struct {
	Site  *Site
	Page  *page // nil on pages that the site makes itself
	Root  string
	Live  bool
	view  view
	form  *form
	words words
}

// Policy stands in every page, for those that come from no server.
func (document) Policy() string { return policy(ownFiles) }

// Say is a text of the interface in the language of the page.
func (d document) Say(key string, values ...any) string { return d.words.say(key, values...) }

// Lang is the language of the document.
func (d document) Lang() string {
	if d.Page != nil {
		return d.Page.Lang
	}
	return d.words.lang
}

// Title is the text of the browser's tab.
func (d document) Title() string {
	if d.Page == nil {
		return d.Say("site-title", d.Site.Lab.Name)
	}
	return d.Page.PlainTitle() + " (" + d.Site.Lab.Name + ")"
}

// Pictures says whether the style of pictures is needed.
func (d document) Pictures() bool { return d.Page == nil || d.Page.pictures }

// Heading, Head, Wide and Tail are the parts of a page of the guide.
func (d document) Heading() template.HTML { return d.form.html(d.Page.heading) }
func (d document) Head() template.HTML    { return d.form.html(d.Page.head) }
func (d document) Wide() template.HTML    { return d.form.html(d.Page.wide) }
func (d document) Tail() template.HTML    { return d.form.html(d.Page.tail) }

// Whole is all of a page, as a part of the document that holds every page.
func (d document) Whole(p *page) template.HTML {
	d.form.page = p
	var b bytes.Buffer
	for _, part := range p.fragments() {
		d.form.write(&b, *part)
	}
	return template.HTML(b.String())
}

// State is how far the lab is with a page's stage; empty where it was not asked.
func (d document) State(p *page) State { return d.view.states[p.ID] }

// Clock is what will end next, on pages that are live.
func (d document) Clock() string { return d.view.clock }

// Here is where the lab stands, on the first page where it is live.
func (d document) Here() *Here {
	if !d.Live || d.Page == nil || d.Page.ID != indexID {
		return nil
	}
	return d.Site.here(d.view.states)
}

// Groups are the parts of the navigation.
func (s *Site) Groups() []navGroup { return s.groups }

// documents are the names of the HTML files.
func (s *Site) documents() []string {
	names := append(ownDocuments(), diagnosePage)
	for _, p := range s.pages {
		names = append(names, p.HTML())
	}
	return names
}

// hasDocument says whether the site has an HTML file of that name.
func (s *Site) hasDocument(name string) bool {
	return s.byName[name] != nil || frames()[name] != nil && name != "guide.html"
}

// document is one HTML file.
func (s *Site) document(name string, v view) ([]byte, error) {
	var b bytes.Buffer
	err := s.write(&b, name, v)
	return b.Bytes(), err
}

// write makes one HTML file.
func (s *Site) write(w io.Writer, name string, v view) error {
	d := document{Site: s, Root: v.root, Live: v.live, view: v, words: s.words}
	frame := frames()[name]
	if name == diagnosePage {
		return frame.Execute(w, s.diagnoseDocument())
	}
	if p := s.byName[name]; p != nil {
		frame = frames()["guide.html"]
		d.Page, d.words = p, p.words
		if d.Root == "" {
			d.Root = p.root()
		}
	}
	d.form = &form{site: s, page: d.Page, root: d.Root, single: name == "all.html", shown: map[string]int{}}
	return frame.Execute(w, d)
}

// The navigation of a small guide lists every page. In a large one it would
// make the site grow with the square of its pages: there it lists a part that
// is long, or all parts but the page's own, only around the page, and a link
// leads to the rest.
const (
	longPart  = 60  // pages of a part that are still listed together
	wholeMap  = 200 // pages of short parts that are still listed together
	blockSize = 40  // pages that are listed of a long part
	mostParts = 16  // parts that are listed together
)

// mapCache holds navigations without a mark on the page they are for.
type mapCache struct {
	mu    sync.Mutex
	texts map[mapKey]string
}

// mapKey is what navigations differ in: the way to the first directory, the
// language, the part that the page is in, the block of a long part, and the
// block of parts where they are many.
type mapKey struct {
	root, lang   string
	group, block int
	parts        int // the block of parts
}

// mapPart is a part of the navigation of one page.
type mapPart struct {
	ID, Title string
	Pages     []*page
	All       int // pages of the part, where not all are listed; 0 otherwise
}

// Map is the navigation, with a mark on the page, or on the one that lists it.
func (d document) Map() (template.HTML, error) {
	key := d.mapKey()
	if d.Live {
		text, err := d.mapText(key)
		return template.HTML(d.marked(text)), err
	}
	cache := &d.Site.maps
	cache.mu.Lock()
	defer cache.mu.Unlock()
	text, known := cache.texts[key]
	if !known {
		var err error
		if text, err = d.mapText(key); err != nil {
			return "", err
		}
		if cache.texts == nil {
			cache.texts = map[mapKey]string{}
		}
		cache.texts[key] = text
	}
	return template.HTML(d.marked(text)), nil
}

func (d document) marked(text string) string {
	if d.Page == nil {
		return text
	}
	name := d.Page.HTML()
	if d.Page.Parent != "" {
		name = Page{ID: d.Page.Parent}.HTML()
	}
	href := `<a href="` + template.HTMLEscapeString(d.Root+name) + `"`
	return strings.Replace(text, href, href+` aria-current="page"`, 1)
}

func (d document) mapKey() mapKey {
	key := mapKey{root: d.Root, lang: d.words.lang, group: -1}
	if d.Page == nil {
		return key
	}
	key.parts = d.Page.group / mostParts
	if group := d.Page.group; len(d.Site.groups[group].Pages) > longPart {
		key.group, key.block = group, d.Page.place/blockSize
	} else if d.Site.short() > wholeMap {
		key.group = group
	}
	return key
}

func (d document) mapText(key mapKey) (string, error) {
	var b strings.Builder
	err := frames()["guide.html"].ExecuteTemplate(&b, "map", struct {
		document
		Parts []mapPart
		Cut   bool
	}{d, d.Site.mapParts(key), len(d.Site.groups) > mostParts})
	return b.String(), err
}

// mapParts are the parts of the navigation with the pages that it lists.
func (s *Site) mapParts(key mapKey) []mapPart {
	var parts []mapPart
	for i, g := range s.groups {
		if i/mostParts != key.parts {
			continue
		}
		part := mapPart{ID: g.ID, Title: g.Title, Pages: g.Pages}
		switch n := len(g.Pages); {
		case n == 0:
			continue
		case n > longPart && i == key.group:
			from := key.block * blockSize
			part.Pages, part.All = g.Pages[from:min(from+blockSize, n)], n
		case n > longPart, s.short() > wholeMap && i != key.group:
			part.Pages, part.All = nil, n
		}
		parts = append(parts, part)
	}
	return parts
}

// short counts the pages of parts that are not long.
func (s *Site) short() int {
	n := 0
	for _, g := range s.groups {
		if len(g.Pages) <= longPart {
			n += len(g.Pages)
		}
	}
	return n
}

// Count is a number as text.
func (p mapPart) Count() string { return strconv.Itoa(p.All) }
