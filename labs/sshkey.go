package labs

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"
)

// sshKeyFields gives, for every type of public key that OpenSSH takes, the
// number of fields inside the key, the type itself being the first.
// Source: RFC 4253 section 6.6, RFC 5656, RFC 8709, OpenSSH PROTOCOL.u2f.
var sshKeyFields = map[string]int{
	"ssh-ed25519":         2,
	"ssh-rsa":             3,
	"ecdsa-sha2-nistp256": 3,
	"ecdsa-sha2-nistp384": 3,
	"ecdsa-sha2-nistp521": 3,

	"sk-ssh-ed25519@openssh.com":         3,
	"sk-ecdsa-sha2-nistp256@openssh.com": 4,
}

// longestKey is the length in bytes of an authorized_keys line that sshd still
// reads (OpenSSH, SSH_MAX_PUBKEY_BYTES).
const longestKey = 16384

const sshKeyRule = "one line as ssh-ed25519 AAAA… COMMENT, or the path of a file ending in .pub"

// validateSSHKey holds sshKey to the form of a public key, reads the file if
// it is a path, and leaves the line byte for byte as it was, comment included.
func (l *loading) validateSSHKey() {
	const path = "sshKey"
	key := l.lab.SSHKey
	if key == "" && !l.doc.given(path) {
		return
	}
	p := Problem{Path: path, Allowed: sshKeyRule}
	switch {
	case strings.Contains(key, "PRIVATE KEY"):
		if _, told := l.doc.privateKey(); !told {
			p.Message = "a private key stands here"
			l.hide(path)
			l.report(p)
		}
		return
	case key == "":
		p.Message = "is empty"
	case startsAsKey(key):
		key = strings.TrimRight(key, "\n")
		p.Message = keyProblem(key)
	case strings.HasSuffix(key, ".pub"):
		key, p = l.readKey(path, key)
	default:
		p.Message = "is neither a public key nor the path of a file ending in .pub"
		if !rootedPath.MatchString(key) {
			l.hide(path) // it may be a part of a private key
		}
	}
	if p.Message != "" {
		l.report(p)
		return
	}
	l.lab.SSHKey = key
}

var rootedPath = regexp.MustCompile(`^(~|\.|\.\.)?/`)

// hide keeps the line of a value out of messages.
func (l *loading) hide(path string) {
	if _, line, _ := l.doc.lookup(path); line > 0 {
		l.doc.secret()[line] = true
	}
}

// startsAsKey says whether a text begins with the type of a public key.
func startsAsKey(s string) bool {
	kind, _, more := strings.Cut(s, " ")
	return more && (sshKeyFields[kind] > 0 || kind == "ssh-dss")
}

// readKey reads a .pub file. Its problem has no message when all is well.
func (l *loading) readKey(path, name string) (string, Problem) {
	p := Problem{Path: path}
	if p.Message = badPath(name); p.Message != "" {
		p.Allowed = sshKeyRule
		return "", p
	}
	data, err := l.read(name)
	if err != nil {
		p.Message = quote(name) + ": " + plainError(err)
		if plainError(err) == "no such file or directory" || plainError(err) == "file does not exist" {
			p.Hint = "ssh-keygen -t ed25519 makes a key pair; the .pub file is the one to name here"
		}
		return "", p
	}
	key := strings.TrimRight(string(data), "\r\n")
	switch {
	case strings.Contains(key, "PRIVATE KEY"):
		p.Message = quote(name) + " holds a private key"
		p.Allowed = "the file with the public key"
	case !startsAsKey(key):
		p.Message = quote(name) + " holds no public key"
		p.Allowed = "one line as ssh-ed25519 AAAA… COMMENT"
	default:
		if told := keyProblem(key); told != "" {
			p.Message = quote(name) + ": " + told
		}
	}
	return key, p
}

// keyProblem says what is wrong with an authorized_keys line; empty when
// nothing is.
func keyProblem(line string) string {
	kind, rest, _ := strings.Cut(line, " ")
	blob, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	switch {
	case len(line) > longestKey:
		return "the key is longer than sshd reads"
	case strings.ContainsAny(line, "\r\n"):
		return "holds several lines; a lab takes one key"
	case !utf8.ValidString(line):
		return "the key is not UTF-8"
	case whatHides(line) != "":
		return "the key holds " + whatHides(line)
	case hasControl(line):
		return "the key holds a tab"
	case kind == "ssh-dss":
		return "ssh-dss keys are not accepted by sshd any more"
	}
	if err := checkBlob(kind, blob); err != nil {
		return err.Error()
	}
	return ""
}

// checkBlob looks into the base64 part of a key, whose first field must repeat
// the type and whose fields must fill it.
func checkBlob(kind, blob string) error {
	data, err := base64.StdEncoding.Strict().DecodeString(blob)
	if err != nil || len(data) == 0 {
		return errors.New("what follows " + kind + " is not base64; the key may be cut off")
	}
	var fields []string
	for len(data) > 0 {
		if len(data) < 4 || uint64(binary.BigEndian.Uint32(data)) > uint64(len(data)-4) {
			return errors.New("the key is cut off")
		}
		n := binary.BigEndian.Uint32(data)
		fields = append(fields, string(data[4:4+n]))
		data = data[4+n:]
	}
	switch {
	case fields[0] != kind:
		return errors.New("the key says inside that it is " + quote(fields[0]) + ", not " + kind)
	case len(fields) != sshKeyFields[kind]:
		return errors.New("the key is not a whole " + kind + " key")
	case kind == "ssh-ed25519" && len(fields[1]) != 32:
		return errors.New("the key is not a whole " + kind + " key")
	}
	return nil
}
