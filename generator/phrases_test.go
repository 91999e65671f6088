package generator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// expectations are the methods and functions of test/scripts that take what a
// script must say.
var expectations = map[string]bool{"Want": true, "Says": true}

// phrase is two words or more as they stand in a text. What has a capital, a digit
// or a hyphen may be a value, and ends a phrase.
var phrase = regexp.MustCompile(`(?:^|[\s"(])([a-z']+(?:,? [a-z']+)+)(?:$|[\s,.:;")])`)

// expected are the phrases that the tests in a Go file expect of scripts, each
// with the text that it stands in.
func expected(file *ast.File) map[string]string {
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !expectations[method.Sel.Name] {
			return true
		}
		for _, argument := range call.Args {
			ast.Inspect(argument, func(n ast.Node) bool {
				if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
					text, _ := strconv.Unquote(literal.Value)
					for _, m := range phrase.FindAllStringSubmatch(text, -1) {
						out[m[1]] = text
					}
				}
				return true
			})
		}
		return true
	})
	return out
}

// spoken are all texts that a script can say in a test, with single blanks: the
// scripts and what they read, and what the stand-ins of programs answer. Scripts
// have most lines in common, so each two lines that follow one another stand in it
// once: no phrase goes over more.
func spoken(t *testing.T) string {
	t.Helper()
	const apart = " \x00 "
	var b strings.Builder
	seen := map[[2]string]bool{}
	everyOutput(t, func(t *testing.T, files map[string]string) {
		for name, text := range files {
			if dir, _, _ := strings.Cut(name, "/"); dir != "scripts" && dir != "node" {
				continue
			}
			before := ""
			for _, line := range strings.Split(text, "\n") {
				line = strings.Join(strings.Fields(line), " ")
				if pair := [2]string{before, line}; !seen[pair] {
					seen[pair] = true
					b.WriteString(apart + before + " " + line)
				}
				before = line
			}
		}
	})
	return b.String()
}

// composed are phrases that a script puts together in another way, each with the
// texts of the script that make it.
var composed = map[string][]string{
	"votes, does not answer":                  {"votes, ${said:-does not answer}"},
	"and to rest within":                      {"to be Available and to rest", "no sign of $2 within"},
	"no sign of every operator to be without": {"every operator to be without Progressing", "no sign of $2 within"},
	"api bootstrap sessions":                  {`print $1, $2, "sessions"`},
}

// answers are phrases of programs that a test of test/scripts itself stands in for.
var answers = []string{"enough members found", "still waiting for three healthy etcd members", "is not active"}

// says looks for a phrase. A script may put it together: of pieces that meet where
// a variable, a %s or the end of a quoted word stands. A first and a last word may
// be a value that only a run knows.
func says(said, words string) bool {
	if strings.Contains(said, words) || slices.Contains(answers, words) {
		return true
	}
	if pieces, ok := composed[words]; ok {
		return !slices.ContainsFunc(pieces, func(piece string) bool { return !strings.Contains(said, piece) })
	}
	all := strings.Fields(words)
	for i := 1; i < len(all); i++ {
		first, rest := strings.Join(all[:i], " "), strings.Join(all[i:], " ")
		if (i == 1 || before(said, first)) && (i == len(all)-1 || after(said, rest)) {
			return true
		}
		for j := i + 1; j < len(all); j++ {
			middle, last := strings.Join(all[i:j], " "), strings.Join(all[j:], " ")
			if before(said, first) && after(said, last) && quoted(said, middle) {
				return true
			}
		}
	}
	return false
}

// before, after and quoted say where a piece of a phrase stands: before a value,
// after one, or as a value.
func before(said, piece string) bool {
	return holdsAny(said, piece+" ${", piece+" %s", piece+" '", piece+` "`, piece+" $1", piece+" $2")
}

func after(said, piece string) bool {
	return holdsAny(said, "} "+piece, "%s "+piece, "$1 "+piece, "$2 "+piece)
}

func quoted(said, piece string) bool { return holdsAny(said, `"`+piece, "'"+piece) }

func holdsAny(said string, pieces ...string) bool {
	return slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(said, piece) })
}

// A change of wording must not fail first where podman is needed: each phrase that
// test/scripts expects of a script stands in a script, or in the programs that
// stand in for others.
func TestPhrasesThatSlowTestsExpectStandInScripts(t *testing.T) {
	said := spoken(t) + standIns(t)
	files, err := filepath.Glob("../test/scripts/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	count := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for words, text := range expected(file) {
			count++
			if !says(said, words) {
				t.Errorf("%s expects %q, and no script says %q", filepath.Base(name), text, words)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d phrases were found", count)
	}
}

// standIns are the texts of the programs that tests put in the place of others.
func standIns(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir("../standin", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		b.WriteString(" " + strings.Join(strings.Fields(string(text)), " "))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAChangedPhraseIsNoticed(t *testing.T) {
	script := `fail "stage ${name} began and did not end" ; wait_for 'the API to answer' ; echo "no sign of $2 within ${1} s"`
	for words, want := range map[string]bool{
		"began and did not end":                true,
		"no sign of the API to answer within":  true,
		"began and never ended":                false,
		"no trace of the API to answer within": false,
		"no sign of the API to respond within": false,
		"votes, does not answer":               false,
	} {
		if says(script, words) != want {
			t.Errorf("%q: %t", words, !want)
		}
	}
	source := `package scripts
func TestX(t *testing.T) { l.Run(t, "x").Want(t, 1, "stage "+id+" began and did not end", "2 of 3") }`
	file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := expected(file); len(got) != 1 || got["began and did not end"] == "" {
		t.Errorf("%v", got)
	}
}
