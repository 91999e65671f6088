package site

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
