package generator

import (
	"slices"
	"strings"

	"bootlab/labs"
)

// filePage is what the page of an annotated file sees.
type filePage struct {
	*labs.AnnotatedFile
	plan  *labs.Plan
	pages map[string]bool // ids of the stages that have a page
}

// user is a stage that has to do with the file, and why.
type user struct{ Link, Why string }

// annotated renders the pages of the files that are explained part by part.
func (r *renderer) annotated() error {
	pages := map[string]bool{}
	for _, d := range r.paged {
		pages[d.ID] = true
	}
	for _, f := range r.explained {
		if err := r.page("file.md.tmpl", "guide/"+f.ID+".md", &filePage{f, r.plan, pages}); err != nil {
			return err
		}
	}
	return nil
}

// fileEntries are the annotated files in the list of pages.
func (r *renderer) fileEntries() []guidePage {
	var out []guidePage
	for _, f := range r.explained {
		out = append(out, guidePage{ID: f.ID, Title: f.Path, File: "guide/" + f.ID + ".md", Kind: "file", Summary: sentence(f.Title)})
	}
	return out
}

// Writer is the stage that writes the file.
func (p *filePage) Writer() user {
	written := p.Path
	if p.Within != "" {
		written = p.Within
	}
	s := p.plan.Stage(p.Stage)
	return user{p.link(s), whyWritten(s, written)}
}

// whyWritten is what the stage says of the copy or the output that is the file.
// A copy counts more: it is what brings the file to its path.
func whyWritten(s *labs.Stage, file string) string {
	for _, c := range s.Copies {
		if c.Arrives(file) {
			return c.Why
		}
	}
	why := ""
	for _, out := range s.Outputs {
		if out.Path == file || why == "" && out.Covers(file) {
			why = out.Why
		}
	}
	return why
}

// Rewriters are the other stages that name the file itself among their outputs.
func (p *filePage) Rewriters() []user {
	return p.users(func(s *labs.Stage) []labs.File {
		if s.ID == p.Stage {
			return nil
		}
		return s.Outputs
	}, func(f labs.File) bool { return f.Path == p.Path })
}

// StageReaders are the stages that read the file, here or in another place.
func (p *filePage) StageReaders() []user {
	return p.users(func(s *labs.Stage) []labs.File { return s.Reads }, func(f labs.File) bool {
		return f.Covers(p.Path) || slices.ContainsFunc(p.Also, func(also labs.File) bool { return f.Covers(also.Path) })
	})
}

// users are the stages of the plan that have such a file in a list.
func (p *filePage) users(list func(*labs.Stage) []labs.File, means func(labs.File) bool) []user {
	var out []user
	for _, s := range p.plan.Stages {
		for _, f := range list(s) {
			if means(f) {
				out = append(out, user{p.link(s), f.Why})
				break
			}
		}
	}
	return out
}

func (p *filePage) link(s *labs.Stage) string {
	if !p.pages[s.ID] {
		return "`" + s.ID + "`"
	}
	return "[" + s.ID + "](" + s.ID + ".md)"
}

// Lines are the lines of a part as they stand in the file.
func (p *filePage) Lines(part labs.Part) string { return strings.Trim(part.Text, "\n") }
