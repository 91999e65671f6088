package labs

import (
	"fmt"
	"strings"
	"unicode"
)

// hiddenLetters are characters without a mark that Unicode counts among letters
// and marks. Source: Unicode, DerivedCoreProperties.txt, Default_Ignorable_Code_Point.
var hiddenLetters = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1}},
}

// Hidden says whether a character leaves no mark of its own, steers a terminal, or
// turns the direction of writing: a text that holds one is not what it looks like.
// Spaces, tabs and line feeds are not hidden.
func Hidden(r rune) bool {
	switch r {
	case '\t', '\n':
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(hiddenLetters, r)
}

// whatHides describes the first hidden character of a text; empty if there is none.
func whatHides(text string) string {
	at := strings.IndexFunc(text, Hidden)
	if at < 0 {
		return ""
	}
	var r rune
	for _, r = range text[at:] {
		break
	}
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return fmt.Sprintf("the control character U+%04X", r)
	case r == '\u061c', r >= '\u200e' && r <= '\u200f', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return fmt.Sprintf("U+%04X, which turns the direction of writing", r)
	}
	return fmt.Sprintf("U+%04X, which cannot be seen", r)
}
