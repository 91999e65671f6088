package labs

import (
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// AnnotatedFile is a file of a bootstrap with an explanation beside each of its
// parts. The file labs/data/files/ID.yaml holds exactly one.
type AnnotatedFile struct {
	// ID is the name of the file's page.
	ID string `yaml:"id"`
	// Path is where the file is looked for, as in [Copy].
	Path  string `yaml:"path"`
	Title string `yaml:"title"`
	Why   string `yaml:"why"`
	Span  `yaml:",inline"`
	When  Condition `yaml:"when"`
	// Format is the language of the parts, one of Formats.
	Format string `yaml:"format"`
	// Stage is the id of the stage that writes Path.
	Stage string `yaml:"stage"`
	// Within is the file of that stage that holds this one as a value; empty
	// where the stage writes Path itself.
	Within string `yaml:"within"`
	// Also are the other places where the file is found, before or after.
	Also []File `yaml:"also"`
	// Readers says who reads the file beside stages.
	Readers string `yaml:"readers"`
	Parts   []Part `yaml:"parts"`
	Looks   []Look `yaml:"looks"`
	// Source says where the facts of this file were read.
	Source string `yaml:"source"`
}

// Formats are the languages of annotated files.
var Formats = []string{"yaml", "json"}

// Part is some lines of a file and what is to be said about them.
type Part struct {
	// Text are the lines. $NAME in them means a value of the lab or of its
	// release, which [Plan.AnnotatedFiles] puts in.
	Text string `yaml:"text"`
	Why  string `yaml:"why"`
	// LabKeys are the keys of lab.yaml that decide about the lines. Those behind
	// a $NAME need not be listed.
	LabKeys []string `yaml:"labKeys"`
	Span    `yaml:",inline"`
	When    Condition `yaml:"when"`
}

// Look is a way to see the real file.
type Look struct {
	Place   Place  `yaml:"place"`
	Command string `yaml:"command"` // $NAME as in a part
	Tells   string `yaml:"tells"`   // what to see there
	Span    `yaml:",inline"`
}

// Words in the parts of a file: keys of YAML or JSON, flags of a command, and
// names of environment variables.
var (
	keyWord  = regexp.MustCompile(`(?m)(?:^[ -]*|[{,] *)"?([A-Za-z][\w./-]*)"?:(?:\s|$)`)
	flagWord = regexp.MustCompile(`--[a-z][a-z0-9-]*`)
	envWord  = regexp.MustCompile(`(?m)name: "?([A-Z][A-Z0-9_]+)"?$`)
)

// Explains says whether a part is about a field of the file, a flag or an
// environment variable in it.
func (p Part) Explains(name string) bool {
	for _, words := range []*regexp.Regexp{keyWord, envWord} {
		for _, m := range words.FindAllStringSubmatch(p.Text, -1) {
			if m[1] == name {
				return true
			}
		}
	}
	return slices.Contains(flagWord.FindAllString(p.Text, -1), name)
}

// Names says whether somebody who asks for name means this file: its path, the
// last part of it, another place of it, or the id of its page.
func (f *AnnotatedFile) Names(name string) bool {
	also := slices.ContainsFunc(f.Also, func(a File) bool { return a.Path == name })
	return also || slices.Contains([]string{f.ID, f.Path, path.Base(f.Path)}, name)
}

// BuiltinAnnotatedFiles reads the annotated files that bootlab carries, once in
// a process, in the order in which stages write them. It panics if that data is
// malformed, which the package's tests rule out.
var BuiltinAnnotatedFiles = sync.OnceValue(func() []*AnnotatedFile {
	files := annotatedSource.mustLoad()
	order := Builtin().Bootkube.Order
	slices.SortStableFunc(files, func(a, b *AnnotatedFile) int {
		return slices.Index(order, a.Stage) - slices.Index(order, b.Stage)
	})
	return files
})

// LoadAnnotatedFiles reads files/*.yaml from a file tree, strictly; all problems
// of all files are reported together, as [Problems].
func LoadAnnotatedFiles(fsys fs.FS) ([]*AnnotatedFile, error) {
	names, err := fs.Glob(fsys, "files/*.yaml")
	if err != nil {
		return nil, err
	}
	var files []*AnnotatedFile
	var problems Problems
	for _, name := range names {
		f := &AnnotatedFile{}
		found := readYAML(fsys, name, f)
		if want := strings.TrimSuffix(path.Base(name), ".yaml"); len(found) == 0 && f.ID != want {
			found = Problems{{File: name, Message: fmt.Sprintf("id is %q, the file is %s.yaml", f.ID, want)}}
		}
		problems = append(problems, found...)
		files = append(files, f)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return files, nil
}

// AnnotatedFiles are the files of the plan's release and lab: cut down to them,
// each $NAME replaced by its value, and the keys behind it listed.
func (p *Plan) AnnotatedFiles() []*AnnotatedFile {
	var out []*AnnotatedFile
	for _, f := range BuiltinAnnotatedFiles() {
		if p.Stage(f.Stage) != nil && p.keeps(f.Span, f.When) {
			out = append(out, p.annotated(f))
		}
	}
	return out
}

// keeps says whether something is true in the plan's release and lab.
func (p *Plan) keeps(span Span, when Condition) bool {
	return span.Holds(p.Release.ID) && when.possible(p.Lab)
}

func (p *Plan) annotated(f *AnnotatedFile) *AnnotatedFile {
	mine := &AnnotatedFile{}
	cut(reflect.ValueOf(mine).Elem(), reflect.ValueOf(f).Elem(), p.keeps)
	for i := range mine.Parts {
		part := &mine.Parts[i]
		var keys []string
		for _, name := range valueNames(part.Text) {
			v, _ := fileValue(name)
			keys = append(keys, v.keys...)
			if p.imageOf(name) != "" {
				keys = append(keys, imageKeys...)
			}
		}
		part.LabKeys = withoutRepeats(append(keys, part.LabKeys...))
		part.Text = p.fill(part.Text)
	}
	for i := range mine.Looks {
		mine.Looks[i].Command = p.fill(mine.Looks[i].Command)
	}
	return mine
}

func withoutRepeats(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Makes says whether a file is among the stage's outputs, or arrives by one of
// its copies.
func (s *Stage) Makes(file string) bool {
	return s.writes(file) || slices.ContainsFunc(s.Copies, func(c Copy) bool { return c.Arrives(file) })
}
