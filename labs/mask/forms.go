package mask

import (
	"bytes"
	"regexp"
)

// What is a secret by its form, whatever stands before it. Each begins with fixed
// characters, by which it is found fast.
var forms = []struct {
	form *regexp.Regexp
	kind string
}{
	{regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*`), tokenKind}, // JSON web tokens
	{regexp.MustCompile(`sha256~[A-Za-z0-9_-]{16,}`), tokenKind},                                    // OAuth tokens of OpenShift
	{regexp.MustCompile(`\$(?:2[abxy]?|apr1|1|5|6|7|y|gy|sha1|scrypt|argon2(?:id|i|d))\$[./A-Za-z0-9$=,+-]{12,}`), passwordHash},
	{regexp.MustCompile(`\{S?SHA\}[A-Za-z0-9+/=]{20,}`), passwordHash},
	{regexp.MustCompile(`://([A-Za-z0-9._~%-]{20,})@`), tokenKind},
}

func (f *finding) formed() {
	for _, form := range forms {
		for _, at := range form.form.FindAllSubmatchIndex(f.text, -1) {
			// The last pair is the group, or the whole if there is none.
			f.add(at[len(at)-2], at[len(at)-1], form.kind)
		}
	}
	for i, c := range f.text {
		switch c {
		case ':':
			f.url(i)
		case '.':
			f.bootstrapToken(i)
		case '-':
			f.kubeadminPassword(i)
			f.option(i)
		}
	}
	f.bearers()
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// within is the part of the text, if it is one and nothing but what is allowed
// stands around.
func (f *finding) within(from, to int, around string) []byte {
	if from < 0 || to > len(f.text) {
		return nil
	}
	outside := func(i int) bool {
		return i < 0 || i >= len(f.text) || !isWord(f.text[i]) && bytes.IndexByte([]byte(around), f.text[i]) < 0
	}
	if !outside(from-1) || !outside(to) {
		return nil
	}
	return f.text[from:to]
}

// bootstrapToken finds abcdef.0123456789abcdef. A host's name has no digit in
// such a place, or a dot behind it.
func (f *finding) bootstrapToken(dot int) {
	token := f.within(dot-6, dot+17, "._-/")
	digits := 0
	for i, c := range token {
		if i != 6 && !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') {
			return
		}
		if i > 6 && c <= '9' {
			digits++
		}
	}
	if digits > 0 {
		f.add(dot-6, dot+17, tokenKind)
	}
}

// kubeadminPassword finds AbCdE-fGhIj-23456-kLmNo. Source: openshift/installer
// pkg/asset/password/password.go. Four words of five letters are none.
func (f *finding) kubeadminPassword(dash int) {
	password := f.within(dash-5, dash+18, "-_")
	mixed := false
	for i, c := range password {
		if dashed := i%6 == 5; dashed != (c == '-') || !dashed && !isWord(c) {
			return
		}
		mixed = mixed || c != '-' && (c <= '9' || c <= 'Z')
	}
	if mixed {
		f.add(dash-5, dash+18, passwordKind)
	}
}

var bearer = []*regexp.Regexp{
	regexp.MustCompile(`earer(?: |%20|\+)+([A-Za-z0-9._~+/=-]{8,})`),
	regexp.MustCompile(`EARER(?: |%20|\+)+([A-Za-z0-9._~+/=-]{8,})`),
}

// bearers finds what follows Bearer, if it is no word of a sentence.
func (f *finding) bearers() {
	for _, form := range bearer {
		for _, at := range form.FindAllSubmatchIndex(f.text, -1) {
			if seemsSecret(f.text[at[2]:at[3]]) {
				f.add(at[2], at[3], tokenKind)
			}
		}
	}
}
