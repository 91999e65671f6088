package mask

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Document gives a whole text without its secrets. One of JSON stays JSON.
func (m *Masker) Document(text []byte) []byte {
	counts, places, line := m.Counts(), len(m.places), m.line
	masked := m.Bytes(text)
	if !bytes.Equal(masked, text) && isJSON(text) && !isJSON(masked) {
		m.counts, m.places, m.line = counts, m.places[:places], line
		masked = m.json(text)
	}
	return masked
}

// isJSON says whether a text is one document of JSON, or several.
func isJSON(text []byte) bool {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			return false
		}
	}
}

// json masks each string of a text for itself: what seems a secret across the
// quotes of JSON would break it.
func (m *Masker) json(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for {
		var v any
		if d.Decode(&v) != nil || e.Encode(m.value(v, "", false)) != nil {
			return out.Bytes()
		}
	}
}

// announces says whether a value of this name is secret.
func announces(name, value string) bool {
	kind := nameKind([]byte(name))
	return kind != "" && (kind != weakKind || secretNotName([]byte(value)))
}

// value masks a value, whose key may tell that it is secret.
func (m *Masker) value(v any, key string, secret bool) any {
	switch v := v.(type) {
	case json.Number:
		if kind := nameKind([]byte(key)); kind != "" && kind != weakKind {
			m.took(secretKind)
			return mark(secretKind)
		}
	case string:
		if (secret || announces(key, v)) && v != "" {
			m.took(secretKind)
			return mark(secretKind)
		}
		return string(m.Bytes([]byte(v)))
	case []any:
		for i := range v {
			v[i] = m.value(v[i], key, secret)
		}
	case map[string]any:
		name, _ := v["name"].(string)
		if key, is := v["key"].(string); is && name == "" {
			name = key
		}
		for k := range v {
			if text, is := v[k].(string); is && k == "value" && announces(name, text) {
				v[k] = m.value(text, "", true)
				continue
			}
			within := secret || k == "auths" || v["kind"] == "Secret" && (k == "data" || k == "stringData")
			v[k] = m.value(v[k], k, within)
		}
	}
	return v
}
