package generator

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"

	"bootlab/labs"
)

// auditPage is the page that tells what was taken from an audited script.
const auditPage = "audited-script"

// markData is what the mark of a file sees, and the page about the audit.
type markData struct {
	*labs.Audited
	*labs.Plan
	// NotHere are the differences that the file should have and has not.
	NotHere []labs.AuditedChange
	// Page leads to the page about the audit.
	Page string
}

// Version is the lab's release.
func (d *markData) Version() string { return d.Plan.Version() }

// Title is that of the page about the audit.
func (d *markData) Title() string { return "Made from " + d.File }

// Summary says in a sentence what the page is.
func (d *markData) Summary() string {
	return "What was taken over from " + d.File + ", and what was not."
}

// Rows are the changes of one outcome.
func (d *markData) Rows(outcome string) []labs.AuditedChange {
	return d.With(labs.AuditedOutcome(outcome))
}

// StageLinks links to the pages of the stages that a change concerns, or names
// what the script calls them.
func (d *markData) StageLinks(c labs.AuditedChange) string {
	var out []string
	for _, id := range c.Stages {
		if d.Plan.Stage(id) != nil {
			out = append(out, "["+id+"]("+id+".md)")
		}
	}
	if len(out) == 0 {
		return textSpan(c.Where)
	}
	return strings.Join(out, ", ")
}

// mark says in every script and on every page that they were made from an
// audited script, and names where they nevertheless differ from it; or that they
// belong to a demo. It comes after everything else, so that no file can be
// without it. Any other plan stays as it is.
func (r *renderer) mark(templates fs.FS) error {
	if r.plan.Lab.Release.StandIn() {
		if err := r.markWith(templates, "demo", r.standInMark); err != nil {
			return err
		}
	}
	if r.plan.Audited == nil {
		return nil
	}
	return r.markWith(templates, "audited", func(file string) any { return r.markOf(file) })
}

// markWith puts the mark of a directory of templates into every script and page.
func (r *renderer) markWith(templates fs.FS, dir string, data func(file string) any) error {
	t, err := template.New("mark").Funcs(functions()).Option("missingkey=error").ParseFS(templates, dir+"/*.tmpl")
	if err != nil {
		return err
	}
	for i, f := range r.out.Files {
		var kind string
		switch path.Ext(f.Path) {
		case ".sh":
			kind = "mark.sh.tmpl"
		case ".md":
			kind = "mark.md.tmpl"
		default:
			continue
		}
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, kind, data(f.Path)); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		place := markScript
		if kind == "mark.md.tmpl" {
			place = markPage
		}
		r.out.Files[i].Data = []byte(place(string(f.Data), strings.Trim(b.String(), "\n")))
	}
	return nil
}

// markOf is what the mark of a file says.
func (r *renderer) markOf(file string) *markData {
	d := &markData{Audited: r.plan.Audited, Plan: r.plan, Page: auditPage + ".md"}
	if below, inGuide := strings.CutPrefix(file, "guide/"); inGuide {
		d.Page = strings.Repeat("../", strings.Count(below, "/")) + d.Page
	} else {
		d.Page = "guide/" + d.Page
	}
	base := path.Base(strings.TrimSuffix(strings.TrimSuffix(file, ".sh"), ".md"))
	for _, c := range d.With(labs.NotApplied) {
		if r.concerns(c, base) {
			d.NotHere = append(d.NotHere, c)
		}
	}
	return d
}

// concerns says whether a script or page is that of a stage which a change
// concerns. What concerns no stage of the plan concerns the script that runs
// them all.
func (r *renderer) concerns(c labs.AuditedChange, name string) bool {
	if len(c.Stages) == 0 {
		return name == chainScript
	}
	for _, id := range c.Stages {
		if s := r.plan.Stage(id); s != nil && (id == name || s.ScriptName() == name+".sh") {
			return true
		}
	}
	return false
}

// markScript puts the mark behind the first line of a script's header, which
// says what it is.
func markScript(script, mark string) string {
	first, rest, _ := strings.Cut(script, "\n")
	second, rest, _ := strings.Cut(rest, "\n")
	return first + "\n" + second + "\n#\n" + mark + "\n" + rest
}

// markPage puts the mark behind the title of a page.
func markPage(page, mark string) string {
	title, rest, _ := strings.Cut(page, "\n")
	return title + "\n\n" + mark + "\n" + rest
}

// auditedPage writes the page about the audit.
func (r *renderer) auditedPage(templates fs.FS) error {
	if r.plan.Audited == nil {
		return nil
	}
	t, err := template.New("audited").Funcs(functions()).Option("missingkey=error").ParseFS(templates, "audited/page.md.tmpl")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, "page.md.tmpl", r.markOf("guide/"+auditPage+".md")); err != nil {
		return err
	}
	r.add("guide/"+auditPage+".md", 0o644, strings.TrimLeft(b.String(), "\n"))
	return nil
}

// auditedEntry is the page about the audit in guide.json.
func (r *renderer) auditedEntry() guidePage {
	d := r.markOf("guide/" + auditPage + ".md")
	return guidePage{ID: auditPage, Title: d.Title(), File: "guide/" + auditPage + ".md", Kind: "chapter", Summary: d.Summary()}
}

// releaseName is the lab's release as the site shows it on every page.
func (r *renderer) releaseName() string {
	if r.plan.Audited != nil {
		return r.plan.Version() + " (made from " + r.plan.Audited.File + ", not reviewed)"
	}
	if r.plan.Lab.Release.StandIn() {
		return r.plan.Version() + " (demo: stand-ins, not the real operators)"
	}
	return r.plan.Version()
}

// textSpan is a text that is not ours as code in a cell of a table.
func textSpan(text string) string {
	text = cell(strings.ReplaceAll(text, "`", "'"))
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// inline is a change in one line of a comment. It is not filled up to a width:
// no word of a script may begin a line of its own.
func inline(c labs.AuditedChange) string {
	text := strings.Join(strings.Fields(c.String()), " ")
	if runes := []rune(text); len(runes) > 150 {
		text = string(runes[:150]) + "…"
	}
	return "# - " + text
}
