package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

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

// object is one object of a manifest: what names it, and its text, which two
// manifests of the same object have to share.
type object struct {
	key, file, text string
}

// objects: each file holds objects, and no two set one object differently.
func (l *look) objects(files []string) {
	there := l.present(files)
	for _, file := range there {
		if data, ok := l.text(file); ok && !isObject(data) {
			l.wrong("%s is not an object", file)
		}
	}
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

// isObject says whether a file has a kind and an apiVersion at its top.
func isObject(data []byte) bool {
	if !isJSON(data) {
		has := func(line *regexp.Regexp) bool { return slices.ContainsFunc(lines(data), line.MatchString) }
		return has(kindLine) && has(anyVersion)
	}
	var o struct {
		Kind       any `json:"kind"`
		APIVersion any `json:"apiVersion"`
	}
	return json.NewDecoder(bytes.NewReader(data)).Decode(&o) == nil && o.Kind != nil && o.APIVersion != nil
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
	anyVersion    = regexp.MustCompile(`^"?apiVersion"?:`)
	versionLine   = regexp.MustCompile(`^"?apiVersion"?: *.*/`)
	nameLine      = regexp.MustCompile(`^ *"?name"?:`)
	spaceLine     = regexp.MustCompile(`^ *"?namespace"?:`)
	keyPart       = regexp.MustCompile(`^[^:]*: *`)
	quotesAndMore = regexp.MustCompile(`["']| +#.*$`)
)

// yamlObjects are the objects of a file, line by line: comments and empty lines do
// not count, all else does.
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
