package diagram

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"a text that fits", "one two", 100, "one two"},
		{"between words", "one two three", 60, "one two|three"},
		{"behind a mark", "/etc/kubernetes/manifests", 90, "/etc/|kubernetes/|manifests"},
		{"before a capital", "EtcdRunningInCluster", 130, "EtcdRunningIn|Cluster"},
		{"anywhere else", "wwwwwwwwww", 60, "wwwww|wwwww"},
		{"narrower than a letter", "ww", 3, "w|w"},
		{"nothing", "  ", 60, ""},
	} {
		if got := strings.Join(bodyFace.wrap(c.in, c.width), "|"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Nothing is lost and nothing is too wide, whatever is wrapped.
func FuzzWrap(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, 60)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		text = clean(text)
		width = 20 + abs(width%500)
		lines := codeFace.wrap(text, width)
		if got, want := strings.Join(lines, ""), strings.ReplaceAll(text, " ", ""); strings.ReplaceAll(got, " ", "") != want {
			t.Errorf("%q became %q", text, lines)
		}
		for _, l := range lines {
			if codeFace.width(l) > width {
				t.Errorf("%q is wider than %d", l, width)
			}
		}
	})
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		" two\n words ":   "two words",
		"bell\x07":        "bell\ufffd",
		"turn\u202eround": "turn\ufffdround",
		"broken\xff":      "broken\ufffd",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}
