package diagram

import "slices"

const (
	labelPad   = 5
	labelWidth = 150 // before a label is broken into lines
	headRoom   = 14  // that a label leaves at the ends of its line
)

// label puts an arrow's label on one of its pieces, the longest one that has
// room first.
func (r *router) label(a *arrow, pieces []segment) bool {
	lines := labelFace.wrap(a.label, labelWidth)
	size := rect{h: len(lines)*labelFace.line + labelPad}
	for _, words := range lines {
		size.w = max(size.w, labelFace.width(words)+2*labelPad)
	}
	pieces = slices.Clone(pieces)
	slices.SortStableFunc(pieces, func(a, b segment) int { return b.length() - a.length() })
	for _, piece := range pieces {
		if at, ok := r.labelOn(piece, size); ok {
			r.scene.labels = append(r.scene.labels, shape{at, ""})
			r.scene.write(labelFace, at, at.y+labelPad/2-1, true, lines)
			return true
		}
	}
	return false
}

// labelOn finds room for a label on a piece, in its middle or as near to it as
// can be.
func (r *router) labelOn(piece segment, size rect) (rect, bool) {
	covers := piece.rect()
	need := size.w
	if piece.upright() {
		need = size.h
	}
	for off := 0; off <= (piece.length()-need)/2-headRoom; off += 4 {
		for _, side := range []int{off, -off} {
			at := size
			c := covers.center()
			if piece.upright() {
				c.y += side
			} else {
				c.x += side
			}
			at.x, at.y = c.x-size.w/2, c.y-size.h/2
			if r.clear(at) {
				return at, true
			}
		}
	}
	return rect{}, false
}

// clear says whether a label covers nothing but its own line.
func (r *router) clear(at rect) bool {
	if !(rect{0, 0, r.scene.w, r.scene.h}).grow(-4).holds(at) {
		return false
	}
	for _, b := range r.boxes {
		if b.rect.grow(4).meets(at) {
			return false
		}
	}
	for _, t := range r.titles {
		if t.meets(at) {
			return false
		}
	}
	for _, l := range r.scene.labels {
		if l.rect.grow(4).meets(at) {
			return false
		}
	}
	for _, other := range slices.Concat(r.placed, r.border) {
		if other.rect().meets(at) {
			return false
		}
	}
	return true
}
