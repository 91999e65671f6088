package generator

import (
	"bytes"
	"flag"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

var reading = flag.Bool("reading", false, "print how much there is to read for each script of the default lab")

// The contract: how much a person reads at most. A code line is a line after
// shfmt that is neither blank nor a comment; lines of here documents count.
const (
	renderCode      = 60  // code of a render without the operator's command
	renderLines     = 110 // all lines of a render without its head and its notes on flags
	renderWithLibs  = 450 // code of a render and of every library that it loads
	checkCode       = 60  // more with the checks and what they load
	stageLibrary    = 150 // code of lib/stage.sh
	mostSteps       = 12  // prompts of --step
	longestCodeLine = 100 // columns, but for flags of an operator and values of the lab
)

var scriptCode = map[string]int{"start-bootstrap.sh": 120, "make-pki.sh": 250, "make-manifests.sh": 600,
	// These three without stageTable.
	"run-bootkube-until.sh": 133, "unpack-bootstrap-ignition.sh": 145, "render-all.sh": 130}

// stageTable is what grows with each stage of bootkube.sh: a setting with one stage
// a line, or the names of their directories; or the order, one call a line.
var stageTable = regexp.MustCompile(`(?m)^(?:(?:BOOTKUBE_STAGES|reserved)='((?:[^'\n]*\n)*)|chain\(\) \{.*\n((?:  .*\n)*)\})`)

const otherScriptCode = 150

// measured is how much there is to read in a file.
type measured struct {
	code     int // lines of code
	operator int // those of them that are the command of the operator
	body     int // all lines without the head and the notes on flags
	loads    []string
	steps    int
}

// measure counts a script that shfmt can read.
func measure(text string) (measured, error) {
	m := measured{loads: loaded(text)}
	printed, err := formatted(text)
	if err != nil {
		return m, err
	}
	for _, line := range strings.Split(printed, "\n") {
		if strings.TrimSpace(line) != "" {
			m.code++
		}
	}
	f, err := syntax.NewParser().Parse(strings.NewReader(printed), "")
	if err != nil {
		return m, err
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if isOperator(n) {
				m.operator += int(n.End().Line() - n.Pos().Line() + 1)
			}
		case *syntax.IfClause:
			if isStep(n) {
				m.steps++
			}
		}
		return true
	})
	_, body, _ := strings.Cut(text, "\nset -Eeuo pipefail\n")
	m.body = strings.Count(notRead.ReplaceAllString(flagNotes.ReplaceAllString(body, ""), ""), "\n") + 1
	return m, nil
}

// notRead are directives for shellcheck.
var notRead = regexp.MustCompile(`(?m)^ *# shellcheck .*\n`)

// flagNotes are the comments on the flags of a podman run.
var flagNotes = regexp.MustCompile(`(?m)^  # --[a-z0-9-]+: .*\n(  # .*\n)*`)

// formatted is a script as shfmt writes it, without its comments.
func formatted(text string) (string, error) {
	f, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	p := syntax.NewPrinter(syntax.Indent(2), syntax.SwitchCaseIndent(true), syntax.SpaceRedirects(true))
	err = p.Print(&b, f)
	return b.String(), err
}

func literals(c *syntax.CallExpr) []string {
	var out []string
	for _, w := range c.Args {
		out = append(out, w.Lit())
	}
	return out
}

// isOperator says whether a statement is a podman run under the name of a stage's
// container, or adds one of the flags that are not always given.
func isOperator(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		w := literals(c)
		return len(w) > 2 && w[0] == "podman" && w[1] == "run" && slices.Contains(w, "--name") || len(w) == 0 && setsFlags(c) && s.Pos().Col() == 1
	case *syntax.BinaryCmd:
		added, ok := c.Y.Cmd.(*syntax.CallExpr)
		return ok && setsFlags(added)
	}
	return false
}

func setsFlags(c *syntax.CallExpr) bool {
	return len(c.Assigns) == 1 && c.Assigns[0].Name.Value == "additional_flags"
}

// isStep says whether a condition is step, alone or after a part.
func isStep(c *syntax.IfClause) bool {
	if len(c.Cond) != 1 {
		return false
	}
	command := c.Cond[0].Cmd
	if both, ok := command.(*syntax.BinaryCmd); ok {
		command = both.Y.Cmd
	}
	call, ok := command.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && call.Args[0].Lit() == "step"
}

var sourceLine = regexp.MustCompile(`(?m)^[^#\n]*\bsource "\$\{SCRIPTS\}/(lib/[a-z-]+\.sh)"`)

// loaded are the libraries that a file sources itself.
func loaded(text string) []string {
	var out []string
	for _, m := range sourceLine.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// readable is an output with what was measured of it.
type readable struct {
	files map[string]string
	known map[string]measured
}

func (r *readable) of(t testing.TB, file string) measured {
	t.Helper()
	text := r.files[file]
	if m, ok := r.known[text]; ok {
		return m
	}
	m, err := measure(text)
	if err != nil {
		t.Errorf("%s: %v", file, err)
	}
	r.known[text] = m
	return m
}

// libraries are those that a file of a directory loads, and those that they load.
// What a mode such as --dry-run loads counts too: it is shown, so it is read.
func (r *readable) libraries(t testing.TB, dir, file string) []string {
	t.Helper()
	var out []string
	for queue := r.of(t, file).loads; len(queue) > 0; queue = queue[1:] {
		if slices.Contains(out, queue[0]) {
			continue
		}
		if r.files[dir+"/"+queue[0]] == "" {
			t.Fatalf("%s loads %s, which is not there", file, queue[0])
		}
		out = append(out, queue[0])
		queue = append(queue, r.of(t, dir+"/"+queue[0]).loads...)
	}
	return out
}

// withLibraries is the code of a script and of all that it loads.
func (r *readable) withLibraries(t testing.TB, dir, file string) int {
	sum := r.of(t, file).code
	for _, name := range r.libraries(t, dir, file) {
		sum += r.of(t, dir+"/"+name).code
	}
	return sum
}

// isStage says whether a script has the shape of a stage: all but the one that runs
// the others have.
func isStage(text string) bool { return strings.Contains(text, "\nbegin \"$@\"\n") }

// everyOutput calls visit with the texts of each of outputs, and of a lab with
// mirrors, a CA and a proxy.
func everyOutput(t *testing.T, visit func(t *testing.T, files map[string]string)) {
	for _, o := range outputs() {
		t.Run(o[0]+" "+o[1], func(t *testing.T) { visit(t, rendered(t, o[0], o[1]).files) })
	}
	t.Run("mirrors, CA and proxy", func(t *testing.T) {
		files := map[string]string{}
		for name, f := range renderKeys(t, registryKeys) {
			files[name] = string(f.Data)
		}
		visit(t, files)
	})
}

func TestAPersonReadsAScriptInOneSitting(t *testing.T) {
	known := map[string]measured{}
	seen := map[string]bool{}
	everyOutput(t, func(t *testing.T, files map[string]string) {
		r := &readable{files, known}
		for file, text := range files {
			dir, name := path.Split(file)
			dir = strings.TrimSuffix(dir, "/")
			if path.Ext(file) != ".sh" || seen[text] {
				continue
			}
			seen[text] = true
			switch path.Base(dir) {
			case "scripts", "node":
				r.script(t, dir, file)
			case "lib":
				if code := r.of(t, file).code; name == "stage.sh" && code > stageLibrary {
					t.Errorf("%s has %d lines of code, more than %d", file, code, stageLibrary)
				}
			}
			longLines(t, file, text)
		}
	})
}

func (r *readable) script(t *testing.T, dir, file string) {
	t.Helper()
	m, name := r.of(t, file), path.Base(file)
	limit := otherScriptCode
	if n := scriptCode[name]; n > 0 {
		limit = n
	}
	render := m.operator > 0 && strings.HasPrefix(name, "render-")
	if render {
		limit = renderCode + m.operator
		if m.body > renderLines {
			t.Errorf("%s has %d lines without its head and the notes on flags, more than %d", file, m.body, renderLines)
		}
		sum := r.withLibraries(t, dir, file)
		if sum > renderWithLibs {
			t.Errorf("%s and its libraries have %d lines of code, more than %d", file, sum, renderWithLibs)
		}
		if sum += r.withLibraries(t, dir, dir+"/checks/"+name); sum > renderWithLibs+checkCode {
			t.Errorf("%s, its libraries and its checks have %d lines of code, more than %d", file, sum, renderWithLibs+checkCode)
		}
	}
	code := m.code
	if table := stageTable.FindStringSubmatch(r.files[file]); table != nil {
		code -= strings.Count(table[1]+table[2], "\n")
	}
	if code > limit {
		t.Errorf("%s has %d lines of code, more than %d", file, code, limit)
	}
	if name != chainScript+".sh" && m.steps == 0 || m.steps > mostSteps {
		t.Errorf("%s has %d steps, not 1 to %d", file, m.steps, mostSteps)
	}
}

var flagLine = regexp.MustCompile(`^( +("?-|additional_flags)|(export )?[A-Z_]+\+?=\$?'|[a-z-]+ [a-z-]+ [a-z-]+\.done [a-z-]+$)`)

// longLines leaves out the text of files that a script writes: their bytes are
// the installer's.
func longLines(t *testing.T, file, text string) {
	t.Helper()
	end := ""
	for i, line := range strings.Split(text, "\n") {
		if end != "" {
			if line == end {
				end = ""
			}
			continue
		}
		if m := hereDoc.FindStringSubmatch(line); m != nil && m[2] != "COMMAND" {
			end = m[2]
		}
		if n := len([]rune(line)); n > longestCodeLine && !flagLine.MatchString(line) {
			t.Errorf("%s:%d has %d columns, more than %d", file, i+1, n, longestCodeLine)
		}
	}
}

// A script of the workstation does not say that it writes to the host: what stands
// in for / is below work/.
func TestAScriptOfTheWorkstationNamesWhereItWrites(t *testing.T) {
	seen := 0
	everyOutput(t, func(t *testing.T, files map[string]string) {
		for file, text := range files {
			if path.Dir(file) != "scripts" || path.Ext(file) != ".sh" {
				continue
			}
			_, written, _ := strings.Cut(text, "\n# Writes:")
			for i, line := range strings.Split(written, "\n") {
				if i > 0 && !strings.HasPrefix(line, "#         ") {
					break
				}
				name := strings.TrimLeft(line, "# ")
				if strings.HasPrefix(name, "/") {
					t.Errorf("%s writes %s", file, name)
				}
				if strings.HasPrefix(name, "work/host/") {
					seen++
				}
			}
		}
	})
	if seen == 0 {
		t.Error("no script writes below work/host")
	}
}

// Every script but the one that runs the others is of one shape.
func TestEveryScriptIsReadFromTopToBottom(t *testing.T) {
	everyOutput(t, func(t *testing.T, files map[string]string) {
		for file, text := range files {
			if dir := path.Dir(file); path.Ext(file) == ".sh" && (dir == "scripts" || dir == "node") && path.Base(file) != chainScript+".sh" && !isStage(text) {
				t.Errorf("%s does not begin, step and finish", file)
			}
		}
	})
}

// protocol are the lines by which --dry-run finds the settings and the steps.
var protocol = regexp.MustCompile(`^(source |begin |if step |fi( 9>&-)?$|finish)`)

// In a step only programs run that a reader has, and no line of a text in it can
// be taken for the end of the step.
func TestAStepHoldsNothingButPrograms(t *testing.T) {
	seen := map[string]bool{}
	everyOutput(t, func(t *testing.T, files map[string]string) {
		functions := map[string]bool{}
		for file, text := range files {
			// A program in lib/ has functions of its own; nothing sources it.
			if path.Base(path.Dir(file)) != "lib" || strings.Contains(text, "\n# A program: ") {
				continue
			}
			for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)\(\) \{`).FindAllStringSubmatch(text, -1) {
				functions[m[1]] = true
			}
		}
		if len(functions) < 20 {
			t.Fatalf("only %d functions in the libraries", len(functions))
		}
		for file, text := range files {
			if path.Ext(file) != ".sh" || !isStage(text) || seen[text] {
				continue
			}
			seen[text] = true
			f, err := syntax.NewParser().Parse(strings.NewReader(text), file)
			if err != nil {
				t.Fatal(err)
			}
			syntax.Walk(f, func(n syntax.Node) bool {
				if c, ok := n.(*syntax.IfClause); ok && isStep(c) {
					programsOnly(t, file, text, c, functions)
				}
				return true
			})
		}
	})
}

func programsOnly(t *testing.T, file, text string, step *syntax.IfClause, functions map[string]bool) {
	t.Helper()
	for _, stmt := range step.Then {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && functions[c.Args[0].Lit()] {
				t.Errorf("%s:%d calls %s of a library in a step", file, c.Pos().Line(), c.Args[0].Lit())
			}
			return true
		})
	}
	lines := strings.Split(text, "\n")
	for i := step.Pos().Line(); i < step.FiPos.Line()-1; i++ {
		if protocol.MatchString(lines[i]) {
			t.Errorf("%s:%d is taken for a line of the script's own: %s", file, i+1, lines[i])
		}
	}
}

// TestReadingTable prints, with -reading, what the contract counts.
func TestReadingTable(t *testing.T) {
	if !*reading {
		t.Skip("-reading prints the table")
	}
	r := &readable{map[string]string{}, map[string]measured{}}
	var scripts []string
	for _, f := range render(t, "compact", "4.21").Files {
		r.files[f.Path] = string(f.Data)
		if dir := path.Dir(f.Path); path.Ext(f.Path) == ".sh" && (dir == "scripts" || dir == "node") && !strings.HasSuffix(f.Path, "-lib.sh") {
			scripts = append(scripts, f.Path)
		}
	}
	fmt.Printf("%-36s %6s %9s %6s %10s %7s %6s\n", "script", "code", "operator", "lines", "libraries", "checks", "sum")
	for _, file := range scripts {
		dir, name := path.Dir(file), path.Base(file)
		if dir == "node" && r.files["scripts/"+name] != "" {
			continue
		}
		m := r.of(t, file)
		if !isStage(r.files[file]) {
			fmt.Printf("%-36s %6d %9s %6s   runs the others\n", file, m.code, "", "")
			continue
		}
		all, checks := r.withLibraries(t, dir, file), r.withLibraries(t, dir, dir+"/checks/"+name)
		fmt.Printf("%-36s %6d %9d %6d %10d %7d %6d\n", file, m.code, m.operator, m.body, all-m.code, checks, all+checks)
	}
}
