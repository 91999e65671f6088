package generator

import (
	"strings"
	"testing"

	"bootlab/labs"
)

// The chapter tells of each lab and release what diagnose knows of it, and
// nothing else: every cause with what is seen, how, and what to do, and every
// line of evidence once.
func TestTheChapterOnHangsTellsWhatDiagnoseKnows(t *testing.T) {
	everyGuide(t, func(t *testing.T, p *labs.Plan, files map[string]string) {
		text := files["guide/troubleshooting.md"]
		mine := labs.BuiltinDiagnosis().For(p)
		here := map[string]bool{}
		for _, layer := range mine.Layers {
			if !strings.Contains(text, "\n## "+plain(layer.Title)+"\n\n**"+plain(layer.Ask)+"** "+plain(layer.Why)) {
				t.Errorf("layer %s is not told", layer.ID)
			}
			for _, s := range layer.Symptoms {
				if strings.Contains(s.ID, "/") {
					continue // on the page of its stage
				}
				here[s.ID] = true
				for _, part := range []string{"| " + cell(plain(s.Seen)) + " | " + cell(plain(s.Title)) + " |\n", "(`" + s.ID + "`", plain(s.Cause), lines(s.Command), plain(s.Fix)} {
					if !strings.Contains(text, part) {
						t.Errorf("symptom %s: not told: %s", s.ID, part)
					}
				}
			}
		}
		looked := map[string]bool{}
		for _, layer := range mine.Layers {
			for _, name := range named(layer) {
				e := mine.Find(name)
				if e == nil || looked[name] {
					continue
				}
				looked[name] = true
				if n := strings.Count(text, look(e)+"\n"); n != 1 {
					t.Errorf("evidence %s stands %d times", name, n)
				}
			}
		}
		for _, layer := range labs.BuiltinDiagnosis().Layers {
			for _, s := range layer.Symptoms {
				if !here[s.ID] && strings.Contains(text, "(`"+s.ID+"`") {
					t.Errorf("symptom %s is of another lab or release", s.ID)
				}
			}
		}
	})
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
		if wrapped := strings.Contains(text, "\n(\n"); wrapped == alone {
			t.Errorf("%q is shown as\n%s", run, text)
		}
	}
}
