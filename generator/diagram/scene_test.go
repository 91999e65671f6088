package diagram

import (
	"fmt"
	"slices"
	"testing"
)

// flaws says what is wrong with a scene: what does not fit, what lies on what.
func flaws(s *scene) []string {
	var out []string
	report := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	page := rect{0, 0, s.w, s.h}
	if s.w > maxWidth {
		report("the picture is %d wide", s.w)
	}
	for _, t := range s.texts {
		if !t.in.holds(t.rect()) {
			report("%q does not fit into its box", t.words)
		}
		if t.face.size < 13 {
			report("%q is %d px high", t.words, t.face.size)
		}
	}
	for _, all := range [][]shape{s.panels, s.shapes, s.labels} {
		for _, p := range all {
			if !page.holds(p.rect) {
				report("a %s reaches over the edge", p.kind)
			}
		}
	}
	for i, a := range s.shapes {
		for _, b := range s.shapes[i+1:] {
			if a.meets(b.rect) {
				report("boxes at %v and %v overlap", a.rect, b.rect)
			}
		}
	}
	for i, l := range s.labels {
		for _, b := range s.shapes {
			if l.meets(b.rect) {
				report("the label at %v covers a box", l.rect)
			}
		}
		for _, b := range s.labels[i+1:] {
			if l.meets(b.rect) {
				report("labels at %v and %v overlap", l.rect, b.rect)
			}
		}
	}
	return append(out, crossed(s, page)...)
}

// crossed says which lines pass through boxes, labels of others or the edge.
func crossed(s *scene, page rect) []string {
	var out []string
	for _, l := range s.lines {
		for i := 1; i < len(l.points); i++ {
			piece := segment{l.points[i-1], l.points[i]}
			if piece.a.x != piece.b.x && piece.a.y != piece.b.y {
				out = append(out, fmt.Sprintf("the line at %v is neither level nor upright", piece))
			}
			if !page.holds(piece.rect()) {
				out = append(out, fmt.Sprintf("the line at %v leaves the picture", piece))
			}
			for _, b := range s.shapes {
				if b.grow(-1).meets(piece.rect()) {
					out = append(out, fmt.Sprintf("the line at %v passes through a box", piece))
				}
			}
		}
	}
	return out
}

// gridFlaws says what is wrong with panels and arrows of a grid laid out.
func gridFlaws(g *grid, s *scene) []string {
	var out []string
	for i, p := range g.panels {
		for _, b := range g.boxes {
			switch in := slices.Contains(p.boxes, b); {
			case in && !p.holds(b.rect):
				out = append(out, fmt.Sprintf("box %s is not inside panel %s", b.id, p.id))
			case !in && p.meets(b.rect):
				out = append(out, fmt.Sprintf("box %s lies in panel %s", b.id, p.id))
			}
		}
		for _, o := range g.panels[i+1:] {
			if p.level == o.level && p.meets(o.rect) {
				out = append(out, fmt.Sprintf("panels %s and %s overlap", p.id, o.id))
			}
		}
	}
	for i, a := range g.arrows {
		points := s.lines[i].points
		for _, end := range []struct {
			b *box
			p point
		}{{a.from, points[0]}, {a.to, points[len(points)-1]}} {
			if r := end.b.rect; end.p.x != r.x && end.p.x != r.right() && end.p.y != r.y && end.p.y != r.bottom() || !r.holds(rect{end.p.x, end.p.y, 0, 0}) {
				out = append(out, fmt.Sprintf("the arrow from %s to %s does not touch %s", a.from.id, a.to.id, end.b.id))
			}
		}
	}
	return out
}

// A check that never fails proves nothing: each flaw is made once.
func TestFlawsAreFound(t *testing.T) {
	box := shape{rect{10, 10, 50, 30}, ""}
	for name, s := range map[string]*scene{
		"a text that is too long":        {w: 100, h: 100, texts: []text{{bodyFace, 20, 30, false, "much too long for this", box.rect}}},
		"a text that is too low":         {w: 100, h: 100, texts: []text{{bodyFace, 12, 45, false, "low", box.rect}}},
		"letters that are too small":     {w: 100, h: 100, texts: []text{{face{size: 9}, 12, 30, false, "low", box.rect}}},
		"a box over the edge":            {w: 40, h: 100, shapes: []shape{box}},
		"a picture that is too wide":     {w: 1000, h: 100},
		"boxes that overlap":             {w: 100, h: 100, shapes: []shape{box, {rect{20, 20, 50, 30}, ""}}},
		"a label on a box":               {w: 100, h: 100, shapes: []shape{box}, labels: []shape{box}},
		"a label on a label":             {w: 100, h: 100, labels: []shape{box, box}},
		"a line through a box":           {w: 100, h: 100, shapes: []shape{box}, lines: []line{{points: []point{{0, 20}, {90, 20}}}}},
		"a line that is neither":         {w: 100, h: 100, lines: []line{{points: []point{{0, 20}, {90, 30}}}}},
		"a line that leaves the picture": {w: 100, h: 100, lines: []line{{points: []point{{0, 20}, {190, 20}}}}},
	} {
		if len(flaws(s)) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
	sound := &scene{w: 100, h: 100, shapes: []shape{box}, texts: []text{{bodyFace, 15, 30, false, "fits", box.rect}}}
	if got := flaws(sound); len(got) > 0 {
		t.Errorf("a sound scene has flaws: %q", got)
	}
}

// Panels and arrows likewise.
func TestGridFlawsAreFound(t *testing.T) {
	make2 := func() (*grid, *scene) {
		g := &grid{widths: []int{100, 100}, gaps: []int{60}, rowGap: 40}
		a, b := g.box("a", plain, 0, 0, "A"), g.box("b", plain, 1, 1, "B")
		g.arrow(a, b, "")
		g.panel("p", "P", 0, a)
		s, err := g.layOut()
		if err != nil {
			t.Fatal(err)
		}
		return g, s
	}
	g, s := make2()
	if got := append(gridFlaws(g, s), flaws(s)...); len(got) > 0 {
		t.Errorf("a sound grid has flaws: %q", got)
	}
	g.boxes[0].x = 500
	if len(gridFlaws(g, s)) < 2 {
		t.Error("a box outside its panel and away from its arrow is not found")
	}
	g, s = make2()
	g.panels[0].rect = rect{0, 0, 500, 500}
	if len(gridFlaws(g, s)) == 0 {
		t.Error("a box in a panel that is not its own is not found")
	}
	g.panels = append(g.panels, g.panels[0])
	if len(gridFlaws(g, s)) < 2 {
		t.Error("panels that overlap are not found")
	}
}

// rect is what the text covers by estimate.
func (t text) rect() rect {
	w := t.face.width(t.words)
	x := t.x
	if t.middle {
		x -= w / 2
	}
	return rect{x, t.y - t.face.size, w, t.face.size + 3}
}
