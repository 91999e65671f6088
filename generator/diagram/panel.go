package diagram

import "slices"

// A panel is the ground that some boxes share.
type panel struct {
	id, title string
	level     int // 0 holds no other panel
	boxes     []*box
	rect
	titleAt rect
}

// panel adds a panel around boxes.
func (g *grid) panel(id, title string, level int, boxes ...*box) {
	g.panels = append(g.panels, &panel{id: id, title: clean(title), level: level, boxes: boxes})
}

// rowSpan is the first and the last row of a panel.
func (p *panel) rowSpan() (first, last int) {
	first, last = p.boxes[0].row, 0
	for _, b := range p.boxes {
		first, last = min(first, b.row), max(last, b.row+b.rows-1)
	}
	return first, last
}

// placePanelsAcross computes left and right of the panels.
func (g *grid) placePanelsAcross() {
	for _, p := range g.panels {
		left, right := maxWidth, 0
		for _, b := range p.boxes {
			left, right = min(left, b.x), max(right, b.right())
		}
		pad := panelPad * (p.level + 1)
		p.x, p.w = left-pad, right-left+2*pad
	}
}

// head is what a panel needs above its boxes.
func (p *panel) head() int {
	return panelPad + captioned + len(panelFace.wrap(p.title, p.w-2*boxPadX))*panelFace.line
}

// above is the room that the panels below a level, which begin with a row, need
// over it.
func (g *grid) above(row, levels int) int {
	need := 0
	for level := 0; level < levels; level++ {
		most := 0
		for _, p := range g.panels {
			if first, _ := p.rowSpan(); p.level == level && first == row {
				most = max(most, p.head())
			}
		}
		need += most
	}
	return need
}

// below is the room that panels which end with a row need under it.
func (g *grid) below(row, levels int) int {
	ending := map[int]bool{}
	for _, p := range g.panels {
		if _, last := p.rowSpan(); p.level < levels && last == row {
			ending[p.level] = true
		}
	}
	return len(ending) * panelPad
}

// placeDown computes top and bottom of the panel.
func (p *panel) placeDown(g *grid, tops, heights []int) {
	first, last := p.rowSpan()
	p.y = tops[first] - g.above(first, p.level+1)
	p.h = tops[last] + heights[last] + g.below(last, p.level+1) - p.y
	p.titleAt = rect{p.x, p.y + 8, p.w, p.head() - panelPad - captioned}
}

// border are the four sides of a panel.
func (p *panel) border() []segment {
	a, b, c, d := point{p.x, p.y}, point{p.right(), p.y}, point{p.right(), p.bottom()}, point{p.x, p.bottom()}
	return []segment{{a, b}, {b, c}, {d, c}, {a, d}}
}

// inside says whether the panel is one of those that another holds.
func (p *panel) inside(outer *panel) bool {
	return p.level < outer.level && slices.Contains(outer.boxes, p.boxes[0])
}
