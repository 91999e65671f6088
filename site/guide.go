package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// guideFile is the list of pages, in reading order.
const guideFile = "guide.json"

// indexID is the page that becomes index.html.
const indexID = "index"

// Lab is what every page says of the lab it was made for.
type Lab struct {
	Name         string `json:"name"`
	Domain       string `json:"domain"`
	Topology     string `json:"topology"`
	Distribution string `json:"distribution"`
	Release      string `json:"release"`
}

// Group is a part of the navigation.
type Group struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Pages []Page `json:"pages"`
}

// Page is one page as guide.json describes it.
type Page struct {
	// ID is the address of the page, without .html. One in a directory, such as
	// causes/disk-full, has a page there.
	ID    string `json:"id"`
	Title string `json:"title"`
	// File is the markdown, a path in the source.
	File string `json:"file"`
	// Kind is chapter, stage, library, file or cause.
	Kind string `json:"kind"`
	// Script is what the page explains; empty for most chapters.
	Script string `json:"script"`
	// Bootkube is the name that bootkube.sh has for a stage.
	Bootkube string `json:"bootkube"`
	// Marker and Record tell a reader of states how to know this stage: the
	// file that says it is done, and its name in the progress records.
	Marker  string `json:"marker"`
	Record  string `json:"record"`
	Summary string `json:"summary"`
	// Parent is the page that lists this one; the navigation then does not.
	Parent string `json:"parent"`
	// Lang is the language of the text, English if it is not said; Behind says
	// that the text is a translation, and older than its source.
	Lang   string `json:"lang"`
	Behind bool   `json:"behind"`
}

type guide struct {
	Lab    Lab     `json:"lab"`
	Lang   string  `json:"lang"` // of what the site itself says
	Groups []Group `json:"groups"`
}

var (
	pageID     = regexp.MustCompile(`^([a-z0-9]+(-[a-z0-9]+)*/)?[a-z0-9]+([-.][a-z0-9]+)*$`)
	pageFile   = regexp.MustCompile(`^(README\.md|guide/([a-z0-9]+(-[a-z0-9]+)*/)?[A-Za-z0-9][A-Za-z0-9._-]*\.md)$`)
	pageLang   = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$`)
	scriptFile = regexp.MustCompile(`^scripts/((lib|checks)/)?[A-Za-z0-9][A-Za-z0-9._-]*\.(sh|jq)$`)
)

// reserved are names of pages that the site makes itself, and of its directories.
var reserved = map[string]bool{"all": true, "pages": true, "404": true, "diagnose": true, "scripts": true, "pictures": true, "search": true}

var kinds = map[string]bool{"chapter": true, "stage": true, "library": true, "file": true, "cause": true}

func readGuide(src fs.FS) (*guide, error) {
	data, err := readRegular(src, guideFile)
	if err != nil {
		return nil, err
	}
	g := &guide{}
	if err := json.Unmarshal(data, g); err != nil {
		return nil, fmt.Errorf("%s: %w", guideFile, err)
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	g.setLanguages()
	return g, nil
}

func (g *guide) setLanguages() {
	g.Lang = cmp.Or(g.Lang, sourceLanguage)
	for _, group := range g.Groups {
		for i := range group.Pages {
			group.Pages[i].Lang = cmp.Or(group.Pages[i].Lang, g.Lang)
		}
	}
}

// check refuses what would lead out of the guide, twice to one page, or nowhere.
func (g *guide) check() error {
	ids, files := map[string]bool{}, map[string]bool{}
	for _, group := range g.Groups {
		for _, p := range group.Pages {
			switch {
			case !pageID.MatchString(p.ID) || reserved[p.ID] || reserved[path.Dir(p.ID)]:
				return fmt.Errorf("%s: %q is no id for a page: expected NAME or DIRECTORY/NAME of small letters, digits, single hyphens and dots, and no name of the site's own", guideFile, p.ID)
			case ids[p.ID]:
				return fmt.Errorf("%s: two pages have the id %s", guideFile, p.ID)
			case !pageFile.MatchString(p.File) || files[p.File]:
				return fmt.Errorf("%s: page %s: file %q: expected guide/NAME.md, and each only once", guideFile, p.ID, p.File)
			case p.Script != "" && !scriptFile.MatchString(p.Script):
				return fmt.Errorf("%s: page %s: script %q: expected scripts/NAME.sh, or a .sh or .jq file below scripts/lib or scripts/checks", guideFile, p.ID, p.Script)
			case !kinds[p.Kind]:
				return fmt.Errorf("%s: page %s: kind %q: expected chapter, stage, library, file or cause", guideFile, p.ID, p.Kind)
			case p.Lang != "" && !pageLang.MatchString(p.Lang) || g.Lang != "" && !pageLang.MatchString(g.Lang):
				return fmt.Errorf("%s: page %s: lang %q of the page or %q of the guide is no language: expected such as en", guideFile, p.ID, p.Lang, g.Lang)
			}
			ids[p.ID], files[p.File] = true, true
		}
	}
	if !ids[indexID] {
		return fmt.Errorf("%s: no page has the id %s, with which a reader begins", guideFile, indexID)
	}
	return nil
}

// Label is the name of a page in the navigation: scripts by their own name,
// texts by their title.
func (p Page) Label() string {
	if p.Kind == "stage" || p.Kind == "library" {
		return p.ID
	}
	return p.Title
}

// HTML is the file that the page becomes.
func (p Page) HTML() string { return p.ID + ".html" }

// root leads from the page to the first directory of the site.
func (p Page) root() string { return strings.Repeat("../", strings.Count(p.ID, "/")) }

// ScriptName is the script's name below scripts/.
func (p Page) ScriptName() string { return strings.TrimPrefix(p.Script, "scripts/") }
