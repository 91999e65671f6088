package generator

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// lesson is the order of what every stage with a script has on its page.
var lesson = []string{"# ", "**Time:**", "\n## Predict\n", "\n## Run it\n", "\n## What changed\n", "\n## Verify it\n",
	"\n## Break it\n", "\n## Answer\n", "\n## The script\n", "\n## Sources\n", "\n## Next\n"}

func TestTheDoorOfAStageIsALesson(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for _, s := range p.Stages {
			page := files["guide/"+s.ID+".md"]
			if page == "" || strings.Contains(page, "This stage has no script here.") {
				continue
			}
			at := 0
			for _, part := range lesson {
				missing := part == "\n## Break it\n" && len(s.Exercises) == 0 || part == "\n## Sources\n" && len(s.Links) == 0 ||
					(part == "\n## Predict\n" || part == "\n## Answer\n") && len(s.Questions) == 0
				i := strings.Index(page[at:], part)
				if i < 0 && !missing {
					t.Errorf("%s has no %q behind what comes before it", s.ID, part)
				}
				at += max(i, 0)
			}
			once(t, s, page)
		}
	})
}

// once: the reason for a flag, a check and a failure stand on a page once each.
func once(t *testing.T, s *labs.Stage, page string) {
	t.Helper()
	var texts []string
	for _, c := range s.Checks {
		texts = append(texts, "| "+cell(c.Title)+" | "+cell(c.Expect)+" | ")
	}
	for _, f := range s.Failures {
		texts = append(texts, "\n- `"+f.Message+"`")
	}
	if s.Run != nil {
		for _, f := range s.Run.Flags {
			texts = append(texts, "\n# "+f.Flag+": ", "\n| `"+f.Flag+"` | ")
		}
	}
	for _, text := range texts {
		if n := strings.Count(page, text); n > 1 && !strings.Contains(text, "required-pods") {
			t.Errorf("%s has %q %d times", s.ID, text, n)
		}
	}
	if s.Run != nil && strings.Contains(page, "\n## Flags\n") && strings.Contains(page, "\n# "+s.Run.Flags[0].Flag+": ") {
		t.Errorf("%s explains its flags twice", s.ID)
	}
}

// What a test recorded is on the page of its stage, and says what it was run with.
func TestAPageShowsWhatItsScriptPrints(t *testing.T) {
	files := rendered(t, "compact", "4.21").files
	shown := 0
	for _, s := range rendered(t, "compact", "4.21").plan.Stages {
		output := strings.TrimSpace(labs.BuiltinGuide().Output(s.ID))
		if output == "" {
			continue
		}
		shown++
		page := files["guide/"+s.ID+".md"]
		if !strings.Contains(page, "\n## What you see\n\n```text\n"+output+"\n```\n") || !strings.Contains(strings.ToLower(page), "stand-ins ") {
			t.Errorf("%s does not show what was recorded", s.ID)
		}
	}
	if shown < 30 {
		t.Errorf("only %d stages show output", shown)
	}
}

func TestEveryAnnotatedFileIsLinkedByItsStage(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for _, f := range p.AnnotatedFiles() {
			page := files["guide/"+f.Stage+".md"]
			_, changed, _ := strings.Cut(page, "\n## What changed\n")
			changed, _, _ = strings.Cut(changed, "\n## ")
			if page != "" && !strings.Contains(changed, "]("+f.ID+".md)") {
				t.Errorf("%s does not link to %s", f.Stage, f.ID)
			}
		}
	})
}

// longest is how many words a page of a stage may have, with its script.
const longest = 2500

func TestPagesOfStagesAreNotTooLong(t *testing.T) {
	files := rendered(t, "compact", "4.21").files
	for _, s := range []string{"make-pki", "make-manifests", "start-bootstrap"} {
		if n := len(strings.Fields(files["guide/"+s+".md"])); n > longest {
			t.Errorf("%s has %d words, at most %d are wanted", s, n, longest)
		}
	}
}

func TestChaptersBeginWithObjectivesAndEndWithWhatComesNext(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		pages := 0
		for _, group := range labs.BuiltinGuide().Groups {
			for _, c := range group.Chapters {
				pages++
				page := files["guide/"+c.ID+".md"]
				if len(c.Able) < 1 || len(c.Links) < 1 {
					t.Errorf("%s has %d objectives and %d links", c.ID, len(c.Able), len(c.Links))
				}
				if !strings.Contains(page, c.Summary+"\n\nAfter this page you can\n\n- ") {
					t.Errorf("%s does not begin with what a reader can do afterwards", c.ID)
				}
				for _, link := range c.Links {
					if !strings.Contains(page, "\n- ["+link.Title+"]("+link.URL+")\n") {
						t.Errorf("%s does not link to %s", c.ID, link.URL)
					}
				}
				if c.ID != "glossary" && !strings.Contains(page, "\n## Next\n\n[") {
					t.Errorf("%s does not say what comes next", c.ID)
				}
			}
		}
		if pages < 20 {
			t.Errorf("only %d chapters", pages)
		}
	})
}

func TestTheHomePageHasThreeDoors(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		home := files["README.md"]
		minutes := regexp.MustCompile(`\n## Understand it: ([0-9]+) minutes\n`).FindStringSubmatch(home)
		if minutes == nil || len(minutes[1]) != 2 || minutes[1] > "35" {
			t.Errorf("the way through the guide takes %v minutes", minutes)
		}
		at := 0
		for _, part := range []string{"\n## Understand it", "](guide/why-bootstrap.md)", "\n## Do it", "\nscripts/make-pki.sh --step\n",
			"\n## My bootstrap hangs\n", "bin/bootlab diagnose " + p.Lab.Metadata.Name + "\n", "](guide/troubleshooting.md)", "\n```mermaid architecture\n", "\n## All scripts"} {
			i := strings.Index(home[at:], part)
			if i < 0 {
				t.Errorf("no %q behind what comes before it", part)
			}
			at += max(i, 0)
		}
	})
}

// The reader's own names stand where a command needs them.
func TestCommandsOfTheGuideNameTheLab(t *testing.T) {
	placeholder := regexp.MustCompile(`\b(LAB|MASTER|GATEWAY|CLUSTER\.DOMAIN|NAME\.DOMAIN)\b`)
	variable := regexp.MustCompile(`(?m)\$\{[A-Z_]+|^[A-Z_]+=`)
	bare := regexp.MustCompile("(?m)^(\\$ )?bootlab |`bootlab ")
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		for name, page := range files {
			if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "guide/lib-") || strings.HasSuffix(name, "-script.md") {
				continue
			}
			page, _, _ = strings.Cut(page, "\n## The script\n")
			page = variable.ReplaceAllString(page, "")
			for _, word := range placeholder.FindAllString(page, -1) {
				t.Errorf("%s leaves %s to the reader", name, word)
			}
			for _, command := range bare.FindAllString(page, -1) {
				t.Errorf("%s calls %q and not bin/bootlab", name, command)
			}
		}
	})
}

// What people look for is found under its own heading.
func TestWhatPeopleSearchForHasAHeading(t *testing.T) {
	files := rendered(t, "compact", "4.21").files
	for page, heading := range map[string]string{
		"dissecting-bootkube": "Why operators render the manifests",
		"journal":             `From the first line to "bootkube.service complete"`,
		"static-pods":         "What crictl pods shows on the bootstrap node",
		"timeline":            "The ten steps of the documentation",
		"checklist":           "On the bootstrap node",
	} {
		if !strings.Contains(files["guide/"+page+".md"], "\n## "+heading+"\n") {
			t.Errorf("%s has no heading %s", page, heading)
		}
	}
}

// Each line of the journal leads to its stage, and they stand in the order in which
// the stages run.
func TestTheJournalHasEveryStagesLine(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		page := files["guide/journal.md"]
		at := 0
		for _, s := range p.Stages {
			if s.Bootkube == "" || s.Log == "" {
				continue
			}
			i := strings.Index(page[at:], "| `"+cell(s.Log)+"` | ")
			row, _, _ := strings.Cut(page[at+max(i, 0):], "\n")
			if i < 0 || !strings.Contains(row, s.ID) {
				t.Errorf("%s: its line %q does not stand behind those before it", s.ID, s.Log)
			}
			at += max(i, 0)
		}
	})
}

func TestAFewMisconceptionsAreEnough(t *testing.T) {
	all := labs.BuiltinGuide().Misconceptions
	if len(all) > 18 {
		t.Errorf("%d misconceptions, about fifteen are wanted", len(all))
	}
	pages := 0
	for _, m := range all {
		pages += len(m.Pages)
	}
	if pages > 25 {
		t.Errorf("they stand in %d places", pages)
	}
	if !slices.ContainsFunc(all, func(m labs.Misconception) bool { return m.ID == "bootstrap-in-get-nodes" }) {
		t.Error("the most common one is missing")
	}
}
