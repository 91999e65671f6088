package labs

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// decode fills into, a pointer to a struct, and reports unknown keys, keys
// given twice and values of the wrong kind, all of them and each with its path.
// What it reports is taken out of the document, so that the rest is still
// decoded.
func (d *document) decode(into any) Problems {
	ps, good := d.check(d.root, reflect.TypeOf(into).Elem(), "")
	if !good {
		return ps
	}
	if err := d.root.Decode(into); err != nil {
		ps = append(ps, d.syntaxProblem(err))
	}
	return ps
}

// hides is the problem of a text that is not what it looks like. The place is that of
// the character, or of the text where it is written as an escape.
func (d *document) hides(n *yaml.Node, path, what string) Problem {
	p := d.at(n, path, "holds "+what)
	for i := n.Line; i >= 1 && i <= len(d.lines); i++ {
		from := ""
		if i == n.Line {
			from = string([]rune(d.lines[i-1])[:n.Column-1])
		}
		if at := strings.IndexFunc(d.lines[i-1][len(from):], Hidden); at >= 0 {
			p = d.onLine(i, utf8.RuneCountInString(d.lines[i-1][:len(from)+at])+1, path, p.Message)
			break
		}
		if i-n.Line > strings.Count(n.Value, "\n") {
			break
		}
	}
	p.Allowed, p.Hint = "characters that can be seen", "delete it: type the value again"
	return p
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// check walks a node beside the Go type it will fill. It is not good when the
// node itself cannot fill the type.
func (d *document) check(n *yaml.Node, t reflect.Type, path string) (ps Problems, good bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if what := whatHides(n.Value); n.Kind == yaml.ScalarNode && what != "" {
		d.removed = append(d.removed, path)
		return Problems{d.hides(n, path, what)}, false
	}
	switch {
	case isNull(n) || t.Kind() == reflect.Interface:
		return nil, true
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		return d.checkItems(n, t.Elem(), path), true
	case n.Kind == yaml.MappingNode && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map):
		return d.checkMapping(n, t, path), true
	case n.Kind == yaml.ScalarNode && fits(n, t):
		return nil, true
	}
	p := d.at(n, path, "is "+kindOfNode(n))
	if path == "" {
		p.Message = "the document " + p.Message
	}
	p.Allowed = kindOfType(t)
	d.removed = append(d.removed, path)
	return Problems{p}, false
}

// plainNumber is a whole number as people write it. YAML has other forms too,
// and they surprise: 010 is eight, and 2.5 would be cut to 2.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// fits says whether a scalar can fill a type that is no list, map or struct.
func fits(n *yaml.Node, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct:
		return false
	case reflect.Int:
		if n.ShortTag() != "!!int" || !plainNumber.MatchString(n.Value) {
			return false
		}
	}
	return n.Decode(reflect.New(t).Interface()) == nil
}

func kindOfNode(n *yaml.Node) string {
	switch n.ShortTag() {
	case "!!seq":
		return "a list"
	case "!!map":
		return "a mapping"
	case "!!int", "!!float":
		return "the number " + clip(n.Value, 40)
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	}
	return "text"
}

func kindOfType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Int:
		return "a whole number, in decimal and without quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	}
	return "a mapping"
}

// checkItems walks a list. An item that cannot be decoded becomes an empty one,
// and so does one that is left out, so that those behind it keep their places.
func (d *document) checkItems(n *yaml.Node, t reflect.Type, path string) Problems {
	var ps Problems
	for i, item := range n.Content {
		found, good := d.check(item, t, fmt.Sprintf("%s[%d]", path, i))
		ps = append(ps, found...)
		if good && !isNull(item) {
			continue
		}
		switch t.Kind() {
		case reflect.Struct:
			n.Content[i] = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: item.Line}
		case reflect.String:
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: item.Line}
		default:
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: item.Line}
		}
	}
	return ps
}

// maxKeys is the number of keys above which a map is refused: the YAML library
// compares each with every other.
const maxKeys = 1000

// checkMapping walks a mapping and takes out of it what cannot be decoded.
func (d *document) checkMapping(n *yaml.Node, t reflect.Type, path string) Problems {
	var ps Problems
	var fields map[string]reflect.Type
	if t.Kind() == reflect.Struct {
		fields = yamlFields(t)
	}
	seen := map[string]int{}
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		first, twice := seen[key.Value]
		ft, known := fields[key.Value]
		full := joinPath(path, key.Value)
		if !known { // the name of a field is no secret, and most keys are one
			full = joinPath(path, shownKey(key))
		}
		if fields == nil {
			ft, known = t.Elem(), true
		}
		switch {
		case key.Kind == yaml.ScalarNode && whatHides(key.Value) != "":
			ps = append(ps, d.hides(key, full, whatHides(key.Value)))
		case key.Kind != yaml.ScalarNode:
			ps = append(ps, d.at(key, path, "a key is "+kindOfNode(key)))
		case twice:
			ps = append(ps, d.at(key, full, fmt.Sprintf("is given twice, first on line %d", first)))
		case !known:
			seen[key.Value] = key.Line
			ps = append(ps, d.unknownKey(key, full, fields))
		case len(kept) >= 2*maxKeys:
			n.Content = kept
			return append(ps, d.at(key, path, fmt.Sprintf("has more than %d keys", maxKeys)))
		default:
			seen[key.Value] = key.Line
			found, good := d.check(value, ft, full)
			ps = append(ps, found...)
			if good {
				kept = append(kept, key, value)
			}
		}
	}
	n.Content = kept
	return ps
}

// shownKey is a key as a message may repeat it.
func shownKey(key *yaml.Node) string {
	if looksSecret(key.Value) {
		return "…"
	}
	return clip(key.Value, 60)
}

func (d *document) unknownKey(key *yaml.Node, path string, fields map[string]reflect.Type) Problem {
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	sort.Strings(names)
	p := d.at(key, path, "is not a key that is known here")
	p.Allowed = strings.Join(names, ", ")
	if near := nearest(key.Value, names); near != "" {
		p.Hint = "did you mean " + near + "?"
	}
	return p
}

// fieldsOfTypes are the answers of yamlFields, which is asked for every item of a
// list.
var fieldsOfTypes sync.Map

// yamlFields gives the YAML keys of a struct with their types; inlined structs
// count as their own keys.
func yamlFields(t reflect.Type) map[string]reflect.Type {
	if known, ok := fieldsOfTypes.Load(t); ok {
		return known.(map[string]reflect.Type)
	}
	out := map[string]reflect.Type{}
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case opts == "inline":
			for k, v := range yamlFields(f.Type) {
				out[k] = v
			}
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	fieldsOfTypes.Store(t, out)
	return out
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// nearest finds the candidate that is one or two letters away from word, or
// equal but for case; empty when none is.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", 3
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// NearestWord finds the candidate that somebody most likely meant who wrote word:
// one that is at most two letters away, fewer for a short word; empty when none is.
func NearestWord(word string, candidates []string) string {
	if slices.Contains(candidates, word) {
		return ""
	}
	best, bestDistance := "", min(2, (len(word)+1)/3)+1
	for _, c := range candidates {
		if len(c)-len(word) >= bestDistance || len(word)-len(c) >= bestDistance {
			continue
		}
		if d := edits(strings.ToLower(word), strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is that of edits for two short words; long ones are far.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 99
	}
	return edits(a, b)
}

// edits counts how many letters are to be put in, taken out, replaced or swapped
// with the next to make one word of another.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = last[j-1]
			if a[i-1] != b[j-1] {
				row[j] = 1 + min(last[j-1], last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
