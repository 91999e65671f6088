package diagram

const (
	clearance = 8  // from an arrow to a box that it passes
	corner    = 12 // from a box's corner to the arrows on its side
	apart     = 12 // between arrows on one side of a box, and between tracks
	bendCost  = 30
	offCost   = 50 // for the whole of a box's side; half of it is the most
	crossCost = 40
)

// A router finds ways for arrows: level and upright pieces that pass no box, no
// label and no title, and do not lie on one another.
type router struct {
	scene  *scene
	boxes  []*box
	titles []rect
	placed []segment
	border []segment
	ports  map[*box][]point
	// xs and ys are the tracks in the gaps of the grid.
	xs, ys []int
	states []int // room for a search
}

func newRouter(g *grid, s *scene) *router {
	r := &router{scene: s, boxes: g.boxes, ports: map[*box][]point{}}
	for _, p := range g.panels {
		title := p.titleAt
		title.x, title.w = title.x+boxPadX, 0
		for _, words := range panelFace.wrap(p.title, p.titleAt.w-2*boxPadX) {
			title.w = max(title.w, panelFace.width(words))
		}
		r.titles = append(r.titles, title)
		r.border = append(r.border, p.border()...)
	}
	var levels, uprights []segment
	for _, b := range g.boxes {
		levels = append(levels, segment{point{b.x, 0}, point{b.right(), 0}})
		uprights = append(uprights, segment{point{0, b.y}, point{0, b.bottom()}})
	}
	r.xs = tracks(levels, s.w, func(p point) int { return p.x })
	r.ys = tracks(uprights, s.h, func(p point) int { return p.y })
	return r
}

// tracks are the places between 0 and end that no box covers, at a distance
// from one another.
func tracks(covered []segment, end int, at func(point) int) []int {
	var out []int
	for place := apart / 2; place < end; place += 2 {
		free := len(out) == 0 || place >= out[len(out)-1]+apart
		for _, c := range covered {
			free = free && (place <= at(c.a)-clearance || place >= at(c.b)+clearance)
		}
		if free {
			out = append(out, place)
		}
	}
	return out
}

// routeAll puts every arrow and its label into the scene; it returns the first
// for which there is no room.
func (r *router) routeAll(arrows []*arrow) *arrow {
	for _, a := range arrows {
		points := r.route(a)
		if points == nil {
			return a
		}
		var mine []segment
		for i := 1; i < len(points); i++ {
			mine = append(mine, segment{points[i-1], points[i]})
		}
		if a.label != "" && !r.label(a, mine) {
			return a
		}
		r.placed = append(r.placed, mine...)
		r.ports[a.from] = append(r.ports[a.from], points[0])
		r.ports[a.to] = append(r.ports[a.to], points[len(points)-1])
		kind := ""
		if a.dashed {
			kind = dashed
		}
		r.scene.lines = append(r.scene.lines, line{points: points, kind: kind, tail: a.both})
	}
	return nil
}

// free says whether a piece of the way may lie there.
func (s *search) free(way segment) bool {
	covers := way.rect()
	for _, b := range s.boxes {
		if b.rect.grow(clearance).meets(covers) && !s.leaves(b, way) {
			return false
		}
	}
	for _, t := range s.titles {
		if t.grow(2).meets(covers) {
			return false
		}
	}
	for _, l := range s.scene.labels {
		if l.rect.grow(3).meets(covers) {
			return false
		}
	}
	for _, other := range s.placed {
		if along(way, other, apart-5) {
			return false
		}
	}
	for _, other := range s.border {
		if along(way, other, 5) {
			return false
		}
	}
	return true
}

// leaves says whether a piece of the way leads straight out of one of the
// arrow's own boxes, or into it.
func (s *search) leaves(b *box, way segment) bool {
	if b != s.arrow.from && b != s.arrow.to {
		return false
	}
	if way.upright() {
		return way.a.x >= b.x+corner && way.a.x <= b.right()-corner &&
			(max(way.a.y, way.b.y) <= b.y || min(way.a.y, way.b.y) >= b.bottom())
	}
	return way.a.y >= b.y+corner-2 && way.a.y <= b.bottom()-corner+2 &&
		(max(way.a.x, way.b.x) <= b.x || min(way.a.x, way.b.x) >= b.right())
}

// along says whether two pieces run beside one another closer than a distance.
func along(a, b segment, distance int) bool {
	if a.upright() != b.upright() {
		return false
	}
	ar, br := a.rect(), b.rect()
	if a.upright() {
		return abs(ar.x-br.x) < distance && ar.y < br.bottom() && br.y < ar.bottom()
	}
	return abs(ar.y-br.y) < distance && ar.x < br.right() && br.x < ar.right()
}

// crossings counts the arrows that a piece crosses.
func (s *search) crossings(way segment) int {
	n := 0
	for _, other := range s.placed {
		if way.upright() != other.upright() && way.rect().meets(other.rect()) {
			n++
		}
	}
	return n
}

func abs(n int) int { return max(n, -n) }
