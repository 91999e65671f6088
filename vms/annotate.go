package vms

import (
	_ "embed"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

//go:embed fields.yaml
var fieldsYAML []byte

// fields tells why an element is there, by its path: domain/devices/rng.
var fields = func() map[string]string {
	out := map[string]string{}
	if err := yaml.Unmarshal(fieldsYAML, &out); err != nil {
		panic(err)
	}
	return out
}()

// annotate puts a comment above each element that has an explanation, the first
// time it comes.
func annotate(text string) (string, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	var out strings.Builder
	var path []string
	told := map[string]bool{}
	written := 0
	for {
		at := int(d.InputOffset())
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			out.WriteString(text[written:])
			return out.String() + "\n", nil
		}
		if err != nil {
			return "", err
		}
		switch t := token.(type) {
		case xml.StartElement:
			path = append(path, t.Name.Local)
			why, known := fields[strings.Join(path, "/")]
			if !known || told[strings.Join(path, "/")] {
				continue
			}
			told[strings.Join(path, "/")] = true
			out.WriteString(text[written:at])
			indent := strings.Repeat("  ", len(path)-1)
			fmt.Fprintf(&out, "<!-- %s -->\n%s", strings.ReplaceAll(strings.TrimSpace(why), "\n", "\n"+indent+"     "), indent)
			written = at
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}
