package generator

import (
	"slices"
	"strings"

	"bootlab/labs"
)

// treeNode is a file or a directory in the tree of what a stage writes.
type treeNode struct {
	name     string
	page     string // id of the page that explains the file
	notes    []string
	children []*treeNode
}

// Tree is what the stage writes, as a nested list: what it renders and where it
// copies that, each file with the page that explains it.
func (d *pageData) Tree() string {
	below, host := &treeNode{}, &treeNode{}
	at := func(path string) *treeNode {
		root := below
		if strings.HasPrefix(path, "/") {
			root = host
		}
		return root.at(strings.TrimPrefix(path, "/"))
	}
	for _, out := range d.Outputs {
		text := out.Why
		if out.Secret {
			text += " (secret)"
		}
		at(out.Path).note(text, d.Readers(out.Path))
	}
	for _, c := range d.Copies {
		at(c.To).note("from `"+c.From+"`: "+c.Why, d.Readers(c.To))
	}
	for _, f := range d.explained {
		for _, path := range d.places(f) {
			at(path).page = f.ID
		}
	}
	assets, root := "work/assets/", "work/host/"
	if d.Place == labs.OnNode {
		assets, root = labs.AssetDir+"/", "/"
	}
	return nested(assets, below) + nested(root, host)
}

// places are where the stage puts an annotated file: anywhere if the file is its
// own, else what it names itself.
func (d *pageData) places(f *labs.AnnotatedFile) []string {
	candidates := []string{f.Path}
	if f.Within != "" {
		candidates = []string{f.Within}
	}
	for _, also := range f.Also {
		candidates = append(candidates, also.Path)
	}
	own := f.Stage == d.ID
	return slices.DeleteFunc(candidates, func(path string) bool {
		return strings.Contains(path, " ") ||
			!slices.ContainsFunc(d.Outputs, func(out labs.File) bool { return out.Path == path || own && out.Covers(path) }) &&
				!slices.ContainsFunc(d.Copies, func(c labs.Copy) bool { return c.To == path || own && c.Arrives(path) })
	})
}

// at is the node of a path below this one, which is made where it is missing.
func (n *treeNode) at(path string) *treeNode {
	for path != "" {
		name, rest, isDir := strings.Cut(path, "/")
		if isDir {
			name += "/"
		}
		i := slices.IndexFunc(n.children, func(c *treeNode) bool { return c.name == name })
		if i < 0 {
			i = len(n.children)
			n.children = append(n.children, &treeNode{name: name})
		}
		n, path = n.children[i], rest
	}
	return n
}

func (n *treeNode) note(text, readers string) {
	if readers != "" {
		text += "; read by " + readers
	}
	n.notes = append(n.notes, strings.Join(strings.Fields(text), " "))
}

// nested is a nested list below its first directory; empty where that has nothing.
func nested(name string, n *treeNode) string {
	if len(n.children) == 0 {
		return ""
	}
	var b strings.Builder
	(&treeNode{name: name, children: n.children}).write(&b, "")
	return b.String()
}

// write prints the node with what is below it; a directory that holds one
// directory alone stands in one line with it.
func (n *treeNode) write(b *strings.Builder, indent string) {
	name := n.name
	for indent != "" && len(n.notes) == 0 && len(n.children) == 1 {
		n = n.children[0]
		name += n.name
	}
	label := "`" + name + "`"
	if n.page != "" {
		label = "[" + label + "](" + n.page + ".md)"
	}
	b.WriteString(indent + "- " + label)
	if len(n.notes) > 0 {
		b.WriteString(": " + strings.Join(n.notes, "; "))
	}
	b.WriteString("\n")
	for _, child := range n.children {
		child.write(b, indent+"  ")
	}
}
