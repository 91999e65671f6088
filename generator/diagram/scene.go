package diagram

// A point, a rect: whole pixels from the upper left corner.
type point struct{ x, y int }

type rect struct{ x, y, w, h int }

func (r rect) right() int    { return r.x + r.w }
func (r rect) bottom() int   { return r.y + r.h }
func (r rect) center() point { return point{r.x + r.w/2, r.y + r.h/2} }

// grow is the rect with a margin around it.
func (r rect) grow(by int) rect { return rect{r.x - by, r.y - by, r.w + 2*by, r.h + 2*by} }

// meets says whether two rects share more than an edge.
func (r rect) meets(o rect) bool {
	return r.x < o.right() && o.x < r.right() && r.y < o.bottom() && o.y < r.bottom()
}

// holds says whether another rect lies within.
func (r rect) holds(o rect) bool {
	return r.x <= o.x && r.y <= o.y && o.right() <= r.right() && o.bottom() <= r.bottom()
}

// A segment is a piece of a line, level or upright.
type segment struct{ a, b point }

func (s segment) upright() bool { return s.a.x == s.b.x }

// rect is what the segment covers, one pixel thick.
func (s segment) rect() rect {
	x, y := min(s.a.x, s.b.x), min(s.a.y, s.b.y)
	return rect{x, y, max(s.a.x, s.b.x) - x, max(s.a.y, s.b.y) - y}.thick()
}

func (r rect) thick() rect { return rect{r.x, r.y, max(r.w, 1), max(r.h, 1)} }

func (s segment) length() int {
	r := s.rect()
	return max(r.w, r.h)
}

// A scene is a picture laid out, in the order in which it is painted.
type scene struct {
	w, h   int
	panels []shape
	rules  []line // thin lines behind everything
	lines  []line
	shapes []shape
	labels []shape // what stands on lines
	texts  []text
}

// A shape is a rectangle with rounded corners; its kind is a CSS class.
type shape struct {
	rect
	kind string
}

// A line is a chain of segments with a head at one end or both.
type line struct {
	points []point
	kind   string
	tail   bool // a head at the first point too
	bare   bool // no head at all
}

// A text is one line of words inside a rect. Middle: x is its middle, else its
// beginning.
type text struct {
	face   face
	x, y   int // of the base line
	middle bool
	words  string
	in     rect
}

// write sets lines below one another from a y on, and returns the y below them.
func (s *scene) write(f face, in rect, y int, middle bool, lines []string) int {
	x := in.x + boxPadX
	if middle {
		x = in.center().x
	}
	for _, words := range lines {
		s.texts = append(s.texts, text{f, x, y + f.size, middle, words, in})
		y += f.line
	}
	return y
}
