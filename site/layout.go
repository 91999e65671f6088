package site

import (
	"bytes"
	"embed"
	"html/template"
	"sync"
)

//go:embed layout
var layouts embed.FS

// layout is the frame of all pages with one kind of content in it.
func layout(content string) *template.Template {
	t := template.Must(template.ParseFS(layouts, "layout/page.html", "layout/"+content))
	return t.Lookup("page.html").Option("missingkey=error")
}

// frames are parsed when the first site is built, not when a program starts.
var frames = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	for _, name := range []string{"guide.html", "all.html", "404.html"} {
		out[name] = layout(name)
	}
	return out
})

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
	// root leads to the site's first directory; empty is where the page is.
	root string
	// live pages listen for changes.
	live   bool
	states map[string]State
	clock  string
}

// document is what the layout sees.
type document struct {
	Site *Site
	Page *page // nil on pages that the site makes itself
	Root string
	Live bool
	view view
}

// Policy stands in every page, for those that come from no server.
func (document) Policy() string { return policy(ownFiles) }

// Title is the text of the browser's tab.
func (d document) Title() string {
	if d.Page == nil {
		return d.Site.Lab.Name + ": bootstrap by hand"
	}
	return d.Page.PlainTitle() + " (" + d.Site.Lab.Name + ")"
}

// Pictures says whether the style of pictures is needed.
func (d document) Pictures() bool { return d.Page == nil || d.Page.pictures }

// Current says whether a page is the one that is shown, or lists it.
func (d document) Current(p *page) bool { return p == d.Page || d.Page != nil && p.ID == d.Page.Parent }

// State is how far the lab is with a page's stage; empty where it was not asked.
func (d document) State(p *page) State { return d.view.states[p.ID] }

// Clock is what will end next, on pages that are live.
func (d document) Clock() string { return d.view.clock }

// Groups are the parts of the navigation.
func (s *Site) Groups() []navGroup { return s.groups }

// documents are the names of the HTML files.
func (s *Site) documents() []string {
	names := []string{"all.html", "404.html"}
	for _, p := range s.pages {
		names = append(names, p.HTML())
	}
	return names
}

// document makes one HTML file.
func (s *Site) document(name string, v view) ([]byte, error) {
	d := document{Site: s, Root: v.root, Live: v.live, view: v}
	frame := frames()[name]
	if frame == nil {
		frame = frames()["guide.html"]
		d.Page = s.page(name)
		if d.Root == "" && d.Page != nil {
			d.Root = d.Page.up()
		}
	}
	var b bytes.Buffer
	err := frame.Execute(&b, d)
	return b.Bytes(), err
}

// page is the page that an HTML file shows; nil if there is none.
func (s *Site) page(name string) *page {
	for _, p := range s.pages {
		if p.HTML() == name {
			return p
		}
	}
	return nil
}
