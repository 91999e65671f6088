package mask

import (
	"bytes"
	"strings"
)

// Logins in URLs, and secrets that are arguments of a command.

// url finds the password behind ://, which JSON may have as :\/\/.
func (f *finding) url(colon int) {
	at := colon + 1
	for slashes := 0; slashes < 2; slashes++ {
		for at < len(f.text) && f.text[at] == '\\' && at-colon < 16 {
			at++
		}
		if at >= len(f.text) || f.text[at] != '/' {
			return
		}
		at++
	}
	f.login(at)
}

// longestLogin is that of a URL, in bytes.
const longestLogin = 512

// login finds the password of USER:PASSWORD@HOST. HOST:PORT/PATH@X is none.
func (f *finding) login(at int) {
	end := min(len(f.text), at+longestLogin)
	if at < end && strings.IndexByte("\"'[", f.text[at]) >= 0 {
		return
	}
	for at < end && strings.IndexByte(" \t\r\n\"'/:@\\<", f.text[at]) < 0 {
		at++
	}
	if at >= end || f.text[at] != ':' {
		return
	}
	from, last := at+1, -1
	part := 0 // the length of what may be a port
	for at = from; at < end && strings.IndexByte(" \t\r\n\"<", f.text[at]) < 0; at++ {
		switch c := f.text[at]; {
		case c == '@':
			last = at
		case c == '\\' && !isEscaped(f.text[at:end]), c == ':' && last >= 0, c == '/' && last >= 0:
			end = at
		case strings.IndexByte("/?#'\\,;", c) >= 0 && part == 0:
			if part = at - from; isNumber(f.text[from:at]) {
				return
			}
		}
	}
	if last > from {
		f.add(from, last, passwordKind)
	}
}

// isEscaped says whether a backslash is that of a character in JSON.
func isEscaped(text []byte) bool {
	text = bytes.TrimLeft(text[:min(len(text), 16)], "\\")
	return len(text) > 0 && (text[0] == '/' || text[0] == 'u')
}

func isNumber(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// option finds what stands behind --password, --creds or curl -u: in a line, or
// as the next string of a list.
func (f *finding) option(dash int) {
	if dash > 0 && strings.IndexByte(" \t\"'\n", f.text[dash-1]) < 0 || dash+2 >= len(f.text) {
		return
	}
	from := dash + 1
	if f.text[from] == '-' {
		from++
	}
	to := from
	for to < len(f.text) && to-from < longestName && (isWord(f.text[to]) || f.text[to] == '-') {
		to++
	}
	name := string(f.text[from:to])
	kind, login := f.optionKind(dash, name)
	if kind == "" {
		return
	}
	if at, quoted := f.argument(to, login); at > 0 {
		f.argumentOf(at, kind, login, quoted)
	}
}

// optionKind is that of the option's value, which may be a login.
func (f *finding) optionKind(dash int, name string) (kind string, login bool) {
	if len(name) == 0 || len(name) > 1 && f.text[dash+1] != '-' {
		return "", false
	}
	switch {
	case strings.HasSuffix(name, "creds"):
		return passwordKind, true
	case (name == "u" || name == "user" || name == "proxy-user" || name == "U") && f.isBefore(dash, "curl", "wget"):
		return passwordKind, true
	case name == "p" && f.isBefore(dash, "login", "sshpass"):
		return passwordKind, false
	case len(name) == 1:
		return "", false
	}
	return nameKind([]byte(name)), false
}

// isBefore says whether one of the words stands before in the line.
func (f *finding) isBefore(at int, words ...string) bool {
	line := f.text[max(0, at-256):at]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	for _, word := range words {
		if bytes.Contains(line, []byte(word)) {
			return true
		}
	}
	return false
}

// argument is where the argument begins that follows an option.
func (f *finding) argument(at int, login bool) (from int, quoted bool) {
	begin := at
	if login && at < len(f.text) && f.text[at] == '=' {
		return at + 1, false
	}
	quotes := 0
	for at < len(f.text) && at-begin < 64 && strings.IndexByte(" \t\r\n,\\\"'", f.text[at]) >= 0 {
		switch c := f.text[at]; {
		case c == '"' || c == '\'':
			quotes++
		case (c == '\n' || c == ',') && quotes == 0:
			return 0, false
		}
		at++
	}
	if at == begin || at >= len(f.text) || quotes == 1 && strings.IndexByte("\"'\\", f.text[begin]) >= 0 || quotes > 2 {
		return 0, false
	}
	return at, quotes > 0
}

// argumentOf finds the secret in an argument.
func (f *finding) argumentOf(at int, kind string, login, quoted bool) {
	stop := " \t\r\n\"'\\"
	if quoted {
		stop = "\r\n\"'\\"
	}
	to := f.until(at, stop)
	value := f.text[at:to]
	if login {
		colon := bytes.IndexByte(value, ':')
		if colon < 1 || isNumber(value[colon+1:]) {
			return
		}
		at += colon + 1
	}
	if at < to && value[0] != '-' && !isCommon(value) && (kind != weakKind || secretNotName(value)) {
		f.add(at, to, kind)
	}
}

// isCommon knows words that follow an option in a sentence.
func isCommon(word []byte) bool {
	switch strings.ToLower(strings.TrimRight(string(word), ".,:;)")) {
	case "", "is", "was", "and", "or", "must", "flag", "flags", "option", "options", "from", "for", "in", "to", "not", "cannot", "can", "with", "the", "has", "are", "will", "may", "should", "be", "value", "if", "requires", "needs":
		return true
	}
	return false
}
