// Package record reads the progress records that the services of a bootstrap
// node keep, in the installer's format, and what follows from them: how often a
// service ran, how its stages ended, how long they took.
//
// Source of the format: openshift/installer
// data/data/bootstrap/files/usr/local/bin/bootstrap-service-record.sh and
// pkg/gather/service, 4.14 to main.
package record

import "time"

// Dir is where services keep their records, below the root of a node.
const Dir = "/var/log/openshift"

// The phases of an entry.
const (
	ServiceStart     = "service start"
	ServiceEnd       = "service end"
	StageStart       = "stage start"
	StageEnd         = "stage end"
	PreCommandStart  = "pre-command start"
	PreCommandEnd    = "pre-command end"
	PostCommandStart = "post-command start"
	PostCommandEnd   = "post-command end"
)

// The results of a phase that ends.
const (
	Success = "success"
	Failure = "failure"
)

// Entry is one object of a record. Keys that are empty are left out there.
type Entry struct {
	Timestamp    string `json:"timestamp"`
	PreCommand   string `json:"preCommand,omitempty"`
	PostCommand  string `json:"postCommand,omitempty"`
	Stage        string `json:"stage,omitempty"`
	Phase        string `json:"phase"`
	Result       string `json:"result,omitempty"`
	ErrorLine    string `json:"errorLine,omitempty"`    // as bash's caller: LINE FUNCTION FILE
	ErrorMessage string `json:"errorMessage,omitempty"` // the service's last lines in the journal
}

// Time is the entry's time to the second; zero if it is none. The installer
// writes the local time and puts a Z behind it; on CoreOS both are the same.
func (e *Entry) Time() time.Time {
	t, err := time.Parse("2006-01-02T15:04:05Z", e.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// known says whether it is an entry at all.
func (e *Entry) known() bool {
	switch e.Phase {
	case ServiceStart, ServiceEnd, PreCommandStart, PreCommandEnd, PostCommandStart, PostCommandEnd:
		return true
	case StageStart, StageEnd:
		return e.Stage != ""
	}
	return false
}

// span is the kind and the name of what the entry begins or ends.
func (e *Entry) span() (kind Kind, name string, starts bool) {
	switch e.Phase {
	case StageStart, StageEnd:
		return Stage, e.Stage, e.Phase == StageStart
	case PreCommandStart, PreCommandEnd:
		return PreCommand, e.PreCommand, e.Phase == PreCommandStart
	case PostCommandStart, PostCommandEnd:
		return PostCommand, e.PostCommand, e.Phase == PostCommandStart
	}
	return Run, "", e.Phase == ServiceStart
}
