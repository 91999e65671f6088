package site

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
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
	groups []navGroup
	pages  []*page
	// assets are the files beside the pages, by path: scripts, pictures, style.
	assets map[string][]byte

	bySource map[string]*page
	pictures map[string]*picture
}

// navGroup is a part of the navigation with its pages.
type navGroup struct {
	ID, Title string
	Pages     []*page
}

//go:embed static
var static embed.FS

// Build reads a guide: guide.json, the pages it names, guide/pictures/*.svg and
// scripts/*.sh, scripts/lib/*.sh, scripts/lib/*.jq, scripts/checks/*.sh, and nothing
// else.
func Build(src fs.FS) (*Site, error) {
	g, err := readGuide(src)
	if err != nil {
		return nil, err
	}
	s := &Site{Lab: g.Lab, assets: map[string][]byte{}, bySource: map[string]*page{}, pictures: map[string]*picture{}}
	for _, read := range []func(fs.FS) error{s.readStatic, s.readScripts, s.readPictures} {
		if err := read(src); err != nil {
			return nil, err
		}
	}
	if err := s.readPages(src, g); err != nil {
		return nil, err
	}
	if err := s.renderPages(); err != nil {
		return nil, err
	}
	s.assets["search-index.js"], err = searchIndex(s.pages)
	return s, err
}

func (s *Site) readStatic(fs.FS) error {
	names, err := fs.Glob(static, "static/*")
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		s.assets[path.Base(name)] = compact(path.Ext(name), data)
	}
	return nil
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

func (s *Site) readScripts(src fs.FS) error {
	for _, pattern := range []string{"scripts/*.sh", "scripts/lib/*.sh", "scripts/lib/*.jq", "scripts/checks/*.sh"} {
		names, err := fs.Glob(src, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if s.assets[name], err = fs.ReadFile(src, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Site) readPictures(src fs.FS) error {
	names, err := fs.Glob(src, "guide/pictures/*.svg")
	if err != nil {
		return err
	}
	var styles []string
	for _, name := range names {
		data, err := fs.ReadFile(src, name)
		if err != nil {
			return err
		}
		p, err := readPicture(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.name = strings.TrimSuffix(path.Base(name), ".svg")
		s.pictures[p.name] = p
		s.assets["pictures/"+p.name+".svg"] = p.alone()
		if p.style != "" && !slices.Contains(styles, p.style) {
			styles = append(styles, p.style)
		}
	}
	// The policy of the pages allows no style inside them.
	s.assets["pictures.css"] = []byte(themed(strings.Join(styles, "\n")))
	return nil
}

// readPages parses all pages before one is rendered, because links lead
// forwards too.
func (s *Site) readPages(src fs.FS, g *guide) error {
	var problems []error
	var last *page
	for _, group := range g.Groups {
		nav := navGroup{ID: group.ID, Title: group.Title}
		for _, meta := range group.Pages {
			data, err := fs.ReadFile(src, meta.File)
			if err != nil {
				return fmt.Errorf("page %s: %w", meta.ID, err)
			}
			if meta.Script != "" && s.assets[meta.Script] == nil {
				problems = append(problems, fmt.Errorf("page %s: there is no %s", meta.ID, meta.Script))
			}
			p, err := parsePage(meta, data)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			s.pages = append(s.pages, p)
			s.bySource[meta.File] = p
			if meta.Parent != "" {
				continue // neither in the navigation nor on the way through the guide
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

// renderPages reports what is wrong on all pages at once.
func (s *Site) renderPages() error {
	var problems []error
	shown := map[string]int{}
	for _, p := range s.pages {
		err := s.renderPage(p)
		if err == nil {
			p.Whole, err = s.renderWhole(p, shown)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("page %s (%s): %w", p.ID, p.File, err))
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

// Files are all files of the site, sorted by path.
func (s *Site) Files() ([]File, error) {
	var files []File
	for name, data := range s.assets {
		files = append(files, File{name, data})
	}
	for _, name := range s.documents() {
		data, err := s.document(name, view{})
		if err != nil {
			return nil, err
		}
		files = append(files, File{name, data})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}
