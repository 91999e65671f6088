package recording

import (
	"bufio"
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
	env := podman.New(t, podman.Accounts(t)[0])
	for _, variable := range env.Environ() {
		if strings.HasPrefix(variable, "CONTAINERS_") {
			s.Env = append(s.Env, variable)
		}
	}
	s.Offline = offline(t)
	return s
}

// offline gives a process in a network of its own, which has only loopback.
func offline(t *testing.T) int {
	t.Helper()
	if os.Getuid() != 0 {
		podman.Unavailable(t, "only root makes a network namespace")
	}
	cmd := exec.Command("unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity")
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "up\n" {
		t.Fatalf("no network namespace: %q, %v", line, err)
	}
	return cmd.Process.Pid
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

// A reader types what the front page shows, in that order, and sees the same. All
// but the set-up runs without a network.
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
	s.isADemo(t)
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

// isADemo looks at the demo that the page has made, and removes it.
func (s *Session) isADemo(t *testing.T) {
	t.Helper()
	for _, line := range s.run(t, "curl --silent --show-error --max-time 3 https://quay.io 2>&1 || echo 'no network'") {
		if !strings.Contains(line, "no network") && !strings.Contains(line, "curl: ") {
			t.Errorf("there is a network: %s", line)
		}
	}
	const says = "stand-in release made by bootlab: no operator in it is real"
	for command, want := range map[string]string{
		"cat demo/out/work/assets/release-info/stand-in":                                says,
		"demo/out/scripts/render-etcd.sh --verify":                                      "# " + says,
		"demo/out/scripts/render-etcd.sh":                                               "==> " + says,
		"head -n 1 demo/out/work/assets/etcd-bootstrap/etc-kubernetes/manifests/*.yaml": "# Written by bootlab's stand-in for cluster-etcd-operator, not by the real program.",
		"head -n 1 demo/out/work/assets/tls/etcd-client.crt":                            "# Written by bootlab's stand-in for cluster-etcd-operator, not by the real program.",
		"bin/bootlab verify demo render-etcd 2>&1":                                      "note: demo is a demo: its release image and operators are stand-ins made by bootlab",
		"bin/bootlab demo --remove mylab 2>&1 || true":                                  "error: mylab is no demo",
		"bin/bootlab demo mylab 2>&1 || true":                                           "error: mylab is a lab, and no demo",
		"bin/bootlab demo demo --release 4.14 2>&1 || true":                             "error: demo is a demo of release 4.21",
	} {
		if lines := s.run(t, command); !slices.Contains(lines, want) {
			t.Errorf("%s does not print %q:\n%s", command, want, strings.Join(lines, "\n"))
		}
	}
	s.run(t, "bin/bootlab demo --remove demo")
	if left := s.run(t, "podman image ls --quiet; ls -d demo 2> /dev/null || true"); !slices.Equal(left, []string{""}) {
		t.Errorf("removed, and still there: %q", left)
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
