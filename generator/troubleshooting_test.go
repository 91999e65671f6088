package generator

import (
	"strings"
	"testing"

	"bootlab/labs"
)

// Each lab and release has what diagnose knows of it, and nothing else: a page for
// every question, a page for every cause, and every line of evidence once.
func TestEveryCauseHasAnAddress(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		mine := labs.BuiltinDiagnosis().For(p)
		own := (&renderer{plan: p}).ownWords
		pages := map[string]bool{}
		all := ""
		for _, layer := range mine.Layers {
			text := files["guide/layers/"+layer.ID+".md"]
			all += text
			if !strings.Contains(text, "# "+plain(layer.Title)+"\n\n**"+plain(layer.Ask)+"** "+plain(layer.Why)) {
				t.Errorf("layer %s is not told", layer.ID)
			}
			if !strings.Contains(files["guide/troubleshooting.md"], ". "+plain(layer.Ask)+" If not: ["+plain(layer.Title)+"](layers/"+layer.ID+".md)\n") {
				t.Errorf("the questions do not lead to %s", layer.ID)
			}
			for _, s := range layer.Symptoms {
				page, section, _ := strings.Cut(s.Address(), "#")
				cause := files["guide/"+page+".md"]
				if cause == "" || section != "" && !headings(cause)[section] {
					t.Errorf("%s has no page %s", s.ID, s.Address())
				}
				if section != "" {
					continue // among the usual failures of its stage
				}
				pages["guide/"+page+".md"] = true
				if !strings.Contains(text, "| "+cell(plain(s.Seen))+" | ["+cell(plain(s.Title))+"](../"+page+".md)") {
					t.Errorf("layer %s does not link to %s", layer.ID, s.ID)
				}
				for _, part := range []string{"# " + plain(s.Title) + "\n", plain(s.Seen), plain(s.Cause), own(plain(s.Fix)), "](../layers/" + layer.ID + ".md)"} {
					if !strings.Contains(cause, part) {
						t.Errorf("symptom %s: not told: %s", s.ID, part)
					}
				}
				allCommands(t, s, cause)
			}
		}
		for name := range files {
			if strings.HasPrefix(name, "guide/causes/") && !pages[name] {
				t.Errorf("%s is of another lab or release", name)
			}
		}
		looked := map[string]bool{}
		for _, layer := range mine.Layers {
			for _, name := range named(layer) {
				if e := mine.Find(name); e != nil && !looked[name] {
					looked[name] = true
					if n := strings.Count(all, "\n"+plain(e.Title)+", "+placeName(e)+":\n\n```bash\n"+look(e)+"\n```\n"); n != 1 {
						t.Errorf("evidence %s stands %d times", name, n)
					}
				}
			}
		}
	})
}

// allCommands: the blocks of a page hold all commands that show the cause, and no words.
func allCommands(t *testing.T, s labs.Symptom, page string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(s.Command), "\n") {
		line = typedHere(line)
		where, isPlace := strings.CutPrefix(line, "# ")
		if isPlace && !strings.Contains(page, "\n"+sentenceCase(where)) || !isPlace && !strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("symptom %s: not told: %s", s.ID, line)
		}
		if isPlace && strings.Contains(page, "\n"+line+"\n") {
			t.Errorf("symptom %s: %q is among the commands", s.ID, line)
		}
	}
}

// What stands in the data is no markdown, and nothing of it may become some.
func TestATextOfTheDataShowsAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"below *.apps, _x_ and `id`":   "below \\*.apps, \\_x\\_ and \\`id\\`",
		"<script> [a](http://x) ~~b~~": "&lt;script> \\[a\\](http://x) \\~\\~b\\~\\~",
		"# no heading":                 "\\# no heading",
		"- no list\n  of\ttwo":         "\\- no list of two",
		`C:\dir`:                       `C:\\dir`,
		"12. no list":                  `12\. no list`,
		".bootkube.done is there":      "\\.bootkube.done is there",
		"a plain sentence, with 2 > 1": "a plain sentence, with 2 > 1",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := cell(plain("a | b")); got != `a \| b` {
		t.Errorf("in a table %q", got)
	}
}

// Whoever pastes a line into a shell of root's keeps that shell, as it was.
func TestLinesToPasteLeaveTheShellAlone(t *testing.T) {
	for run, alone := range map[string]bool{
		"cat /proc/meminfo":                              true,
		"cd /var/log || exit 1\nls":                      false,
		"[[ -f x ]] || exit 0":                           false,
		"[[ -f x ]] || { echo no >&2; exit 1; }":         false,
		"export LC_ALL=C\ndf":                            false,
		"file=\"/var/log/x\"\ncat \"${file}\"":           false,
		"journalctl --unit=kubelet | grep 'exit status'": true,
	} {
		text := look(&labs.Evidence{Title: "x", On: labs.OnBootstrap, Run: run})
		if wrapped := strings.HasPrefix(text, "(\n"); wrapped == alone {
			t.Errorf("%q is shown as\n%s", run, text)
		}
	}
}
