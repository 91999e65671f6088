package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
)

// compactPlan is the plan of a shipped lab.
func compactPlan(t *testing.T) *labs.Plan {
	t.Helper()
	plan, err := cli.LoadPlan(cli.Streams{Err: io.Discard}, filepath.Join("..", "..", "..", "labs", "examples", "compact"))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// watched is the model over an empty local run, at a clock of its own.
func watched(t *testing.T) (m *watchModel, work string, now *time.Time) {
	t.Helper()
	work = t.TempDir()
	places := &host.Hosts{Here: host.Local{}, Local: true, AssetDir: filepath.Join(work, "assets"), Root: filepath.Join(work, "host")}
	m = newWatchModel(context.Background(), watch.NewWatch(compactPlan(t), places, nil), time.Second, newPaint(lipgloss.NewRenderer(io.Discard)))
	clock := noon
	m.now = func() time.Time { return clock }
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return m, work, &clock
}

// press gives the model a key.
func press(m *watchModel, name string) tea.Cmd {
	keys := map[string]tea.KeyType{"up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "esc": tea.KeyEsc, "ctrl+c": tea.KeyCtrlC}
	msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
	if kind, special := keys[name]; special {
		msg = tea.KeyMsg{Type: kind}
	}
	_, cmd := m.Update(msg)
	return cmd
}

func TestTheKeysDoWhatTheHelpSays(t *testing.T) {
	m, _, _ := watched(t)
	eye := m.watch.Eyes()[0]
	m.Update(sightMsg{eye, eye.Look(context.Background())})
	shows := func(text string) {
		t.Helper()
		if !strings.Contains(m.View(), text) {
			t.Errorf("no %q in:\n%s", text, m.View())
		}
	}
	shows("nothing has been done yet")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 12})
	for _, step := range []struct{ key, shows string }{
		{"home", "1-7 of"}, {"down", "2-8 of"}, {"down", "3-9 of"}, {"up", "2-8 of"}, {"up", "1-7 of"}, {"up", "1-7 of"}, {"pgdown", "9-15 of"}, {"home", "1-7 of"},
		{"?", "leave; nothing stops"}, {"?", "1-7 of"}, {"end", "render-cco"}, {"f", "1-7 of"},
	} {
		press(m, step.key)
		shows(step.shows)
	}
	for _, key := range []string{"q", "ctrl+c"} {
		if cmd := press(m, key); cmd == nil || cmd() != (tea.QuitMsg{}) {
			t.Errorf("%s does not leave", key)
		}
	}
}

func TestDiagnoseIsAskedOnceAtATimeAndItsCauseStandsBelow(t *testing.T) {
	m, _, _ := watched(t)
	asked := 0
	m.diagnose = func(context.Context) []string { asked++; return []string{"cause: the disk is full"} }
	cmd := press(m, "d")
	if press(m, "d") != nil || !strings.Contains(m.View(), "diagnose looks ...") {
		t.Errorf("it is asked twice, or not told:\n%s", m.View())
	}
	m.Update(cmd())
	if asked != 1 || !strings.Contains(m.View(), "cause: the disk is full") {
		t.Errorf("asked %d times:\n%s", asked, m.View())
	}
	press(m, "esc")
	if strings.Contains(m.View(), "disk is full") {
		t.Error("Esc does not take it away")
	}
	m.looks.close()
	if m.looks.begin() {
		t.Error("something may still begin")
	}
}

// A day of looks every two seconds, with something that changes each time.
func TestADayOfWatchingDoesNotGrow(t *testing.T) {
	m, _, now := watched(t)
	eye := m.watch.Eyes()[0]
	day := func(looks int) uint64 {
		for i := range looks {
			*now = now.Add(2 * time.Second)
			stages := []watch.Stage{{Name: "make-pki", State: watch.Runs, Attempt: i, Start: *now, Error: fmt.Sprint("message ", i)},
				{Name: fmt.Sprint("stage-", i%7), State: watch.Failed, Attempt: i}}
			sight := &watch.Sight{Of: eye.Of, At: *now, Stages: stages, Log: watch.LogLine{Stage: "x", Line: fmt.Sprint("line ", i)}}
			if i%50 == 0 {
				sight = &watch.Sight{Of: eye.Of, At: *now, Problem: fmt.Sprint("problem ", i)}
			}
			m.Update(sightMsg{eye, sight})
			m.Update(clockMsg{})
			if i%20 == 0 {
				m.View()
			}
		}
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before, goroutines := day(2000), runtime.NumGoroutine()
	after := day(86_400 / 2)
	if grown := int64(after) - int64(before); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if len(m.screen.changes) != keptChanges {
		t.Errorf("%d changes are kept", len(m.screen.changes))
	}
}

func TestPlainLinesAreOnePerChangeUntilNobodyReads(t *testing.T) {
	m, work, _ := watched(t)
	reader, writer := io.Pipe()
	ended := make(chan error)
	go func() { ended <- watchPlainly(context.Background(), writer, m.watch, 10*time.Millisecond) }()
	lines := make(chan string)
	go func() {
		data := make([]byte, 4096)
		for {
			n, err := reader.Read(data)
			if err != nil {
				close(lines)
				return
			}
			lines <- string(data[:n])
		}
	}()
	if line := <-lines; !strings.HasSuffix(line, "Z phase: nothing has been done yet\n") {
		t.Errorf("%q", line)
	}
	if err := os.MkdirAll(filepath.Join(work, "assets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "assets", "make-pki.done"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said string
	for !strings.Contains(said, "stage: make-pki: done\n") {
		select {
		case line := <-lines:
			said += line
		case <-time.After(20 * time.Second):
			t.Fatalf("it says only %q", said)
		}
	}
	reader.CloseWithError(errors.New("no reader"))
	if err := os.Remove(filepath.Join(work, "assets", "make-pki.done")); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil || err.Error() != "no reader" {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on without a reader")
	}
}
