package labs

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// checkSource wants the prepared form of a source to be what its YAML says, and
// no prepared form to be taken that is not of the YAML beside it.
func checkSource[T any](t *testing.T, s source[T]) {
	t.Helper()
	sub, err := fs.Sub(Data, "data")
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.read(sub)
	if err != nil {
		t.Fatal(err)
	}
	data, err := s.prepare(sub)
	if err != nil {
		t.Fatal(err)
	}
	name := s.file()
	files := fstest.MapFS{name: {Data: data}}
	var one string
	for _, pattern := range s.files {
		names, err := fs.Glob(sub, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: nothing matches %s: %v", s.name, pattern, err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(sub, name)
			if err != nil {
				t.Fatal(err)
			}
			files[name], one = &fstest.MapFile{Data: text}, name
		}
	}
	got, ok := s.loadPrepared(files)
	if !ok {
		t.Fatalf("%s: its prepared form is not read", s.name)
	}
	if asJSON(t, got) != asJSON(t, want) {
		t.Errorf("%s: the prepared form is not what the YAML says", s.name)
	}
	for what, change := range map[string]func(fstest.MapFS){
		"a file has another byte": func(f fstest.MapFS) {
			f[one] = &fstest.MapFile{Data: append(bytes.Clone(f[one].Data), '\n')}
		},
		"a file was added": func(f fstest.MapFS) {
			f[filepath.Dir(one)+"/new"+filepath.Ext(one)] = &fstest.MapFile{Data: []byte("id: new\n")}
		},
		"a file is gone":             func(f fstest.MapFS) { delete(f, one) },
		"nothing was prepared":       func(f fstest.MapFS) { delete(f, name) },
		"the prepared form is short": func(f fstest.MapFS) { f[name] = &fstest.MapFile{Data: data[:len(data)/2]} },
	} {
		changed := maps.Clone(files)
		change(changed)
		if _, ok := s.loadPrepared(changed); ok {
			t.Errorf("%s: read although %s", s.name, what)
		}
	}
}

// asJSON is a value with all that it holds. Nobody asks whether a list was left
// out or is empty, and gob does not tell.
func asJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "[]", "null")
}

func TestWhatIsPreparedIsWhatTheYAMLSays(t *testing.T) {
	t.Parallel()
	checkSource(t, catalogSource)
	checkSource(t, diagnosisSource)
	checkSource(t, guideSource)
	checkSource(t, annotatedSource)
	checkSource(t, fieldSource)
}

// Gob leaves out fields that are not exported, and asJSON does not see them.
func TestEveryFieldIsPrepared(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			look(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); !f.IsExported() {
					t.Errorf("%s.%s is not exported", of, f.Name)
				} else {
					look(f.Type)
				}
			}
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[*Catalog](), reflect.TypeFor[*diagnosisFiles](), reflect.TypeFor[*Guide](),
		reflect.TypeFor[[]*AnnotatedFile](), reflect.TypeFor[*fieldList]()} {
		look(of)
	}
}

func TestAPreparedFormIsBoundToItsTypes(t *testing.T) {
	t.Parallel()
	type item struct {
		Name string `yaml:"name"`
	}
	type longer struct {
		Name string `yaml:"name"`
		More bool   `yaml:"more"`
	}
	files := fstest.MapFS{"a.yaml": {Data: []byte("name: x\n")}}
	s := source[*item]{"it", []string{"*.yaml"}, func(fs.FS) (*item, error) { return &item{"x"}, nil }}
	data, err := s.prepare(files)
	if err != nil {
		t.Fatal(err)
	}
	files[s.file()] = &fstest.MapFile{Data: data}
	if got, ok := s.loadPrepared(files); !ok || got.Name != "x" {
		t.Errorf("got %v, %v", got, ok)
	}
	if _, ok := (source[*longer]{"it", []string{"*.yaml"}, nil}).loadPrepared(files); ok {
		t.Error("read into a type that has a field more")
	}
}

// A source that Prepare leaves out would be read from YAML for ever, and a file
// that it writes again without need makes Go compile everything again.
func TestEverySourceIsPreparedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("data")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, preparedDir)); err != nil {
		t.Fatal(err)
	}
	fsys := os.DirFS(dir)
	before := map[string][]byte{}
	for range 2 {
		if err := Prepare(dir); err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func() bool{
			catalogSource.file():   func() bool { _, ok := catalogSource.loadPrepared(fsys); return ok },
			diagnosisSource.file(): func() bool { _, ok := diagnosisSource.loadPrepared(fsys); return ok },
			guideSource.file():     func() bool { _, ok := guideSource.loadPrepared(fsys); return ok },
			annotatedSource.file(): func() bool { _, ok := annotatedSource.loadPrepared(fsys); return ok },
			fieldSource.file():     func() bool { _, ok := fieldSource.loadPrepared(fsys); return ok },
		} {
			if !read() {
				t.Errorf("%s was not prepared", name)
			}
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			if was, again := before[name]; again && !bytes.Equal(was, text) {
				t.Errorf("%s was written again", name)
			}
			before[name] = text
		}
	}
}
