package labs

import (
	"io/fs"
	"sync"
)

// Field explains one key of lab.yaml. Guide, site and the commented lab.yaml
// of bootlab init print it.
type Field struct {
	// Path is the key with those above it, as release.image. Keys of a list's
	// items have [] in it: machines.masters[].name.
	Path string `yaml:"path"`
	// Why says in one to three sentences what the key is for.
	Why string `yaml:"why"`
	// Default is what counts when the key is left out, in words or as a value.
	Default string `yaml:"default"`
	Allowed string `yaml:"allowed"`
	// Example is a value to show where there is no default.
	Example string `yaml:"example"`
	// Source says where the meaning was read; ours is our own.
	Source string `yaml:"source"`
}

// fieldList is data/fields/lab.yaml.
type fieldList struct {
	Fields []Field `yaml:"fields"`
}

// Fields explains every key of lab.yaml, in the order of [Lab]. It panics if
// the data that bootlab carries is malformed, which the package's tests rule
// out.
func Fields() []Field { return append([]Field(nil), builtinFields()...) }

var builtinFields = sync.OnceValue(func() []Field { return fieldSource.mustLoad().Fields })

func readFields(fsys fs.FS) (*fieldList, error) {
	list := &fieldList{}
	if problems := readYAML(fsys, "fields/lab.yaml", list); len(problems) > 0 {
		return nil, problems
	}
	return list, nil
}
