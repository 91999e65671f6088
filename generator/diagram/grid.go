package diagram

import "fmt"

const (
	margin    = 16 // around the picture
	rim       = 8  // around its panels
	boxPadX   = 11
	boxPadY   = 8
	panelPad  = 13 // from a panel's border to what it holds
	captioned = 4  // between a panel's title and what is below it
	maxWidth  = 960
)

// A grid is a picture of boxes in rows and columns, with arrows in the gaps
// between them and panels behind them.
type grid struct {
	caption
	widths []int // of the columns
	gaps   []int // between them
	// rowGap is the space between rows. It grows when arrows and their labels
	// find no way.
	rowGap int
	// across: mermaid draws from left to right.
	across bool
	ruled  bool // thin lines between the rows
	even   bool // boxes are as high as their row
	boxes  []*box
	arrows []*arrow
	panels []*panel
}

// A box is a rectangle with a title and lines of text.
type box struct {
	id       string
	kind     string
	row, col int
	cols     int // how many columns it spans
	rows     int
	title    string
	lines    []boxLine
	centred  bool
	tight    bool // less room beside the text
	rect
}

// A boxLine is a paragraph of a box: plain text, or what is typed or named
// exactly so.
type boxLine struct {
	words string
	code  bool
}

// An arrow leads from a box to another.
type arrow struct {
	from, to *box
	label    string
	dashed   bool
	both     bool // it has two heads
}

// box adds a box of one cell.
func (g *grid) box(id, kind string, row, col int, title string) *box {
	b := &box{id: id, kind: kind, row: row, col: col, cols: 1, rows: 1, title: clean(title)}
	g.boxes = append(g.boxes, b)
	return b
}

func (b *box) span(rows, cols int) *box {
	b.rows, b.cols = rows, cols
	return b
}

func (b *box) middle() *box {
	b.centred = true
	return b
}

// say adds paragraphs of text.
func (b *box) say(paragraphs ...string) *box {
	for _, p := range paragraphs {
		if p = clean(p); p != "" {
			b.lines = append(b.lines, boxLine{words: p})
		}
	}
	return b
}

// code adds what is typed, or is the name of a file.
func (b *box) code(lines ...string) *box {
	for _, l := range lines {
		b.lines = append(b.lines, boxLine{words: clean(l), code: true})
	}
	return b
}

// arrow adds an arrow.
func (g *grid) arrow(from, to *box, label string) *arrow {
	a := &arrow{from: from, to: to, label: clean(label)}
	g.arrows = append(g.arrows, a)
	return a
}

// rowCount is the number of rows.
func (g *grid) rowCount() int {
	n := 0
	for _, b := range g.boxes {
		n = max(n, b.row+b.rows)
	}
	return n
}

// layOut puts boxes into place, then looks for the ways of the arrows. When it
// finds none it makes more room between the rows.
func (g *grid) layOut() (*scene, error) {
	const steps, more = 12, 10
	var lost *arrow
	for i := 0; i < steps; i++ {
		s := g.place(i * more)
		r := newRouter(g, s)
		if lost = r.routeAll(g.arrows); lost == nil {
			return s, nil
		}
	}
	return nil, fmt.Errorf("there is no way for the arrow from %s to %s", lost.from.id, lost.to.id)
}

// place computes where boxes and panels are, and puts them into a scene.
func (g *grid) place(extra int) *scene {
	s := &scene{w: g.left(len(g.widths)-1) + g.widths[len(g.widths)-1] + g.edge()}
	for _, b := range g.boxes {
		b.x, b.w = g.left(b.col), g.left(b.col+b.cols-1)+g.widths[b.col+b.cols-1]-g.left(b.col)
	}
	g.placePanelsAcross()
	heights := g.rowHeights(extra)
	y := rim
	tops := make([]int, len(heights))
	for row, h := range heights {
		if row > 0 {
			y += g.rowGap + extra
		}
		y += g.above(row, len(g.panels))
		tops[row] = y
		y += h + g.below(row, len(g.panels))
		if at := y + (g.rowGap+extra)/2; g.ruled && row < len(heights)-1 {
			s.rules = append(s.rules, line{points: []point{{margin, at}, {s.w - margin, at}}, bare: true})
		}
	}
	s.h = y + rim
	for _, b := range g.boxes {
		last := b.row + b.rows - 1
		height := tops[last] + heights[last] - tops[b.row]
		b.h = height
		b.y = tops[b.row]
		if natural := b.height(); b.rows == 1 && natural < height && !g.even {
			b.y += (height - natural) / 2
			b.h = natural
		}
		b.paint(s)
	}
	for _, p := range g.panels {
		p.placeDown(g, tops, heights)
		s.panels = append(s.panels, shape{p.rect, "panel-" + p.id})
		s.write(panelFace, p.titleAt, p.titleAt.y, false, panelFace.wrap(p.title, p.titleAt.w-2*boxPadX))
	}
	return s
}

// left is where a column begins.
func (g *grid) left(col int) int {
	x := g.edge()
	for i := 0; i < col; i++ {
		x += g.widths[i] + g.gaps[i]
	}
	return x
}

// edge is from the picture's edge to its first and from its last column.
func (g *grid) edge() int {
	if len(g.panels) == 0 {
		return margin
	}
	level := 0
	for _, p := range g.panels {
		level = max(level, p.level)
	}
	return rim + panelPad*(level+1)
}

// rowHeights are the heights of the rows: what the highest box of one row
// needs, and enough in sum for those that span several.
func (g *grid) rowHeights(extra int) []int {
	heights := make([]int, g.rowCount())
	for _, b := range g.boxes {
		if b.rows == 1 {
			heights[b.row] = max(heights[b.row], b.height())
		}
	}
	for _, b := range g.boxes {
		if b.rows == 1 {
			continue
		}
		have := (b.rows - 1) * (g.rowGap + extra)
		for row := b.row; row < b.row+b.rows; row++ {
			have += heights[row]
		}
		if short := b.height() - have; short > 0 {
			heights[b.row+b.rows-1] += (short + 1) / 2 * 2
		}
	}
	return heights
}

// inner is the width that a box has for text.
func (b *box) inner() int {
	if b.tight {
		return b.w - boxPadX/2
	}
	return b.w - 2*boxPadX
}

// height is what the box's text needs; it is even, so that the middles of two
// boxes in a row are on one level.
func (b *box) height() int {
	h := 2*boxPadY + 3
	h += len(titleFace.wrap(b.title, b.inner())) * titleFace.line
	for _, l := range b.lines {
		h += len(l.face().wrap(l.words, b.inner())) * l.face().line
	}
	return (h + 1) / 2 * 2
}

func (l boxLine) face() face {
	if l.code {
		return codeFace
	}
	return bodyFace
}

// paint puts the box and its text into the scene, the text in the middle of
// its height.
func (b *box) paint(s *scene) {
	s.shapes = append(s.shapes, shape{b.rect, b.kind})
	y := b.y + boxPadY + (b.h-b.height())/2
	y = s.write(titleFace, b.rect, y, b.centred, titleFace.wrap(b.title, b.inner()))
	for _, l := range b.lines {
		y = s.write(l.face(), b.rect, y, b.centred, l.face().wrap(l.words, b.inner()))
	}
}
