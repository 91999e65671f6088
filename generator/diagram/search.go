package diagram

import (
	"container/heap"
	"slices"
)

// What stands in the place of a state before one that has none.
const (
	unseen = -1
	first  = -2
)

// The four directions of a step.
var directions = [4]point{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}

// A search is the search for one arrow's way over the crossings of tracks.
type search struct {
	*router
	arrow  *arrow
	xs, ys []int
	cost   []int
	before []int
	queue  frontier
}

// A step is a crossing, entered in a direction, and what it cost to get there.
type step struct{ state, cost, guess int }

// frontier is a heap of steps, the most promising first. Equal ones are in the
// order of their states, so that the result is the same every time.
type frontier []step

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	if f[i].guess != f[j].guess {
		return f[i].guess < f[j].guess
	}
	return f[i].state < f[j].state
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }

// Push and Pop are for container/heap.
func (f *frontier) Push(x any) { *f = append(*f, x.(step)) }

// Pop takes the last step.
func (f *frontier) Pop() any {
	old := *f
	last := old[len(old)-1]
	*f = old[:len(old)-1]
	return last
}

// route finds the way of an arrow; nil if there is none.
func (r *router) route(a *arrow) []point {
	s := &search{router: r, arrow: a}
	s.xs, s.ys = slices.Clone(r.xs), slices.Clone(r.ys)
	for _, b := range []*box{a.from, a.to} {
		s.xs = append(s.xs, b.x, b.right())
		s.ys = append(s.ys, b.y, b.bottom())
		for off := 0; off <= b.w/2-corner; off += apart + 2 {
			s.xs = append(s.xs, b.center().x+off, b.center().x-off)
		}
		for off := 0; off <= b.h/2-corner; off += apart + 2 {
			s.ys = append(s.ys, b.center().y+off, b.center().y-off)
		}
	}
	slices.Sort(s.xs)
	slices.Sort(s.ys)
	s.xs, s.ys = slices.Compact(s.xs), slices.Compact(s.ys)
	n := len(s.xs)*len(s.ys)*len(directions) + 1
	s.states = resized(s.states, n)
	s.cost, s.before = s.states[:n], s.states[n:]
	for i := range s.before {
		s.before[i] = unseen
	}
	s.begin()
	return s.run()
}

// resized is room for two numbers for each of n states. The arrows of a picture are
// routed one after the other, in the same room.
func resized(room []int, n int) []int {
	if cap(room) < 2*n {
		return make([]int, 2*n)
	}
	return room[:2*n]
}

func (s *search) at(state int) (p point, direction int) {
	i := state / len(directions)
	return point{s.xs[i%len(s.xs)], s.ys[i/len(s.xs)]}, state % len(directions)
}

// port says what it costs to have an arrow at a point of a box's side, with the
// direction that leads out there; not ok if there can be none.
func (s *search) port(b *box, p point) (direction, cost int, ok bool) {
	switch c := b.center(); {
	case p.y == b.y || p.y == b.bottom():
		direction, cost = 3, (offCost*abs(p.x-c.x)+b.w-1)/b.w
		if p.y == b.bottom() {
			direction = 1
		}
		ok = p.x >= b.x+corner && p.x <= b.right()-corner
	case p.x == b.x || p.x == b.right():
		direction, cost = 2, (offCost*abs(p.y-c.y)+b.h-1)/b.h
		if p.x == b.right() {
			direction = 0
		}
		ok = p.y >= b.y+corner-2 && p.y <= b.bottom()-corner+2
	}
	if !ok {
		return direction, cost, false
	}
	for _, used := range s.ports[b] {
		onSide := (used.x == p.x && abs(used.y-p.y) < apart) || (used.y == p.y && abs(used.x-p.x) < apart)
		ok = ok && !onSide
	}
	return direction, cost, ok
}

// begin puts all points where the arrow may leave into the queue.
func (s *search) begin() {
	for y, py := range s.ys {
		for x, px := range s.xs {
			if direction, cost, ok := s.port(s.arrow.from, point{px, py}); ok {
				s.visit((y*len(s.xs)+x)*len(directions)+direction, first, cost)
			}
		}
	}
}

// visit notes a cheaper way to a state.
func (s *search) visit(state, before, cost int) {
	if s.before[state] != unseen && s.cost[state] <= cost {
		return
	}
	s.before[state], s.cost[state] = before, cost
	guess := cost
	if state != s.goal() {
		p, _ := s.at(state)
		to := s.arrow.to.rect
		guess += max(to.x-p.x, 0, p.x-to.right()) + max(to.y-p.y, 0, p.y-to.bottom())
	}
	heap.Push(&s.queue, step{state, cost, guess})
}

// goal is the state behind all others: the arrow has arrived, and the place on
// the box's side is paid for.
func (s *search) goal() int { return len(s.cost) - 1 }

// run takes the most promising step until one arrives.
func (s *search) run() []point {
	for len(s.queue) > 0 {
		next := heap.Pop(&s.queue).(step)
		if next.state == s.goal() {
			return s.path(s.before[next.state])
		}
		if next.cost > s.cost[next.state] {
			continue
		}
		p, direction := s.at(next.state)
		if out, cost, ok := s.port(s.arrow.to, p); ok && out == (direction+2)%4 && s.before[next.state] >= 0 {
			s.visit(s.goal(), next.state, next.cost+cost)
			continue
		}
		for turn := range directions {
			if turn != (direction+2)%4 {
				s.walk(next, turn)
			}
		}
	}
	return nil
}

// walk goes to the next crossing in a direction.
func (s *search) walk(from step, turn int) {
	i := from.state / len(directions)
	x, y := i%len(s.xs)+directions[turn].x, i/len(s.xs)+directions[turn].y
	if x < 0 || y < 0 || x >= len(s.xs) || y >= len(s.ys) {
		return
	}
	p, direction := s.at(from.state)
	if s.before[from.state] == first && turn != direction {
		return
	}
	way := segment{p, point{s.xs[x], s.ys[y]}}
	if !s.free(way) {
		return
	}
	cost := from.cost + way.length() + s.crossings(way)*crossCost
	if turn != direction {
		cost += bendCost
	}
	s.visit((y*len(s.xs)+x)*len(directions)+turn, from.state, cost)
}

// path goes back from the end of the way and leaves out what lies on a
// straight piece.
func (s *search) path(state int) []point {
	var points []point
	for ; state >= 0; state = s.before[state] {
		p, _ := s.at(state)
		if n := len(points); n >= 2 && ((points[n-2].x == p.x && points[n-1].x == p.x) || (points[n-2].y == p.y && points[n-1].y == p.y)) {
			points = points[:n-1]
		}
		points = append(points, p)
	}
	slices.Reverse(points)
	return points
}
