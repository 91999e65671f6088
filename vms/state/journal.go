package state

import (
	"encoding/json"
	"os"
	"time"
)

// journalFile holds a line for each thing that was begun or ended: whoever comes
// after a power cut reads there what was going on.
const journalFile = "journal.jsonl"

// journalLine is one line of it.
type journalLine struct {
	Time   string `json:"time"` // RFC 3339, UTC
	Do     string `json:"do"`   // make or remove
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Result string `json:"result"` // begun, done, or an error
}

// Note adds a line and brings it to the disk.
func (s *Dir) Note(do, kind, name, result string) error {
	line, err := json.Marshal(journalLine{time.Now().UTC().Format(time.RFC3339), do, kind, name, result})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(s.Path(journalFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Sync()
}
