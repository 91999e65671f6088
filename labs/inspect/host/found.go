package host

import (
	"time"

	"bootlab/labs"
)

// Found is one piece of evidence from one machine, live or out of a bundle.
type Found struct {
	Evidence *labs.Evidence
	// Node is the machine's name for evidence that is on every master, else
	// empty.
	Node string
	// Had: it could be asked for. Else Problem says why not, and nothing follows
	// from it.
	Had     bool
	Problem string
	Text    []byte
	// Status and Complaint are what the line ended with and printed as errors.
	Status    int
	Complaint string
	Cut       bool // the beginning is missing
	At        time.Time
	Took      time.Duration
}
