package generator

import (
	"encoding/json"
	"slices"
	"strings"

	"bootlab/labs"
)

// guideIndex is guide.json: every page in reading order, for whoever shows the
// guide.
type guideIndex struct {
	Lab    guideLab      `json:"lab"`
	Groups []*guideGroup `json:"groups"`
}

type guideLab struct {
	Name         string `json:"name"`
	Domain       string `json:"domain"`
	Topology     string `json:"topology"`
	Distribution string `json:"distribution"`
	Release      string `json:"release"`
}

type guideGroup struct {
	ID    string      `json:"id"`
	Title string      `json:"title"`
	Pages []guidePage `json:"pages"`
}

// guidePage is a page: what it is called, where it stands, and how to see from
// outside whether its stage is done.
type guidePage struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	File     string `json:"file"`
	Kind     string `json:"kind"`
	Script   string `json:"script,omitempty"`
	Bootkube string `json:"bootkube,omitempty"`
	Marker   string `json:"marker,omitempty"`
	Record   string `json:"record,omitempty"`
	Summary  string `json:"summary"`
	// Parent is the page that lists this one, where the navigation does not.
	Parent string `json:"parent,omitempty"`
}

// The groups that hold more than chapters.
const (
	hangsGroup     = "hangs"
	startGroup     = "start"
	stagesGroup    = "stages"
	releasesGroup  = "releases"
	referenceGroup = "reference"
)

// guideJSON writes the list of the pages that were made.
func (r *renderer) guideJSON() error {
	lab := r.plan.Lab
	index := &guideIndex{Lab: guideLab{lab.Metadata.Name, lab.Domain(), lab.Topology, lab.Release.Distribution, r.releaseName()}}
	index.add(startGroup, guidePage{ID: "index", Title: "Home", File: "README.md", Kind: "chapter",
		Summary: "What this guide is, three ways to use it, and the scripts in their order."})
	for _, group := range labs.BuiltinGuide().Groups {
		index.group(group.ID).Title = group.Title
		for _, c := range group.Chapters {
			if !r.made("guide/" + c.ID + ".md") {
				continue
			}
			index.add(group.ID, guidePage{ID: c.ID, Title: c.Title, File: "guide/" + c.ID + ".md", Kind: "chapter", Summary: c.Summary})
		}
	}
	if r.made("guide/" + commandsID + ".md") {
		index.add(referenceGroup, guidePage{ID: commandsID, Title: "Commands of bootlab", File: "guide/" + commandsID + ".md", Kind: "chapter",
			Summary: "Every command with its options and exit statuses."})
	}
	for _, d := range r.paged {
		index.add(stagesGroup, stageEntry(d))
		if id := (&pageData{scriptData: d}).ScriptPage(); r.made("guide/" + id + ".md") {
			index.add(stagesGroup, guidePage{ID: id, Title: d.ScriptName() + ", step by step", File: "guide/" + id + ".md", Kind: "library",
				Script: stageEntry(d).Script, Summary: "The script of " + d.ID + " with the reason for each step.", Parent: d.ID})
		}
	}
	if r.plan.Audited != nil {
		index.add(startGroup, r.auditedEntry())
	}
	if lab.Release.StandIn() {
		index.add(startGroup, r.standInEntry())
	}
	for _, release := range labs.Builtin().Releases {
		index.add(releasesGroup, r.releaseData(release).entry())
	}
	layers, causes := r.causeEntries()
	for _, page := range append(layers, causes...) {
		index.add(hangsGroup, page)
	}
	for _, l := range r.shared {
		index.add(referenceGroup, guidePage{ID: l.ID, Title: l.Title, File: "guide/" + l.ID + ".md", Kind: "library",
			Script: "scripts/" + l.File, Summary: sentence(l.Title)})
	}
	for _, page := range r.fileEntries() {
		index.add(referenceGroup, page)
	}
	data, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	r.add("guide.json", 0o644, string(data)+"\n")
	return nil
}

// made says whether this output has a file.
func (r *renderer) made(path string) bool {
	return slices.ContainsFunc(r.out.Files, func(f File) bool { return f.Path == path })
}

func stageEntry(d *scriptData) guidePage {
	page := guidePage{ID: d.ID, Title: d.Title, File: "guide/" + d.ID + ".md", Kind: "stage",
		Bootkube: d.Bootkube, Marker: d.Marker(), Record: d.RecordName(), Summary: firstSentence(d.Why)}
	if d.Scripted() && d.In(labs.Local) {
		page.Script = "scripts/" + d.ScriptName()
	}
	return page
}

// group is the group of that id; one that the guide's data does not have comes
// last and is called by its id.
func (g *guideIndex) group(id string) *guideGroup {
	i := slices.IndexFunc(g.Groups, func(group *guideGroup) bool { return group.ID == id })
	if i < 0 {
		i = len(g.Groups)
		g.Groups = append(g.Groups, &guideGroup{ID: id, Title: strings.ToUpper(id[:1]) + id[1:], Pages: []guidePage{}})
	}
	return g.Groups[i]
}

func (g *guideIndex) add(group string, page guidePage) {
	in := g.group(group)
	in.Pages = append(in.Pages, page)
}

// firstSentence is a text up to its first full stop, in one line.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	return sentence(first)
}
