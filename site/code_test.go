package site

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

var tag = regexp.MustCompile(`</?(i|kbd|samp)( class="[a-z]+")?>`)

// read is what a reader sees of highlighted text.
func read(text string) string { return html.UnescapeString(tag.ReplaceAllString(text, "")) }

func TestHighlightingMarksAndKeepsTheText(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"bash", `if [[ -n ${a} ]]; then`, `<i class="k">if</i> [[ <i class="a">-n</i> <i class="v">${a}</i> ]]; <i class="k">then</i>`},
		{"bash", "x # why\n", "x <i class=\"c\"># why</i>\n"},
		{"bash", "echo a#b", "echo a#b"},
		{"bash", "podman run --rm x", `podman run <i class="a">--rm</i> x`},
		{"bash", `"a ${b} c"`, `<i class="s">"a</i> <i class="v">${b}</i><i class="s"> c"</i>`},
		{"bash", "cat << 'EOF'\nif x\nEOF\nif", "cat &lt;&lt; '<i class=\"s\">EOF</i>'\n<i class=\"s\">if x\nEOF</i>\n<i class=\"k\">if</i>"},
		{"bash", "check_inputs() {", `<i class="f">check_inputs</i>() {`},
		{"yaml", "a-b: 1 # c", `<i class="a">a-b</i>: 1 <i class="c"># c</i>`},
		{"json", `{"a": "b", "c": true}`, `{<i class="a">"a"</i>: <i class="s">"b"</i>, <i class="a">"c"</i>: <i class="k">true</i>}`},
		{"ini", "[Unit]\nAfter=x\n", "<i class=\"k\">[Unit]</i>\n<i class=\"a\">After</i>=x\n"},
		{"text", "if <b>", "if &lt;b&gt;"},
		{"", "if", "if"},
	} {
		if got := highlight(c.language, c.text); got != c.want {
			t.Errorf("%s %q:\n got %s\nwant %s", c.language, c.text, got, c.want)
		}
	}
}

func FuzzHighlightingKeepsEveryByte(f *testing.F) {
	f.Add("bash", "a=\"$(b \"c\")\" <<EOF\n'x\nEOF\n# d ${e/f/g}")
	f.Add("yaml", "- a: 'b\n  \"c: d")
	f.Add("json", `{"a": "\"", 'b`)
	f.Add("ini", "[a\n; b\nc =d")
	f.Add("console", "$ a \\\n  b\nc\n\n$ d")
	f.Fuzz(func(t *testing.T, language, text string) {
		text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r", ""), "")
		if strings.Contains(text, "\x00") {
			return
		}
		got := highlight(language, text)
		if language == "console" {
			got, _ = console(text, []string{"$ ", "# "})
		}
		if read(got) != text {
			t.Errorf("%s: %q became %q", language, text, read(got))
		}
	})
}

func TestConsoleExamplesTellWhatIsTyped(t *testing.T) {
	got, _ := console("$ echo a \\\n    b\na b\n$ true\n\n  $ no prompt\n", codeBlock{}.prompts())
	want := "<i class=\"prompt\">$ </i><kbd>echo a \\</kbd>\n<kbd>    b</kbd>\n<samp>a b</samp>\n<i class=\"prompt\">$ </i><kbd>true</kbd>\n\n<samp>  $ no prompt</samp>\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOnlyWhatIsTypedCanBeCopied(t *testing.T) {
	got := content(t, "# etcd\n\n```console\n$ a\n```\n\n```bash\na\n```\n\n```yaml\na: b\n```\n\n```text\na\n```\n\n    a\n")
	if strings.Count(got, `class="code typed"`) != 2 || strings.Count(got, `class="code"`) != 3 {
		t.Error(got)
	}
}

func TestWhatCannotRunAloneCannotBeCopied(t *testing.T) {
	for text, want := range map[string]bool{
		"podman ps":                           true,
		"cd work && ls # why":                 true,
		"f() { echo a; }\nf":                  true,
		"cat << 'EOF'\n# kept\nEOF":           true,
		"do_stage() {":                        false,
		"do_stage() {\n  echo a\n}":           false,
		"# only a comment":                    false,
		"":                                    false,
		"  local name=$1\n  echo \"${name}\"": false,
		"[[ -e x ]] || return 1":              false,
		"fi\ndone":                            false,
		"echo 'open":                          false,
	} {
		if got := runsAlone(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	columns := content(t, "# etcd\n\n## The script\n\nOne.\n\n```bash\necho a\n```\n\n## Verification\n\n```bash\necho b\n```\n")
	if strings.Count(columns, `class="code typed"`) != 1 || strings.Index(columns, `class="code typed"`) < strings.Index(columns, `id="verification"`) {
		t.Errorf("what is explained can be copied, or what runs cannot:\n%s", columns)
	}
}

func TestTheSignOfRootIsAPromptOnlyWhereRootTypes(t *testing.T) {
	const said = `<p class="root">On the node, as root</p>`
	got := content(t, "# etcd\n\n```console root\n# crictl ps\nCONTAINER\n$ id\n```\n\n```console\n$ id\n# no prompt\n```\n\n```bash root\n# why\ncrictl ps\n```\n\n```console\nno command\n```\n")
	for text, want := range map[string]int{said: 2, `<i class="prompt"># </i><kbd>crictl ps</kbd>`: 1, `<samp># no prompt</samp>`: 1, `class="code typed"`: 3, `class="code"`: 1} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("%s stands there %d times, want %d, in\n%s", text, n, want, got)
		}
	}
}
