package site

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// File is one file of the site; Path has slashes and no leading one.
type File struct {
	Path string
	Data []byte
}

// Site is a guide that was read and found whole.
type Site struct {
	Lab    Lab
	words  words
	groups []navGroup
	pages  []*page
	// assets are the files beside the pages, by path: scripts, pictures, style.
	assets map[string][]byte

	byName   map[string]*page // by the name of the HTML file
	bySource map[string]*page
	pictures map[string]*picture
	styles   []string // of pictures
	maps     mapCache

	diagnosis Diagnosis
}

// navGroup is a part of the navigation with its pages.
type navGroup struct {
	ID, Title string
	Pages     []*page
}

//go:embed static
var static embed.FS

// Build reads a guide: guide.json, the pages and scripts that it names, the
// pictures that the pages name, and nothing else. It reads regular files alone.
func Build(src fs.FS) (*Site, error) { return BuildWith(src, Diagnosis{}) }

// BuildWith is Build with what the page diagnose is made with.
func BuildWith(src fs.FS, d Diagnosis) (*Site, error) {
	g, err := readGuide(src)
	if err != nil {
		return nil, err
	}
	s := &Site{Lab: g.Lab, words: wordsIn(g.Lang), assets: map[string][]byte{}, byName: map[string]*page{},
		bySource: map[string]*page{}, pictures: map[string]*picture{}, diagnosis: d}
	if d.Program != nil {
		s.assets[diagnoseProgram] = d.Program.script()
	}
	if err := s.readStatic(); err != nil {
		return nil, err
	}
	index := newIndexer()
	if err := s.readPages(src, g, index); err != nil {
		return nil, err
	}
	if err := s.resolveLinks(src); err != nil {
		return nil, err
	}
	// The policy of the pages allows no style inside them.
	s.assets["pictures.css"] = []byte(themed(strings.Join(s.styles, "\n")))
	return s, index.write(s.assets)
}

func (s *Site) readStatic() error {
	names, err := fs.Glob(static, "static/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		s.assets[path.Base(name)] = asAsset(path.Base(name), data)
	}
	return nil
}

// asAsset is a file of static as pages load it: scripts have their words before them.
func asAsset(name string, data []byte) []byte {
	data = compact(path.Ext(name), data)
	switch name {
	case "site.js":
		data = append(scriptWords("siteWords", "js-"), data...)
	case "diagnose.js":
		data = append(scriptWords("diagnoseWords", "diagnose-js-"), data...)
	}
	return data
}

var styleComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// compact takes indentation and comments out of style and scripts: every page
// brings them along, and readers of the source find them here. It goes by
// lines, so that neither may hold a text of several lines.
func compact(ext string, data []byte) []byte {
	text := string(data)
	if ext == ".css" {
		text = styleComment.ReplaceAllString(text, "")
	}
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if ext == ".css" {
			line = strings.NewReplacer(" { ", "{", "; ", ";", " }", "}", ": ", ":").Replace(line)
		}
		if line != "" && !(ext == ".js" && strings.HasPrefix(line, "//")) {
			b.WriteString(line + "\n")
		}
	}
	return []byte(b.String())
}

// readPicture reads a picture when the first page names it.
func (s *Site) readPicture(src fs.FS, name string) error {
	if s.pictures[name] != nil {
		return nil
	}
	data, err := readRegular(src, pictureFile(name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("there is no picture %q", name)
	}
	if err != nil {
		return err
	}
	p, err := readPicture(data)
	if err != nil {
		return fmt.Errorf("%s: %w", pictureFile(name), err)
	}
	p.name = name
	s.pictures[name] = p
	s.assets["pictures/"+name+".svg"] = p.alone()
	if p.style != "" && !slices.Contains(s.styles, p.style) {
		s.styles = append(s.styles, p.style)
	}
	return nil
}

// readPages reads one page after the other, and keeps what it becomes. It
// reports what is wrong on all pages at once.
func (s *Site) readPages(src fs.FS, g *guide, index *indexer) error {
	var problems []error
	r := newRendering(s, src)
	var last *page
	for _, group := range g.Groups {
		nav := navGroup{ID: group.ID, Title: group.Title}
		for _, meta := range group.Pages {
			p, err := s.readPage(src, meta, r, index)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			p.group, p.place = len(s.groups), len(nav.Pages)
			if meta.Parent != "" { // neither in the navigation nor on the way through the guide
				p.place = max(p.place-1, 0)
				continue
			}
			if last != nil {
				p.Prev, last.Next = last, p
			}
			last = p
			nav.Pages = append(nav.Pages, p)
		}
		s.groups = append(s.groups, nav)
	}
	return errors.Join(problems...)
}

func (s *Site) readPage(src fs.FS, meta Page, r *rendering, index *indexer) (*page, error) {
	data, err := readRegular(src, meta.File)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", meta.ID, err)
	}
	if meta.Script != "" {
		if s.assets[meta.Script], err = readRegular(src, meta.Script); err != nil {
			return nil, fmt.Errorf("page %s: %w", meta.ID, err)
		}
	}
	p, doc, err := parsePage(meta, data)
	if err != nil {
		return nil, err
	}
	if err := r.render(p, doc); err != nil {
		return nil, fmt.Errorf("page %s (%s): %w", p.ID, p.File, err)
	}
	index.addPage(p, doc)
	s.pages = append(s.pages, p)
	s.byName[p.HTML()], s.bySource[meta.File] = p, p
	return p, nil
}

// resolveLinks waits until all pages are there, because links lead forwards too.
func (s *Site) resolveLinks(src fs.FS) error {
	var problems []error
	for _, p := range s.pages {
		for _, part := range p.fragments() {
			for i := range part.slots {
				if link := &part.slots[i]; link.kind == linkSlot {
					if err := s.resolve(src, p, link); err != nil {
						problems = append(problems, fmt.Errorf("page %s (%s): %w", p.ID, p.File, err))
					}
				}
			}
		}
	}
	return errors.Join(problems...)
}

// Pages are the pages of the guide in reading order.
func (s *Site) Pages() []Page {
	var out []Page
	for _, p := range s.pages {
		out = append(out, p.Page)
	}
	return out
}

// Names are the paths of all files of the site, sorted.
func (s *Site) Names() []string {
	names := slices.AppendSeq(s.documents(), maps.Keys(s.assets))
	slices.Sort(names)
	return names
}

// Write writes one file of the site. A caller that writes one after the other
// never holds the whole site.
func (s *Site) Write(w io.Writer, name string) error {
	if data, known := s.assets[name]; known {
		_, err := w.Write(data)
		return err
	}
	if !s.hasDocument(name) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	buffer := bufio.NewWriterSize(w, 32<<10)
	if err := s.write(buffer, name, view{}); err != nil {
		return err
	}
	return buffer.Flush()
}

// Files are all files of the site, sorted by path.
func (s *Site) Files() ([]File, error) {
	var files []File
	for _, name := range s.Names() {
		var b bytes.Buffer
		if err := s.Write(&b, name); err != nil {
			return nil, err
		}
		files = append(files, File{name, b.Bytes()})
	}
	return files, nil
}
