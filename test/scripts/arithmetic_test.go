package scripts

import (
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/templates"
)

// bash takes a word in arithmetic for a program: a[$(command)] runs the command.
// So only what cannot be anything but a number may stand there.

// numbers are variables that the test cannot see to be numbers, and why they are.
var numbers = map[string]string{
	"CONTROL_PLANE_REPLICAS": "a setting; lab.yaml is refused with another word",
	"UNTIL":                  "an option with =N: begin refuses what is no number",
	"TOOK":                   "render-all.sh: held against a pattern when it is read",
	"LEFT":                   "render-all.sh: from TOOK and from the stage data",
	"TIMEOUT":                "an option with =S: begin refuses what is no number",
	"make-ignition.sh end":   "what date prints, or 0",
	"make-pki.sh dates":      "what date prints",
	"follow.sh MINUTES":      "from checks/STAGE.json, which the stage data are written to as numbers",
	"make-pki.sh days":       "a table of constants",
}

// subscripts are -v tests of an entry, whose name bash expands once more.
var subscripts = map[string]string{
	"CHOSEN": "render-all.sh: by the names of stages, and by options that were found among them",
}

var (
	templateAction    = regexp.MustCompile(`\{\{[^}]*\}\}`)
	functionBody      = regexp.MustCompile(`(?ms)^\w+\(\) \{(?: #[^\n]*)?$.*?^\}$|^\w+\(\) \{ [^\n]*\}$`)
	commentLine       = regexp.MustCompile(`(?m)^\s*#.*$`)
	singleQuoted      = regexp.MustCompile(`'[^']*'`)
	calculation       = regexp.MustCompile(`(?:^|[^(\w])\(\(([^\n]*?)\)\)|\[\[ [^\n]*?(\S+ -(?:eq|ne|lt|le|gt|ge) \S+)`)
	arrayLength       = regexp.MustCompile(`\$\{#[^}]*\}|\$[0-9#?]|\[@\]`)
	countedBy         = regexp.MustCompile(`"?\$\(((?:trap '' INT TERM && )?date [^\n]*?\+%s|wc -l|stat --format=%s)\b[^)]*\)"?`)
	identifier        = regexp.MustCompile(`[A-Za-z_]\w*`)
	plainNumber       = regexp.MustCompile(`^(?:[\w.-]*|''|\$[?#!]|"?\$\{#[^}]*\}"?|"?\$\{BASH_REMATCH\[\d\]\}"?|"?\$\(\(.*|\$\{?[0-9]\}?|"?\$\{\d:-.*|\$\{[A-Z]+:-\$\(\(.*)$`)
	otherVariable     = regexp.MustCompile(`^"?\$\{?([A-Za-z_]\w*)(?::-[\w.-]*)?\}?"?$`)
	entryTest         = regexp.MustCompile(`\[\[[^\n]* -v (\w+)\[`)
	hiddenCalculation = regexp.MustCompile(`\b(?:declare|local|readonly|typeset) -\w*i|(?m:^)\s*let |\bunset [^\n]*\[\$`)
	builtinOnes       = []string{"SECONDS", "EPOCHSECONDS", "EUID"}
)

// shellTemplates are the templates of scripts and of what they source.
func shellTemplates(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"scripts/*.sh.tmpl", "scripts/lib/*.sh.tmpl"} {
		found, err := fs.Glob(templates.FS, pattern)
		if err != nil || len(found) < 10 {
			t.Fatalf("%v of %s: %v", found, pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// shellText is a template's shell without what another language reads.
func shellText(t *testing.T, name string) string {
	t.Helper()
	data, err := fs.ReadFile(templates.FS, name)
	if err != nil {
		t.Fatal(err)
	}
	return commentLine.ReplaceAllString(templateAction.ReplaceAllString(string(data), "1"), "")
}

func TestNothingButNumbersIsCalculatedWith(t *testing.T) {
	t.Parallel()
	files := shellTemplates(t)
	libraries := ""
	for _, file := range files {
		if strings.HasPrefix(file, "scripts/lib/") || strings.HasPrefix(filepath.Base(file), "_") {
			libraries += shellText(t, file) + "\n"
		}
	}
	found := 0
	for _, file := range files {
		text := shellText(t, file)
		for _, function := range append(functionBody.FindAllString(text, -1), functionBody.ReplaceAllString(text, "")) {
			for _, m := range calculation.FindAllStringSubmatch(countedBy.ReplaceAllString(singleQuoted.ReplaceAllString(function, "''"), "0"), -1) {
				found++
				for _, name := range operands(m[1] + m[2]) {
					// Names in small letters are a function's own.
					where := function
					if strings.ToUpper(name) == name {
						where = text + "\n" + libraries
					}
					if numbers[strings.TrimSuffix(filepath.Base(file), ".tmpl")+" "+name] != "" {
						continue
					}
					for _, fault := range notANumber(name, where, map[string]bool{}) {
						t.Errorf("%s: in %q, %s may be another thing than a number: %s", filepath.Base(file), strings.TrimSpace(m[0]), name, fault)
					}
				}
			}
		}
		for _, m := range entryTest.FindAllStringSubmatch(text, -1) {
			if subscripts[m[1]] == "" {
				t.Errorf("%s: the name of the entry is expanded twice: %s", filepath.Base(file), m[0])
			}
		}
		if m := hiddenCalculation.FindString(text); m != "" {
			t.Errorf("%s: %q calculates out of sight", filepath.Base(file), m)
		}
	}
	if found < 50 {
		t.Errorf("only %d calculations were found", found)
	}
}

// TestWhatIsNoNumberIsNoticed holds the test above against what it is for.
func TestWhatIsNoNumberIsNoticed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"n=0 ((n > 0))": 0, "local n=0\nn=$((n + 1))": 0, `n="$(date --utc +%s)"`: 0, "m=1\nn=${m}": 0,
		`n="$(cluster get x)"`: 1, "m=\"$(cat x)\"\nn=${m:-0}": 1, "n=0; while read -r a n; do": 1, "n=''; for n in $(ls); do": 1, "n=0; mapfile -t n < x": 1, "m=1": 1,
		"n=${line%% *}": 1, "n=0\nn+=\"${line}\"": 1,
	} {
		if faults := notANumber("n", text, map[string]bool{}); len(faults) != want {
			t.Errorf("%q: %q", text, faults)
		}
	}
	for text, want := range map[string][]string{"${ready:-0} > 0": {"ready"}, "${#a[@]} >= $1": nil, "a + b[$1]": {"a", "b"}, "${a} -gt 5 && ${#c} -lt d": {"a", "d"}} {
		if got := operands(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// operands are the variables of an expression.
func operands(expression string) []string {
	expression = countedBy.ReplaceAllString(expression, "0")
	expression = regexp.MustCompile(` -(?:eq|ne|lt|le|gt|ge) `).ReplaceAllString(arrayLength.ReplaceAllString(expression, ""), " ")
	all := map[string]bool{}
	for _, name := range identifier.FindAllString(expression, -1) {
		all[name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// notANumber lists the places where a variable gets what may be any text.
func notANumber(name, text string, asked map[string]bool) []string {
	if asked[name] || numbers[name] != "" || slices.Contains(builtinOnes, name) {
		return nil
	}
	asked[name] = true
	var faults []string
	assigned := regexp.MustCompile(`(?m)(?:^|[\s;(!])`+name+`(?:\[[^]\n]*\])?(?:\+?=)("\$\([^\n]*|"[^"\n]*"|'[^'\n]*'|\$\(\([^\n]*?\)\)|\$\([^\n]*|[^\s;)]*)`).FindAllStringSubmatch(text, -1)
	if len(assigned) == 0 && !regexp.MustCompile(`\(\(`+name+` = [0-9]+;`).MatchString(text) {
		faults = append(faults, "it gets no value here")
	}
	for _, m := range assigned {
		if plainNumber.MatchString(m[1]) || countedBy.MatchString(m[1]) {
			continue
		}
		if o := otherVariable.FindStringSubmatch(m[1]); o != nil {
			faults = append(faults, notANumber(o[1], text, asked)...)
			continue
		}
		faults = append(faults, strings.TrimSpace(m[0]))
	}
	faults = append(faults, regexp.MustCompile(`(?m)\b(?:read(?: -\S+(?: [0-9])?)*|mapfile(?: -\S+)*|printf -v)(?: [a-z_]\w*)*? `+name+`\b[^\n]*|\bfor `+name+` in[^\n]*`).FindAllString(text, -1)...)
	return faults
}

// askedInVain turns a question that failed into the answer no: in ! ASK | grep WORD
// grep finds nothing, and that is taken for success.
var askedInVain = regexp.MustCompile(`(?:^|[\s;&|(])! (?:[^|&;'"\n]|\\\n|'[^']*'|"[^"]*")*[^|]\| *(?:grep|tee|awk)\b`)

func TestNoFailureIsTakenForANo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"! jq '.a\n | .b' <<< \"${X}\" | grep Node": true, "  ! oc get x | grep -q y": true,
		"! grep x <<< \"${found}\"": false, "! kill -0 1 || grep x y": false, "! a && b | grep c": false,
	} {
		if askedInVain.MatchString(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for _, file := range shellTemplates(t) {
		if m := askedInVain.FindString(shellText(t, file)); m != "" {
			t.Errorf("%s: a failure passes for a no: %s", filepath.Base(file), m)
		}
	}
}
