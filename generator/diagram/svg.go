package diagram

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// svg prints the scene. The ids begin with the picture's name, so that several
// pictures go into one page.
func (s *scene) svg(c *caption) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="pic pic-%s" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="%s-title %s-desc">`+"\n",
		c.name, s.w, s.h, s.w, s.h, c.name, c.name)
	fmt.Fprintf(&b, "<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", c.name, escape(c.title), c.name, escape(c.description))
	fmt.Fprintf(&b, "<style>\n%s</style>\n", style())
	fmt.Fprintf(&b, `<rect class="pic-ground" width="%d" height="%d"/>`+"\n", s.w, s.h)
	for _, p := range s.panels {
		p.print(&b, "pic-panel", 10)
	}
	for _, l := range s.rules {
		l.print(&b, "pic-rule")
	}
	for _, l := range s.lines {
		l.print(&b, "pic-line")
	}
	for _, p := range s.shapes {
		p.print(&b, "pic-box", 7)
	}
	for _, p := range s.labels {
		p.print(&b, "pic-chip", 5)
	}
	for _, t := range s.texts {
		t.print(&b)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p shape) print(b *bytes.Buffer, class string, radius int) {
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="%d"/>`+"\n", classes(class, p.kind), p.x, p.y, p.w, p.h, radius)
}

func (t text) print(b *bytes.Buffer) {
	class := t.face.name
	if t.middle {
		class += " pic-middle"
	}
	fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, t.x, t.y, escape(t.words))
}

func (l line) print(b *bytes.Buffer, class string) {
	var path []string
	for i, p := range l.points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		path = append(path, fmt.Sprintf("%s%d %d", command, p.x, p.y))
	}
	fmt.Fprintf(b, `<path class="%s" d="%s"/>`+"\n", classes(class, l.kind), strings.Join(path, " "))
	if n := len(l.points); !l.bare {
		head(b, l.points[n-2], l.points[n-1])
	}
	if l.tail {
		head(b, l.points[1], l.points[0])
	}
}

// head prints the arrowhead at the end of a segment. Its points are written out
// and no marker is used, since a marker would need an id of its own and has
// its line's colour only in newer browsers.
func head(b *bytes.Buffer, from, to point) {
	const long, half = 9, 4
	dx, dy := sign(to.x-from.x), sign(to.y-from.y)
	foot := point{to.x - long*dx, to.y - long*dy}
	fmt.Fprintf(b, `<path class="pic-head" d="M%d %d L%d %d L%d %d Z"/>`+"\n", to.x, to.y,
		foot.x-half*dy, foot.y+half*dx, foot.x+half*dy, foot.y-half*dx)
}

func sign(n int) int { return min(max(n, -1), 1) }

func classes(class, kind string) string {
	if kind == "" {
		return class
	}
	return class + " pic-" + kind
}

func escape(text string) string {
	var b strings.Builder
	// A strings.Builder takes everything, so there is no error to look at.
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}
