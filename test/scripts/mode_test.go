package scripts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
)

// modes are what every script takes, beside no argument at all.
var modes = []string{"--explain", "--dry-run", "--step", "--verify", "--force", "--help"}

func TestHelpNamesEveryModeAndChangesNothing(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		r := l.Must(t, s.ScriptName(), "--help")
		r.Want(t, 0, append([]string{"Usage: " + s.ScriptName()}, modes...)...)
		for _, o := range s.Options {
			r.Want(t, 0, o.Option, o.Why)
		}
	})
}

func TestExplainTellsWhatAndWhyAndChangesNothing(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		r := l.Must(t, s.ScriptName(), "--explain")
		r.Want(t, 0, s.Title)
		said := words(r.Out)
		for _, text := range []string{s.Why} {
			if !strings.Contains(said, words(text)) {
				t.Errorf("not said: %s\n%s", text, r.Out)
			}
		}
		if strings.Contains(r.Out, "shellcheck") || strings.Contains(r.Out, "#!/") {
			t.Errorf("said to a reader: %s", r.Out)
		}
	})
}

// words takes line breaks out of a text.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

func TestDryRunOnAFreshLabMakesNothing(t *testing.T) {
	t.Parallel()
	l, reg := pulling(t)
	before := l.Snapshot(t)
	for _, s := range Stages(t, release, labs.Local) {
		l.Must(t, s.ScriptName(), "--dry-run")
	}
	before.Same(t, l.Snapshot(t))
	if _, err := os.Stat(filepath.Join(l.Dir, "out", "work")); err == nil {
		t.Error("out/work was made")
	}
	if pulls := reg.Pulls(l.Release.ReleaseRepository) + reg.Pulls(l.Release.Repository); pulls > 0 {
		t.Errorf("%d images were pulled", pulls)
	}
}

func TestDryRunOnAFinishedLabChangesNothing(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		l.Must(t, s.ScriptName(), "--dry-run", "--force")
	})
}

// random are parts of commands that differ from run to run.
var random = regexp.MustCompile(`0x[0-9a-f]{8,}`)

func commands(text string) []string {
	var list []string
	for _, line := range strings.Split(text, "\n") {
		if what, ok := announced(line); ok {
			list = append(list, random.ReplaceAllString(what, "0xRANDOM"))
		}
	}
	return list
}

func TestForceDoesAgainWhatDryRunShows(t *testing.T) {
	someScripts(t, 4, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Apart(t)
		marker := l.markers(s)[0]
		before, err := os.Stat(marker)
		if err != nil {
			t.Fatal(err)
		}
		planned := commands(l.Must(t, s.ScriptName(), "--dry-run", "--force").Out)
		r := l.Must(t, s.ScriptName(), "--force")
		r.Says(t, s.ID+" is done")
		after, err := os.Stat(marker)
		if err != nil || !after.ModTime().After(before.ModTime()) {
			t.Errorf("the marker is not new: %v", err)
		}
		allGood(t, l, s)
		if unplanned := missing(planned, commands(r.All)); len(unplanned) > 0 {
			t.Errorf("run but not shown before, or in another order:\n%s\nshown were\n%s",
				strings.Join(unplanned, "\n"), strings.Join(planned, "\n"))
		}
	})
}

// missing gives the commands that were run and not shown, in this order,
// before. Markers of later stages are only there to be removed in a real run.
func missing(planned, done []string) []string {
	var unplanned []string
	for _, c := range done {
		if at := slices.Index(planned, c); at >= 0 {
			planned = planned[at+1:]
		} else if !strings.HasPrefix(c, "rm --force ") {
			unplanned = append(unplanned, c)
		}
	}
	return unplanned
}

func TestTheEndOfInputStopsAStepByStepRun(t *testing.T) {
	eachScript(t, func(t *testing.T, good *Lab, s *labs.Stage) {
		l := good.Clone(t)
		l.Undo(t, s)
		r := l.Run(t, s.ScriptName(), "--step")
		r.Want(t, 1)
		if n := len(commands(r.All)); n != 1 {
			t.Errorf("%d commands are shown, not the first alone:\n%s", n, r.All)
		}
		for _, marker := range l.markers(s) {
			if _, err := os.Stat(marker); err == nil {
				t.Errorf("%s says that it is done", marker)
			}
		}
		if result := Last(l.Records(t), s.RecordName()); result != "failure" {
			t.Errorf("recorded as %q", result)
		}
	})
}

func TestVerifyOnAFreshLabFailsInOrder(t *testing.T) {
	t.Parallel()
	l := NewLab(t, podman.New(t, podman.Ordinary(t), Registry(t)), Options{})
	for _, s := range Stages(t, release, labs.Local) {
		r := l.Run(t, s.ScriptName(), "--verify")
		r.Want(t, 4)
		if want := "TAP version 14\nnot ok 1 - done: not run yet; run " + s.ScriptName() + " first\n1..1\n"; r.Out != want {
			t.Errorf("%s says\n%s", s.ID, r.Out)
		}
	}
	if _, err := os.Stat(filepath.Join(l.Dir, "out", "work")); err == nil {
		t.Error("out/work was made")
	}
}

func TestVerifyChangesNothing(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		allGood(t, l, s)
	})
}

func TestASecondRunChangesNothing(t *testing.T) {
	unchanged(t, func(t *testing.T, l *Lab, s *labs.Stage) {
		l.Must(t, s.ScriptName()).Says(t, "done already")
	})
}
