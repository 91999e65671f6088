package labs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxDocument is the size in bytes above which a YAML file is refused unread.
const maxDocument = 1 << 20

// document is a YAML file together with the lines its values stand on. Lines,
// the order of keys and comments are why yaml/v3 stays here, in init.go, in
// labs/inspect/check and in labs/audit; types of labs that it decodes stay with it,
// as sigs.k8s.io/yaml also takes their key "on" for the value true. Everywhere
// else sigs.k8s.io/yaml is used.
type document struct {
	name   string
	lines  []string
	secret func() map[int]bool // lines, 1-based, that no message may repeat
	root   *yaml.Node
	// removed are the paths of values that could not be decoded; the root's is
	// empty.
	removed []string
}

// readDocument parses one YAML document. Anchors, aliases and merge keys are
// refused: they hide which line a value comes from, and can blow up.
func readDocument(name string, r io.Reader) (*document, Problems) {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return nil, Problems{{File: name, Message: "cannot be read: " + plainError(err)}}
	}
	d := &document{name: name}
	switch {
	case len(data) > maxDocument:
		return nil, d.whole("is larger than 1 MiB", "a YAML file written by hand", "")
	}
	d.lines = splitLines(strings.ToValidUTF8(string(data), "\uFFFD"))
	d.secret = sync.OnceValue(func() map[int]bool { return secretLines(d.lines) })
	if p, found := d.notText(data); found {
		return nil, Problems{p}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var root, second yaml.Node
	if err := dec.Decode(&root); errors.Is(err, io.EOF) {
		return nil, d.whole("is empty", "", "bootlab init writes a commented lab.yaml to start from")
	} else if err != nil {
		return nil, Problems{d.syntaxProblem(err)}
	}
	if err := dec.Decode(&second); err == nil {
		p := d.at(&second, "", "a second document starts here")
		p.Allowed = "one document a file"
		return nil, Problems{p}
	} else if !errors.Is(err, io.EOF) {
		return nil, Problems{d.syntaxProblem(err)}
	}
	d.root = root.Content[0]
	if isNull(d.root) {
		return nil, d.whole("is empty", "", "bootlab init writes a commented lab.yaml to start from")
	}
	if ps := d.refuseAliases(d.root, nil); len(ps) > 0 {
		return nil, ps
	}
	return d, nil
}

// plainError drops the path from a file error: the problem names it already.
func plainError(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i >= 0 {
		return s[i+2:]
	}
	return s
}

// splitLines cuts a text where YAML sees the end of a line, so that line
// numbers are the same here and there.
func splitLines(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	return strings.Split(text, "\n")
}

func (d *document) whole(message, allowed, hint string) Problems {
	return Problems{{File: d.name, Message: message, Allowed: allowed, Hint: hint}}
}

// notText finds the first byte that no text in UTF-8 holds.
func (d *document) notText(data []byte) (Problem, bool) {
	at := bytes.IndexByte(data, 0)
	message := "a NUL byte stands here: this is no text, or not in UTF-8"
	for i := 0; i < len(data) && (at < 0 || i < at); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			at, message = i, fmt.Sprintf("the byte 0x%02X stands here, and this is not UTF-8", data[i])
			break
		}
		i += size
	}
	if at < 0 {
		return Problem{}, false
	}
	before := splitLines(string(data[:at]))
	p := d.onLine(len(before), utf8.RuneCountInString(before[len(before)-1])+1, "", message)
	p.Allowed, p.Hint = "YAML in UTF-8", "save the file as UTF-8 in your editor, or type the line again"
	return p, true
}

// at makes a problem for the place of a node.
func (d *document) at(n *yaml.Node, path, message string) Problem {
	return d.onLine(n.Line, n.Column, path, message)
}

func (d *document) onLine(line, column int, path, message string) Problem {
	p := Problem{File: d.name, Line: line, Column: column, Path: path, Message: message}
	if line >= 1 && line <= len(d.lines) && !d.secret()[line] {
		p.Excerpt = d.lines[line-1]
	}
	return p
}

var yamlErrorLine = regexp.MustCompile(`line (\d+): `)

// syntaxProblem turns an error of the YAML library into a problem with a line.
func (d *document) syntaxProblem(err error) Problem {
	if p, found := d.privateKey(); found {
		return p
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		line := d.firstLine(func(s string) bool { return strings.Contains(s, "*"+m[1]) })
		p := d.aliasProblem(line)
		if at := strings.Index(p.Excerpt, "*"+m[1]); at >= 0 {
			p.Column = utf8.RuneCountInString(p.Excerpt[:at]) + 1
		}
		return p
	}
	line := 0
	if m := yamlErrorLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = strings.Replace(message, m[0], "", 1)
	}
	line = d.trueLine(line, message)
	plain := plainSyntax(message)
	p := d.onLine(line, 0, "", "is not valid YAML: "+plain.plain)
	p.Hint = plain.hint
	if p.Excerpt != "" {
		p.Column = plain.column(p.Excerpt)
	}
	if strings.Contains(message, "tab") || strings.Contains(p.Excerpt, "\t") {
		p.Message = "is not valid YAML: the line holds a tab"
		p.Hint = "YAML is indented with spaces, never with tabs"
	}
	return p
}

// parserProblem are the messages of the library's parser, which counts lines
// from 0; its scanner counts from 1.
var parserProblem = regexp.MustCompile(`^(did not find expected (<|node content|'-' indicator|key|',' or)|found (incompatible|duplicate|undefined))`)

// trueLine fixes the line of an error of the YAML library, 0 if it gave none.
func (d *document) trueLine(line int, message string) int {
	switch {
	case strings.HasPrefix(message, "control characters"):
		line = d.firstLine(func(s string) bool {
			return strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && unicode.IsControl(r) })
		})
	case parserProblem.MatchString(message) || line == 0:
		line++
	}
	for line > len(d.lines) || line > 1 && strings.TrimSpace(d.lines[line-1]) == "" {
		line--
	}
	return line
}

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)

// firstLine is the first line, 1-based, of which a test holds; 0 if none is.
func (d *document) firstLine(test func(string) bool) int {
	for i, line := range d.lines {
		if test(line) {
			return i + 1
		}
	}
	return 0
}

func (d *document) aliasProblem(line int) Problem {
	p := d.onLine(line, 0, "", "anchors, aliases and merge keys are not used here")
	p.Hint = "write the value out where it is needed, or put a leading & or * in quotes"
	return p
}

func (d *document) refuseAliases(n *yaml.Node, ps Problems) Problems {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge":
		p := d.aliasProblem(n.Line)
		p.Column = n.Column
		return append(ps, p)
	case n.Style&yaml.TaggedStyle != 0:
		p := d.at(n, "", "tags, as !!str, are not used here")
		p.Hint = "put text in quotes"
		return append(ps, p)
	}
	for _, c := range n.Content {
		ps = d.refuseAliases(c, ps)
	}
	return ps
}

// lookup finds the value at a path such as networking.machineNetwork[0].cidr,
// and its place: that of the value if it begins on the line of its key, else that of
// the key. Where the path leads to nothing, the value is nil and the place is that of
// the nearest key above; 0 if there is none.
func (d *document) lookup(path string) (value *yaml.Node, line, column int) {
	n := d.root
	for path != "" {
		next, at, rest := child(n, path)
		if next == nil {
			return nil, line, column
		}
		n, line, column, path = next, at.Line, at.Column, rest
	}
	if n.Line == line && !isNull(n) {
		column = n.Column
	}
	return n, line, column
}

// child takes one step of a path. A key may hold dots itself.
func child(n *yaml.Node, path string) (value, at *yaml.Node, rest string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			after, found := strings.CutPrefix(path, shownKey(key))
			if found && (after == "" || after[0] == '.' || after[0] == '[') {
				return n.Content[i+1], key, strings.TrimPrefix(after, ".")
			}
		}
	case yaml.SequenceNode:
		index, after, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i], strings.TrimPrefix(after, ".")
		}
	}
	return nil, nil, ""
}

// given says whether the file holds a value at the path; an empty one counts
// as left out.
func (d *document) given(path string) bool {
	n, _, _ := d.lookup(path)
	return n != nil && !isNull(n)
}
