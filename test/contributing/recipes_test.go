// Package contributing follows the recipes of CONTRIBUTING.md in a copy of the
// checkout, and runs the fast tests that judge what they add.
package contributing

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootlab/test/checkout"
	"bootlab/test/podman"
)

// recipe is a part of "Recipes" with the commands of its sh blocks, in order.
type recipe struct {
	title  string
	blocks []string
}

var shBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

func recipes(t *testing.T) []recipe {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkout.Root(), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Recipes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var list []recipe
	for _, part := range strings.Split(section, "\n### ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		r := recipe{title: title}
		for _, block := range shBlock.FindAllStringSubmatch(body, -1) {
			r.blocks = append(r.blocks, block[1])
		}
		if len(r.blocks) == 0 {
			t.Errorf("%s has no commands", title)
		}
		list = append(list, r)
	}
	if len(list) < 5 {
		t.Fatalf("only %d recipes were found", len(list))
	}
	return list
}

// follow runs the blocks of a recipe in a copy.
func (r recipe) follow(dir string) error {
	for i, block := range r.blocks {
		if out, err := run(dir, "bash", "-euo", "pipefail", "-c", block); err != nil {
			return fmt.Errorf("%s, block %d: %w\n%s", r.title, i+1, err, out)
		}
	}
	return nil
}

// run runs a program in a copy. Git must not take a repository around the copy
// for its own.
func run(dir, name string, arguments ...string) (string, error) {
	cmd := exec.Command(name, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// files are the paths of the checkout that a commit would hold; without
// a repository all but what setup and make put there.
func files(t *testing.T, root string) []string {
	t.Helper()
	var list []string
	if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
		out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && (path == "bin" || path == "mylab" || path == ".cache"):
			return fs.SkipDir
		case err == nil && !d.IsDir():
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// copyOf is a copy of the checkout.
func copyOf(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		podman.Unavailable(t, "git is not installed, with which the recipes change files")
	}
	root, dir := checkout.Root(), t.TempDir()
	count := 0
	for _, file := range files(t, root) {
		info, err := os.Lstat(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // deleted, and not committed yet; or a link
		}
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count < 500 {
		t.Fatalf("only %d files were copied", count)
	}
	return dir
}

// golden are the tests by which make golden writes what is generated.
var golden = judgement{[]string{"./generator", "./generator/diagram"},
	[]string{"TestTheDefaultLabGivesTheGoldenTree", "TestOtherLabsAndReleasesChangeWhatTheGoldenFilesSay", "TestNames"}}

// judgements are the fast tests that are concerned with what the recipes add.
var judgements = []judgement{
	{[]string{"./labs"}, []string{
		"TestParityOfStageDataAndOracleInEveryRelease", "TestCatalogLoadsAndHoldsTogether", "TestCatalogLeavesNoDataFileUnread",
		"TestTheBuiltinDiagnosisIsRight", "TestGuideLoadsAndHoldsTogether", "TestFieldsExplainEveryKeyInTheOrderOfTheLab",
		"TestFieldsAreComplete", "TestLoadFillsInEveryDefault", "TestInitShowsTheDefaultsThatCount", "FuzzLoadLab"}},
	{[]string{"./labs/inspect/diagnose"}, []string{"TestEverySymptomHasACase", "TestEveryProgramAndPatternCompiles"}},
	{[]string{"./labs/inspect/diagnose"}, []string{"TestACauseIsFoundOnTheWholeWayUp/example"}},
	{[]string{"./generator"}, []string{
		"TestEveryChapterHasATemplateAndTheOtherWayRound", "TestChaptersAreWhole", "TestTheWayThroughTheGuideMeetsEveryChapter",
		"TestAPersonReadsAScriptInOneSitting", "TestAStepHoldsNothingButPrograms", "TestWhatIsOftenSaidWronglyIsSaidRightly",
		"TestEveryTemplateBelongsToAStageALibraryOrTheChain"}},
	{[]string{"./cmd/bootlab"}, []string{"TestNoGoCodeNamesAStage"}},
}

// judgement is tests of packages, by their names.
type judgement struct{ packages, tests []string }

// passes is an error unless every test ran in a copy and passed.
func (j judgement) passes(dir string, flags ...string) error {
	// A slash separates the patterns of a test and its cases.
	pattern := "^(" + strings.ReplaceAll(strings.Join(j.tests, "|"), "/", ")$/^(") + ")$"
	out, err := run(dir, "go", append(append(append([]string{"test", "-v", "-run", pattern}, j.packages...), "-args"), flags...)...)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, withoutPassed(out))
	}
	for _, name := range j.tests {
		if !strings.Contains(out, "--- PASS: "+name+" (") {
			return fmt.Errorf("%s did not run in %s", name, strings.Join(j.packages, ", "))
		}
	}
	return nil
}

// withoutPassed is an output of go test -v without what passed.
func withoutPassed(out string) string {
	var kept bytes.Buffer
	for line := range strings.Lines(out) {
		if !regexp.MustCompile(`^\s*(=== |--- PASS: )`).MatchString(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func TestTheRecipesWork(t *testing.T) {
	dir := copyOf(t)
	for _, r := range recipes(t) {
		if err := r.follow(dir); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := run(dir, "gofmt", "-l", "labs", "generator"); err != nil || out != "" {
		t.Errorf("gofmt: %v: %s", err, out)
	}
	if err := golden.passes(dir, "-update"); err != nil {
		t.Errorf("make golden: %v", err)
	}
	for _, j := range judgements {
		if err := j.passes(dir); err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		return
	}
	// What a recipe leaves out is found by the same tests.
	for _, left := range []struct {
		file, text string
		by         judgement
	}{
		{"standin/facts/bootkube.yaml", `      - {flag: "--example", value: sample, since: main}` + "\n", judgement{judgements[0].packages, judgements[0].tests[:1]}},
		{"standin/facts/bootkube.yaml", "podman_name: sample-render", judgement{judgements[0].packages, judgements[0].tests[:1]}},
	} {
		put := without(t, filepath.Join(dir, left.file), left.text)
		if err := left.by.passes(dir); err == nil {
			t.Errorf("without %q in %s nothing fails", left.text, left.file)
		}
		put()
	}
}

// without takes a text out of a file, and gives what puts it back.
func without(t *testing.T, file, text string) (put func()) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Count(data, []byte(text)) != 1 {
		t.Fatalf("%s does not hold %q once", file, text)
	}
	write := func(data []byte) {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.Replace(data, []byte(text), nil, 1))
	return func() { write(data) }
}

// A recipe that does not fit the checkout any more fails where it is followed.
func TestABrokenRecipeIsFound(t *testing.T) {
	dir := copyOf(t)
	for _, r := range recipes(t) {
		for i, block := range r.blocks {
			broken := recipe{r.title, append([]string(nil), r.blocks...)}
			// The patch now expects lines that are not there.
			broken.blocks[i] = regexp.MustCompile(`(?m)^ (\s*\S)`).ReplaceAllString(block, " no longer there $1")
			if broken.blocks[i] == block {
				t.Errorf("%s has no line that can be broken", r.title)
			}
			if broken.follow(dir) == nil {
				t.Errorf("%s: a patch that does not fit was applied", r.title)
			}
		}
	}
}
