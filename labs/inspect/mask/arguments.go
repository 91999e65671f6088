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

// optionValue finds what stands behind --password or --token: in a line, or as the
// next string of a list.
func (f *finding) optionValue(n name) {
	if n.from > 0 && strings.IndexByte(" \t\"'\n[(", f.text[n.from-1]) < 0 {
		return
	}
	if at, quoted := f.argument(n.to, false); at > 0 {
		f.argumentOf(at, n.kind, false, quoted)
	}
}

// loginOption finds the password behind --creds and --user NAME:PASSWORD.
func (f *finding) loginOption(from, to int) {
	if f.text[from] == '-' && from > 0 && strings.IndexByte(" \t\"'\n", f.text[from-1]) < 0 {
		return
	}
	if at, quoted := f.argument(to, true); at > 0 {
		f.argumentOf(at, passwordKind, true, quoted)
	}
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
	if at > 0 && f.text[at-1] == '"' && !quoted {
		quoted = true
	}
	if quoted {
		stop = "\r\n\"'\\"
	}
	to := f.until(at, stop)
	value := f.text[at:to]
	if login {
		colon := bytes.IndexByte(value, ':')
		if colon < 1 || isNumber(value[colon+1:]) || isGroup(value[:colon], value[colon+1:]) {
			return
		}
		at += colon + 1
		value = value[colon+1:]
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

// isGroup knows the user and group that podman run --user takes.
func isGroup(user, group []byte) bool {
	switch string(group) {
	case "root", "wheel", "core", "nobody", "nogroup", "users", "adm", "etcd", "apache", "nginx":
		return true
	}
	return bytes.Equal(user, group)
}
