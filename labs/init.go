package labs

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// commentWidth is the number of columns that comments are wrapped at.
const commentWidth = 80

// Commented writes a lab.yaml that explains itself: the example's values with
// another name for the cluster and its identity, and every other key as a comment
// with its default. Lines with ## explain, lines with one # can be taken into use by
// taking it away. The same arguments give the same bytes. An example that does
// not exist and a name that no cluster can have are errors.
func Commented(example, name, uid string) ([]byte, error) {
	return commented(example, name, Builtin(), identity(uid))
}

func identity(uid string) func(*Lab) []string {
	return func(l *Lab) []string {
		l.Metadata.UID = uid
		return []string{"metadata.uid"}
	}
}

// CommentedFor is Commented with a release whose registry has a CA of its own: the
// file of that CA is named relative to lab.yaml.
func CommentedFor(release ReleaseRef, caFile, example, name, uid string) ([]byte, error) {
	return commented(example, name, Builtin(), identity(uid), func(l *Lab) []string {
		l.Release, l.AdditionalTrustBundle = release, caFile
		return []string{"release.distribution", "release.version", "release.image", "additionalTrustBundle"}
	})
}

// commented is Commented with changes, which set keys and name them.
func commented(example, name string, c *Catalog, changes ...func(*Lab) []string) ([]byte, error) {
	if !isLabel(name, longestName) {
		return nil, fmt.Errorf("%s is no name for a cluster; allowed: %s", quote(name), labelRule(longestName))
	}
	var about string
	var names []string
	for _, e := range ExampleList() {
		names = append(names, e.Name)
		if e.Name == example {
			about = e.About
		}
	}
	if about == "" {
		return nil, fmt.Errorf("%s is no example; there are %s", quote(example), strings.Join(names, ", "))
	}
	file := example + "/" + LabFile
	f, err := Examples.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, ps := decodeLab(labSource{name: file, dir: example, text: f}, c)
	if len(ps) > 0 {
		return nil, ps
	}
	l.lab.Metadata.Name = name
	l.fillDefaults()
	w := &labWriter{given: l.doc.given, fields: map[string]Field{}}
	for _, change := range changes {
		given, keys := w.given, change(l.lab)
		w.given = func(path string) bool { return given(path) || slices.Contains(keys, path) }
	}
	for _, field := range Fields() {
		w.fields[field.Path] = field
	}
	w.explain("", about)
	w.out.WriteString("\n")
	w.explain("", "Lines with ## explain. A line with one # is a key that is left out, with the value it then has, or an example where it has none. Take the # and the space behind it away, and change the value.")
	w.mapping(reflect.ValueOf(l.lab).Elem(), "", "")
	return w.out.Bytes(), nil
}

// labWriter writes a lab as YAML with comments.
type labWriter struct {
	out    bytes.Buffer
	fields map[string]Field
	given  func(path string) bool
}

// explain writes a text as comment, wrapped.
func (w *labWriter) explain(indent, text string) {
	w.paragraph(indent+"## ", indent+"## ", text)
}

// paragraph writes words in lines of commentWidth, the first line and the
// others each with their own beginning.
func (w *labWriter) paragraph(first, others, text string) {
	line, empty := first, true
	for _, word := range strings.Fields(text) {
		if !empty && len([]rune(line))+1+len([]rune(word)) > commentWidth {
			w.out.WriteString(line + "\n")
			line, empty = others, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	w.out.WriteString(line + "\n")
}

// mapping writes the keys of a struct, each with its explanation above it.
func (w *labWriter) mapping(v reflect.Value, path, indent string) {
	for i := 0; i < v.NumField(); i++ {
		key := yamlName(v.Type().Field(i))
		if key == "" || key == "-" {
			continue
		}
		full := joinPath(path, key)
		value := v.Field(i)
		field := w.fields[full]
		w.out.WriteString("\n")
		w.explain(indent, field.Why)
		if value.Kind() == reflect.Struct {
			w.out.WriteString(indent + key + ":\n")
			w.mapping(value, full, indent+"  ")
			continue
		}
		w.paragraph(indent+"## Default: ", indent+"##   ", field.Default+".")
		w.paragraph(indent+"## Allowed: ", indent+"##   ", field.Allowed+".")
		if value.Kind() == reflect.Slice {
			w.items(value.Type().Elem(), full+"[]", indent)
		}
		w.value(key, full, indent, value, field)
	}
}

// items explains the keys of a list's items, one below the other.
func (w *labWriter) items(t reflect.Type, path, indent string) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := 0; i < t.NumField(); i++ {
		key := yamlName(t.Field(i))
		field := w.fields[joinPath(path, key)]
		text := fmt.Sprintf("%s Default: %s. Allowed: %s.", field.Why, field.Default, field.Allowed)
		w.paragraph(indent+"##   "+key+": ", indent+"##     ", text)
	}
}

// value writes a key and its value; as a comment if the example leaves it out.
func (w *labWriter) value(key, path, indent string, value reflect.Value, field Field) {
	text := ""
	switch {
	case value.IsZero() && (value.Kind() == reflect.Map || value.Kind() == reflect.Slice) && field.Example != "":
		text = key + ":\n  " + strings.ReplaceAll(strings.TrimSpace(field.Example), "\n", "\n  ")
	case value.IsZero() && field.Example != "":
		text = key + ": " + field.Example
	default:
		text = marshal(map[string]any{key: value.Interface()})
	}
	mark := "# "
	if w.given(path) {
		mark = ""
	}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		w.out.WriteString(indent + mark + line + "\n")
	}
}

// marshal gives a value as YAML, quoted where YAML would read something else.
func marshal(value any) string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	// Lab holds nothing but text, numbers, lists and maps, which always encode.
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return b.String()
}
