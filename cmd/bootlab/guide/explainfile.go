package guide

import "strings"

// parts tells where the annotated files explain a field, a flag or a variable of
// the environment.
func (e *explainer) parts(what string) bool {
	for _, f := range e.plan.AnnotatedFiles() {
		for _, part := range f.Parts {
			if part.Explains(what) {
				e.line("%s in %s\n    %s", what, f.Path, indented(part.Why))
			}
		}
	}
	return e.text.Len() > 0
}

// annotated tells of every part of an annotated file: first why, then the lines.
func (e *explainer) annotated(what string) {
	for _, f := range e.plan.AnnotatedFiles() {
		if !f.Names(what) {
			continue
		}
		e.line("%s: %s\n\n%s\n", f.Path, f.Title, strings.TrimSpace(f.Why))
		for _, part := range f.Parts {
			e.line("%s", strings.TrimSpace(part.Why))
			if len(part.LabKeys) > 0 {
				e.line("Decided by %s in lab.yaml.", strings.Join(part.LabKeys, ", "))
			}
			e.line("\n    %s\n", strings.ReplaceAll(strings.Trim(part.Text, "\n"), "\n", "\n    "))
		}
	}
}

// indented sets the further lines of a text below its first.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// path is where an annotated file stands that was called by another name.
func (e *explainer) path(what string) string {
	for _, f := range e.plan.AnnotatedFiles() {
		if f.Names(what) && f.Path != what && !strings.Contains(what, "/") {
			return f.Path
		}
	}
	return what
}
