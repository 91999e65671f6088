package vms

import "testing"

func TestALogDoesNotSteerTheTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\r\n":                     "plain\ttext\n",
		"[\x1b[0;32m  OK  \x1b[0m] Started\n": "[  OK  ] Started\n",
		"\x1b[2J\x1b[1;1H\x1b[?7lboot":        "boot",
		"\x1b]0;a title\a!\x1b]0;open\nnext":  "!\nnext",
		"\x1b(B\x1bMdone\x00\x07\u009b31m":    "done31m",
		"ü and 漢\n":                           "ü and 漢\n",
		"cut off \x1b[":                       "cut off ",
	} {
		if got := PlainText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
