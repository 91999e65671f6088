package mask

import (
	"bytes"
	"strings"
)

// What is a secret by its form, whatever stands before it.

func formRules() []rule {
	all := []rule{
		{"://", func(f *finding, from, _ int) { f.url(from) }}, {`:\/\/`, func(f *finding, from, _ int) { f.url(from) }}, {`:\\/\\/`, func(f *finding, from, _ int) { f.url(from) }},
		{"bearer", (*finding).bearer}, {"{sha}", (*finding).shaHash}, {"{ssha}", (*finding).shaHash}, {"grub.pbkdf2.", (*finding).grubHash},
		{"@tcp(", (*finding).dsn}, {"\"kty", (*finding).webKey}, {":5432:", (*finding).postgresLine},
		{"api key", (*finding).spokenKey}, {"access key", (*finding).spokenKey}, {"secret key", (*finding).spokenKey}, {"ssws ", (*finding).bearer},
	}
	for _, sign := range []string{"$1$", "$2$", "$2a$", "$2b$", "$2x$", "$2y$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$", "$sha1$", "$scrypt$", "$argon2i$", "$argon2d$", "$argon2id$"} {
		all = append(all, rule{sign, (*finding).cryptHash})
	}
	for _, name := range []string{"sig", "signature", "x-amz-security-token", "x-goog-credential"} {
		all = append(all, rule{name, (*finding).signature})
	}
	return all
}

// signature finds that of an address which lets whoever has it in.
func (f *finding) signature(from, to int) {
	if to >= len(f.text) || f.text[to] != '=' || from == 0 || f.text[from-1] != '?' && f.text[from-1] != '&' && f.text[from-1] != ';' && !f.has(from-4, "0026") {
		return
	}
	if end := f.until(to+1, "& \t\r\n\"'\\<>"); end-to > 8 {
		f.add(to+1, end, tokenKind)
	}
}

// isCrypt knows the characters of a hash of crypt(3).
func isCrypt(c byte) bool { return isWord(c) || strings.IndexByte("./$=,+-", c) >= 0 }

// cryptHash finds $6$SALT$HASH and the like.
func (f *finding) cryptHash(from, to int) {
	if n := class(isCrypt).length(f.text[to:]); n >= 12 {
		f.add(from, to+n, passwordHash)
	}
}

func (f *finding) shaHash(from, to int) {
	if n := (class(func(c byte) bool { return isWord(c) || strings.IndexByte("+/=", c) >= 0 })).length(f.text[to:]); n >= 20 {
		f.add(from, to+n, passwordHash)
	}
}

func (f *finding) grubHash(from, to int) {
	if n := (class(func(c byte) bool { return isWord(c) || c == '.' })).length(f.text[to:]); n >= 40 {
		f.add(from, to+n, passwordHash)
	}
}

// dsn finds USER:PASSWORD@tcp(HOST).
func (f *finding) dsn(from, _ int) {
	begin := from
	for begin > 0 && from-begin < longestLogin && strings.IndexByte(" \t\r\n\"'=", f.text[begin-1]) < 0 {
		begin--
	}
	if colon := bytes.IndexByte(f.text[begin:from], ':'); colon >= 0 && begin+colon+1 < from {
		f.add(begin+colon+1, from, passwordKind)
	}
}

// postgresLine finds the password of HOST:5432:DATABASE:USER:PASSWORD.
func (f *finding) postgresLine(_, to int) {
	end := f.until(to, " \t\r\n\"'\\")
	if parts := bytes.SplitN(f.text[to:end], []byte(":"), 3); len(parts) == 3 && len(parts[2]) > 0 && end-to < longestLogin && bytes.IndexByte(f.text[to:end], '/') < 0 {
		f.add(end-len(parts[2]), end, passwordKind)
	}
}

// webKey finds the private parts of a JSON web key.
func (f *finding) webKey(from, _ int) {
	r := &jsonReader{text: f.text}
	level := r.backslashes(from)
	open := f.objectBegin(from-level, level, farthestPair)
	if open < 0 || !f.has(from, "\"kty") {
		return
	}
	r = &jsonReader{text: f.text[:min(len(f.text), from+farthestPair)], level: level, at: open + 1, depth: 1}
	for r.next() && r.depth > 0 {
		if r.token != '"' || r.depth != 1 || !r.beforeColon() {
			continue
		}
		switch string(f.text[r.from:r.to]) {
		case "d", "p", "q", "dp", "dq", "qi", "k":
			if colon := r.next(); colon && r.next() && r.token == '"' {
				f.add(r.from, r.to, privateKey)
			}
		}
	}
}

// formed finds what has its form by the place of its dots and dashes.
func (f *finding) formed() {
	for i, c := range f.text {
		if c == '.' {
			f.bootstrapToken(i)
		} else if c == '-' {
			f.kubeadminPassword(i)
		}
	}
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

// spokenKey finds the key of a sentence.
func (f *finding) spokenKey(from, to int) {
	if f.wordEnds(to) && f.wordBegins(from) {
		f.spoken(name{from: from, to: to, kind: tokenKind}, to)
	}
}

// bearer finds what follows Bearer, if it is no word of a sentence.
func (f *finding) bearer(from, to int) {
	at := to
	if f.text[to-1] == ' ' {
		at--
	}
	begin := at
	for at < len(f.text) {
		switch {
		case f.text[at] == ' ' || f.text[at] == '+':
			at++
			continue
		case f.has(at, "%20"):
			at += 3
			continue
		}
		break
	}
	if at == begin {
		return
	}
	end := at + (class(func(c byte) bool { return isWord(c) || strings.IndexByte("._~+/=-", c) >= 0 })).length(f.text[at:])
	if end-at >= 8 && seemsSecret(f.text[at:end]) {
		f.add(at, end, tokenKind)
	}
}
