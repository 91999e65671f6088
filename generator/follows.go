package generator

import (
	"io/fs"
	"strings"
	"text/template"
	"text/template/parse"

	"bootlab/labs"
)

// Follows tells what of the stage data the template of a stage's script uses: a
// field by its name, as FlagLines or Run.Command. A stage without a script only
// has pages, which use all of it.
func Follows(p *labs.Plan, templates fs.FS) (func(stage *labs.Stage, field string) bool, error) {
	r, err := newRenderer(p, templates, Options{})
	if err != nil {
		return nil, err
	}
	used := map[string]map[string]bool{}
	for name, source := range r.sources {
		if strings.HasSuffix(name, "-lib") || strings.HasPrefix(name, "lib/") || name == chainScript {
			continue
		}
		t, err := r.parts.Clone()
		if err != nil {
			return nil, err
		}
		if _, err := t.New(name).Parse(source); err != nil {
			return nil, err
		}
		// To pull an image is not to run it.
		u := &usage{set: t, fields: map[string]bool{}, seen: map[string]bool{"images": true, "pull": true}}
		u.template("body")
		u.template("steps")
		u.fields["Directories"] = u.fields["Directories"] || u.fields["DirectoryWords"]
		u.fields["Copies"] = u.fields["CopyLines"] || u.fields["CopyCommands"]
		used[name] = u.fields
	}
	return func(stage *labs.Stage, field string) bool {
		fields, scripted := used[strings.TrimSuffix(stage.ScriptName(), ".sh")]
		return !scripted || fields[field]
	}, nil
}

// usage collects the fields that a template uses, and those that it executes.
type usage struct {
	set    *template.Template
	fields map[string]bool
	seen   map[string]bool
}

func (u *usage) template(name string) {
	t := u.set.Lookup(name)
	if u.seen[name] || t == nil || t.Tree == nil {
		return
	}
	u.seen[name] = true
	u.list(t.Tree.Root)
}

func (u *usage) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		u.node(n)
	}
}

func (u *usage) node(n parse.Node) {
	switch n := n.(type) {
	case *parse.ActionNode:
		u.pipe(n.Pipe)
	case *parse.IfNode:
		u.branch(&n.BranchNode)
	case *parse.RangeNode:
		u.branch(&n.BranchNode)
	case *parse.WithNode:
		u.branch(&n.BranchNode)
	case *parse.TemplateNode:
		u.template(n.Name)
	}
}

func (u *usage) branch(n *parse.BranchNode) {
	u.pipe(n.Pipe)
	u.list(n.List)
	u.list(n.ElseList)
}

func (u *usage) pipe(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for _, a := range c.Args {
			switch a := a.(type) {
			case *parse.FieldNode:
				u.fields[strings.Join(a.Ident, ".")] = true
			case *parse.VariableNode:
				u.fields[strings.Join(a.Ident[1:], ".")] = true
			case *parse.PipeNode:
				u.pipe(a)
			}
		}
	}
}
