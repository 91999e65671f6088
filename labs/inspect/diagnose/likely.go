package diagnose

import (
	"slices"
	"strings"

	"bootlab/labs"
)

// Lead is the line that says most of a failure whose cause is not known.
type Lead struct {
	Line    string `json:"line"`
	Service string `json:"service"`
	Stage   string `json:"stage,omitempty"`
	At      string `json:"at,omitempty"` // as in the journal
}

// likelyAtMost is how many causes are named that may be it.
const likelyAtMost = 3

// lead is the last line of the last failure that speaks of an error, else its last.
func (b *bench) lead() *Lead {
	failures := slices.Clone(b.failed)
	for _, f := range b.units {
		failures = append(failures, *f)
	}
	for _, f := range slices.Backward(failures) {
		line := ""
		for _, l := range f.lines {
			if line == "" || speaksOfTrouble(l) || !speaksOfTrouble(line) {
				line = l
			}
		}
		if line == "" {
			line = f.message
		}
		if line == "" {
			continue
		}
		out := &Lead{Line: clean(line), Service: f.service, Stage: f.stage}
		if at := timeOf(line); !at.IsZero() {
			out.At = at.Format("2006-01-02T15:04:05Z")
		}
		return out
	}
	return nil
}

func speaksOfTrouble(line string) bool {
	return strings.Contains(line, "rror") || strings.Contains(line, "fatal") || strings.Contains(line, "unhealthy") || strings.Contains(line, "denied")
}

// likely are the layer's causes of which most is proven: of two proofs one, and of
// those of which nothing is, the first.
func (b *bench) likely(layer *labs.Layer) ([]Cause, error) {
	type candidate struct {
		s    *labs.Symptom
		held int
	}
	var all []candidate
	for i := range layer.Symptoms {
		s := &layer.Symptoms[i]
		if s.Warning || s.Harmless {
			continue
		}
		held := 0
		for j := range s.Proof {
			state, _, err := b.try(&s.Proof[j])
			if err != nil {
				return nil, err
			}
			if state == holds {
				held++
			}
		}
		all = append(all, candidate{s, held})
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return y.held - x.held })
	var out []Cause
	for _, c := range all[:min(len(all), likelyAtMost)] {
		out = append(out, Cause{ID: c.s.ID, Title: c.s.Title, Cause: c.s.Cause, Command: c.s.Command, Fix: c.s.Fix, Stage: c.s.Stage, Address: c.s.Address(), Source: c.s.Source, Shown: []Exhibit{}})
	}
	return out, nil
}
