package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/watch"
)

// screen is how the snapshot is shown.
type screen struct {
	width, height int
	// offset is the first line of the body that is seen, unless follow keeps the
	// running stage in sight.
	offset  int
	follow  bool
	help    bool
	changes []watch.Change
	cause   []string // what diagnose said
	paint   *paint
}

// paint is how moods and parts look. Without colours all are plain.
type paint struct {
	moods             [4]lipgloss.Style
	title, label, dim lipgloss.Style
}

func newPaint(r *lipgloss.Renderer) *paint {
	colour := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	return &paint{title: r.NewStyle().Bold(true), label: colour("6"), dim: r.NewStyle().Faint(true),
		moods: [4]lipgloss.Style{watch.Plain: r.NewStyle(), watch.Good: colour("2"), watch.Working: colour("3"), watch.Bad: colour("1")}}
}

// The smallest screen on which anything can be told, and the width from which
// there are two columns.
const (
	leastWidth, leastHeight = 24, 6
	twoColumns              = 130
)

const watchKeys = "q leave  d diagnose  ? help  arrows scroll  f follow"

var helpLines = []string{
	"q, Ctrl-C     leave; nothing stops but the looking",
	"d             say why it hangs, as bootlab diagnose does; Esc takes it away",
	"arrows, PgUp, PgDn, Home, End   scroll",
	"f             follow the running stage again",
	"?             this text, and back",
	"",
	"green: as it should be in the end; yellow: on its way; red: in the way.",
	"(seen 12s ago) stands behind what could not be seen since.",
}

// watchView draws a snapshot. It depends on nothing else, and no line is wider, nor
// are there more of them, than the screen allows.
func watchView(s *watch.Status, c *screen) string {
	if c.width < leastWidth || c.height < leastHeight {
		return ansi.Truncate(fmt.Sprintf("%dx%d is needed", leastWidth, leastHeight), max(c.width, 0), "")
	}
	body, height := c.body(s)
	top := c.top(body, height)
	lines := c.head(s)
	for i := range height {
		line := ""
		if top+i < len(body.lines) {
			line = body.lines[top+i]
		}
		lines = append(lines, line)
	}
	lines = append(lines, c.foot(s, top, height, len(body.lines))...)
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, c.width, "~")
	}
	return strings.Join(lines, "\n")
}

// top is the first line of the body to show.
func (c *screen) top(body screenText, height int) int {
	last := max(len(body.lines)-height, 0)
	if c.follow && !c.help {
		return min(max(body.focus-height/2, 0), last)
	}
	return min(c.offset, last)
}

// screenText is lines, one of which is the one to look at.
type screenText struct {
	lines []string
	focus int
}

// body is what stands between head and foot, and how many lines there are for it.
func (c *screen) body(s *watch.Status) (screenText, int) {
	height := c.height - len(c.head(s)) - len(c.foot(s, 0, 0, 0))
	switch {
	case c.help:
		return screenText{lines: helpLines}, height
	case c.width < twoColumns:
		left := c.rows(s, c.width)
		if s.Local {
			left = c.stages(s, c.width)
		}
		if ends := c.endingLine(s, c.width); s.Local && ends != nil {
			left.lines = append(append(left.lines, ""), ends...)
		}
		if changes := c.changeLines(c.width); len(changes) > 0 {
			left.lines = append(append(left.lines, ""), changes...)
		}
		return left, height
	}
	return c.columns(s), height
}

// columns puts the cluster or the stages to the left, and to the right what else
// there is.
func (c *screen) columns(s *watch.Status) screenText {
	width := c.width * 11 / 20
	rest := c.width - width - 3
	left, right := c.stages(s, width), screenText{}
	if !s.Local {
		left, right = c.rows(s, width), c.stages(s, rest)
	}
	if ends := c.endingLine(s, rest); s.Local && ends != nil {
		right.lines = append(right.lines, ends...)
	}
	if changes := c.changeLines(rest); len(changes) > 0 {
		if len(right.lines) > 0 {
			right.lines = append(right.lines, "")
		}
		right.lines = append(right.lines, changes...)
	}
	out := screenText{focus: max(left.focus, right.focus)}
	for i := range max(len(left.lines), len(right.lines)) {
		a, b := "", ""
		if i < len(left.lines) {
			a = left.lines[i]
		}
		if i < len(right.lines) {
			b = right.lines[i]
		}
		out.lines = append(out.lines, inCells(a, width)+" | "+b)
	}
	return out
}

// head is the lab, the time, the phase, and what goes on.
func (c *screen) head(s *watch.Status) []string {
	kind := s.Topology
	if s.Local {
		kind = "local run"
	}
	left := c.paint.title.Render(s.Lab) + "  " + s.Release + "  " + kind
	right := ""
	if !s.At.IsZero() {
		right = s.At.UTC().Format("15:04:05") + " UTC"
	}
	lines := []string{inCells(left, c.width-len(right)-1) + " " + right}
	phase := s.Phase
	if phase == "" {
		phase = "looking ..."
	}
	lines = append(lines, c.paint.title.Render(phase))
	if w := s.Waiting; w.For != "" {
		line := "for " + ago(s.At, w.Since)
		if w.Usual > 0 {
			line += " (usually " + brief(w.Usual) + ")"
		}
		lines = append(lines, line+": "+w.For)
	}
	if c.low() {
		return lines[:2]
	}
	return append(lines, c.rule())
}

// low says that there is room for little beside the body.
func (c *screen) low() bool { return c.height < 12 }

func (c *screen) rule() string { return c.paint.dim.Render(strings.Repeat("-", c.width)) }

// foot is what diagnose said, the last line of the log, and the keys.
func (c *screen) foot(s *watch.Status, top, height, all int) []string {
	var lines []string
	if !c.low() {
		lines = append(lines, c.rule())
	}
	if len(c.cause) > 0 {
		lines = append(lines, c.causeLines()...)
		if !c.low() {
			lines = append(lines, c.rule())
		}
	}
	if s.Log.Line != "" && !c.low() {
		log := s.Log.Line
		if s.Log.Stage != "" {
			log = c.paint.label.Render(s.Log.Stage+":") + " " + log
		}
		lines = append(lines, log)
	}
	where := ""
	if all > height && height > 0 {
		where = fmt.Sprintf("%d-%d of %d  ", top+1, min(top+height, all), all)
	}
	help := watchKeys
	if c.width < 70 {
		help = "q leave  d diagnose  ? help"
	}
	return append(lines, c.paint.dim.Render(where+help))
}

// causeLines are the first of what diagnose said.
func (c *screen) causeLines() []string {
	var lines []string
	for _, line := range c.cause {
		lines = append(lines, strings.Split(ansi.Wrap(line, c.width, ""), "\n")...)
	}
	if most := max(c.height/3, 2); len(lines) > most {
		lines = append(lines[:most-1:most-1], c.paint.dim.Render("bootlab diagnose says more"))
	}
	return lines
}

// labelWidth is that of the longest title of a row, and a space.
const labelWidth = 13

// rows are the parts of the cluster.
func (c *screen) rows(s *watch.Status, width int) screenText {
	var out screenText
	for i := range s.Rows {
		out.lines = append(out.lines, c.row(s, &s.Rows[i], width)...)
	}
	out.lines = append(out.lines, c.endingLine(s, width)...)
	if width == c.width && len(s.Stages) > 0 {
		out.lines = append(out.lines, c.labelled("stages", c.stageWords(s), width)...)
	}
	return out
}

func (c *screen) endingLine(s *watch.Status, width int) []string {
	if s.Ends.At.IsZero() {
		return nil
	}
	return c.labelled("certificates", []string{c.ending(s)}, width)
}

// ending is when the next certificate ends.
func (c *screen) ending(s *watch.Status) string {
	paint, left := c.paint.moods[s.Ends.Mood()], s.Ends.At.Sub(s.At)
	switch {
	case s.Ends.Level == host.NotYet:
		return paint.Render(s.Ends.String())
	case left <= 0:
		return paint.Render("ended " + brief(-left) + " ago: " + s.Ends.What)
	}
	return paint.Render("next end in "+brief(left)) + ": " + s.Ends.What
}

// mostLines is how many lines one row may take.
const mostLines = 4

func (c *screen) row(s *watch.Status, row *watch.Row, width int) []string {
	var words []string
	for _, f := range row.Facts {
		if f.Counted {
			continue
		}
		word := c.paint.moods[f.Mood].Render(f.Value)
		if f.Name != "" {
			word = f.Name + " " + word
		}
		if !f.Since.IsZero() {
			word += " for " + ago(s.At, f.Since)
		}
		words = append(words, word)
	}
	switch {
	case row.Seen.IsZero() && row.Problem != "":
		words = append(words, c.paint.dim.Render("not seen yet: "+row.Problem))
	case row.Problem != "":
		words = append(words, c.paint.dim.Render("(seen "+ago(s.At, row.Seen)+" ago: "+row.Problem+")"))
	}
	return c.labelled(row.Title, words, width)
}

// labelled lets words flow behind a label, never broken but where one alone is
// too wide.
func (c *screen) labelled(label string, words []string, width int) []string {
	room := max(width-labelWidth, 8)
	lines := []string{""}
	for i, word := range words {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case ansi.StringWidth(*last)+3+ansi.StringWidth(word) <= room:
			*last += " | " + word
		case len(lines) == mostLines:
			*last = ansi.Truncate(*last, room-14, "~") + fmt.Sprintf(" | %d more", len(words)-i)
			return c.withLabel(label, lines, room)
		default:
			lines = append(lines, word)
		}
	}
	return c.withLabel(label, lines, room)
}

func (c *screen) withLabel(label string, lines []string, room int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = inCells(c.paint.label.Render(label), labelWidth) + ansi.Truncate(line, room, "~")
		label = ""
	}
	return out
}

// stageWords are the stages in a few words, where there is no room for a table.
func (c *screen) stageWords(s *watch.Status) []string {
	done := 0
	var words []string
	for i := range s.Stages {
		stage := &s.Stages[i]
		switch stage.State {
		case watch.Done:
			done++
		case watch.NotBegun:
		default:
			words = append(words, stage.Name+" "+c.paint.moods[stage.State.Mood()].Render(string(stage.State)))
		}
	}
	return append([]string{fmt.Sprintf("%d of %d done", done, len(s.Stages))}, words...)
}

// stages is the table of them. Where there is no room, the last columns go first.
func (c *screen) stages(s *watch.Status, width int) screenText {
	var out screenText
	name := 6
	for i := range s.Stages {
		name = max(name, ansi.StringWidth(s.Stages[i].Name))
	}
	widths := []int{min(name, max(width-14, 10)) + 2, 13, 9, 9}
	row := func(cells ...string) string {
		line, used := "", 0
		for i, cell := range cells {
			if i < len(widths) {
				cell = inCells(cell, widths[i])
			}
			// State, took and usually are whole or not at all.
			if i > 1 && i < len(widths) && used+widths[i] > width {
				break
			}
			line, used = line+cell, used+ansi.StringWidth(cell)
		}
		return ansi.Truncate(strings.TrimRight(line, " "), width, "~")
	}
	out.lines = append(out.lines, c.paint.label.Render(row("stage", "state", "took", "usually")))
	for i := range s.Stages {
		stage := &s.Stages[i]
		label := ansi.Truncate(stage.Name, widths[0]-1, "~")
		if stage.State == watch.NotBegun {
			label = c.paint.dim.Render(label)
		} else {
			out.focus = len(out.lines)
		}
		out.lines = append(out.lines, row(append([]string{label, c.paint.moods[stage.State.Mood()].Render(string(stage.State))}, stageTimes(s, stage)...)...))
	}
	return out
}

// stageTimes are how long a stage took, how long it usually does, and what else
// is to be said of it.
func stageTimes(s *watch.Status, stage *watch.Stage) []string {
	took, usual, said := "", "", stage.Error
	if d, known := stage.Took(); known {
		took = brief(d)
	} else if stage.State == watch.Runs {
		took = ago(s.At, stage.Start)
	}
	if stage.Usual > 0 {
		usual = brief(stage.Usual)
	}
	if stage.Attempt > 1 {
		said = strings.TrimSpace(fmt.Sprintf("attempt %d  %s", stage.Attempt, said))
	}
	return []string{took, usual, said}
}

// changeLines are the changes, the newest first.
func (c *screen) changeLines(width int) []string {
	if len(c.changes) == 0 {
		return nil
	}
	lines := []string{c.paint.label.Render("changes")}
	for i := len(c.changes) - 1; i >= 0; i-- {
		change := &c.changes[i]
		line := change.At.UTC().Format("15:04:05") + " " + change.Where + ": " + c.paint.moods[change.Mood].Render(change.Text)
		lines = append(lines, ansi.Truncate(line, width, "~"))
	}
	return lines
}

// inCells fills up to a width, as cells of a terminal count.
func inCells(s string, width int) string {
	if over := width - ansi.StringWidth(s); over > 0 {
		return s + strings.Repeat(" ", over)
	}
	return ansi.Truncate(s, max(width, 0), "~")
}

// ago is how long ago something was, never less than nothing.
func ago(now, then time.Time) string { return brief(max(now.Sub(then), 0)) }

// brief is a duration in its two largest units.
func brief(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
