package labs

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// validateAnnotatedFiles says what is missing or does not fit: ids of other
// pages, stages that do not write the file, names, keys and releases that are
// not known. It joins all it finds.
func validateAnnotatedFiles(files []*AnnotatedFile, c *Catalog, g *Guide) error {
	var errs []error
	for _, f := range files {
		v := &fileValidation{f, c, func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("files/%s.yaml: %s", f.ID, fmt.Sprintf(format, args...)))
		}}
		v.head(g)
		v.writer()
		v.parts()
		v.looks()
	}
	return errors.Join(errs...)
}

// fileValidation is one annotated file, and where to complain about it.
type fileValidation struct {
	*AnnotatedFile
	catalog  *Catalog
	complain func(string, ...any)
}

var pageName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (v *fileValidation) head(g *Guide) {
	texts(v.complain, "the file", v.Path, v.Title, v.Why, v.Readers, v.Source)
	v.holds("the file", v.Span, v.When)
	if !pageName.MatchString(v.ID) {
		v.complain("id %q is no name for a page: expected small letters, digits and single hyphens", v.ID)
	}
	if g.Chapter(v.ID) != nil || v.catalog.Stage(v.ID) != nil {
		v.complain("id %s is that of a stage or a chapter, and both would be one page", v.ID)
	}
	if !slices.Contains(Formats, v.Format) {
		v.complain("format %q is none of %s", v.Format, strings.Join(Formats, ", "))
	}
	for _, also := range v.Also {
		texts(v.complain, "the place "+also.Path, also.Path, also.Why)
		v.holds("the place "+also.Path, also.Span, also.When)
	}
}

// writer complains of a stage that is none, or does not write the file.
func (v *fileValidation) writer() {
	s := v.catalog.Stage(v.Stage)
	if s == nil {
		v.complain("%q is no stage", v.Stage)
		return
	}
	written := v.Path
	if v.Within != "" {
		written = v.Within
	}
	if !s.Makes(written) {
		v.complain("stage %s does not write %s", v.Stage, written)
	}
}

func (v *fileValidation) parts() {
	if len(v.Parts) == 0 {
		v.complain("has no parts")
	}
	for i, part := range v.Parts {
		at := fmt.Sprintf("part %d", i+1)
		texts(v.complain, at, part.Text, part.Why)
		v.holds(at, part.Span, part.When)
		v.names(at, part.Text)
		for _, key := range part.LabKeys {
			if !slices.ContainsFunc(Fields(), func(f Field) bool { return f.Path == key }) {
				v.complain("%s: lab.yaml has no key %q", at, key)
			}
		}
	}
}

func (v *fileValidation) looks() {
	if len(v.Looks) == 0 {
		v.complain("does not say how to see the real one")
	}
	for _, look := range v.Looks {
		texts(v.complain, "a look", look.Command, look.Tells)
		v.names("a look", look.Command)
		v.holds("a look", look.Span, Condition{})
		if look.Place != Local && look.Place != OnNode {
			v.complain("place %q is none of %s, %s", look.Place, Local, OnNode)
		}
	}
}

// names complains of each $NAME in a text that nothing is known for.
func (v *fileValidation) names(at, text string) {
	for _, name := range valueNames(text) {
		if _, known := fileValue(name); !known && !v.catalog.hasImage(name) {
			v.complain("%s: $%s has no value", at, name)
		}
	}
}

// holds complains of a span or a condition that can never be decided.
func (v *fileValidation) holds(at string, span Span, when Condition) {
	span.validate(v.complain, at)
	for _, key := range slices.Concat(when.With, when.Without) {
		if !valueAt(reflect.ValueOf(Lab{}), key).IsValid() {
			v.complain("%s: lab.yaml has no key %q", at, key)
		}
	}
}

// hasImage says whether bootkube.sh of any release has an image variable.
func (c *Catalog) hasImage(variable string) bool {
	return slices.ContainsFunc(c.Bootkube.Images, func(v ImageVariable) bool { return v.Variable == variable })
}
