package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
)

// What a page tells people to type must exist: commands, flags, scripts and
// their options, make targets, files.

var pages = readerPages()

// readerPages are those on the front, and all that stand in docs.
func readerPages() []string {
	found, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(found) == 0 {
		panic(fmt.Sprintf("no pages in docs: %v", err))
	}
	list := []string{"README.md", "CONTRIBUTING.md"}
	for _, file := range found {
		list = append(list, "docs/"+filepath.Base(file))
	}
	return list
}

// promise is one command of a page.
type promise struct {
	page  string
	line  int
	words []string
}

func (p promise) String() string {
	return fmt.Sprintf("%s:%d: %s", p.page, p.line, strings.Join(p.words, " "))
}

// page reads a file of the repository.
func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var inline = regexp.MustCompile("`([^`]+)`")

// promises finds the commands of a page: each line of a sh block, what stands
// behind the prompt in a console block, and whatever stands in backquotes.
func promises(name, text string) []promise {
	var found []promise
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		var commands []string
		switch rest, isFence := strings.CutPrefix(line, "```"); {
		case isFence && fence == "":
			fence = "in " + rest
		case isFence:
			fence = ""
		case fence == "in sh":
			command, _, _ := strings.Cut(line, "#")
			commands = []string{command}
		case fence == "in console":
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				commands = []string{command}
			}
		case fence == "":
			for _, match := range inline.FindAllStringSubmatch(line, -1) {
				commands = append(commands, match[1])
			}
		}
		for _, command := range commands {
			if words := strings.Fields(command); len(words) > 0 {
				found = append(found, promise{name, i + 1, words})
			}
		}
	}
	return found
}

// judge looks at what a page promises.
type judge struct {
	t       *testing.T
	targets []string
	lab     string // a generated lab
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	j := &judge{t: t, lab: sharedLab(t)}
	for _, match := range regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(page(t, "Makefile"), -1) {
		j.targets = append(j.targets, match[1])
	}
	return j
}

// kept gives an error for a promise that is not kept; known is false for what
// is no command of ours.
func (j *judge) kept(words []string) (known bool, err error) {
	name, arguments := words[0], words[1:]
	switch {
	case name == "./setup" && len(arguments) > 0:
		if !strings.Contains(page(j.t, "setup"), "1-"+arguments[0]+")") && !strings.Contains(page(j.t, "setup"), "1-"+arguments[0]+" |") {
			return true, fmt.Errorf("setup has no %s", arguments[0])
		}
		return true, nil
	case name == "make" && len(arguments) > 0:
		if !slices.Contains(j.targets, arguments[0]) {
			return true, fmt.Errorf("the Makefile has no documented target %s", arguments[0])
		}
		return true, nil
	case (name == "bin/bootlab" || name == "bootlab") && len(arguments) > 0:
		return true, j.command(arguments)
	case strings.HasPrefix(name, "mylab/"):
		return true, j.generated(strings.TrimPrefix(name, "mylab/"), arguments)
	case strings.HasSuffix(name, ".sh") && !strings.ContainsAny(name, "*/") && name != "bootkube.sh":
		if _, err := os.Stat(filepath.Join(j.lab, "out", "scripts", name)); err != nil {
			return true, j.generated("out/node/"+name, arguments) // the bootstrap node's alone
		}
		return true, j.generated("out/scripts/"+name, arguments)
	}
	return false, nil
}

// command parses a command line of bootlab without running it.
func (j *judge) command(arguments []string) error {
	if i := slices.Index(arguments, ">"); i >= 0 {
		arguments = arguments[:i] // the shell's
	}
	io := cli.Streams{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}
	c, rest, err := newRootCommand(io).Find(arguments)
	if err != nil {
		return err
	}
	if c.DisableFlagParsing {
		if _, stderr, status := bootlab(arguments...); status != exitDone {
			return fmt.Errorf("%s", stderr)
		}
		return nil
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if c.Args == nil || len(rest) == 0 { // a command may be named without more
		return nil
	}
	return c.Args(c, c.Flags().Args())
}

// generated looks for a file that the default lab has, and for the options of
// a script in what it says of itself.
func (j *judge) generated(name string, options []string) error {
	if strings.HasPrefix(name, "out/work") {
		return nil // made by the scripts
	}
	path := filepath.Join(j.lab, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil || len(options) == 0 {
		return err
	}
	help, err := exec.Command("bash", path, "--help").CombinedOutput()
	if err != nil {
		return fmt.Errorf("--help: %w: %s", err, help)
	}
	for i, option := range options {
		if i > 0 && !strings.HasPrefix(option, "-") && strings.HasPrefix(options[i-1], "-") {
			continue // the value of the option before it
		}
		option, _, _ := strings.Cut(option, "=")
		if !bytes.Contains(help, []byte(option+" ")) && !bytes.Contains(help, []byte(option+"=")) {
			return fmt.Errorf("no option %s", option)
		}
	}
	return nil
}

func TestThePagesNameOnlyCommandsThatExist(t *testing.T) {
	j := newJudge(t)
	least := map[string]int{"README.md": 5, "CONTRIBUTING.md": 5}
	for _, name := range pages {
		count := 0
		for _, p := range promises(name, page(t, name)) {
			known, err := j.kept(p.words)
			if err != nil {
				t.Errorf("%s: %v", p, err)
			}
			if known {
				count++
			}
		}
		if want := max(least[name], 2); count < want {
			t.Errorf("%s: only %d commands were recognised, not %d", name, count, want)
		}
	}
}

func TestWrongPromisesAreFound(t *testing.T) {
	j := newJudge(t)
	for _, command := range []string{
		"./setup everything",
		"make coffee",
		"bin/bootlab destroy mylab",
		"bin/bootlab generate mylab --fast",
		"bin/bootlab init one two",
		"bin/bootlab explain render-nothing",
		"mylab/out/scripts/render-everything.sh",
		"mylab/out/scripts/make-pki.sh --fast",
		"make-coffee.sh",
	} {
		if known, err := j.kept(strings.Fields(command)); !known || err == nil {
			t.Errorf("%s: known %v, no complaint", command, known)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)]+)\)`)

// broken lists the links of a page that lead nowhere: to no file, or to no
// heading of a page.
func broken(t *testing.T, name, text string) []string {
	t.Helper()
	var list []string
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		if strings.Contains(match[1], "://") {
			continue
		}
		file, heading, _ := strings.Cut(match[1], "#")
		target := name
		if file != "" {
			target = path.Join(path.Dir(name), file)
		}
		if _, err := os.Stat(filepath.Join("..", "..", target)); err != nil {
			list = append(list, match[1])
			continue
		}
		if heading != "" && !slices.Contains(anchors(page(t, target)), heading) {
			list = append(list, match[1])
		}
	}
	return list
}

// anchors are the headings of a page, as a forge makes addresses of them.
func anchors(text string) []string {
	var list []string
	fenced := false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") {
			title := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
			list = append(list, regexp.MustCompile(`[^a-z0-9_ -]`).ReplaceAllString(strings.ReplaceAll(title, " ", "-"), ""))
		}
	}
	return list
}

func TestLinksOfThePagesLeadSomewhere(t *testing.T) {
	for _, name := range pages {
		for _, target := range broken(t, name, page(t, name)) {
			t.Errorf("%s: %s leads nowhere", name, target)
		}
	}
}

func TestBrokenLinksAreFound(t *testing.T) {
	text := "[a](setup.md) [b](nothing.md) [c](setup.md#what-each-step-needs) [d](setup.md#nothing) [e](#nothing) [f](../setup)"
	if got := broken(t, "docs/README.md", text); !slices.Equal(got, []string{"nothing.md", "setup.md#nothing", "#nothing"}) {
		t.Errorf("found %v", got)
	}
}

// Every page of docs is in the list of pages, which the README links.
func TestEveryPageIsLinked(t *testing.T) {
	list := page(t, "docs/README.md")
	for _, name := range pages {
		file, ok := strings.CutPrefix(name, "docs/")
		if ok && file != "README.md" && !strings.Contains(list, "]("+file+")") {
			t.Errorf("docs/README.md does not link %s", file)
		}
	}
	for _, file := range []string{"docs/README.md", "CONTRIBUTING.md"} {
		if !strings.Contains(page(t, "README.md"), "]("+file+")") {
			t.Errorf("README.md does not link %s", file)
		}
	}
}

// The README is read to its end: it is short, and the two set-up commands stand
// in their order.
func TestTheReadmeIsAFrontPage(t *testing.T) {
	readme := page(t, "README.md")
	if lines := strings.Count(readme, "\n"); lines > 120 {
		t.Errorf("README.md has %d lines, more than 120", lines)
	}
	at := -1
	for _, command := range []string{"\ngit clone ", "\n./setup lab\n", "\n./setup test\n"} {
		next := strings.Index(readme, command)
		if next <= at {
			t.Errorf("README.md: %q is missing, or stands too early", command)
		}
		at = next
	}
}

// docs/machines.md says what a lab's machines need; the labs that are shipped say
// it too.
func TestThePagesGiveTheSizesOfTheLabs(t *testing.T) {
	machinesPage := page(t, "docs/machines.md")
	for _, topology := range labs.Topologies {
		dir := filepath.Join(t.TempDir(), "mylab")
		if _, stderr, status := bootlab("init", dir, "--from", topology); status != exitDone {
			t.Fatal(stderr)
		}
		lab, problems := labs.LoadLab(dir, labs.Builtin())
		if errs := problems.Errors(); len(errs) > 0 {
			t.Fatal(errs)
		}
		machines := append([]labs.Machine{lab.Machines.Bootstrap}, lab.Machines.Masters...)
		machines = append(machines, lab.Machines.Workers...)
		var cpus, memory, disk int
		for _, m := range machines {
			cpus, memory, disk = cpus+m.CPUs, memory+m.Memory, disk+m.Disk
		}
		want := fmt.Sprintf("| `%s` | %d | %d | %d GiB | %d GiB |", topology, len(machines), cpus, memory/1024, disk)
		if !strings.Contains(machinesPage, want) {
			t.Errorf("docs/machines.md has no line %s", want)
		}
	}
}

// setup and docs/setup.md name the same Go.
func TestThePagesNameTheGoOfTheModule(t *testing.T) {
	match := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(page(t, "go.mod"))
	if match == nil || !strings.Contains(page(t, "docs/setup.md"), "bootlab needs Go "+match[1]+".") {
		t.Errorf("docs/setup.md does not name the Go of go.mod, %v", match)
	}
}

// The table of exit statuses of scripts has those of the library, and no other.
func TestThePagesGiveTheExitStatuses(t *testing.T) {
	var scripts []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d) \|`).FindAllStringSubmatch(page(t, "docs/local-run.md"), -1) {
		scripts = append(scripts, row[1])
	}
	head := page(t, "templates/scripts/lib/stage.sh.tmpl")
	_, head, _ = strings.Cut(head, "# Exit status")
	head, _, _ = strings.Cut(head, "\numask")
	head = strings.ReplaceAll(head, "\n#", "")
	var want []string
	for _, match := range regexp.MustCompile(`(?:: |, )(\d) `).FindAllStringSubmatch(head, -1) {
		want = append(want, match[1])
	}
	if !slices.Equal(scripts, want) || len(want) < 5 {
		t.Errorf("lib/stage.sh ends with %v, the page says %v", want, scripts)
	}
}
