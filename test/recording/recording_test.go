package recording

import (
	"encoding/xml"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/test/checkout"
	"bootlab/test/podman"
)

var update = flag.Bool("update", false, "draw the recording again")

// The recording: a script by steps.
const (
	picture = "docs/make-pki.svg"
	title   = "A terminal: make-pki.sh --step runs the first step, shows the commands of the second, runs all others, and ends with its checks"
	command = "mylab/out/scripts/make-pki.sh --step"
)

// first and last lines of the recording; those between are left out.
const (
	first = 20
	last  = 8
)

func session(t *testing.T) *Session {
	t.Helper()
	for _, name := range Programs {
		if _, err := exec.LookPath(name); err != nil {
			podman.Unavailable(t, "no "+name+" on this machine")
		}
	}
	s, err := NewSession(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(checkout.Root(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (s *Session) run(t *testing.T, command string, answers ...string) []string {
	t.Helper()
	lines, err := s.Run(command, answers...)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// A reader types what the front page shows, in that order, and sees the same.
func TestTheFrontPageShowsWhatItsCommandsPrint(t *testing.T) {
	s := session(t)
	shown := Console(read(t, "README.md"))
	if len(shown) < 5 || shown[0].Command != "./setup lab" {
		t.Fatalf("the commands are %v", shown)
	}
	for _, command := range shown {
		if len(command.Lines) == 0 {
			t.Errorf("%s is shown without output", command.Command)
		}
		if err := command.Compare(s.run(t, command.Command)); err != nil {
			t.Error(err)
		}
	}
	// The recording begins without keys.
	if err := os.RemoveAll(filepath.Join(s.Dir, "mylab", "out", "work")); err != nil {
		t.Fatal(err)
	}
	printed := s.run(t, command, "", "c", "", "a")
	if !slices.Contains(printed, "  signer root-ca 10y") {
		t.Fatalf("a script that is called by a relative path does not show the commands of a step:\n%s", strings.Join(printed, "\n"))
	}
	lines := append([]string{"$ " + command}, printed[:first]...)
	lines = append(append(lines, cut), printed[len(printed)-last:]...)
	if *update {
		if err := os.WriteFile(filepath.Join(checkout.Root(), picture), []byte(Draw(title, lines)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if mask(Draw(title, lines)) != mask(read(t, picture)) {
		t.Errorf("%s does not show what the command prints:\n%s\ngo -C test test ./recording -run FrontPage -update draws it again", picture, strings.Join(lines, "\n"))
	}
}

func TestComparisonFindsWhatIsNotPrinted(t *testing.T) {
	printed := []string{"one", "two 2", "", "three"}
	for _, c := range []struct {
		shown string
		same  bool
	}{
		{"one|two 7||three", true},
		{"one|...|three", true},
		{"...|two 2|...", true},
		{"...", true},
		{"one|three", false},
		{"two 2||three", false},
		{"one|two 2", false},
		{"one|...|two 3|three", false},
		{"...|three|one", false},
		{"one|two 2||three|four", false},
	} {
		err := Shown{"command", strings.Split(c.shown, "|")}.Compare(printed)
		if (err == nil) != c.same {
			t.Errorf("%s: %v", c.shown, err)
		}
	}
}

func TestConsoleBlocksAreRead(t *testing.T) {
	got := Console("$ no\n```sh\n$ no\n```\n```console\n$ first\na\n\nb\n\n$ second\n```\n$ no\n")
	if len(got) != 2 || got[0].Command != "first" || !slices.Equal(got[0].Lines, []string{"a", "", "b"}) || got[1].Command != "second" || len(got[1].Lines) != 0 {
		t.Errorf("%q", got)
	}
}

func TestPictureHoldsItsText(t *testing.T) {
	lines := []string{"$ a < b & c", "    indented", cut}
	var svg struct {
		Title string   `xml:"title"`
		Lines []string `xml:"text"`
	}
	err := xml.Unmarshal([]byte(Draw("a & b", lines)), &svg)
	if err != nil || svg.Title != "a & b" || !slices.Equal(svg.Lines, lines) {
		t.Errorf("%q %v", svg, err)
	}
}

func TestAnswersStandBehindQuestions(t *testing.T) {
	ask := "    [Enter] run it, q stop: "
	got, err := typed("==> 1.\n"+ask+"commands\n"+ask+"done\n", []string{"c", ""})
	if want := "==> 1.\n" + ask + "c\ncommands\n" + ask + "\ndone\n"; err != nil || got != want {
		t.Errorf("%q %v", got, err)
	}
	if _, err := typed(ask, nil); err == nil {
		t.Error("a question without answer is no error")
	}
}
