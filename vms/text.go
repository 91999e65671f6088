package vms

import (
	"regexp"
	"strings"
	"unicode"

	"bootlab/labs"
)

// steering are sequences that colour text and move a terminal's cursor.
// Source: ECMA-48, 5.4 and 5.6.
var steering = regexp.MustCompile("\x1b(\\[[0-?]*[ -/]*[@-~]|\\][^\a\x1b\n]*(\a|\x1b\\\\)?|[ -/]*[0-~])")

// PlainText is text without what would steer a terminal.
func PlainText(text string) string {
	text = steering.ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return printable(r)
	}, text)
}

// printable drops what would steer a terminal, and shows what could not be seen.
func printable(r rune) rune {
	switch {
	case unicode.IsControl(r) && r != '\t':
		return -1
	case labs.Hidden(r):
		return '\uFFFD'
	}
	return r
}
