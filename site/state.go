package site

import "strconv"

// State is how far a lab is with a stage.
type State string

// The states of a stage.
const (
	Done     State = "done"
	Running  State = "running"
	Failed   State = "failed"
	NotBegun State = "not begun"
)

// Icon stands before the word; it never says more than the word does.
func (s State) Icon() string {
	return map[State]string{Done: "✓", Running: "▸", Failed: "✗", NotBegun: "○"}[s]
}

// class names the state for the style sheet and for the texts.
func (s State) class() string {
	if s == NotBegun {
		return "not-begun"
	}
	return string(s)
}

// shownState is a state as a page shows it.
type shownState struct {
	Icon  string `json:"icon"`
	Text  string `json:"text"`
	Class string `json:"class"`
}

func (w words) state(s State) shownState {
	return shownState{s.Icon(), w.say("state-" + s.class()), s.class()}
}

// Shown is a state in the language of the page.
func (d document) Shown(s State) shownState { return d.words.state(s) }

// Here is where a lab stands: how many of its stages are done, and the page that
// a learner opens next.
type Here struct {
	Text string `json:"text"`
	Go   string `json:"go"`
	Page *page  `json:"-"`
}

// here is nil where no stage of the lab has a state.
func (s *Site) here(states map[string]State) *Here {
	all, done := 0, 0
	first := map[State]*page{}
	var last *page // the last one that is done
	for _, p := range s.pages {
		state, known := states[p.ID]
		if !known {
			continue
		}
		all++
		if state == Done {
			done++
			last = p
		}
		if first[state] == nil {
			first[state] = p
		}
	}
	if all == 0 {
		return nil
	}
	h := &Here{}
	switch {
	case done == all:
		h.Text = s.words.say("here-all", strconv.Itoa(all))
		return h
	case done == 0 && first[Running] == nil && first[Failed] == nil:
		h.Text = s.words.say("here-none")
	default:
		h.Text = s.words.say("here-some", strconv.Itoa(done), strconv.Itoa(all))
	}
	h.Page, h.Go = s.goOn(first, last)
	return h
}

// goOn is the page to open next, and what its button says: the stage that
// failed, the one that is running, or the first one that did not begin.
func (s *Site) goOn(first map[State]*page, last *page) (*page, string) {
	switch {
	case first[Failed] != nil:
		return first[Failed], s.words.say("go-failed", first[Failed].Label())
	case first[Running] != nil:
		return first[Running], s.words.say("go-running", first[Running].Label())
	case last == nil:
		return first[NotBegun], s.words.say("go-begin", first[NotBegun].Label())
	}
	return first[NotBegun], s.words.say("go-next", first[NotBegun].Label())
}
