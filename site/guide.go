package site

import (
	"encoding/json"
	"fmt"
	"io/fs"
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
}

type guide struct {
	Lab    Lab     `json:"lab"`
	Groups []Group `json:"groups"`
}

var (
	pageID     = regexp.MustCompile(`^((causes|layers)/)?[a-z0-9]+([-.][a-z0-9]+)*$`)
	pageFile   = regexp.MustCompile(`^(README\.md|guide/((causes|layers)/)?[A-Za-z0-9][A-Za-z0-9._-]*\.md)$`)
	scriptFile = regexp.MustCompile(`^scripts/((lib|checks)/)?[A-Za-z0-9][A-Za-z0-9._-]*\.(sh|jq)$`)
)

// reserved are names of pages that the site makes itself.
var reserved = map[string]bool{"all": true, "404": true}

var kinds = map[string]bool{"chapter": true, "stage": true, "library": true, "file": true, "cause": true}

func readGuide(src fs.FS) (*guide, error) {
	data, err := fs.ReadFile(src, guideFile)
	if err != nil {
		return nil, err
	}
	g := &guide{}
	if err := json.Unmarshal(data, g); err != nil {
		return nil, fmt.Errorf("%s: %w", guideFile, err)
	}
	return g, g.check()
}

// check refuses what would lead out of the guide, twice to one page, or nowhere.
func (g *guide) check() error {
	ids, files := map[string]bool{}, map[string]bool{}
	for _, group := range g.Groups {
		for _, p := range group.Pages {
			switch {
			case !pageID.MatchString(p.ID) || reserved[p.ID]:
				return fmt.Errorf("%s: %q is no id for a page: expected small letters, digits, single hyphens and dots, and neither all nor 404", guideFile, p.ID)
			case ids[p.ID]:
				return fmt.Errorf("%s: two pages have the id %s", guideFile, p.ID)
			case !pageFile.MatchString(p.File) || files[p.File]:
				return fmt.Errorf("%s: page %s: file %q: expected guide/NAME.md, and each only once", guideFile, p.ID, p.File)
			case p.Script != "" && !scriptFile.MatchString(p.Script):
				return fmt.Errorf("%s: page %s: script %q: expected scripts/NAME.sh, or a .sh or .jq file below scripts/lib or scripts/checks", guideFile, p.ID, p.Script)
			case !kinds[p.Kind]:
				return fmt.Errorf("%s: page %s: kind %q: expected chapter, stage, library, file or cause", guideFile, p.ID, p.Kind)
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

// up leads from the page to the site's first directory.
func (p Page) up() string { return strings.Repeat("../", strings.Count(p.ID, "/")) }

// ScriptName is the script's name below scripts/.
func (p Page) ScriptName() string { return strings.TrimPrefix(p.Script, "scripts/") }
