package diagram

import (
	"fmt"
	"slices"
)

// Run is what happened in a bootstrap, as bars over time: one below the other,
// in the order in which they are given.
type Run struct {
	Title string
	Bars  []Bar
}

// Bar is one attempt at a stage.
type Bar struct {
	Name string
	// From and To are seconds since the run began; equal where it is not known
	// how long it was.
	From, To int
	State    BarState
	// Words stand behind the bar: how it ended and how long it was. They say all
	// that its colour says.
	Words string
}

// BarState is how an attempt stands.
type BarState string

// The states of a bar, which are kinds of boxes.
const (
	BarGood BarState = master
	BarBad  BarState = trouble
	BarOpen BarState = bootstrap // running
	BarCut  BarState = faint     // it has no end
)

const (
	barNames  = 280 // width of the names
	barWords  = 196 // width of the words behind the longest bar
	barStep   = 24  // from one bar to the next
	barHigh   = 14
	barLeast  = 3  // width of the shortest bar
	barPause  = 22 // width of a pause that is shortened
	tickApart = 76
	// mostBars bounds the picture: records come from elsewhere too.
	mostBars = 400
)

// DrawRuns draws runs below one another, each over a time of its own. Long
// pauses, while a person reads, are shortened.
func DrawRuns(title string, runs ...Run) Picture {
	c := &caption{name: "run", title: clean(title), description: tellRuns(runs)}
	s := &scene{w: maxWidth}
	y := margin
	for _, r := range runs {
		y = r.paint(s, y) + margin
	}
	s.h = y
	return Picture{Name: c.name, Title: c.title, Description: c.description, SVG: s.svg(c)}
}

func tellRuns(runs []Run) string {
	text := "Bars over time, one for each attempt at a stage, from top to bottom in the order in which they began."
	for _, r := range runs {
		states := map[BarState]int{}
		for _, b := range r.Bars {
			states[b.State]++
		}
		text += fmt.Sprintf(" %s: %d attempts, of which %d went well, %d failed, %d are running and %d have no end.",
			r.Title, len(r.Bars), states[BarGood], states[BarBad], states[BarOpen], states[BarCut])
	}
	return clean(text)
}

// paint paints a panel with the bars of a run, and returns the y below it.
func (r Run) paint(s *scene, y int) int {
	ground := rect{rim, y, maxWidth - 2*rim, 0}
	inner := rect{ground.x + panelPad, y + 8, ground.w - 2*panelPad, 0}
	y = r.paintHead(s, inner)
	axis := newAxis(r.Bars, inner.x+barNames, inner.w-barNames-barWords)
	y = axis.paintTicks(s, y)
	top := y
	bars := r.Bars[:min(len(r.Bars), mostBars)]
	for _, b := range bars {
		y = b.paint(s, axis, rect{inner.x, y, inner.w, 0})
	}
	for _, x := range axis.pauses {
		s.rules = append(s.rules, line{points: []point{{x, top}, {x, y}}, kind: dashed, bare: true})
	}
	if more := len(r.Bars) - len(bars); more > 0 {
		in := rect{inner.x - boxPadX, y, inner.w, bodyFace.line + 4}
		y = s.write(bodyFace, in, y, false, []string{fmt.Sprintf("and %d more", more)})
	}
	ground.h = y + panelPad - ground.y
	s.panels = append(s.panels, shape{ground, plain})
	return ground.bottom()
}

func (r Run) paintHead(s *scene, in rect) int {
	in.x, in.w = in.x-boxPadX, in.w+2*boxPadX
	lines := panelFace.wrap(clean(r.Title), in.w-2*boxPadX)
	in.h = len(lines)*panelFace.line + 4
	y := s.write(panelFace, in, in.y, false, lines)
	if len(r.Bars) > 0 && len(newAxis(r.Bars, 0, 100).pauses) > 0 {
		in.y, in.h = y, labelFace.line+4
		y = s.write(labelFace, in, y, false, []string{"An upright dashed line is a pause between stages, shortened."})
	}
	return y + 4
}

// paint paints a row and returns the y below it.
func (b Bar) paint(s *scene, axis *axis, row rect) int {
	lines := codeFace.wrap(clean(b.Name), barNames-boxPadX)
	row.h = max(barStep, len(lines)*codeFace.line+4)
	name := rect{row.x - boxPadX, row.y, barNames + boxPadX, row.h}
	s.write(codeFace, name, row.y+1, false, lines)
	from, to := axis.x(b.From), axis.x(max(b.To, b.From))
	bar := rect{from, row.y + (barStep-barHigh)/2, max(to-from, barLeast), barHigh}
	s.shapes = append(s.shapes, shape{bar, string(b.State)})
	words := rect{bar.right() - boxPadX + 5, row.y, row.right() - bar.right() + boxPadX, row.h}
	if said := labelFace.wrap(clean(b.Words), words.w-boxPadX-5); len(said) > 0 {
		s.write(labelFace, words, row.y+2, false, said[:1])
	}
	return row.bottom()
}

// An axis turns seconds into pixels. Time in which no bar is, when it is long, is
// shortened.
type axis struct {
	left, width int
	busy        []stretch
	sum         int // seconds that are not shortened
	pause       int // pixels of a pause
	pauses      []int
}

// A stretch of time without a long pause, in seconds.
type stretch struct{ from, to int }

func newAxis(bars []Bar, left, width int) *axis {
	a := &axis{left: left, width: width, busy: stretches(bars)}
	for _, b := range a.busy {
		a.sum += b.to - b.from
	}
	if n := len(a.busy) - 1; n > 0 {
		a.pause = min(barPause, width/2/n)
	}
	for _, b := range a.busy[min(1, len(a.busy)):] {
		a.pauses = append(a.pauses, a.x(b.from)-a.pause/2)
	}
	return a
}

// stretches joins bars that lie close to one another.
func stretches(bars []Bar) []stretch {
	var all []stretch
	busy := 0
	for _, b := range bars {
		all = append(all, stretch{b.From, max(b.To, b.From)})
		busy += max(b.To-b.From, 0)
	}
	slices.SortFunc(all, func(a, b stretch) int { return a.from - b.from })
	long := max(30, busy/10)
	var joined []stretch
	for _, s := range all {
		if n := len(joined); n > 0 && s.from-joined[n-1].to <= long {
			joined[n-1].to = max(joined[n-1].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// x is where a second is.
func (a *axis) x(second int) int {
	room := a.width - a.pause*max(len(a.busy)-1, 0)
	before, at := 0, a.left
	for i, b := range a.busy {
		if i > 0 {
			at += a.pause
		}
		if second <= b.to {
			return at + scaled(before+max(second-b.from, 0), room, a.sum) - scaled(before, room, a.sum)
		}
		at += scaled(before+b.to-b.from, room, a.sum) - scaled(before, room, a.sum)
		before += b.to - b.from
	}
	return at
}

func scaled(n, room, sum int) int {
	if sum == 0 {
		return 0
	}
	return int(int64(n) * int64(room) / int64(sum))
}

// steps between ticks, in seconds.
var steps = []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 4 * 3600, 8 * 3600, 24 * 3600}

// paintTicks writes the time above the bars.
func (a *axis) paintTicks(s *scene, y int) int {
	step := steps[len(steps)-1]
	for _, candidate := range steps {
		if scaled(candidate, a.width, max(a.sum, 1)) >= tickApart {
			step = candidate
			break
		}
	}
	free := a.left
	for _, b := range a.busy {
		second := b.from
		for drawn := 0; second <= b.to && drawn < a.width/tickApart+1; drawn++ {
			words := Clock(second)
			if x, w := a.x(second), labelFace.width(words); x >= free {
				in := rect{x - boxPadX, y, w + 2*boxPadX, labelFace.line + 4}
				s.write(labelFace, in, y, false, []string{words})
				s.rules = append(s.rules, line{points: []point{{x, y + labelFace.line + 1}, {x, y + labelFace.line + 5}}, bare: true})
				free = x + w + 12
			}
			second = (second/step + 1) * step
		}
	}
	return y + labelFace.line + 6
}

// Clock writes seconds as h:mm:ss, without hours where there are none.
func Clock(seconds int) string {
	text := fmt.Sprintf("%d:%02d", seconds/60%60, seconds%60)
	if hours := seconds / 3600; hours > 0 {
		text = fmt.Sprintf("%d:%02d:%02d", hours, seconds/60%60, seconds%60)
	}
	return text
}
