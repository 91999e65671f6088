package generator

import (
	"fmt"
	"slices"
	"strings"

	"bootlab/labs"
)

// headSegments are the first line and the header of a script, which say what
// the page has said before.
const headSegments = 2

// libraryPage is the page of a file that scripts source, or of the script that
// runs them.
type libraryPage struct {
	ID       string
	File     string // below scripts/
	Title    string
	Segments []Segment
	Library  bool
}

// HasValues says whether values of the lab stand in the file.
func (p libraryPage) HasValues() bool { return p.File == "lib/registries.sh" }

// indexData is what the first page and the README of the output see.
type indexData struct {
	*labs.Plan
	Scripts   []*scriptData
	Libraries []libraryPage
	Chain     string
}

// HasScript says whether a stage has a script in this output.
func (d indexData) HasScript(id string) bool {
	for _, s := range d.Scripts {
		if s.ID == id && s.Scripted() {
			return true
		}
	}
	return false
}

// guide renders the pages of the stages, the libraries, and the index.
func (r *renderer) guide() error {
	pages := map[string]bool{}
	for _, d := range r.paged {
		pages[d.ID] = true
	}
	for _, d := range r.paged {
		page := &pageData{scriptData: d, Misconceptions: labs.BuiltinGuide().MisconceptionsOf(d.ID, r.plan), pages: pages}
		if d.Scripted() && d.Script == "" {
			page.Segments = Segments(d.Body)[headSegments:]
			page.Stepped = isStageScript(r.sources[d.ID])
		}
		if d.Run != nil {
			page.Flags = d.Run.Flags
		} else if d.Command != nil {
			page.Flags = d.Command.Flags
		}
		if err := r.page("stage.md.tmpl", "guide/"+d.ID+".md", page); err != nil {
			return err
		}
	}
	for _, page := range r.shared {
		if err := r.page("library.md.tmpl", "guide/"+page.ID+".md", page); err != nil {
			return err
		}
	}
	return r.page("README.md.tmpl", "README.md", indexData{r.plan, r.paged, r.shared[1:], chainScript})
}

// share keeps a file that scripts share for the guide. Its first line explains
// nothing.
func (r *renderer) share(place labs.Place, file, text string) {
	if place != labs.Local {
		return
	}
	segments := Segments(text)[1:]
	r.shared = append(r.shared, libraryPage{sharedID(file), file, firstLine(segments), segments, file != chainScript+".sh"})
}

// sharedID is the name of the page of such a file.
func sharedID(file string) string {
	return strings.NewReplacer("/", "-", ".", "-").Replace(strings.TrimSuffix(file, ".sh"))
}

// sharedFiles are the files that scripts share, below scripts/.
func sharedFiles() []string {
	out := []string{chainScript + ".sh"}
	for _, name := range stageLibraries {
		out = append(out, "lib/"+name+".sh")
	}
	for _, name := range placeLibraries {
		out = append(out, "lib/"+name)
	}
	return out
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
	word, _, _ := strings.Cut(text, " ")
	if first := text[:1]; first >= "a" && first <= "z" && !isTyped(word) {
		text = strings.ToUpper(first) + text[1:]
	}
	if last := text[len(text)-1]; last != '.' && last != '?' && last != '!' {
		text += "."
	}
	return text
}

// typedNames are names that people type, and that keep their small letter.
var typedNames = []string{"oc", "kubelet", "podman", "crictl", "systemctl", "systemd", "etcdctl", "jq", "dig", "curl", "openssl", "virsh"}

// isTyped says whether a word is a name to be typed: a command, a file, a unit.
func isTyped(word string) bool {
	return strings.ContainsAny(strings.TrimRight(word, ".,:;"), "./-_") || slices.Contains(typedNames, strings.TrimRight(word, ".,:;"))
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
