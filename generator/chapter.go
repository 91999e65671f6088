package generator

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"bootlab/generator/diagram"
	"bootlab/labs"
)

// chapterData is what the template of a chapter sees.
type chapterData struct {
	*labs.Plan
	*labs.Chapter
	*links
	misconceptions []labs.Misconception
	diagnosis      *labs.Diagnosis
}

// links knows the pages of an output.
type links struct {
	pages map[string]string // titles by id
	up    string            // leads from the page to guide/
}

// Misconception is a wrong misconception and what is right, as a block of the page. It is an
// error to name one that does not stand on this page; one that does not hold in
// this release or lab leaves no trace.
func (d *chapterData) Misconception(id string) (string, error) {
	for _, b := range labs.BuiltinGuide().Misconceptions {
		if b.ID != id {
			continue
		}
		if !slices.Contains(b.Pages, d.Chapter.ID) {
			return "", fmt.Errorf("chapter %s: misconception %s does not list it among its pages", d.Chapter.ID, id)
		}
		for _, mine := range d.misconceptions {
			if mine.ID == id {
				return misconceptionBlock(b), nil
			}
		}
		return "", nil
	}
	return "", fmt.Errorf("chapter %s: there is no misconception %s", d.Chapter.ID, id)
}

// Link is a link to the page of a stage, a library or a chapter; a chapter is
// called by its title. A stage that has no page in this output is only named.
func (l *links) Link(id string) (string, error) {
	title, ok := l.pages[id]
	switch {
	case ok && labs.BuiltinGuide().Chapter(id) != nil:
		return "[" + title + "](" + l.up + id + ".md)", nil
	case ok:
		return "[" + id + "](" + l.up + id + ".md)", nil
	case labs.Builtin().Stage(id) != nil:
		return "`" + id + "`", nil
	}
	return "", fmt.Errorf("there is no page %s to link to", id)
}

// Since says whether the lab's release is that one or a later one.
func (d *chapterData) Since(release string) (bool, error) {
	if labs.Builtin().Release(release) == nil {
		return false, fmt.Errorf("chapter %s: release %q is not known", d.Chapter.ID, release)
	}
	return labs.Span{Since: release}.Holds(d.Release.ID), nil
}

// Recorded are the stages that bootkube.sh of this release records; the
// questions it asks about DNS and URLs, which cannot fail it, are not counted.
func (d *chapterData) Recorded() []*labs.Stage {
	var out []*labs.Stage
	for _, s := range d.Stages {
		if s.Bootkube != "" && s.Kind != "check" {
			out = append(out, s)
		}
	}
	return out
}

// Users links to the stages that run an image of the release, or give a
// variable of bootkube.sh to what they run.
func (d *chapterData) Users(image, variable string) (string, error) {
	var out []string
	for _, s := range d.Recorded() {
		if s.Run == nil || s.Run.Image != image && !slices.ContainsFunc(s.Run.Flags, func(f labs.Flag) bool {
			return mentions(f.Value)[variable]
		}) {
			continue
		}
		link, err := d.Link(s.ID)
		if err != nil {
			return "", err
		}
		out = append(out, link)
	}
	return strings.Join(out, ", "), nil
}

// Causes links to the page of a question of the diagnosis, where the lab has it.
func (d *chapterData) Causes(layer string) (string, error) {
	if !slices.ContainsFunc(labs.BuiltinDiagnosis().Layers, func(l *labs.Layer) bool { return l.ID == layer }) {
		return "", fmt.Errorf("chapter %s: there is no layer %s", d.Chapter.ID, layer)
	}
	if !slices.ContainsFunc(d.Layers(), func(l *labs.Layer) bool { return l.ID == layer }) {
		return "not in this lab", nil
	}
	return "[causes](layers/" + layer + ".md)", nil
}

// Ports are the ports that are open on a kind of machine.
func (d *chapterData) Ports(machine string) []labs.Port {
	return labs.BuiltinGuide().PortsOf(machine, d.Plan)
}

// Nodes are the machines that become nodes of the cluster.
func (d *chapterData) Nodes() []labs.Machine {
	return slices.Concat(d.Lab.Machines.Masters, d.Lab.Machines.Workers)
}

func misconceptionBlock(b labs.Misconception) string {
	fact := strings.ReplaceAll(strings.TrimSpace(b.Fact), "\n", "\n> ")
	return "> [!MISCONCEPTION]\n> **Misconception:** " + strings.TrimSpace(b.Claim) + "\n>\n> **Fact:** " + fact
}

// chapters renders the pages of prose. It comes after the other pages, so that
// it can link to them.
func (r *renderer) chapters(templates fs.FS) error {
	pages := r.titles()
	order := r.readingOrder()
	for i, id := range order {
		c := labs.BuiltinGuide().Chapter(id)
		if c == nil {
			continue
		}
		following := ""
		if i+1 < len(order) {
			following = order[i+1]
		}
		if err := r.chapter(templates, c, pages, following); err != nil {
			return err
		}
	}
	return nil
}

// titles are those of all pages, by id.
func (r *renderer) titles() map[string]string {
	out := map[string]string{}
	for _, file := range sharedFiles() {
		out[sharedID(file)] = file
	}
	for _, d := range r.paged {
		out[d.ID] = d.Title
	}
	for _, group := range labs.BuiltinGuide().Groups {
		for _, c := range group.Chapters {
			out[c.ID] = c.Title
		}
	}
	return out
}

// readingOrder is the order of the guide's pages: that of the groups, with the
// stages in their own place.
func (r *renderer) readingOrder() []string {
	var out []string
	for _, group := range labs.BuiltinGuide().Groups {
		for _, c := range group.Chapters {
			out = append(out, c.ID)
		}
		for _, s := range r.plan.Stages {
			if group.ID == "stages" && slices.ContainsFunc(r.paged, func(d *scriptData) bool { return d.ID == s.ID }) {
				out = append(out, s.ID)
			}
		}
	}
	return out
}

// blank is what a misconception or a condition without effect leaves behind.
var blank = regexp.MustCompile(`\n{3,}`)

func (r *renderer) chapter(templates fs.FS, c *labs.Chapter, pages map[string]string, following string) error {
	name := "guide/chapters/" + c.ID + ".md.tmpl"
	source, err := fs.ReadFile(templates, name)
	if err != nil {
		return err
	}
	t, err := template.New(path.Base(name)).Funcs(functions()).Funcs(r.pictureFunction()).Option("missingkey=error").Parse(string(source))
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# " + c.Title + "\n\n" + c.Summary + "\n\n")
	data := &chapterData{r.plan, c, &links{pages, ""}, labs.BuiltinGuide().MisconceptionsOf(c.ID, r.plan), r.diagnosis}
	objectives, err := data.objectives()
	if err != nil {
		return fmt.Errorf("chapter %s: %w", c.ID, err)
	}
	b.WriteString(objectives)
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("chapter %s: %w", c.ID, err)
	}
	b.WriteString("\n\n## Sources\n\n")
	for _, link := range c.Links {
		b.WriteString("- [" + link.Title + "](" + link.URL + ")\n")
	}
	b.WriteString("\nRead from " + c.Source + ".\n")
	if following != "" {
		b.WriteString("\n## Next\n\n[" + pages[following] + "](" + following + ".md): " + r.summary(following) + "\n")
	}
	r.add("guide/"+c.ID+".md", 0o644, r.ownWords(blank.ReplaceAllString(b.String(), "\n\n")))
	return nil
}

// objectives is the beginning of a chapter: what a reader can do after it, and
// needs for it.
func (d *chapterData) objectives() (string, error) {
	var needs []string
	for _, need := range d.Needs {
		if d.pages[need] != "" {
			link, err := d.Link(need)
			if err != nil {
				return "", err
			}
			need = link
		}
		needs = append(needs, need)
	}
	text := "After this page you can\n\n"
	for i, able := range d.Able {
		text += "- " + able + ending(i == len(d.Able)-1) + "\n"
	}
	if len(needs) > 0 {
		text += "\nYou need: " + strings.Join(needs, ", ") + ".\n"
	}
	return text + "\n", nil
}

// ending is the mark behind an item of a list of parts of one sentence.
func ending(last bool) string {
	if last {
		return "."
	}
	return ";"
}

// summary tells what is on a page of a chapter or a stage.
func (r *renderer) summary(id string) string {
	if c := labs.BuiltinGuide().Chapter(id); c != nil {
		return c.Summary
	}
	return firstSentence(r.plan.Stage(id).Why)
}

// pictureFunction gives chapters the function picture, which prints a picture
// as a block of mermaid; the site shows the drawing of the same name instead.
func (r *renderer) pictureFunction() template.FuncMap {
	return template.FuncMap{"picture": func(name string) (string, error) {
		for _, p := range r.pictures {
			if p.Name == name {
				return "```mermaid " + name + "\n" + strings.TrimRight(p.Mermaid, "\n") + "\n```", nil
			}
		}
		return "", fmt.Errorf("there is no picture %s", name)
	}}
}

// drawPictures makes every picture of the guide and adds its drawing.
func (r *renderer) drawPictures() error {
	var err error
	if r.pictures, err = diagram.Pictures(r.plan); err != nil {
		return err
	}
	for _, p := range r.pictures {
		r.add("guide/pictures/"+p.Name+".svg", 0o644, string(p.SVG))
	}
	return nil
}
