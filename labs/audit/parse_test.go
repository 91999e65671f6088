package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
)

// stream gives the same text again and again, and counts what was taken.
type stream struct {
	text  string
	taken int
}

func (e *stream) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e.text[(e.taken+n)%len(e.text):])
	}
	e.taken += n
	return n, nil
}

// mostSteps is more allocations than refusing any script of the size that is
// read needs.
const mostSteps = 10_000_000

// allocations are how many were made while something ran.
func allocations(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

func TestHostileScriptsAreRefusedQuickly(t *testing.T) {
	deep := DefaultLimits.Marks / 4
	for name, text := range map[string]string{
		"nothing":              " \n",
		"binary":               "\x7fELF\x02\x01\x00",
		"no text":              "echo \xff\xfe",
		"brackets":             strings.Repeat("( ", DefaultLimits.Marks+1),
		"open brackets":        strings.Repeat("$(", deep),
		"hidden brackets":      strings.Repeat("(#)\n", DefaultLimits.Marks),
		"ifs":                  strings.Repeat("if ", deep),
		"parameters":           strings.Repeat("${a:-", deep),
		"a word that grows":    "a=xxxxxxxx\n" + strings.Repeat("a=$a$a$a$a\n", 100),
		"a list that grows":    "a=(x y z)\n" + strings.Repeat(`a=("${a[@]}" "${a[@]}")`+"\n", 60),
		"a function in itself": "f() { f; f; }\nf\n",
		"functions that fan out": "a() { :; }\n" + func() string {
			var b strings.Builder
			for i := range 25 {
				fmt.Fprintf(&b, "f%d() { f%d; f%d; f%d; }\n", i+1, i, i, i)
			}
			return "f0() { echo; }\n" + b.String() + "f25\n"
		}(),
		"loops in loops":      strings.Repeat("for i in a b c d e f g h; do ", 12) + "echo" + strings.Repeat("; done", 12),
		"braces that fan out": "echo " + strings.Repeat("{a,b,c}", 40),
		"not shell":           "if then fi",
		"an open template":    "{{if .X}}\necho\n",
		"a stray end":         "echo\n{{end}}\n",
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			steps := allocations(func() { _, err = Parse(strings.NewReader(text), DefaultLimits) })
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Hint == "" {
				t.Errorf("not refused: %v", err)
			}
			if steps > mostSteps {
				t.Errorf("took %d allocations", steps)
			}
		})
	}
}

func TestAHugeScriptIsNeitherReadNorHeld(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := &stream{text: "echo hello\n"}
	_, err := Parse(io.LimitReader(r, 100<<20), DefaultLimits)
	runtime.ReadMemStats(&after)
	if err == nil || r.taken > 2*DefaultLimits.Bytes+1<<16 {
		t.Errorf("read %d bytes: %v", r.taken, err)
	}
	if held := after.TotalAlloc - before.TotalAlloc; held > 20<<20 {
		t.Errorf("allocated %d bytes", held)
	}
}

func TestPartsOfATemplateAreConditions(t *testing.T) {
	text := `
if [ ! -f etcd-bootstrap.done ]; then
  record_service_stage_start etcd-bootstrap
  podman run --name etcd-render \
{{- if .ClusterProfile}}
    --env A="{{.ClusterProfile}}" \
{{- else if .Other }}
    --env B=1 \
{{- end}}
    image render --x="{{.Value}}"
  {{if .FeatureSet}}cp a b{{else}}cp c d{{end}}
  touch etcd-bootstrap.done
fi
`
	s := parsed(t, text)
	var got []string
	for _, f := range s.stagesOf(names{})[0].Facts {
		got = append(got, f.String())
	}
	for _, want := range []string{
		"podman option --env=A={{.ClusterProfile}} (when a cluster profile)",
		"podman option --env=B=1 (when the installer's if .Other and not a cluster profile)",
		"flag --x={{.Value}}",
		"copy a to b (when the installer's if .FeatureSet)",
		"copy c to d (when not the installer's if .FeatureSet)",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, strings.Join(got, "\n"))
		}
	}
}

func TestNothingIsExecuted(t *testing.T) {
	dir := t.TempDir()
	parsed(t, "touch "+dir+"/x\na=$(touch "+dir+"/y)\n`touch "+dir+"/z`\necho > "+dir+"/v\n")
	if matches := readDir(t, dir); len(matches) > 0 {
		t.Errorf("made %v", matches)
	}
}

func ignition(path, source, compression string) string {
	return fmt.Sprintf(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":%q,"contents":{"source":%q,"compression":%q}}]}}`, path, source, compression)
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

func TestTheScriptIsTakenOutOfIgnition(t *testing.T) {
	script := "#!/bin/bash\necho 1,2\n"
	encode := base64.StdEncoding.EncodeToString
	plain := ignition(BootkubePath, "data:text/plain;charset=utf-8;base64,"+encode([]byte(script)), "")
	for name, text := range map[string]string{
		"base64":  plain,
		"percent": ignition(BootkubePath, "data:,%23!/bin/bash%0Aecho%201,2%0A", ""),
		"gzip":    ignition(BootkubePath, "data:;base64,"+encode(zipped(script)), "gzip"),
		"whole":   string(zipped(plain)),
		"merged":  fmt.Sprintf(`{"ignition":{"config":{"merge":[{"source":"data:;base64,%s","compression":"gzip"}]}}}`, encode(zipped(plain))),
	} {
		got, err := FromIgnition(strings.NewReader(text))
		if err != nil || string(got) != script {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	bomb := ignition(BootkubePath, "data:;base64,"+encode(zipped(strings.Repeat("x", maxIgnition+1))), "gzip")
	for name, text := range map[string]string{
		"no JSON": "x", "another file": ignition("/etc/motd", "data:,x", ""), "a web address": ignition(BootkubePath, "https://example.test/x", ""),
		"broken base64": ignition(BootkubePath, "data:;base64,!", ""), "bzip2": ignition(BootkubePath, "data:,x", "bzip2"),
		"broken gzip": ignition(BootkubePath, "data:,x", "gzip"), "a bomb": bomb, "nesting": strings.Repeat("[", 1<<20),
	} {
		var refusal *Refusal
		if _, err := FromIgnition(strings.NewReader(text)); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHelpTextsAreComparedWithFlags(t *testing.T) {
	text := "Render things.\n\nUsage:\n  op render [flags]\n\nFlags:\n  -h, --help   help for render\n" +
		"      --asset-output-dir string   where to\n      --skip   no --value-here\n\nGlobal Flags:\n  -v, --v Level   verbosity\n"
	flags, err := ParseHelp(text)
	if want := []string{"--asset-output-dir", "--help", "--skip", "--v"}; err != nil || !slices.Equal(flags, want) {
		t.Errorf("%v, %v", flags, err)
	}
	if flags, err := ParseHelp("Usage of render:\n  -asset-output-dir string\n    \twhere to\n"); err != nil || !slices.Equal(flags, []string{"--asset-output-dir"}) {
		t.Errorf("%v, %v", flags, err)
	}
	if _, err := ParseHelp("Error: unknown command"); err == nil {
		t.Error("an error is taken for a help text")
	}
	c := labs.Builtin()
	help := map[string][]string{}
	for _, f := range c.Stage("render-etcd").Run.Flags {
		help["render-etcd"] = append(help["render-etcd"], f.Flag)
	}
	if r := CompareHelp(c, "main", help, nil); r.Unknown != 0 || r.Identical == 0 {
		t.Errorf("%+v", r)
	}
	help["render-etcd"] = help["render-etcd"][1:]
	if r := CompareHelp(c, "main", help, nil); r.Unknown != 1 {
		t.Errorf("%+v", r)
	}
}

// A draft of a script is stage data again: what is read from it must be what
// it was written from.
func TestADraftHoldsTheStagesOfTheScript(t *testing.T) {
	c := labs.Builtin()
	files, err := Draft(parsed(t, writeScript(c.Bootkube, "main", stagesOfRelease(c, "main"), styles[0])), c, "main")
	if err != nil || len(files) != len(stagesOfRelease(c, "main")) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		id := strings.TrimSuffix(f.Name, ".yaml")
		s := c.Stage(id)
		if s == nil {
			t.Errorf("%s is no stage", f.Name)
			continue
		}
		if s.Run == nil {
			continue
		}
		for _, flag := range s.Run.Flags {
			if flag.Holds("main") && !strings.Contains(string(f.Text), flag.Flag+"\n") {
				t.Errorf("%s lacks %s:\n%s", f.Name, flag.Flag, f.Text)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	c := labs.Builtin()
	for i := range 6 {
		f.Add(writeScript(c.Bootkube, "4.18", stagesOfRelease(c, "4.18"), styles[i*29]))
	}
	f.Add("{{if .X}}a{{else if .Y}}b{{end}} \\\n{{- if .Z}}\nc \\\n{{end}}\nd")
	f.Add("f() { local a=$1; shift; cp \"$@\" $a; }; for i in {a,b}; do f $i x y; done")
	f.Add("case $x in a) return;; *) exit 1;; esac; until [ -f x ] && a; do break; done")
	f.Fuzz(func(t *testing.T, text string) {
		limits := DefaultLimits
		limits.Steps = 20_000
		s, err := Parse(strings.NewReader(text), limits)
		if err != nil {
			return
		}
		r := Detect(s, c)
		if _, err := Draft(s, c, r.Release); err != nil {
			t.Error(err)
		}
	})
}

func readDir(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
