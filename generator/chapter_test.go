package generator

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"bootlab/labs"
	"bootlab/templates"
)

// everyGuide calls visit with the plan of each of outputs, and the texts of all
// files by path.
func everyGuide(t *testing.T, visit func(t *testing.T, p *labs.Plan, files map[string]string)) {
	for _, o := range outputs() {
		t.Run(o[0]+" "+o[1], func(t *testing.T) {
			r := rendered(t, o[0], o[1])
			visit(t, r.plan, r.files)
		})
	}
}

// plan resolves a shipped lab in a release.
func plan(t testing.TB, example, release string) *labs.Plan {
	t.Helper()
	lab, problems := labs.LoadLabFS(labs.Examples, example, labs.Builtin())
	if example == "ocp-compact" {
		lab, problems = ocpLab(t)
	}
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	lab.Release.Version = release
	p, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// texts renders a plan.
func texts(t testing.TB, p *labs.Plan) map[string]string {
	t.Helper()
	return textsOf(t, renderPlan(t, p))
}

// textsOf are the texts of an output by path; two files of one path are a mistake.
func textsOf(t testing.TB, out *Output) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range out.Files {
		if files[f.Path] != "" {
			t.Errorf("%s is made twice", f.Path)
		}
		files[f.Path] = string(f.Data)
	}
	return files
}

func TestEveryMisconceptionStandsOnItsPages(t *testing.T) {
	shown := map[string]bool{}
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for id, n := range misconceptionMarks(files) {
			if n > 0 && labs.BuiltinGuide().Chapter(id) == nil && labs.Builtin().Stage(id) == nil {
				t.Errorf("%s has misconceptions and is neither chapter nor stage", id)
			}
		}
		for _, group := range labs.BuiltinGuide().Groups {
			for _, c := range group.Chapters {
				misconceptionsOf(t, p, files, c.ID, shown)
			}
		}
		for _, s := range p.Stages {
			if files["guide/"+s.ID+".md"] != "" {
				misconceptionsOf(t, p, files, s.ID, shown)
			}
		}
	})
	for _, b := range labs.BuiltinGuide().Misconceptions {
		if !shown[b.ID] {
			t.Errorf("no lab in no release shows misconception %s", b.ID)
		}
	}
}

// misconceptionsOf complains of misconceptions that a page should show and does not, and of
// those that it shows and should not.
func misconceptionsOf(t *testing.T, p *labs.Plan, files map[string]string, page string, shown map[string]bool) {
	t.Helper()
	text, wanted := files["guide/"+page+".md"], labs.BuiltinGuide().MisconceptionsOf(page, p)
	for _, b := range wanted {
		if !strings.Contains(text, misconceptionBlock(b)) {
			t.Errorf("%s does not show misconception %s", page, b.ID)
		}
		shown[b.ID] = true
	}
	if n := strings.Count(text, "> [!MISCONCEPTION]"); n != len(wanted) {
		t.Errorf("%s shows %d misconceptions, %d stand on it", page, n, len(wanted))
	}
}

func misconceptionMarks(files map[string]string) map[string]int {
	out := map[string]int{}
	for name, text := range files {
		if path.Dir(name) == "guide" {
			out[strings.TrimSuffix(path.Base(name), ".md")] = strings.Count(text, "> [!MISCONCEPTION]")
		}
	}
	return out
}

// chapterOf is what a template of one chapter becomes when it says text.
func chapterOf(t *testing.T, id, text string) (string, error) {
	t.Helper()
	p := plan(t, "compact", "4.21")
	r, err := newRenderer(p, templates.FS, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{"guide/chapters/" + id + ".md.tmpl": {Data: []byte(text)}}
	if err := r.chapter(fsys, labs.BuiltinGuide().Chapter(id), r.titles(), ""); err != nil {
		return "", err
	}
	return string(r.out.Files[0].Data), nil
}

func TestAChapterCanNameOnlyWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{
		`{{.Misconception "flat-earth"}}`:        "there is no misconception flat-earth",
		`{{.Misconception "assisted-in-place"}}`: "does not list it among its pages",
		`{{.Link "render-nothing"}}`:             "there is no page render-nothing",
		`{{if .Since "3.11"}}old{{end}}`:         `release "3.11" is not known`,
		`{{.Lab.Machines.Bootstrap.Nonsense}}`:   "Nonsense",
	} {
		if _, err := chapterOf(t, "timeline", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	got, err := chapterOf(t, "timeline", `{{.Link "pki"}} {{.Link "lib-stage"}} {{.Link "render-node-tuning-bootcmd"}}`)
	if err != nil || !strings.Contains(got, "[Certificates and the 24-hour clock](pki.md) [lib-stage](lib-stage.md) `render-node-tuning-bootcmd`") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := chapterOf(t, "completion", `a{{.Misconception "two-nodes-before"}}b`); err != nil || !strings.Contains(got, "\nab\n") {
		t.Errorf("a misconception of another release leaves %q, %v", got, err)
	}
}

func TestEveryChapterHasATemplateAndTheOtherWayRound(t *testing.T) {
	names, err := fs.Glob(templates.FS, "guide/chapters/*.md.tmpl")
	if err != nil || len(names) == 0 {
		t.Fatal(err, names)
	}
	found := map[string]bool{}
	for _, name := range names {
		id := strings.TrimSuffix(path.Base(name), ".md.tmpl")
		found[id] = true
		if labs.BuiltinGuide().Chapter(id) == nil {
			t.Errorf("%s is no chapter", name)
		}
	}
	for _, group := range labs.BuiltinGuide().Groups {
		for _, c := range group.Chapters {
			if !found[c.ID] {
				t.Errorf("chapter %s has no template", c.ID)
			}
		}
	}
}

// What every chapter has, in every lab and release.
func TestChaptersAreWhole(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for _, group := range labs.BuiltinGuide().Groups {
			for _, c := range group.Chapters {
				text := files["guide/"+c.ID+".md"]
				if n := len(strings.Fields(text)); n < 250 {
					t.Errorf("%s has only %d words", c.ID, n)
				}
				for _, part := range []string{"# " + c.Title + "\n\n" + c.Summary + "\n", "\n## See it yourself\n", "\n```console\n$ ", "\n## Sources\n"} {
					if !strings.Contains(text, part) {
						t.Errorf("%s has no %q", c.ID, part)
					}
				}
				for _, mistake := range faults.FindAllString(picture.ReplaceAllString(text, "\n(picture)"), -1) {
					t.Errorf("%s has %q", c.ID, mistake)
				}
				if strings.Count(text, "\n```")%2 != 0 {
					t.Errorf("%s has a fence that does not end", c.ID)
				}
			}
		}
	})
}

// faults are what a template leaves behind when it goes wrong: no value, blank
// lines in a row, raw HTML, empty code, links to nothing.
var faults = regexp.MustCompile("<no value>|\\n{3,}|<[a-z/]|[^`]``[^`]|\\| \\| \\| |\\(\\.md\\)| +\\n")

// picture is a picture's block, whose text is another language.
var picture = regexp.MustCompile("(?s)\n```mermaid .*?\n```")

func TestRelativeLinksOfTheGuideLeadToGeneratedFiles(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		count := 0
		for name, text := range files {
			if path.Ext(name) != ".md" {
				continue
			}
			for _, m := range relativeLink.FindAllStringSubmatch(text, -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				count++
				file, heading, _ := strings.Cut(m[1], "#")
				target := path.Join(path.Dir(name), file)
				if file == "" {
					target = name // elsewhere on the same page
				}
				if target == "site/diagnose.html" {
					continue // bootlab site build makes it beside the guide, and its tests hold it
				}
				if files[target] == "" {
					t.Errorf("%s links to %s, which is not made", name, m[1])
				} else if heading != "" && !headings(files[target])[heading] {
					t.Errorf("%s links to %s, which has no such heading", name, m[1])
				}
			}
		}
		if count < 100 {
			t.Errorf("only %d links were found", count)
		}
	})
}

var (
	relativeLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInAnchor  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// headings are the anchors of a page, as GitHub makes them.
func headings(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		out[strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

// The way through the guide: each chapter leads to the next page, and no page is
// left out or met twice.
func TestTheWayThroughTheGuideMeetsEveryChapter(t *testing.T) {
	files := texts(t, plan(t, "ha", "4.21"))
	following := regexp.MustCompile(`\n## Next\n\n\[[^\]]+\]\(([a-z-]+)\.md\): .*\n`)
	last := 0
	for _, group := range labs.BuiltinGuide().Groups {
		for _, c := range group.Chapters {
			m := following.FindStringSubmatch(files["guide/"+c.ID+".md"])
			if m == nil {
				last++
				continue
			}
			if files["guide/"+m[1]+".md"] == "" || m[1] == c.ID {
				t.Errorf("%s leads to %s", c.ID, m[1])
			}
		}
	}
	if last != 1 {
		t.Errorf("%d chapters lead nowhere, want the last one alone", last)
	}
}

// The scripts that a chapter tells people to run are made, and the stages that
// it has explained are known in this release, or in the one that it names.
func TestChaptersNameOnlyScriptsAndStagesThatThereAre(t *testing.T) {
	script := regexp.MustCompile(`\b(scripts|node)/[a-z-]+\.sh\b`)
	explain := regexp.MustCompile(`bootlab explain ([a-z-]+)\n`)
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for _, group := range labs.BuiltinGuide().Groups {
			for _, c := range group.Chapters {
				for _, name := range script.FindAllString(files["guide/"+c.ID+".md"], -1) {
					if files[name] == "" {
						t.Errorf("%s names %s, which is not made", c.ID, name)
					}
				}
				for _, m := range explain.FindAllStringSubmatch(files["guide/"+c.ID+".md"], -1) {
					if !slices.ContainsFunc(p.Stages, func(s *labs.Stage) bool { return m[1] == s.ID || m[1] == s.Bootkube }) {
						t.Errorf("%s has %s explained, which is no stage of this release", c.ID, m[1])
					}
				}
			}
		}
	})
}
