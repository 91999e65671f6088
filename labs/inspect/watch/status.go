package watch

import (
	"strings"
	"time"

	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/host"
)

// Status is what is known of a lab at one moment. It is data alone: what it
// was read from is gone, and two of them can be compared (see [Changes]).
type Status struct {
	At       time.Time
	Lab      string
	Release  string
	Topology string
	Local    bool
	// Phase is how far the bootstrap is, in words.
	Phase string
	// Waiting is what the running stage waits for; empty if none is running.
	Waiting Waiting
	// Rows are the parts of the cluster, from the ground upwards. A local run has
	// none.
	Rows []Row
	// Stages are those of the place, in the order of the plan; what stands in the
	// records beside them comes last.
	Stages []Stage
	// Log is the last line of the log of the running stage.
	Log LogLine
	// Ends is when the next certificate ends, and which; zero if none was read.
	Ends Ending
}

// Waiting is what goes on, since when, and how long that usually takes.
type Waiting struct {
	For   string
	Since time.Time
	Usual time.Duration // zero if not known
}

// LogLine is a line of a stage's log.
type LogLine struct{ Stage, Line string }

// Ending is the end of a certificate, or of several that end together.
type Ending struct {
	At    time.Time
	Level host.Level
	What  string
}

// Row is one part of the cluster: its machines, its static pods, its operators.
type Row struct {
	ID, Title string
	Facts     []Fact
	// Seen is when the facts were seen. What could not be had later keeps the old
	// ones, and Problem says why; of what was never seen Seen is zero.
	Seen    time.Time
	Problem string
}

// Fact is how one thing stands.
type Fact struct {
	Name  string // of a machine, a unit, an operator; empty for the row as a whole
	Value string
	Mood  Mood
	Since time.Time // zero where it is not known or of no interest
	// Counted: it stands in the sum of the row, and needs no words of its own.
	Counted bool
}

// Mood is what a fact means for the bootstrap.
type Mood int

// The moods.
const (
	Plain   Mood = iota // neither good nor bad, or not its turn yet
	Good                // as it should be in the end
	Working             // on its way
	Bad                 // in the way
)

// Stage is how a stage stands.
type Stage struct {
	// Name is the stage's id; for what only the records know, its name there.
	Name string
	// State is one of the states below.
	State   StageState
	Attempt int // 0 if it never began
	// Start and End are zero where there is none.
	Start, End time.Time
	Usual      time.Duration // zero if not known
	Error      string        // why it failed
	Parallel   bool          // it runs in a second terminal
}

// StageState is how a stage stands.
type StageState string

// The states of a stage.
const (
	NotBegun    StageState = "not begun"
	Runs        StageState = "runs"
	Done        StageState = "done"
	Failed      StageState = "failed"
	CutOff      StageState = "was cut off" // began, and nothing is running
	Invalidated StageState = "do it again" // ended well, and its marker is gone
)

// Row is the row of that id; nil if there is none.
func (s *Status) Row(id string) *Row {
	for i := range s.Rows {
		if s.Rows[i].ID == id {
			return &s.Rows[i]
		}
	}
	return nil
}

// current is the stage that runs, else the last one that began; nil if none did.
func (s *Status) current() *Stage {
	var last *Stage
	for i := range s.Stages {
		stage := &s.Stages[i]
		switch {
		case stage.State == Runs && !stage.Parallel:
			return stage
		case stage.Parallel || stage.Start.IsZero():
		case last == nil || !stage.Start.Before(last.Start):
			last = stage
		}
	}
	return last
}

// longest is where a text that a machine gave is cut.
const longest = 300

// Clean makes one line, harmless for a terminal, of a text that a machine gave.
func Clean(text string) string {
	text = strings.ReplaceAll(check.Plain(text), "\n", " ")
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return text
}
