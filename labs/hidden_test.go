package labs

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
)

func TestEveryHiddenCharacterIsRefusedInEveryValueAndShown(t *testing.T) {
	for _, r := range []rune{0x00ad, 0x061c, 0x115f, 0x200b, 0x200e, 0x2028, 0x202e, 0x2060, 0x2067, 0x2800, 0x3164, 0xfe0f, 0xfeff, 0xe0041, 0x0085, 0x9b} {
		if !Hidden(r) {
			t.Errorf("%U is not hidden", r)
		}
		for _, c := range []struct {
			text string
			at   string
		}{
			{minimal + "sshKey: \"ssh-ed25519 AAAA me%syou\"\n", "lab.yaml:4:29: sshKey: holds "},
			{minimal + "images:\n  et%scd: x\n", "lab.yaml:5:5: images.et\uFFFDcd: holds "},
			{minimal + "machines:\n  masters:\n    - name: mas%ster\n", "lab.yaml:6:16: machines.masters[0].name: holds "},
			{minimal + "pullSecret: |\n  a\n  b%s\n", "lab.yaml:6:4: pullSecret: holds "},
		} {
			if r == 0x2028 || r == 0x85 || r == 0xfeff || r == 0x9b { // YAML ends a line there, or refuses it itself
				continue
			}
			_, ps := LoadLabFS(labFiles(fmt.Sprintf(c.text, string(r))), ".", labCatalog(t))
			said := ps.Error()
			if !strings.Contains(said, c.at+fmt.Sprintf("U+%04X, which", r)) || strings.ContainsRune(said, r) {
				t.Errorf("%U: want %q in\n%q", r, c.at, said)
			}
		}
		escape := fmt.Sprintf(`\U%08x`, r)
		_, ps := LoadLabFS(labFiles(minimal+"topology: \"a"+escape+"\"\n"), ".", labCatalog(t))
		if !strings.Contains(ps.Error(), "lab.yaml:4:11: topology: holds ") {
			t.Errorf("as an escape: %s", ps)
		}
	}
	for _, r := range "aä€漢 \t\n🙂" {
		if Hidden(r) {
			t.Errorf("%U can be seen", r)
		}
	}
}

// The library's messages are found by breaking YAML; none of them reaches a person.
func TestNoMessageOfTheYAMLLibraryReachesAPerson(t *testing.T) {
	for _, text := range []string{
		"a: @b\n", "a: `b\n", "a: b: c\n", "a: b\n c: d\n", "a:\n- b\n  c: d\n", "a: - b\n",
		"a: b\nc\n", "a: \"b\n", "a: 'b\n", "a: \"b\\q\"\n", "a: \"\\xZZ\"\n", "a: \"\\UFFFFFFFF\"\n",
		"a: |x\n b\n", "a: |0\n b\n", "a: &\n", "a: {b: c\n", "a: [b\n", "a: ]\n", "a: , b\n",
		"a:\n\t- b\n", "a: b\n\tc: d\n", "%YAML 3.0\n---\na: b\n", "a: !<b\n", "? a\nb: ? c\n",
		"a: b\n--- c: d\n", "a: \"b\n---\nc\"\n", "a: b\n  c: d\n", "a: !x!y b\n", "a: 'b' c\n",
	} {
		if yaml.Unmarshal([]byte(text), &yaml.Node{}) == nil {
			t.Errorf("%q is YAML", text)
			continue
		}
		_, ps := LoadLabFS(labFiles(text), ".", labCatalog(t))
		p := ps[0]
		if !strings.HasPrefix(p.Message, "is not valid YAML: ") || p.Line == 0 || p.Column == 0 || p.Hint == "" {
			t.Errorf("%q: %+v", text, p)
		}
		for _, e := range syntaxErrors {
			if strings.Contains(p.Message, e.says) {
				t.Errorf("%q: the library speaks: %s", text, p.Message)
			}
		}
	}
}

func TestTheCaretStandsBelowTheCharacterWhateverTheWidth(t *testing.T) {
	for _, excerpt := range []string{"name: 漢字 X", "name: ab X", "name: é́ X", "\tname: X"} {
		p := Problem{File: "f", Line: 1, Excerpt: excerpt, Column: len([]rune(excerpt)), Message: "m"}
		lines := strings.Split(p.String(), "\n")
		if len(lines) != 3 || !strings.HasSuffix(lines[2], "^") {
			t.Fatal(p.String())
		}
		before := strings.TrimSuffix(lines[1], "X")
		width := 0
		for _, r := range before {
			switch {
			case r == '漢' || r == '字':
				width += 2
			case r == '\u0301':
			default:
				width++
			}
		}
		if caret := len(lines[2]) - 1; caret != width {
			t.Errorf("%q: the caret is at %d, want %d\n%s", excerpt, caret, width, p)
		}
	}
}

func TestAHiddenCharacterInAPublicKeyFileIsRefused(t *testing.T) {
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\u202eyou\n"
	files := labFiles(minimal + "sshKey: id.pub\n")
	files["id.pub"] = &fstest.MapFile{Data: []byte(key)}
	_, ps := LoadLabFS(files, ".", labCatalog(t))
	if !strings.Contains(ps.Error(), "U+202E, which turns the direction of writing") {
		t.Error(ps)
	}
}
