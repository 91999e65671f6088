package labs

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
)

//go:generate go run ./prepare

// Reading the YAML of data takes longer than anything else at the start of a
// command. So make build reads it once and keeps what it read as gob, in
// data/prepared, which git ignores. That is a cache: each file in it begins with
// a stamp of the YAML and of the Go types that it was made from, and where it is
// missing or has another stamp the YAML is read as if it were not there.

// preparedDir is the directory of the cache, in the data. Each file in it begins
// with a stamp of so many bytes.
const (
	preparedDir = "prepared"
	stampSize   = crc64.Size
)

// source is one part of the data: the files it stands in, and how they are read.
type source[T any] struct {
	name  string   // of the prepared file
	files []string // patterns
	read  func(fsys fs.FS) (T, error)
}

// The sources, each of which is read when it is asked for.
var (
	catalogSource   = source[*Catalog]{"catalog", []string{"bootkube.yaml", "releases/*.yaml", "stages/*.yaml"}, LoadCatalog}
	diagnosisSource = source[*diagnosisFiles]{"diagnosis", []string{"symptoms/*.yaml"}, readDiagnosis}
	guideSource     = source[*Guide]{"guide", []string{"guide/*.yaml", "guide/output/*.txt"}, LoadGuide}
	annotatedSource = source[[]*AnnotatedFile]{"files", []string{"files/*.yaml"}, LoadAnnotatedFiles}
	fieldSource     = source[*fieldList]{"fields", []string{"fields/*.yaml"}, readFields}
)

// Prepare reads the YAML below dir, which is labs/data of a checkout, and writes
// the prepared form of it there.
func Prepare(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, preparedDir), 0o755); err != nil {
		return err
	}
	return errors.Join(catalogSource.write(dir), diagnosisSource.write(dir), guideSource.write(dir),
		annotatedSource.write(dir), fieldSource.write(dir))
}

// write leaves a file that holds the same already: gob puts the keys of a map
// into another order each time, and Go would compile everything again.
func (s source[T]) write(dir string) error {
	fsys := os.DirFS(dir)
	data, err := s.prepare(fsys)
	if err != nil {
		return err
	}
	if old, ok := s.loadPrepared(fsys); ok {
		if made, ok := s.decode(data); ok && reflect.DeepEqual(old, made) {
			return nil
		}
	}
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(s.file())), data, 0o644)
}

// prepare gives the content of the prepared file: a stamp, and gob.
func (s source[T]) prepare(fsys fs.FS) ([]byte, error) {
	value, err := s.read(fsys)
	if err != nil {
		return nil, err
	}
	stamp, err := s.stamp(fsys)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(stamp)
	err = gob.NewEncoder(out).Encode(value)
	return out.Bytes(), err
}

// load gives the prepared form if it is that of the YAML, else what the YAML says.
func (s source[T]) load(fsys fs.FS) (T, error) {
	if value, ok := s.loadPrepared(fsys); ok {
		return value, nil
	}
	return s.read(fsys)
}

func (s source[T]) loadPrepared(fsys fs.FS) (value T, ok bool) {
	data, err := fs.ReadFile(fsys, s.file())
	if err != nil {
		return value, false
	}
	stamp, err := s.stamp(fsys)
	if err != nil || !bytes.HasPrefix(data, stamp) {
		return value, false
	}
	return s.decode(data)
}

// decode reads a prepared file whose stamp is right.
func (s source[T]) decode(data []byte) (value T, ok bool) {
	err := gob.NewDecoder(bytes.NewReader(data[stampSize:])).Decode(&value)
	return value, err == nil
}

// mustLoad is load of the data that bootlab carries. It panics if that data is
// malformed, which the package's tests rule out.
func (s source[T]) mustLoad() T {
	fsys, err := fs.Sub(Data, "data")
	if err != nil {
		panic(err)
	}
	value, err := s.load(fsys)
	if err != nil {
		panic(err)
	}
	return value
}

func (s source[T]) file() string { return path.Join(preparedDir, s.name+".gob") }

// stamp is a checksum of the YAML files and of the types that they are read into.
func (s source[T]) stamp(fsys fs.FS) ([]byte, error) {
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	addType(sum, reflect.TypeFor[T](), map[reflect.Type]bool{})
	for _, pattern := range s.files {
		names, err := fs.Glob(fsys, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(sum, "%s %d\n", name, len(text))
			sum.Write(text)
		}
	}
	return binary.BigEndian.AppendUint64(nil, sum.Sum64()), nil
}

// addType adds a type, and those of its fields, to a checksum.
func addType(sum hash.Hash, t reflect.Type, seen map[reflect.Type]bool) {
	fmt.Fprintf(sum, "%s %s\n", t, t.Kind())
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		addType(sum, t.Elem(), seen)
	case reflect.Map:
		addType(sum, t.Key(), seen)
		addType(sum, t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			fmt.Fprintf(sum, "%s %s\n", t.Field(i).Name, t.Field(i).Tag)
			addType(sum, t.Field(i).Type, seen)
		}
	}
}
