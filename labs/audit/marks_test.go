package audit

import "testing"

func TestMarksCountWholeWordsAndOperators(t *testing.T) {
	for text, want := range map[string]int{
		"":                           0,
		"if true; then x; fi":        1,
		"if":                         1,
		"elif\nwhile\tuntil;for":     4,
		"notif iffy if_ _if if2 2if": 0,
		"éif ifé":                    2, // letters are ASCII only, as for \b in a regular expression
		"time-case":                  3,
		"a=$((b + c)) | d && e":      7,
		"function f() { ((x<y)); }":  6,
	} {
		if got := marks([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
