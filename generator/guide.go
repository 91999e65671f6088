package generator

import (
	"fmt"
	"strings"

	"bootlab/labs"
)

// headSegments are the first line and the header of a script, which say what
// the page has said before.
const headSegments = 2

// pageData is what a stage's guide page sees: the stage as the script had it,
// and the script cut into explanations and code.
type pageData struct {
	*scriptData
	Segments []Segment
	Flags    []labs.Flag
}

// libraryPage is the page of a file that the scripts source.
type libraryPage struct {
	Name     string
	Title    string
	Segments []Segment
}

// indexData is what the first page and the README of the output see.
type indexData struct {
	*labs.Plan
	Scripts   []*scriptData
	Libraries []string
}

// HasScript says whether a stage has a script in this output.
func (d indexData) HasScript(id string) bool {
	for _, s := range d.Scripts {
		if s.ID == id {
			return true
		}
	}
	return false
}

// guide renders the pages of the stages, the libraries, and the index.
func (r *renderer) guide() error {
	for _, d := range r.rehearsed {
		page := pageData{scriptData: d, Segments: Segments(d.Body)[headSegments:]}
		if d.Run != nil {
			page.Flags = d.Run.Flags
		}
		if err := r.page("stage.md.tmpl", "guide/"+d.ID+".md", page); err != nil {
			return err
		}
	}
	for _, name := range libraries {
		text, err := r.library(name)
		if err != nil {
			return err
		}
		segments := Segments(text)
		page := libraryPage{Name: name, Title: firstLine(segments), Segments: segments}
		if err := r.page("library.md.tmpl", "guide/"+name+".md", page); err != nil {
			return err
		}
	}
	return r.page("README.md.tmpl", "README.md", indexData{r.plan, r.rehearsed, libraries})
}

func (r *renderer) page(template, path string, data any) error {
	var b strings.Builder
	if err := r.pages.ExecuteTemplate(&b, template, data); err != nil {
		return fmt.Errorf("page %s: %w", path, err)
	}
	r.add(path, 0o644, strings.TrimLeft(b.String(), "\n"))
	return nil
}

// firstLine is the title in the first comment of a library.
func firstLine(segments []Segment) string {
	_, title, _ := strings.Cut(strings.SplitN(segments[0].Docs, "\n\n", 2)[0], ": ")
	return strings.Join(strings.Fields(title), " ")
}

// cell makes a text fit into one cell of a markdown table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// sentence begins a text with a capital and ends it with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return ""
	}
	if first := text[:1]; first >= "a" && first <= "z" && !strings.HasPrefix(text, "kubelet") {
		text = strings.ToUpper(first) + text[1:]
	}
	if last := text[len(text)-1]; last != '.' && last != '?' && last != '!' {
		text += "."
	}
	return text
}

// code takes the blank lines around a piece of code away, and the indentation
// that all its lines share.
func code(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	shared := -1
	for _, line := range lines {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" {
			if indent := len(line) - len(trimmed); shared < 0 || indent < shared {
				shared = indent
			}
		}
	}
	if shared > 0 {
		for i, line := range lines {
			lines[i] = line[min(shared, len(line)):]
		}
	}
	return strings.Join(lines, "\n")
}
