package diagnose

import (
	"encoding/json"
	"strings"

	"bootlab/labs"
)

// stageFact is a stage as jq programs see it in $stages.
type stageFact struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	Record   string `json:"record"` // its name in the progress records
	Marker   string `json:"marker"` // empty where it leaves none
	Script   string `json:"script"`
	Optional bool   `json:"optional"`
	// Instead: a marker that says that another stage made the same results.
	Instead string `json:"instead"`
	// Needs are its input files that another stage of the same place makes, and
	// the stages, without a file, whose repetition invalidates what it made.
	Needs []need `json:"needs"`
}

type need struct {
	File  string `json:"file"`
	Stage string `json:"stage"`
	Why   string `json:"why"`
}

// fillPlan makes the jq variables that come of the plan and the records. They go
// through JSON, which is what jq knows.
func (b *bench) fillPlan(local bool) {
	place := labs.OnNode
	if local {
		place = labs.Local
	}
	b.stages = plain(stageFacts(b.diagnosis.Plan, place))
	records := map[string]any{}
	for _, id := range []string{labs.EvidenceRecordsHere, labs.EvidenceRecords} {
		for _, it := range b.had(id) {
			for service, entries := range recordsOf(it.Text) {
				records[service] = plain(entries)
			}
		}
	}
	b.records = records
	failed := []any{}
	for _, f := range b.failed {
		failed = append(failed, map[string]any{"service": f.service, "stage": f.stage, "script": f.script,
			"message": f.message, "lines": plain(f.lines)})
	}
	b.failing = failed
}

func stageFacts(p *labs.Plan, place labs.Place) []stageFact {
	all := []stageFact{}
	if p == nil {
		return all
	}
	for _, s := range p.Stages {
		if !s.In(place) {
			continue
		}
		f := stageFact{ID: s.ID, Kind: s.Kind, Record: s.RecordName(), Marker: s.Marker(), Script: s.Call(),
			Optional: s.Optional, Instead: s.SkipIf, Needs: []need{}}
		for _, r := range s.Reads {
			writer := p.Writer(r.Path, s)
			if writer == nil || r.Optional || !writer.In(place) || writer.Marker() == "" || strings.ContainsAny(r.Path, "*?[$") {
				continue
			}
			f.Needs = append(f.Needs, need{r.Path, writer.ID, "it writes " + r.Path})
		}
		for _, earlier := range p.Stages {
			if earlier == s {
				break
			}
			// What is optional makes the same as others, or nothing that they need.
			if earlier.Optional || s.Optional {
				continue
			}
			for _, invalidates := range earlier.Invalidates {
				if invalidates.Stage == s.ID && earlier.In(place) && earlier.Marker() != "" {
					f.Needs = append(f.Needs, need{"", earlier.ID, invalidates.Why})
				}
			}
		}
		all = append(all, f)
	}
	return all
}

// plain is a value as jq knows it; an empty list is a list.
func plain(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil
	}
	if out == nil {
		return []any{}
	}
	return out
}
