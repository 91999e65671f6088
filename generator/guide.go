package generator

import (
	"fmt"
	"regexp"
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

// indexData is what the first page sees, which is the README of the output.
type indexData struct {
	*labs.Plan
	Scripts   []*scriptData
	Libraries []libraryPage
	Chain     string
	Tour      []tourStop
	diagnosis *labs.Diagnosis
}

// tourStop is a chapter of the way through the guide that takes half an hour.
type tourStop struct {
	*labs.Chapter
	Minutes int
}

// FirstNeeds are the programs that the first script calls.
func (d indexData) FirstNeeds() []string { return d.Scripts[0].Commands() }

// Questions is the number of questions that the diagnosis asks.
func (d indexData) Questions() int { return len(d.diagnosis.Layers) }

// Minutes is how long the whole way takes.
func (d indexData) Minutes() int {
	sum := 0
	for _, stop := range d.Tour {
		sum += stop.Minutes
	}
	return sum
}

// wordsPerMinute is how fast somebody reads who learns from what they read.
const wordsPerMinute = 230

// minutes is how long it takes to read a page's prose and tables, without code and
// pictures.
func minutes(page string) int {
	words := 0
	for i, piece := range strings.Split(page, "\n```") {
		if i%2 == 0 {
			words += len(strings.Fields(piece))
		}
	}
	return words/wordsPerMinute + 1
}

// index renders the first page. It comes last, because it tells how long others
// are.
func (r *renderer) index() error {
	d := indexData{Plan: r.plan, Scripts: r.paged, Libraries: r.shared[1:], Chain: chainScript, diagnosis: r.diagnosis}
	for _, id := range r.readingOrder() {
		if c := labs.BuiltinGuide().Chapter(id); c != nil && c.Tour {
			d.Tour = append(d.Tour, tourStop{c, minutes(r.text("guide/" + id + ".md"))})
		}
	}
	return r.page("README.md.tmpl", "README.md", d)
}

// text is a file that was made.
func (r *renderer) text(path string) string {
	for _, f := range r.out.Files {
		if f.Path == path {
			return string(f.Data)
		}
	}
	return ""
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
	titles, order := r.titles(), r.readingOrder()
	for _, d := range r.paged {
		page := &pageData{scriptData: d, Misconceptions: labs.BuiltinGuide().MisconceptionsOf(d.ID, r.plan), explained: r.explained, pages: pages}
		if i := slices.Index(order, d.ID); i+1 < len(order) {
			page.following = "[" + titles[order[i+1]] + "](" + order[i+1] + ".md)"
		}
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
		if id := page.ScriptPage(); id != "" {
			if err := r.page("script.md.tmpl", "guide/"+id+".md", page); err != nil {
				return err
			}
		}
	}
	for _, page := range r.shared {
		if err := r.page("library.md.tmpl", "guide/"+page.ID+".md", page); err != nil {
			return err
		}
	}
	return nil
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
	r.add(path, 0o644, r.ownWords(withoutBlanks(strings.TrimLeft(b.String(), "\n"))))
	return nil
}

// commandName is one of bootlab's commands at the beginning of a text.
var commandName = regexp.MustCompile(`^(?:vms|init|generate|check|explain|diff|releases|site|verify|diagnose|gather|timeline|audit|doctor|connectivity|certificates|watch|mask)\b`)

// ownWords puts into a page's prose what the reader has: bootlab in bin/, where
// ./setup lab puts it, and the lab's domain in the place of NAME.DOMAIN.
func (r *renderer) ownWords(text string) string {
	domain := strings.NewReplacer("CLUSTER.DOMAIN", r.plan.Lab.Domain(), "NAME.DOMAIN", r.plan.Lab.Domain())
	pieces := strings.Split(text, "\n```")
	for i := 0; i < len(pieces); i += 2 {
		pieces[i] = domain.Replace(commandsInBin(pieces[i]))
	}
	return strings.Join(pieces, "\n```")
}

// commandsInBin writes bin/bootlab where a text has bootlab with one of its
// commands. A name or path that ends with bootlab stays.
func commandsInBin(text string) string {
	const program = "bootlab "
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, program)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		partOfName := before != "" && (strings.ContainsRune("-/", rune(before[len(before)-1])) || before[len(before)-1] >= 'a' && before[len(before)-1] <= 'z')
		if !partOfName && commandName.MatchString(after) {
			b.WriteString("bin/")
		}
		b.WriteString(program)
		text = after
	}
}

// withoutBlanks has one blank line in the place of several, outside of code.
func withoutBlanks(text string) string {
	pieces := strings.Split(text, "\n```")
	for i := 0; i < len(pieces); i += 2 {
		pieces[i] = blank.ReplaceAllString(pieces[i], "\n\n")
	}
	return strings.TrimRight(strings.Join(pieces, "\n```"), "\n") + "\n"
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
