package audit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits bound what Parse takes on. The parser of shell is recursive, and a
// loop in a script may be followed many times, so size alone is no bound.
type Limits struct {
	Bytes int // size of the script
	Marks int // brackets, operators and words of compound commands in it
	Steps int // commands and values looked at while it is followed
	Text  int // length of one value
	Depth int // calls of functions within each other
}

// DefaultLimits are some ten times what the longest bootkube.sh needs.
var DefaultLimits = Limits{Bytes: 1 << 20, Marks: 20_000, Steps: 200_000, Text: 1 << 16, Depth: 32}

// Refusal is why a script is not looked at.
type Refusal struct {
	Line    int // 0: the script as a whole
	Message string
	Hint    string
}

func (r *Refusal) Error() string {
	if r.Line == 0 {
		return r.Message
	}
	return fmt.Sprintf("line %d: %s", r.Line, r.Message)
}

// readScript reads no more than the limit, and refuses what cannot be shell.
func readScript(r io.Reader, l Limits) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(l.Bytes)+1))
	if err != nil {
		return "", err
	}
	const hint = "give a bootkube.sh, or the installer's bootkube.sh.template"
	if len(data) > l.Bytes {
		return "", &Refusal{Message: fmt.Sprintf("is larger than %d bytes, which no bootkube.sh is", l.Bytes), Hint: hint}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return "", &Refusal{Message: "is empty", Hint: hint}
	}
	if at := notText(data); at >= 0 {
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		return "", &Refusal{Line: line, Message: "holds bytes that are no text", Hint: hint}
	}
	if n := marks(data); n > l.Marks {
		return "", &Refusal{Message: fmt.Sprintf("has %d brackets, operators and compound commands, more than %d", n, l.Marks), Hint: hint}
	}
	return string(data), nil
}

// notText is the place of the first byte that no text has, -1 without any.
func notText(data []byte) int {
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == 0 || c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

var compoundWords = map[string]bool{"if": true, "elif": true, "while": true, "until": true, "for": true,
	"select": true, "case": true, "time": true, "coproc": true, "function": true}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// marks counts whatever may make the parser go one level deeper. It does not
// ask for what closes a level again: in a comment or a string that would hide
// as many levels as a hostile script likes.
func marks(data []byte) int {
	n := 0
	for i := 0; i < len(data); i++ {
		begin := i
		for i < len(data) && inWord(data[i]) {
			i++
		}
		if compoundWords[string(data[begin:i])] {
			n++
		}
		if i < len(data) && strings.IndexByte("({[`|&!?+*~<-=", data[i]) >= 0 {
			n++
		}
	}
	return n
}
