package labs

import (
	"fmt"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// textFields are the YAML keys whose values are read by people and so can be
// had in another language.
var textFields = map[string]bool{"title": true, "why": true, "expect": true, "hint": true, "cause": true,
	"fix": true, "ask": true, "answer": true, "do": true, "putRight": true, "what": true, "text": true, "heading": true, "made": true, "about": true, "end": true}

// optionalTexts may be left out; an empty one is no text.
var optionalTexts = map[string]bool{"why": true, "putRight": true, "heading": true, "made": true, "about": true, "end": true}

// idFields name an item of a list inside a key, the first that is set.
var idFields = []string{"ID", "Flag", "Option", "Path", "From", "Stage"}

// Texts gives every text of the stage under its key, as
// render-etcd.checks.pod-name.hint.
func (s *Stage) Texts() map[string]string {
	out := map[string]string{}
	walkTexts(reflect.ValueOf(s).Elem(), s.ID, func(key string, v reflect.Value) { out[key] = v.String() })
	return out
}

// Translate puts other texts in the place of those with the same keys. A key
// that the stage does not have is an error, and then nothing is changed.
func (s *Stage) Translate(texts map[string]string) error {
	places := map[string]reflect.Value{}
	walkTexts(reflect.ValueOf(s).Elem(), s.ID, func(key string, v reflect.Value) { places[key] = v })
	var unknown []string
	for key := range texts {
		if _, ok := places[key]; !ok {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		sort.Strings(unknown)
		return fmt.Errorf("stage %s has no text %s", s.ID, strings.Join(unknown, ", "))
	}
	for key, text := range texts {
		places[key].SetString(text)
	}
	return nil
}

// walkTexts calls visit for every text field below v. An empty "why" is no
// text: it is required only where validation says so.
func walkTexts(v reflect.Value, key string, visit func(string, reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walkTexts(v.Elem(), key, visit)
		}
	case reflect.Slice:
		seen := map[string]int{}
		for i := 0; i < v.Len(); i++ {
			id := itemID(v.Index(i), i)
			seen[id]++
			if n := seen[id]; n > 1 {
				id += "#" + strconv.Itoa(n)
			}
			walkTexts(v.Index(i), key+"."+id, visit)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[CommandCheck]() {
			return // its text is a program, the same in every language
		}
		for i := 0; i < v.NumField(); i++ {
			name := yamlName(v.Type().Field(i))
			f := v.Field(i)
			switch {
			case f.Kind() == reflect.String && textFields[name]:
				if f.String() != "" || !optionalTexts[name] {
					visit(key+"."+name, f)
				}
			case name == "":
				walkTexts(f, key, visit)
			default:
				walkTexts(f, key+"."+name, visit)
			}
		}
	}
}

func itemID(v reflect.Value, i int) string {
	if v.Kind() == reflect.Struct {
		for _, name := range idFields {
			if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.String && f.String() != "" {
				return f.String()
			}
		}
	}
	return strconv.Itoa(i)
}

// each calls visit for every item of a type, as Span, below the stage.
func each[T any](s *Stage, visit func(at string, item T)) {
	var walk func(v reflect.Value, at string)
	walk = func(v reflect.Value, at string) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), at)
			}
		case reflect.Slice:
			for i := 0; i < v.Len(); i++ {
				walk(v.Index(i), at+"."+itemID(v.Index(i), i))
			}
		case reflect.Struct:
			if item, ok := v.Interface().(T); ok {
				visit(at, item)
				return
			}
			for i := 0; i < v.NumField(); i++ {
				walk(v.Field(i), at)
			}
		}
	}
	walk(reflect.ValueOf(s).Elem(), s.ID)
}
