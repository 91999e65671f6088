package diagram

import (
	"fmt"
)

const (
	clockStep = 26 // from one clock's line to the next
	clockSize = 20 // of the letter's square
	laneGap   = 8
	rowSpace  = 10
)

// Lanes are a picture of time, downwards: a lane for each place, boxes for what
// happens there, arrows for calls, and at the left the clocks that run
// meanwhile.
type lanes struct {
	caption
	heads  []*laneHead
	clocks []*clock
	phases []*phase
}

// A laneHead is what stands above a lane.
type laneHead struct {
	id, title string
	lines     []string
	width     int
	rect
}

// A clock runs from one moment to another; its letter marks both.
type clock struct {
	letter, words string
	from, to      int // y
}

// A phase is a part of the time with a title.
type phase struct {
	title string
	rows  []*moment
}

// A moment is a row: boxes side by side, or one arrow.
type moment struct {
	boxes   []*event
	message *message
	starts  []*clock
	ends    []*clock
}

// An event is a box in one lane or across several.
type event struct {
	box
	first, last int
}

// A message is an arrow from lane to lane.
type message struct {
	from, to int
	words    string
	dashed   bool
}

func (l *lanes) lane(id, title string, width int, lines ...string) int {
	h := &laneHead{id: id, title: clean(title), width: width}
	for _, words := range lines {
		h.lines = append(h.lines, clean(words))
	}
	l.heads = append(l.heads, h)
	return len(l.heads) - 1
}

func (l *lanes) clock(words string) *clock {
	c := &clock{letter: string(rune('A' + len(l.clocks))), words: clean(words)}
	l.clocks = append(l.clocks, c)
	return c
}

func (l *lanes) phase(title string) {
	l.phases = append(l.phases, &phase{title: clean(title)})
}

// add adds a row to the last phase.
func (l *lanes) add(m *moment) *moment {
	p := l.phases[len(l.phases)-1]
	p.rows = append(p.rows, m)
	return m
}

// event adds a row with a box in a lane.
func (l *lanes) event(lane int, kind, title string, say ...string) *moment {
	return l.add(&moment{}).beside(lane, lane, kind, title, say...)
}

// beside adds a box to the row, in other lanes than those before.
func (m *moment) beside(first, last int, kind, title string, say ...string) *moment {
	e := &event{box: box{kind: kind, title: clean(title)}, first: first, last: last}
	e.say(say...)
	m.boxes = append(m.boxes, e)
	return m
}

// call adds a row with an arrow.
func (l *lanes) call(from, to int, words string) *moment {
	return l.add(&moment{message: &message{from: from, to: to, words: clean(words)}})
}

func (m *moment) start(c *clock) *moment {
	m.starts = append(m.starts, c)
	return m
}

func (m *moment) end(c *clock) *moment {
	m.ends = append(m.ends, c)
	return m
}

// layOut sets one row below the other.
func (l *lanes) layOut() (*scene, error) {
	s := &scene{}
	l.placeLanes(s)
	y := l.legend(s)
	y = l.paintHeads(s, y)
	top := y
	for _, p := range l.phases {
		y = l.paintPhase(s, p, y)
	}
	s.h = y + margin
	for _, h := range l.heads {
		x := h.center().x
		s.rules = append(s.rules, line{points: []point{{x, top}, {x, y}}, kind: dashed, bare: true})
	}
	for i, c := range l.clocks {
		if c.to <= c.from {
			return nil, fmt.Errorf("clock %s ends before it starts", c.letter)
		}
		x := l.clockAt(i)
		s.lines = append(s.lines, line{points: []point{{x, c.from + clockSize/2}, {x, c.to - clockSize/2}}, kind: "clock"})
		for _, y := range []int{c.from, c.to} {
			at := rect{x - clockSize/2, y - clockSize/2, clockSize, clockSize}
			s.labels = append(s.labels, shape{at, "clock"})
			s.write(titleFace, at, at.y+1, true, []string{c.letter})
		}
	}
	return s, nil
}

// clockAt is where a clock's line is.
func (l *lanes) clockAt(i int) int { return margin + clockSize/2 + i*clockStep }

func (l *lanes) placeLanes(s *scene) {
	x := margin + len(l.clocks)*clockStep + laneGap + 2
	for _, h := range l.heads {
		h.x, h.w = x, h.width
		x += h.width + laneGap
	}
	s.w = x - laneGap + 10 + margin
}

// legend tells what the clocks are.
func (l *lanes) legend(s *scene) int {
	y := margin + 10
	for i, c := range l.clocks {
		at := rect{margin, y, clockSize, clockSize}
		s.labels = append(s.labels, shape{at, "clock"})
		s.write(titleFace, at, y+1, true, []string{c.letter})
		room := rect{l.clockAt(0) + clockSize/2, y, s.w - margin - l.clockAt(0) - clockSize, 0}
		lines := bodyFace.wrap(c.words, room.w-2*boxPadX)
		room.h = len(lines)*bodyFace.line + 4
		y = max(s.write(bodyFace, room, y+2, false, lines), y+clockSize) + 5
		if i == len(l.clocks)-1 {
			y += 8
		}
	}
	return y
}

func (l *lanes) paintHeads(s *scene, y int) int {
	high := 0
	var heads []*box
	for _, h := range l.heads {
		b := &box{title: h.title, centred: true, kind: lane, rect: rect{h.x, y, h.w, 0}}
		b.say(h.lines...)
		heads = append(heads, b)
		high = max(high, b.height())
	}
	for i, b := range heads {
		b.h = high
		b.paint(s)
		l.heads[i].rect = b.rect
	}
	return y + high
}

// paintPhase paints a band with its title and the rows of it.
func (l *lanes) paintPhase(s *scene, p *phase, y int) int {
	left, right := l.heads[0].x-10, l.heads[len(l.heads)-1].right()+10
	band := rect{left, y + 12, right - left, 0}
	// The title stands on the lanes' lines; its ground hides them.
	title := rect{left + 1, band.y + 7, panelFace.width(p.title) + 2*boxPadX, panelFace.line}
	s.labels = append(s.labels, shape{title, "under"})
	y = s.write(panelFace, title, title.y+1, false, []string{p.title}) + rowSpace/2
	for _, m := range p.rows {
		y = l.paintMoment(s, m, y+rowSpace)
	}
	band.h = y + rowSpace + 2 - band.y
	s.panels = append(s.panels, shape{band, ""})
	return band.bottom()
}

// paintMoment paints a row and lets clocks start and end in its middle.
func (l *lanes) paintMoment(s *scene, m *moment, y int) int {
	bottom := y
	if m.message != nil {
		bottom = l.paintMessage(s, m.message, y)
	}
	for _, e := range m.boxes {
		e.x = l.heads[e.first].x
		e.w = l.heads[e.last].right() - e.x
		bottom = max(bottom, y+e.height())
	}
	for _, e := range m.boxes {
		e.y, e.h = y, bottom-y
		e.paint(s)
	}
	// The letters of clocks that change in one row stand in columns of their own.
	for _, c := range m.starts {
		c.from = (y + bottom) / 2
	}
	for _, c := range m.ends {
		c.to = (y + bottom) / 2
	}
	return max(bottom, y+clockSize)
}

// paintMessage paints an arrow with its words in the middle.
func (l *lanes) paintMessage(s *scene, m *message, y int) int {
	from, to := l.heads[m.from].center().x, l.heads[m.to].center().x
	far := abs(to-from) - 2*headRoom - 12
	lines := labelFace.wrap(m.words, min(far, 400))
	size := rect{h: len(lines)*labelFace.line + labelPad}
	for _, words := range lines {
		size.w = max(size.w, labelFace.width(words)+2*labelPad)
	}
	size.x, size.y = (from+to)/2-size.w/2, y
	at := size.center().y
	kind := ""
	if m.dashed {
		kind = dashed
	}
	s.lines = append(s.lines, line{points: []point{{from, at}, {to, at}}, kind: kind})
	s.labels = append(s.labels, shape{size, ""})
	s.write(labelFace, size, y+labelPad/2-1, true, lines)
	return y + size.h
}
