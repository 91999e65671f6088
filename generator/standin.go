package generator

import (
	"io/fs"
	"path"
	"strings"
	"text/template"

	"bootlab/labs"
)

// standInPage is the page that tells what is not real in a demo.
const standInPage = "stand-ins"

// standInData is what the mark of a demo's file sees, and the page about it.
type standInData struct {
	*labs.Plan
	// Page leads to the page.
	Page string
}

// Version is the lab's release, Image its stand-in, and Registry where that is.
func (d *standInData) Version() string  { return d.Plan.Version() }
func (d *standInData) Image() string    { return d.Lab.Release.Image }
func (d *standInData) Registry() string { return strings.SplitN(d.Image(), "/", 2)[0] }

// Title is that of the page.
func (d *standInData) Title() string { return "What is not real in this demo" }

// File is the page's.
func (d *standInData) File() string { return standInPage + ".md" }

// standInMark is what the mark of a file says.
func (r *renderer) standInMark(file string) any {
	d := &standInData{Plan: r.plan, Page: standInPage + ".md"}
	if !strings.HasPrefix(file, "guide/") {
		d.Page = "guide/" + d.Page
	}
	return d
}

// addStandInPage writes the page of a demo.
func (r *renderer) addStandInPage(templates fs.FS) error {
	if !r.plan.Lab.Release.StandIn() {
		return nil
	}
	file := path.Join("guide", standInPage+".md")
	t, err := template.New("stand-ins").Funcs(functions()).Option("missingkey=error").ParseFS(templates, "demo/page.md.tmpl")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, "page.md.tmpl", r.standInMark(file)); err != nil {
		return err
	}
	r.add(file, 0o644, b.String())
	return nil
}

// standInEntry is the page in guide.json.
func (r *renderer) standInEntry() guidePage {
	d := &standInData{Plan: r.plan}
	return guidePage{ID: standInPage, Title: d.Title(), File: "guide/" + d.File(), Kind: "chapter",
		Summary: "Which parts of this lab are stand-ins made by bootlab, and which are as in a real one."}
}
