package mask

import (
	"bytes"
	"strings"
)

// Names before a secret, as keys of JSON and YAML, options and variables have
// them; in lower case, without - and _. A name that ends so counts too.
var secretNames = []struct{ end, kind string }{
	{"password", passwordKind}, {"passwd", passwordKind}, {"passphrase", passwordKind}, {"passcode", passwordKind}, {"pwd", passwordKind},
	{"passwordin", passwordKind}, {"passwordhash", passwordHash}, {"passwdhash", passwordHash},
	{"sshpass", passwordKind}, {"adminpass", passwordKind}, {"rootpass", passwordKind}, {"userpass", passwordKind}, {"dbpass", passwordKind},
	{"bindpw", passwordKind}, {"rootpw", passwordKind}, {"adminpw", passwordKind}, {"psk", passwordKind},
	{"token", tokenKind}, {"oauth2bearer", tokenKind}, {"clientkeydata", privateKey}, {"privatekey", privateKey}, {"tls.key", privateKey},
	{"clientsecret", tokenKind}, {"credentialsecret", tokenKind}, {"secretaccesskey", tokenKind}, {"apikey", tokenKind},
	{"accountkey", tokenKind}, {"sharedaccesskey", tokenKind}, {"activationkey", tokenKind}, {"activationkeys", tokenKind}, {"certificatekey", tokenKind},
	{"encryptionkey", tokenKind}, {"presharedkey", tokenKind}, {"xamzsignature", tokenKind}, {"xamzcredential", tokenKind}, {"xgoogsignature", tokenKind},
	{"dockerconfigjson", loginKind}, {"dockercfg", loginKind},
	{"authorization", authorization}, {"cookie", authorization},
	{"secret", weakKind}, {"secretkey", weakKind}, {"accesskey", weakKind}, {"signingkey", weakKind}, {"sharedkey", weakKind}, {"authkey", weakKind},
	{"masterkey", weakKind}, {"credential", weakKind}, {"credentials", weakKind}, {"pass", weakKind}, {"privatekeyid", weakKind},
}

// nameEnds are the last words of those names, by which they are found.
var nameEnds = []string{
	"password", "passwd", "passphrase", "passcode", "pwd", "password_in", "hash", "pass", "bindpw", "rootpw", "adminpw", "psk", "_pin",
	"token", "bearer", "key-data", "key_data", "keydata", "key", "secret", "signature", "credential", "auth", "private_key_id",
	"dockerconfigjson", "dockercfg", "authorization", "cookie",
}

func nameRules() []rule {
	all := []rule{{"proxy", (*finding).proxy}}
	for _, end := range nameEnds {
		all = append(all, rule{end, (*finding).nameHit})
	}
	return all
}

// weakKind is that of names behind which a secret may stand, or the name of one:
// the value tells.
const weakKind = "secret-value"

// lastLetters are those that such names end with.
const lastLetters = "deanytghsnrlwk"

// nameKind is the kind of secret that a name announces; empty if none.
func nameKind(name []byte) string {
	if len(name) < 3 || strings.IndexByte(lastLetters, name[len(name)-1]|0x20) < 0 {
		return ""
	}
	var room [longestName]byte
	plain := room[:0]
	for _, c := range name {
		if c != '-' && c != '_' {
			plain = append(plain, c|0x20)
		}
	}
	if string(plain) == "auth" || bytes.HasSuffix(bytes.ToLower(name), []byte("_auth")) {
		return loginKind
	}
	// The shell's own are directories.
	if string(plain) == "pwd" && string(name) == "PWD" || string(plain) == "oldpwd" || string(name) == "PASS" {
		return ""
	}
	if end := name[max(0, len(name)-5):]; len(end) == 5 && (end[0] == '_' || end[0] == '-') && strings.EqualFold(string(end[1:]), "pass") || bytes.HasSuffix(name, []byte("_pin")) || bytes.HasSuffix(name, []byte("_PIN")) {
		return passwordKind
	}
	for _, n := range secretNames {
		if len(plain) >= len(n.end) && string(plain[len(plain)-len(n.end):]) == n.end {
			return n.kind
		}
	}
	return ""
}

// longestName: what is longer has lost its beginning, which does not matter.
const longestName = 100

// proxy finds the login in a proxy's address, which may have no scheme.
func (f *finding) proxy(from, to int) {
	if to < len(f.text) && f.text[to] == '=' {
		f.login(to + 1)
	}
}

// name is one that announces a secret.
type name struct {
	from, to int
	kind     string
	quote    []byte // what closes it, as \"; empty if it is not quoted
	plural   bool
}

func isNamePart(c byte) bool { return isWord(c) || c == '-' || c == '_' || c == '.' }

// nameBegin is where the name begins that ends at a place.
func (f *finding) nameBegin(to int) int {
	from := to
	for from > 0 && to-from < longestName && isNamePart(f.text[from-1]) {
		from--
	}
	return from
}

// nameHit looks at what stands behind a name that announces a secret.
func (f *finding) nameHit(from, to int) {
	n := name{to: to}
	if to < len(f.text) && f.text[to]|0x20 == 's' && (f.text[from] != 'a' || to-from > 4) {
		n.plural = true
		n.to++
	}
	if next := n.to; next < len(f.text) && (isWord(f.text[next]) || f.text[next] == '_' ||
		(f.text[next] == '-' || f.text[next] == '.') && next+1 < len(f.text) && isWord(f.text[next+1])) {
		return
	}
	n.from = f.nameBegin(to)
	if n.kind = nameKind(f.text[n.from:to]); n.kind == "" || f.has(n.from-len(markText), markText) {
		return
	}
	f.placed(n)
}

// placed finds the value by what stands around the name.
func (f *finding) placed(n name) {
	if f.isTag(n.from) {
		f.tagged(n)
		return
	}
	n.quote = f.quoteAt(n.to)
	at := n.to + len(n.quote)
	blanks := 0
	for at < len(f.text) && blanks < 8 && (f.text[at] == ' ' || f.text[at] == '\t') {
		at++
		blanks++
	}
	if at < len(f.text) && (f.text[at] == ':' || f.text[at] == '=') {
		if at+1 < len(f.text) && (f.has(at, "=>") || f.has(at, ":=") || f.has(at, "==")) {
			at++
		}
		f.value(n, at)
		return
	}
	if n.plural {
		return
	}
	if f.text[n.from] == '-' && f.has(n.from, "--") {
		f.optionValue(n)
		return
	}
	f.pairAround(n)
	if len(n.quote) == 0 && blanks > 0 {
		f.spoken(n, at)
	}
}

// nameBefore is the word before a colon, without its quotes.
func (f *finding) nameBefore(colon int) (n name) {
	n.to = colon
	for n.to > 0 && colon-n.to < 8 && (f.text[n.to-1] == ' ' || f.text[n.to-1] == '\t') {
		n.to--
	}
	if n.to > 0 && (f.text[n.to-1] == '"' || f.text[n.to-1] == '\'') {
		end := n.to
		n.to--
		for n.to > 0 && f.text[n.to-1] == '\\' {
			n.to--
		}
		n.quote = f.text[n.to:end]
	}
	n.from = f.nameBegin(n.to)
	return n
}

// value finds what stands behind the colon. A sentence has colons too: "cannot
// get the token: unauthorized" must stay.
func (f *finding) value(n name, colon int) {
	at := f.skipTypes(colon)
	if at >= len(f.text) {
		return
	}
	if c := f.text[at]; f.text[colon] == ':' && (c == '\n' || c == '\r' || c == '|' || c == '>') {
		f.block(n, at)
		return
	}
	if n.plural && f.text[at] != '[' {
		return
	}
	quote := f.quoteAt(at)
	if quote == nil {
		f.bare(n, colon, at)
		return
	}
	from := at + len(quote)
	to := f.closing(from, quote, f.text[colon] == ':' && f.beginsLine(n.from))
	content := f.text[from:to]
	switch {
	case len(content) == 0, n.kind == weakKind && !secretNotName(content), f.isPath(n, content):
	case len(n.quote) == 0 && bytes.IndexByte([]byte(",}]: \t\r\n"), content[0]) >= 0:
		// The quote closes a string in which the name was the last word.
	case len(n.quote) > 0 || f.beginsLine(n.from) || f.text[colon] == '=' || f.text[colon] == '>' || f.inStruct(n.from) || seemsSecret(content):
		f.add(from, to, n.kind)
	}
}

// isPath says whether the value of a key is the path of its file.
func (f *finding) isPath(n name, value []byte) bool {
	if n.to < 3 || !strings.EqualFold(string(f.text[n.to-3:n.to]), "key") {
		return false
	}
	return value[0] == '/' && bytes.IndexByte(value[1:], '/') >= 0 && len(value) < 200 && bytes.IndexByte(value, '=') < 0 && bytes.IndexByte(value, '+') < 0 ||
		bytes.HasSuffix(value, []byte(".key")) || bytes.HasSuffix(value, []byte(".pem"))
}

// skipTypes is where the value begins: behind blanks, a tag or an anchor of YAML,
// the types that a dump of Go names, the letter before a string of Python.
func (f *finding) skipTypes(colon int) int {
	at := f.skipBlanks(colon + 1)
	if f.text[colon] == ':' && at < len(f.text) && (f.text[at] == '!' || f.text[at] == '&') && at+1 < len(f.text) && (isWord(f.text[at+1]) || f.text[at+1] == '!') {
		if end := f.until(at, " \t\r\n\"',}"); end < len(f.text) && f.text[end] == ' ' {
			at = f.skipBlanks(end)
		}
	}
	for at+1 < len(f.text) && f.text[at] == '(' && isWord(f.text[at+1]) {
		end := f.until(at, ") \r\n\"'")
		if end >= len(f.text) || f.text[end] != ')' || !f.has(end, ") ") {
			break
		}
		at = f.skipBlanks(end + 1)
	}
	if at+1 < len(f.text) && strings.IndexByte("bur", f.text[at]) >= 0 && (f.text[at+1] == '\'' || f.text[at+1] == '"') {
		at++
	}
	return at
}

func (f *finding) skipBlanks(at int) int {
	for at < len(f.text) && (f.text[at] == ' ' || f.text[at] == '\t') {
		at++
	}
	return at
}

// inStruct says whether a name stands where a field of a dump, or a key of YAML in
// braces, begins.
func (f *finding) inStruct(at int) bool {
	if at > 0 && (f.text[at-1] == ' ' || f.text[at-1] == ':') {
		at--
	}
	return at > 0 && strings.IndexByte("{[(,;&?", f.text[at-1]) >= 0
}

// quoteAt is the quote that stands here, with the backslashes before it.
func (f *finding) quoteAt(at int) []byte {
	end := at
	for end < len(f.text) && f.text[end] == '\\' {
		end++
	}
	if end < len(f.text) && (f.text[end] == '"' || f.text[end] == '\'') {
		return f.text[at : end+1]
	}
	return nil
}

// closing is where the same quote stands again, with as many backslashes. One
// that is not closed ends with its line, or the string of JSON it stands in. In
// YAML it may go on in lines that are indented.
func (f *finding) closing(from int, quote []byte, yaml bool) int {
	doubles := 0
	at := from
	defer func() { f.walked += at - from }()
	for ; at < len(f.text); at++ {
		c := f.text[at]
		switch {
		case c == '\n' && !(yaml && f.goesOn(at+1, at-from)):
			return at
		case c == quote[len(quote)-1]:
			n := (&jsonReader{text: f.text}).backslashes(at)
			if n = min(n, at-from); n == len(quote)-1 || n < len(quote)-1 && c == '"' {
				return at - n
			}
		}
		if c == '"' && quote[len(quote)-1] == '\'' {
			if doubles%2 == 0 && f.endsString(at+1) {
				return at
			}
			doubles++
		}
	}
	return len(f.text)
}

// longestQuoted is how long a text in quotes over several lines of YAML is.
const longestQuoted = 4 << 10

func (f *finding) goesOn(line, so int) bool {
	return so < longestQuoted && line < len(f.text) && (f.text[line] == ' ' || f.text[line] == '\n')
}

// endsString says whether what follows a quote is what follows a string of JSON.
func (f *finding) endsString(at int) bool {
	return at >= len(f.text) || strings.IndexByte(",}]:\r\n", f.text[at]) >= 0
}

// bare finds a value without quotes.
func (f *finding) bare(n name, colon, at int) {
	own := len(n.quote) == 0 && f.ownLine(n.from)
	tight := len(n.quote) == 0 && f.text[colon] == ':' && at == colon+1 && n.to == colon && !own
	flow := len(n.quote) == 0 && f.text[colon] == ':' && !own && f.inStruct(n.from) && f.inBraces(n.from)
	stop := " \t\r\n\"'\\"
	switch {
	case len(n.quote) > 0:
		stop += ",{}[]"
	case own:
		stop = " \t\r\n"
	case tight:
		stop += ",})]"
	case flow:
		stop += ",}"
	}
	to := f.untilPair(at, stop, own && f.text[colon] == ':')
	switch {
	case at < len(f.text) && f.text[at] == '[' && f.text[colon] == ':' && n.kind != weakKind:
		f.list(n, at+1)
		return
	case n.kind == authorization && bytes.HasSuffix(bytes.ToLower(f.text[n.from:n.to]), []byte("cookie")) && bytes.IndexByte(f.text[at:to], '=') >= 0:
		f.add(at, f.until(at, "\r\n\"'\\"), n.kind)
		return
	case n.kind == authorization && isScheme(f.text[at:to]) && to < len(f.text) && f.text[to] == ' ':
		at = to + 1
		f.add(at, f.until(at, stop), n.kind)
		return
	}
	value := f.text[at:to]
	if len(value) == 0 || harmless(value, n.kind == passwordKind && f.text[colon] == '=') || f.isPath(n, value) {
		return
	}
	if own && f.text[colon] == ':' && bytes.HasSuffix(bytes.ToLower(f.text[n.from:n.to]), []byte("password")) {
		to = f.wordsEnd(at)
	}
	rest := bytes.TrimLeft(f.text[to:min(len(f.text), to+64)], " \t")
	alone := len(rest) == 0 || strings.IndexByte("\r\n\"\\'", rest[0]) >= 0 || rest[0] == '#' && own
	begins := f.beginsLine(n.from)
	switch {
	case n.kind == weakKind:
		if secretNotName(value) && (f.text[colon] == '=' || len(n.quote) > 0 || alone && begins || tight || flow) {
			f.add(at, to, n.kind)
		}
	case f.text[colon] != ':', alone && begins, len(n.quote) > 0, tight && value[0] != '/' && f.inBraces(n.from), flow && !isCommon(value), seemsSecret(value):
		f.add(at, to, n.kind)
		if (own || begins) && alone && f.text[colon] == ':' {
			f.goesOnBelow(n, at)
		}
	}
	if f.text[colon] == ':' && !own && n.kind != weakKind {
		f.spoken(n, at)
	}
}

// inBraces says whether a brace or a bracket stands before in the line, as in what Go
// prints of a struct or a map.
func (f *finding) inBraces(at int) bool {
	return bytes.ContainsAny(f.text[max(f.lineBegin(at), at-512):at], "{[")
}

// untilPair is where a value ends: at one of these, or where another pair begins,
// as in a query, in a form and in a connection string.
func (f *finding) untilPair(at int, stop string, whole bool) int {
	begin := at
	defer func() { f.walked += at - begin }()
	for at < len(f.text) && strings.IndexByte(stop, f.text[at]) < 0 {
		if c := f.text[at]; !whole && (c == '&' || c == ';' || c == ',') && f.isPair(at+1) {
			return at
		}
		at++
	}
	return at
}

// isPair says whether NAME= stands at a place.
func (f *finding) isPair(at int) bool {
	begin := at
	for at < len(f.text) && at-begin < longestName && (isNamePart(f.text[at]) || f.text[at] == ' ') {
		at++
	}
	return at > begin && at < len(f.text) && f.text[at] == '='
}

// until is the next place where one of these stands.
func (f *finding) until(at int, stop string) int {
	begin := at
	for at < len(f.text) && strings.IndexByte(stop, f.text[at]) < 0 {
		at++
	}
	f.walked += at - begin
	return at
}

// wordsEnd is where the words of a line end, without its comment.
func (f *finding) wordsEnd(at int) int {
	to := f.until(at, "\r\n")
	if i := bytes.Index(f.text[at:to], []byte(" #")); i >= 0 {
		to = at + i
	}
	return at + len(bytes.TrimRight(f.text[at:to], " \t"))
}

// ownLine says whether nothing but an indent or a dash stands before this place
// in a line.
func (f *finding) ownLine(at int) bool {
	for at > 0 && strings.IndexByte(" \t-", f.text[at-1]) >= 0 {
		at--
	}
	return at == 0 || f.text[at-1] == '\n'
}

// longestList is how far the values of a list are looked for, in bytes.
const longestList = 4 << 10

// list finds the values of a list, as those of headers are.
func (f *finding) list(n name, at int) {
	end := min(len(f.text), at+longestList)
	for at < end && strings.IndexByte("] \t\r\n,", f.text[at]) >= 0 && f.text[at] != ']' {
		at++
	}
	for at < end && f.text[at] != ']' {
		quote := f.quoteAt(at)
		if quote == nil {
			if len(n.quote) == 0 {
				f.add(at, f.until(at, "]\r\n\"'\\"), n.kind)
			}
			return
		}
		to := f.closing(at+len(quote), quote, false)
		if to > at+len(quote) {
			f.add(at+len(quote), to, n.kind)
		}
		at = to + len(quote)
		for at < end && strings.IndexByte(" \t\r\n,", f.text[at]) >= 0 {
			at++
		}
	}
}

func isScheme(word []byte) bool {
	switch strings.ToLower(string(word)) {
	case "bearer", "basic", "digest", "negotiate", "token":
		return true
	}
	return false
}

// harmless values are none, or structure.
func harmless(value []byte, braces bool) bool {
	switch string(value) {
	case "true", "false", "null", "nil", "~", "<nil>", "|", ">", "|-", ">-":
		return true
	}
	structure := bytes.IndexByte([]byte("{}[]"), value[0]) >= 0 && !(braces && len(value) > 2)
	return structure || bytes.HasPrefix(value, []byte("http://")) || bytes.HasPrefix(value, []byte("https://"))
}

// beginsLine says whether nothing but blanks, a dash, or the prefix of a journal
// stands before this place in its line, or in its string of JSON.
func (f *finding) beginsLine(at int) bool {
	for at > 0 && strings.IndexByte(" \t", f.text[at-1]) >= 0 {
		at--
	}
	if at > 1 && f.text[at-1] == '-' {
		return f.beginsLine(at - 1)
	}
	if at == 0 || f.text[at-1] == '\n' || f.text[at-1] == '"' || f.text[at-1] == '\'' {
		return true
	}
	// curl --verbose prints headers so.
	if (f.text[at-1] == '<' || f.text[at-1] == '>') && (at == 1 || f.text[at-2] == '\n' || f.text[at-2] == ' ') {
		return f.beginsLine(at - 1)
	}
	// So begins a line in the log of a container.
	if at > 9 && (f.text[at-1] == 'F' || f.text[at-1] == 'P') && (f.has(at-8, "stdout ") || f.has(at-8, "stderr ")) {
		return true
	}
	return at > 1 && (string(f.text[at-2:at]) == `\n` || string(f.text[at-2:at]) == "]:")
}

// seemsSecret says whether a word is none of a language: it has a digit or
// letters of both cases in its middle, and is long.
func seemsSecret(word []byte) bool {
	if len(word) < 8 || word[len(word)-1] == ':' || bytes.HasPrefix(word, []byte("http")) || bytes.IndexByte(word, ' ') >= 0 {
		return false
	}
	digits, upper, lower := 0, 0, 0
	for i, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z' && i > 0:
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		}
	}
	return digits > 0 && digits < len(word) || upper > 0 && lower > 0 || len(word) >= 32
}

// secretNotName says whether a value seems a secret, and not the name of one, as
// router-certs-default-5d8f9c7b6d.
func secretNotName(value []byte) bool {
	if !seemsSecret(value) {
		return false
	}
	digits, length := 0, 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits, length = digits+1, length+1
		case c >= 'a' && c <= 'z':
			length++
		case strings.IndexByte("-./:_", c) >= 0:
			digits, length = 0, 0
		default:
			return true
		}
		if digits > 0 && length > 10 {
			return true
		}
	}
	return false
}
