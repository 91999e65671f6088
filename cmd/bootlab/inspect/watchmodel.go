package inspect

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"bootlab/cmd/bootlab/cli"
	"bootlab/labs"
	"bootlab/labs/inspect/diagnose"
	"bootlab/labs/inspect/watch"
)

// watchModel is the state of the screen, in bubbletea's form.
type watchModel struct {
	ctx      context.Context
	watch    *watch.Watch
	scene    *watch.Scene
	interval time.Duration
	now      func() time.Time
	diagnose func(context.Context) []string
	looks    *underWay

	snapshot *watch.Status
	screen   screen
	// asked: diagnose is running.
	asked bool
}

// underWay counts what looks at machines just now, so that none is left behind
// when the screen is closed.
type underWay struct {
	mu     sync.Mutex
	closed bool
	wait   sync.WaitGroup
}

// begin says whether to look still; then end must follow.
func (u *underWay) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.wait.Add(1)
	}
	return !u.closed
}

func (u *underWay) end() { u.wait.Done() }

// close lets nothing begin any more, and waits for what is under way.
func (u *underWay) close() {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	u.wait.Wait()
}

// keptChanges is how many changes are kept for the screen.
const keptChanges = 200

type (
	sightMsg struct {
		eye   *watch.Eye
		sight *watch.Sight
	}
	lookMsg  struct{ eye *watch.Eye }
	clockMsg struct{}
	causeMsg []string
)

func newWatchModel(ctx context.Context, watch *watch.Watch, interval time.Duration, p *paint) *watchModel {
	m := &watchModel{ctx: ctx, watch: watch, scene: watch.Scene(), interval: interval, looks: &underWay{},
		now: func() time.Time { return time.Now().UTC() }}
	m.snapshot = m.scene.Status(time.Time{})
	m.screen = screen{paint: p, follow: true}
	return m
}

func (m *watchModel) Init() tea.Cmd {
	all := []tea.Cmd{clock()}
	for _, eye := range m.watch.Eyes() {
		all = append(all, m.look(eye))
	}
	return tea.Batch(all...)
}

// clock keeps the time and what is counted from it right.
func clock() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return clockMsg{} }) }

// look looks, beside all else.
func (m *watchModel) look(eye *watch.Eye) tea.Cmd {
	return func() tea.Msg {
		if !m.looks.begin() {
			return nil
		}
		defer m.looks.end()
		return sightMsg{eye, eye.Look(m.ctx)}
	}
}

func (m *watchModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.screen.width, m.screen.height = msg.Width, msg.Height
	case clockMsg:
		m.refresh()
		return m, clock()
	case sightMsg:
		m.scene.Add(msg.sight)
		m.refresh()
		return m, tea.Tick(msg.eye.Pause(msg.sight, m.interval), func(time.Time) tea.Msg { return lookMsg{msg.eye} })
	case lookMsg:
		return m, m.look(msg.eye)
	case causeMsg:
		m.asked, m.screen.cause = false, msg
	case tea.KeyMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

// refresh puts what is known now beside what was.
func (m *watchModel) refresh() {
	now := m.scene.Status(m.now())
	for _, change := range watch.Changes(m.snapshot, now) {
		// How it stood in the beginning is on the screen.
		if !change.First {
			m.screen.changes = append(m.screen.changes, change)
		}
	}
	if over := len(m.screen.changes) - keptChanges; over > 0 {
		m.screen.changes = append(m.screen.changes[:0], m.screen.changes[over:]...)
	}
	m.snapshot = now
}

func (m *watchModel) key(name string) tea.Cmd {
	page := max(m.screen.height-4, 1)
	switch name {
	case "q", "ctrl+c":
		return tea.Quit
	case "?", "h":
		m.screen.help = !m.screen.help
	case "esc":
		m.screen.help, m.screen.cause = false, nil
	case "d":
		return m.askWhy()
	case "up", "k":
		m.scroll(-1)
	case "down", "j":
		m.scroll(1)
	case "pgup":
		m.scroll(-page)
	case "pgdown", " ":
		m.scroll(page)
	case "home", "g":
		m.scroll(-1 << 20)
	case "end", "G":
		m.scroll(1 << 20)
	case "f":
		m.screen.follow = true
	}
	return nil
}

// scroll moves what is seen, and stops following the running stage.
func (m *watchModel) scroll(lines int) {
	body, height := m.screen.body(m.snapshot)
	top := m.screen.top(body, height)
	m.screen.offset = min(max(top+lines, 0), max(len(body.lines)-height, 0))
	m.screen.follow = false
}

func (m *watchModel) View() string { return watchView(m.snapshot, &m.screen) }

// askWhy has diagnose look, once at a time.
func (m *watchModel) askWhy() tea.Cmd {
	if m.asked || m.diagnose == nil {
		return nil
	}
	m.asked, m.screen.cause = true, []string{"diagnose looks ..."}
	return func() tea.Msg {
		if !m.looks.begin() {
			return nil
		}
		defer m.looks.end()
		return causeMsg(m.diagnose(m.ctx))
	}
}

// causeLines is what diagnose says, in a few lines.
func causeLines(ctx context.Context, io cli.Streams, plan *labs.Plan, place *cli.Where) []string {
	report, err := judged(ctx, io, plan, place, "")
	if err != nil {
		return []string{"diagnose: " + watch.Clean(err.Error())}
	}
	var lines []string
	add := func(label, text string) {
		for line := range strings.Lines(strings.TrimSpace(text)) {
			lines = append(lines, label+watch.Clean(strings.TrimRight(line, "\n")))
			label = strings.Repeat(" ", len(label))
		}
	}
	for i := range report.Warnings {
		add("warning: ", report.Warnings[i].Title)
	}
	switch {
	case report.Cause != nil:
		add("cause: ", report.Cause.Title)
		add("  ", report.Cause.Cause)
		add("see it: ", report.Cause.Command)
		add("fix it: ", report.Cause.Fix)
	case report.Layer != "":
		add(fmt.Sprintf("at %s: ", report.Layer), strings.TrimSuffix(report.Verdict.Words(), ":"))
	default:
		add("diagnose: ", diagnose.Healthy.Words())
	}
	return lines
}
