package generator

import (
	"fmt"
	"regexp"
	"strings"
)

// shquote makes one shell word that is s, whatever s holds, without the newline
// that texts in stage data end with. A NUL byte cannot be in a word and is an
// error.
func shquote(s string) (string, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return "", fmt.Errorf("a NUL byte cannot be quoted for the shell")
	}
	s = strings.TrimSuffix(s, "\n")
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", nil
}

// shsetting is the right-hand side of a setting. The libraries read a script line
// by line, so no line of a value may stand alone: each becomes an assignment.
func shsetting(name, value string) (string, error) {
	quoted, err := shquote(value)
	if err != nil || !strings.Contains(quoted, "\n") {
		return quoted, err
	}
	lines := strings.SplitAfter(strings.TrimSuffix(value, "\n"), "\n")
	for i, line := range lines {
		lines[i] = oneLine(line)
	}
	return strings.Join(lines, "\n"+name+"+="), nil
}

// oneLine is a shell word on one line, whatever it holds but NUL bytes.
func oneLine(s string) string {
	if !strings.Contains(s, "\n") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return "$'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(s) + "'"
}

var (
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)
	plainGlob = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+*?-]+$`)
	variable  = regexp.MustCompile(`\$\{?([A-Z][A-Z0-9_]*)\}?`)
)

// shexpand makes one shell word of stage data, in which $NAME means the
// script's variable and everything else itself.
func shexpand(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	var b strings.Builder
	last := 0
	b.WriteByte('"')
	for _, m := range variable.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(escapeDouble(s[last:m[0]]))
		b.WriteString("${" + s[m[2]:m[3]] + "}")
		last = m[1]
	}
	b.WriteString(escapeDouble(s[last:]))
	b.WriteByte('"')
	return b.String()
}

var doubleEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")

func escapeDouble(s string) string { return doubleEscapes.Replace(s) }

// shpath makes shell words of a path in stage data: a leading slash stands for
// the host's root, * and ? match, $NAME is expanded.
func shpath(p string) string {
	prefix := ""
	if strings.HasPrefix(p, "/") {
		prefix = `"${HOST_ROOT}"`
	}
	if plainWord.MatchString(p) {
		if prefix != "" {
			return `"${HOST_ROOT}` + p + `"`
		}
		return p
	}
	if plainGlob.MatchString(p) {
		return prefix + p
	}
	if prefix != "" {
		return `"${HOST_ROOT}` + shexpand(p)[1:]
	}
	return shexpand(p)
}
