package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var pathStep = regexp.MustCompile(`^(?:\.([^.\[\]]+)|\[([0-9]+)\])`)

// step is one part of a path: a key, or the place in a list.
type step struct {
	key  string
	item int
}

// steps takes a path such as .spec.containers[0].name apart.
func steps(at string) ([]step, error) {
	var out []step
	for rest := at; rest != ""; {
		m := pathStep.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q is no path", at)
		}
		s := step{key: m[1]}
		if m[2] != "" {
			s.item, _ = strconv.Atoi(m[2])
		}
		out = append(out, s)
		rest = rest[len(m[0]):]
	}
	return out, nil
}

// valueAt is the text at a path of a JSON or YAML file; empty when there is
// none. The first document of a YAML file that has one counts.
func valueAt(at string, data []byte) (string, error) {
	way, err := steps(at)
	if err != nil {
		return "", err
	}
	if isJSON(data) {
		return jsonAt(way, data)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if text := yamlAt(way, &document); text != "" {
			return text, nil
		}
	}
}

func yamlAt(way []step, n *yaml.Node) string {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, s := range way {
		if n = below(n, s); n == nil {
			return ""
		}
	}
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

func below(n *yaml.Node, s step) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case s.key == "" && n.Kind == yaml.SequenceNode && s.item < len(n.Content):
		return n.Content[s.item]
	case s.key != "" && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == s.key {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// jsonAt is the text there; null and false are none, as in "jq PATH // empty".
func jsonAt(way []step, data []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	for _, s := range way {
		switch v := value.(type) {
		case map[string]any:
			if s.key == "" {
				return "", fmt.Errorf("there is no list to take item %d of", s.item)
			}
			value = v[s.key]
		case []any:
			if s.key != "" {
				return "", fmt.Errorf("there is a list where %s should be", s.key)
			}
			value = nil
			if s.item < len(v) {
				value = v[s.item]
			}
		case nil:
		default:
			return "", fmt.Errorf("there is %v where something should be below it", v)
		}
	}
	switch v := value.(type) {
	case nil:
		return "", nil
	case bool:
		if !v {
			return "", nil
		}
	case string:
		return v, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// jsonImages are the texts of all keys "image", wherever they stand.
func jsonImages(data []byte) []string {
	var out []string
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			if image, ok := v["image"].(string); ok {
				out = append(out, image)
			}
			for _, inside := range v {
				walk(inside)
			}
		case []any:
			for _, inside := range v {
				walk(inside)
			}
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var value any
		if err := decoder.Decode(&value); err != nil {
			slices.Sort(out)
			return out
		}
		walk(value)
	}
}

// tagImages are the images of an image stream, as release-info.sh keeps it.
func tagImages(data []byte) []string {
	var stream struct {
		Spec struct {
			Tags []struct {
				From struct {
					Name string `json:"name"`
				} `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	if json.Unmarshal(data, &stream) != nil {
		return nil
	}
	var out []string
	for _, tag := range stream.Spec.Tags {
		out = append(out, tag.From.Name)
	}
	return out
}

// object is one object of a manifest: what names it, and its text, which two
// manifests of the same object have to share.
type object struct {
	key, file, text string
}

// agree: no two files set one object differently.
func (l *look) agree(files []string) {
	there := l.present(files)
	if l.bad {
		return
	}
	before := map[string]object{}
	for _, json := range []bool{true, false} {
		for _, file := range there {
			data, ok := l.text(file)
			if !ok || isJSON(data) != json {
				continue
			}
			objects := yamlObjects
			if json {
				objects = jsonObjects
			}
			for _, o := range objects(file, data) {
				if other, twice := before[o.key]; twice && other.text != o.text {
					l.wrong("%s and %s both set %s", other.file, o.file, o.key)
				}
				before[o.key] = o
			}
		}
	}
}

func objectKey(kind, group, namespace, name string) string {
	return kind + "." + group + "/" + namespace + "/" + name
}

// jsonObjects are the objects of a file, with the order of their keys.
func jsonObjects(file string, data []byte) []object {
	var out []object
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		if decoder.Decode(&raw) != nil {
			return out
		}
		var named struct {
			Kind       string `json:"kind"`
			APIVersion string `json:"apiVersion"`
			Metadata   struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			} `json:"metadata"`
		}
		if json.Unmarshal(raw, &named) != nil || named.APIVersion == "" {
			continue
		}
		group, _, grouped := strings.Cut(named.APIVersion, "/")
		if !grouped {
			group = ""
		}
		out = append(out, object{objectKey(named.Kind, group, named.Metadata.Namespace, named.Metadata.Name), file, inTokens(raw)})
	}
}

// inTokens is a JSON text without blanks, each string written in one way.
func inTokens(raw []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var b strings.Builder
	for {
		token, err := decoder.Token()
		if err != nil {
			return b.String()
		}
		fmt.Fprintf(&b, "%T %v\x00", token, token)
	}
}

var (
	documentBegin = regexp.MustCompile(`^---`)
	noContent     = regexp.MustCompile(`^(---|\.\.\.| *#| *$)`)
	topLevel      = regexp.MustCompile(`^[^ ]`)
	metadataLine  = regexp.MustCompile(`^"?metadata"?:`)
	kindLine      = regexp.MustCompile(`^"?kind"?:`)
	versionLine   = regexp.MustCompile(`^"?apiVersion"?: *.*/`)
	nameLine      = regexp.MustCompile(`^ *"?name"?:`)
	spaceLine     = regexp.MustCompile(`^ *"?namespace"?:`)
	keyPart       = regexp.MustCompile(`^[^:]*: *`)
	quotesAndMore = regexp.MustCompile(`["']| +#.*$`)
)

// yamlObjects are the objects of a file, line by line as objects of
// check-lib.sh reads them: comments and empty lines do not count, all else does.
func yamlObjects(file string, data []byte) []object {
	var out []object
	var kind, group, space, name string
	var text strings.Builder
	inside, deep := false, -1
	flush := func() {
		if name != "" {
			out = append(out, object{objectKey(kind, group, space, name), file, text.String()})
		}
		kind, group, space, name, inside = "", "", "", "", false
		text.Reset()
	}
	for _, line := range lines(data) {
		if documentBegin.MatchString(line) {
			flush()
		}
		if noContent.MatchString(line) {
			continue
		}
		line = strings.ReplaceAll(line, "\t", " ")
		text.WriteString(line + "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if topLevel.MatchString(line) {
			inside, deep = metadataLine.MatchString(line), -1
		} else if inside && deep < 0 {
			deep = indent
		}
		switch {
		case kindLine.MatchString(line):
			kind = lineValue(line)
		case versionLine.MatchString(line):
			group, _, _ = strings.Cut(lineValue(line), "/")
		case inside && indent == deep && nameLine.MatchString(line):
			name = lineValue(line)
		case inside && indent == deep && spaceLine.MatchString(line):
			space = lineValue(line)
		}
	}
	flush()
	return out
}

func lineValue(line string) string {
	return quotesAndMore.ReplaceAllString(keyPart.ReplaceAllString(line, ""), "")
}
