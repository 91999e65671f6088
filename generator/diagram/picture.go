package diagram

import (
	"fmt"

	"bootlab/labs"
)

// Picture is one picture of the guide.
type Picture struct {
	// Name is its file without .svg, and what its mermaid fence is called.
	Name string
	// Title and Description say in words what the picture shows, for whoever
	// does not see it. Both stand in the SVG and in the mermaid text too.
	Title, Description string
	// SVG stands alone and may be put into a page with others.
	SVG []byte
	// Mermaid is the text of the fence, without the fence.
	Mermaid string
}

// A drawing is what a picture is drawn from.
type drawing interface {
	layOut() (*scene, error)
	mermaid() string
	about() *caption
}

// A caption names a picture and tells it in words.
type caption struct{ name, title, description string }

func (c *caption) about() *caption { return c }

// drawings are all pictures in the order in which a reader meets them.
var drawings = []func(*view) drawing{
	architecture, timeline, stages, files, certificates, staticPods, etcdMembership, operators, network, failures,
}

// Pictures draws every picture of the guide for a plan. There are the same
// pictures for every plan; what they show follows from its lab, its release
// and its stages.
func Pictures(p *labs.Plan) ([]Picture, error) {
	v := newView(p)
	var out []Picture
	for _, describe := range drawings {
		picture, _, err := draw(describe(v))
		if err != nil {
			return nil, err
		}
		out = append(out, picture)
	}
	return out, nil
}

// draw gives a drawing as a picture, and laid out.
func draw(d drawing) (Picture, *scene, error) {
	c := d.about()
	c.title, c.description = clean(c.title), clean(c.description)
	s, err := d.layOut()
	if err != nil {
		return Picture{}, nil, fmt.Errorf("picture %s: %w", c.name, err)
	}
	return Picture{Name: c.name, Title: c.title, Description: c.description, SVG: s.svg(c), Mermaid: d.mermaid()}, s, nil
}
