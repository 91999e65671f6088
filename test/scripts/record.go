package scripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"
)

// Record is one entry of a progress record, in the installer's format.
type Record struct {
	Timestamp    string `json:"timestamp"`
	PreCommand   string `json:"preCommand,omitempty"`
	PostCommand  string `json:"postCommand,omitempty"`
	Stage        string `json:"stage,omitempty"`
	Phase        string `json:"phase"`
	Result       string `json:"result,omitempty"`
	ErrorLine    string `json:"errorLine,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`
}

// Records reads and validates what the scripts of a lab recorded.
func (l *Lab) Records(tb testing.TB) []Record {
	tb.Helper()
	data, err := os.ReadFile(l.Asset("/var/log/openshift/bootkube.json"))
	if err != nil {
		tb.Fatal(err)
	}
	records, err := ParseRecords(data)
	if err != nil {
		tb.Fatalf("%v in\n%s", err, data)
	}
	return records
}

// ParseRecords reads a progress record as strictly as its format allows.
func ParseRecords(data []byte) ([]Record, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var records []Record
	if err := decoder.Decode(&records); err != nil {
		return nil, err
	}
	open := ""
	for i, r := range records {
		if err := r.follows(i, &open); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	if bytes.Contains(data, []byte(`""`)) {
		return nil, fmt.Errorf("an empty key was kept")
	}
	return records, nil
}

// ended stands for no stage that could be open: the service has ended.
const ended = "the service has ended"

// follows says whether an entry may stand where it does. open is the stage
// that has begun. One that was killed never ends: it begins again.
func (r Record) follows(i int, open *string) error {
	if _, err := time.Parse("2006-01-02T15:04:05Z", r.Timestamp); err != nil {
		return err
	}
	switch {
	case r.Phase == "service start":
		if i != 0 && *open != ended || r.Stage != "" || r.Result != "" {
			return fmt.Errorf("the service starts once, first, or when it has ended: %+v", r)
		}
		*open = ""
	case i == 0 || *open == ended:
		return fmt.Errorf("the service has not started: %+v", r)
	case r.Phase == "service end":
		if *open != "" || r.Stage != "" || r.Result != "success" {
			return fmt.Errorf("%q is open: %+v", *open, r)
		}
		*open = ended
	case r.Phase == "stage start":
		if r.Stage == "" || r.Result != "" || *open != "" && *open != r.Stage {
			return fmt.Errorf("%q is open: %+v", *open, r)
		}
		*open = r.Stage
	case r.Phase == "stage end":
		if r.Stage != *open || r.Result != "success" && r.Result != "failure" || (r.Result == "failure") != (r.ErrorMessage != "") {
			return fmt.Errorf("%q is open: %+v", *open, r)
		}
		*open = ""
	default:
		return fmt.Errorf("a stage script does not write this: %+v", r)
	}
	return nil
}

// Last gives the result of the last end of a stage; empty if it never ended.
func Last(records []Record, stage string) string {
	result := ""
	for _, r := range records {
		if r.Stage == stage && r.Phase == "stage end" {
			result = r.Result
		}
	}
	return result
}
