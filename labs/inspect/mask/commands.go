package mask

import (
	"bytes"
	"strings"
)

// Secrets that are arguments of commands which have short options of their own.

// command is a program, or the word of one, and which of its options take a
// secret.
type command struct {
	word string
	// secret options take one; attached ones only in one word with it, as -pX.
	secret, attached []string
	// login options take NAME:SECRET, percent ones NAME%SECRET, prefixed ones
	// pass:SECRET.
	login, percent, prefixed []string
	// after names a word behind which an argument is the secret: the one so many
	// words later.
	after map[string]int
}

var commands = []command{
	{word: "login", secret: []string{"-p"}},
	{word: "sshpass", secret: []string{"-p"}},
	{word: "mysql", attached: []string{"-p"}}, {word: "mariadb", attached: []string{"-p"}}, {word: "mysqldump", attached: []string{"-p"}},
	{word: "mysqladmin", attached: []string{"-p"}, after: map[string]int{"password": 1}},
	{word: "redis-cli", secret: []string{"-a"}},
	{word: "mongo", secret: []string{"-p"}}, {word: "mongosh", secret: []string{"-p"}}, {word: "mongodump", secret: []string{"-p"}},
	{word: "ldapsearch", secret: []string{"-w"}}, {word: "ldapmodify", secret: []string{"-w"}}, {word: "ldapadd", secret: []string{"-w"}},
	{word: "ldapwhoami", secret: []string{"-w"}}, {word: "ldapdelete", secret: []string{"-w"}}, {word: "ldappasswd", secret: []string{"-w", "-s", "-a"}},
	{word: "openssl", secret: []string{"-k", "-K", "-password"}, prefixed: []string{"-passin", "-passout", "-pass", "-password"}, after: map[string]int{"passwd": -1}},
	{word: "keytool", secret: []string{"-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass", "-new"}},
	{word: "ssh-keygen", secret: []string{"-N", "-P"}},
	{word: "ipmitool", secret: []string{"-P"}, after: map[string]int{"password": 2}},
	{word: "racadm", secret: []string{"-p"}}, {word: "fence_ipmilan", secret: []string{"-p"}}, {word: "fence_redfish", secret: []string{"-p"}},
	{word: "zip", secret: []string{"-P"}}, {word: "unzip", secret: []string{"-P"}}, {word: "7z", attached: []string{"-p"}}, {word: "7za", attached: []string{"-p"}},
	{word: "smbclient", percent: []string{"-U"}}, {word: "rpcclient", percent: []string{"-U"}}, {word: "net", percent: []string{"-U"}},
	{word: "snmpget", secret: []string{"-c", "-A", "-X"}}, {word: "snmpwalk", secret: []string{"-c", "-A", "-X"}}, {word: "snmpset", secret: []string{"-c", "-A", "-X"}},
	{word: "virsh", after: map[string]int{"set-user-password": 3}},
	{word: "vault", after: map[string]int{"login": -1}},
	{word: "useradd", secret: []string{"-p"}}, {word: "usermod", secret: []string{"-p"}},
	{word: "curl", secret: []string{"-b", "--pass"}, login: []string{"-u", "-U", "--user", "--proxy-user"}},
	{word: "wget", login: []string{"--user", "--proxy-user"}}, {word: "http", login: []string{"-a", "--auth"}}, {word: "https", login: []string{"-a", "--auth"}},
	{word: "nmcli", after: map[string]int{"802-11-wireless-security.psk": 1, "802-1x.password": 1, "wifi-sec.psk": 1, "password": 1}},
	{word: "rootpw", after: map[string]int{"rootpw": -1}},
	{word: "rocommunity", after: map[string]int{"rocommunity": -1}}, {word: "rwcommunity", after: map[string]int{"rwcommunity": -1}},
}

func commandRules() []rule {
	var all []rule
	for _, c := range commands {
		all = append(all, rule{c.word, c.find})
	}
	return append(all, []rule{
		{"-creds", func(f *finding, from, to int) { f.loginOption(f.nameBegin(from), to) }}, {"--user", (*finding).loginOption},
		{"--from-literal", (*finding).literalOption}, {"sqlplus ", (*finding).sqlplus}, {"chpasswd", (*finding).fedWord},
		{"--stdin", (*finding).fedWord}, {"sudo -s", (*finding).fedWord}, {"kinit", (*finding).fedWord}, {"cryptsetup", (*finding).fedWord},
		{"psk \"", (*finding).sharedSecret}, {"[client.", (*finding).cephKey}, {"auth plain ", (*finding).saslLogin},
		{"list: |", (*finding).cloudLogins},
	}...)
}

// word is an argument, without its quotes.
type word struct{ from, to int }

// mostArguments is how many arguments of a command are looked at.
const mostArguments = 64

// arguments are the words behind a command, in a line of a shell or in a list of
// JSON, up to the end of the command.
func (f *finding) arguments(at int) (all []word) {
	end := min(f.endOfLine(at), at+4096)
	begin := at
	defer func() { f.walked += 8 * (at - begin) }()
	list := false
	if at < end && (f.text[at] == '"' || f.text[at] == '\'' || f.text[at] == '\\') {
		list = true
		for at < end && strings.IndexByte("\\\"'", f.text[at]) >= 0 {
			at++
		}
	}
	for len(all) < mostArguments {
		gap := at
		for at < end && (f.text[at] == ' ' || f.text[at] == '\t' || list && (f.text[at] == ',' || f.text[at] == '\\')) {
			at++
		}
		if at >= end || strings.IndexByte("|;&])", f.text[at]) >= 0 || at == gap && len(all) > 0 {
			return all
		}
		quote := f.quoteAt(at)
		from := at + len(quote)
		var to int
		if len(quote) > 0 {
			if to = bytes.Index(f.text[from:end], quote); to < 0 {
				return all
			}
			to += from
			at = to + len(quote)
		} else if list {
			return all
		} else {
			for to = from; to < end && strings.IndexByte(" \t\"|;`", f.text[to]) < 0; to++ {
				if f.text[to] == '\'' || f.text[to] == '\\' && to+1 < end && strings.IndexByte("\"n\\", f.text[to+1]) >= 0 {
					break
				}
			}
			at = to
			if to < end && to > from && (f.text[to] == '\'' || f.text[to] == '"') && f.text[to-1] == '=' {
				// --option='value'
				if close := bytes.IndexByte(f.text[to+1:end], f.text[to]); close >= 0 {
					to += 1 + close
					at = to + 1
				}
			} else if to < end && strings.IndexByte("\"'\\", f.text[to]) >= 0 {
				end = to
			}
		}
		if to > from {
			all = append(all, word{from, to})
		}
		if at <= gap {
			return all
		}
	}
	return all
}

// find looks through the arguments of a command.
func (c command) find(f *finding, from, to int) {
	if from > 0 && (isNamePart(f.text[from-1]) && f.text[from-1] != '.') || !f.wordEnds(to) || to < len(f.text) && strings.IndexByte(" \t\"'\\", f.text[to]) < 0 {
		return
	}
	all := f.arguments(to)
	for i, a := range all {
		text := string(f.text[a.from:a.to])
		if n := c.after[text]; n > 0 && i+n < len(all) {
			f.secretWord(all[i+n])
		} else if n < 0 {
			f.firstPlain(all[i+1:])
		}
		if strings.HasPrefix(text, "-") {
			c.option(f, text, a, all[i+1:])
		}
	}
	if c.after[c.word] < 0 {
		f.firstPlain(all)
	}
}

// firstPlain is the first argument that is no option.
func (f *finding) firstPlain(all []word) {
	for _, a := range all {
		if f.text[a.from] != '-' {
			f.secretWord(a)
			return
		}
	}
}

func (f *finding) secretWord(a word) {
	if value := f.text[a.from:a.to]; !isCommon(value) && value[0] != '-' && value[0] != '$' && value[0] != '<' {
		f.add(a.from, a.to, passwordKind)
	}
}

// option finds the secret of one: in the next word, behind =, or attached.
func (c command) option(f *finding, text string, a word, next []word) {
	take := func(names []string, attached bool) (word, bool) {
		for _, name := range names {
			switch {
			case text == name && !attached && len(next) > 0:
				return next[0], true
			case strings.HasPrefix(text, name+"="):
				return unquoted(f, word{a.from + len(name) + 1, a.to}), true
			case len(name) == 2 && strings.HasPrefix(text, name) && len(text) > 2 && !strings.HasPrefix(text, "--"):
				return unquoted(f, word{a.from + 2, a.to}), true
			}
		}
		return word{}, false
	}
	if v, ok := take(c.secret, false); ok && v.from < v.to {
		f.secretWord(v)
	}
	if v, ok := take(c.attached, true); ok && v.from < v.to {
		f.secretWord(v)
	}
	for _, form := range []struct {
		names []string
		sign  string
	}{{c.login, ":"}, {c.percent, "%"}, {c.prefixed, "pass:"}} {
		if v, ok := take(form.names, false); ok && v.from < v.to {
			value := f.text[v.from:v.to]
			if i := bytes.Index(value, []byte(form.sign)); i >= 0 && i+len(form.sign) < len(value) && (form.sign != "pass:" || i == 0) {
				f.add(v.from+i+len(form.sign), v.to, passwordKind)
			}
		}
	}
}

func unquoted(f *finding, a word) word {
	for a.from < a.to && strings.IndexByte("\"'", f.text[a.from]) >= 0 {
		a.from++
	}
	for a.to > a.from && strings.IndexByte("\"'", f.text[a.to-1]) >= 0 {
		a.to--
	}
	return a
}

// literalOption finds the value of --from-literal KEY=VALUE. That of a ConfigMap is
// no secret, unless its key says so.
func (f *finding) literalOption(from, to int) {
	line := f.text[max(0, from-256):from]
	if bytes.Contains(line[bytes.LastIndexByte(line, '\n')+1:], []byte("configmap")) {
		return
	}
	at := to
	for at < len(f.text) && at-to < 8 && strings.IndexByte("= \"',\\", f.text[at]) >= 0 {
		at++
	}
	end := f.until(at, " \t\r\n\"'\\")
	if i := bytes.IndexByte(f.text[at:end], '='); i > 0 && at+i+1 < end {
		f.add(at+i+1, end, secretKind)
	} else if i > 0 && end < len(f.text) && f.quoteAt(end) != nil {
		// KEY="VALUE"
		quote := f.quoteAt(end)
		f.add(end+len(quote), f.closing(end+len(quote), quote, false), secretKind)
	}
}

// sqlplus finds NAME/SECRET@DATABASE.
func (f *finding) sqlplus(_, to int) {
	end := f.until(to, " \t\r\n\"'\\")
	slash := bytes.IndexByte(f.text[to:end], '/')
	if at := bytes.LastIndexByte(f.text[to:end], '@'); slash > 0 && at > slash+1 {
		f.add(to+slash+1, to+at, passwordKind)
	}
}

// fedWord finds what echo or printf gives a command that reads a password, and
// what stands behind <<<.
func (f *finding) fedWord(from, to int) {
	begin := max(f.lineBegin(from), from-1024)
	line := f.text[begin:from]
	login := f.has(from, "chpasswd")
	if pipe := bytes.LastIndexByte(line, '|'); pipe > 0 {
		for _, word := range []string{"echo ", "printf "} {
			if i := bytes.LastIndex(line[:pipe], []byte(word)); i >= 0 {
				for _, a := range f.arguments(begin + i + len(word) - 1) {
					f.fed(a, login)
				}
			}
		}
	}
	if f.has(to, " <<< ") {
		for _, a := range f.arguments(to + len(" <<<")) {
			f.fed(a, login)
		}
	}
}

func (f *finding) fed(a word, login bool) {
	text := f.text[a.from:a.to]
	if text[0] == '-' || text[0] == '$' || text[0] == '%' {
		return
	}
	if login {
		colon := bytes.IndexByte(text, ':')
		if colon < 0 {
			return
		}
		a.from += colon + 1
	}
	if a.from < a.to {
		f.add(a.from, a.to, passwordKind)
	}
}

// sharedSecret finds the PSK "..." of ipsec.secrets.
func (f *finding) sharedSecret(_, to int) {
	if end := f.until(to, "\"\r\n"); end > to && end < len(f.text) && f.text[end] == '"' {
		f.add(to, end, passwordKind)
	}
}

// cephKey finds the key in the section of a client.
func (f *finding) cephKey(_, to int) {
	section := f.text[to:min(len(f.text), to+256)]
	if i := bytes.Index(section, []byte("key = ")); i >= 0 && !bytes.Contains(section[:i], []byte("\n[")) {
		f.add(to+i+len("key = "), f.until(to+i+len("key = "), " \t\r\n"), tokenKind)
	}
}

// saslLogin finds what follows AUTH PLAIN.
func (f *finding) saslLogin(_, to int) {
	if end := f.until(to, " \t\r\n\"'\\"); seemsSecret(f.text[to:end]) {
		f.add(to, end, authorization)
	}
}

// cloudLogins finds NAME:SECRET in the list of cloud-init's chpasswd.
func (f *finding) cloudLogins(from, to int) {
	if !bytes.Contains(f.text[max(0, from-64):from], []byte("chpasswd:")) {
		return
	}
	l := f.lineOf(from)
	indent := l.indent()
	for {
		next, ok := f.below(l)
		if !ok || next.indent() <= indent && next.content < next.to {
			return
		}
		if colon := bytes.IndexByte(f.text[next.content:next.to], ':'); colon > 0 && next.content+colon+1 < next.to {
			f.add(next.content+colon+1, next.to, passwordKind)
		}
		l = next
	}
}
