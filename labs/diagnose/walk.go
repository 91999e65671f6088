package diagnose

import (
	"cmp"
	"fmt"

	"bootlab/labs"
	"bootlab/labs/host"
)

// Verdict is how a walk ended.
type Verdict string

// How a walk can end.
const (
	Healthy    Verdict = "healthy"        // every layer is good
	Proven     Verdict = "cause"          // a cause is proven
	Unknown    Verdict = "not known"      // a layer is not good, and no cause is proven
	NotReached Verdict = "not reached"    // nothing is wrong; the next layer has not had its turn
	Unseen     Verdict = "cannot be seen" // nothing is known of a layer: its evidence could not be had
)

// Report is what a walk found. Its form in JSON is for other programs and stays.
type Report struct {
	Verdict Verdict `json:"verdict"`
	// Layer is where the walk ended; empty when all are good.
	Layer string `json:"layer,omitempty"`
	// Cause is the proven symptom, for Verdict "cause".
	Cause    *Cause   `json:"cause,omitempty"`
	Warnings []Cause  `json:"warnings"`
	Layers   []Answer `json:"layers"`
	// Evidence is what there is to look at where the walk ended without a cause.
	Evidence []Exhibit `json:"evidence,omitempty"`
	// Missing is evidence that could not be had, with the reason.
	Missing []Exhibit `json:"missing"`
}

// Answer is what a layer's question was answered with.
type Answer struct {
	Layer  string    `json:"layer"`
	Ask    string    `json:"ask"`
	Answer string    `json:"answer"` // yes, no, not yet, cannot be seen, nothing found
	Shown  []Exhibit `json:"shown"`
}

// Cause is a symptom that is proven, and by what.
type Cause struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Cause   string    `json:"cause"`
	Fix     string    `json:"fix"`
	Command string    `json:"command"` // shows the proof to one's own eyes
	Stage   string    `json:"stage,omitempty"`
	Page    string    `json:"page,omitempty"`
	Source  string    `json:"source"`
	Shown   []Exhibit `json:"shown"`
}

// Exhibit is a piece of evidence and what of it counts.
type Exhibit struct {
	Evidence string   `json:"evidence"`
	Title    string   `json:"title"`
	Node     string   `json:"node,omitempty"`
	Lines    []string `json:"lines"`
}

// Walk judges what was found. diagnosis is already cut to the plan.
func Walk(diagnosis *labs.Diagnosis, lab *labs.Lab, local bool, found []host.Found) (*Report, error) {
	b := newBench(diagnosis, lab, local, found)
	r := &Report{Verdict: Healthy, Warnings: []Cause{}, Layers: []Answer{}, Missing: b.missing(local)}
	for _, layer := range diagnosis.Layers {
		if local && !layer.Local {
			continue
		}
		if r.Verdict != Healthy {
			break
		}
		if err := r.answer(b, layer); err != nil {
			return nil, fmt.Errorf("layer %s: %w", layer.ID, err)
		}
	}
	return r, nil
}

// answer asks one layer's question.
func (r *Report) answer(b *bench, layer *labs.Layer) error {
	a := Answer{Layer: layer.ID, Ask: layer.Ask, Shown: []Exhibit{}}
	defer func() { r.Layers = append(r.Layers, a) }()
	good, shown, err := b.anyOf(layer.Good)
	if err != nil {
		return err
	}
	if err := r.warn(b, layer); err != nil {
		return err
	}
	if good == holds {
		a.Answer, a.Shown = "yes", shown
		return nil
	}
	cause, err := r.firstCause(b, layer)
	switch {
	case err != nil:
		return err
	case cause != nil:
		a.Answer, a.Shown = "no", cause.Shown
		r.Verdict, r.Layer, r.Cause = Proven, layer.ID, cause
		return nil
	}
	begun, shown, err := b.anyOf(layer.Begun)
	if err != nil {
		return err
	}
	if len(layer.Good) == 0 && begun != holds {
		a.Answer = "nothing found"
		return nil
	}
	r.Layer = layer.ID
	switch {
	case len(layer.Begun) > 0 && begun == not:
		a.Answer, r.Verdict = "not yet", NotReached
	case good == unseen && len(layer.Good) > 0:
		a.Answer, r.Verdict = "cannot be seen", Unseen
	case len(layer.Begun) > 0 && begun != holds:
		a.Answer, r.Verdict = "not yet", NotReached
	default:
		a.Answer, a.Shown, r.Verdict = "no", shown, Unknown
	}
	if r.Verdict == Unknown {
		r.Evidence = b.failedTries()
	}
	r.Evidence = append(r.Evidence, b.exhibits(layer)...)
	return nil
}

// warn adds the layer's warnings that are proven.
func (r *Report) warn(b *bench, layer *labs.Layer) error {
	for i := range layer.Symptoms {
		if !layer.Symptoms[i].Warning {
			continue
		}
		c, err := b.proves(layer, &layer.Symptoms[i])
		if err != nil {
			return err
		}
		if c != nil {
			r.Warnings = append(r.Warnings, *c)
		}
	}
	return nil
}

func (r *Report) firstCause(b *bench, layer *labs.Layer) (*Cause, error) {
	for i := range layer.Symptoms {
		if layer.Symptoms[i].Warning {
			continue
		}
		if c, err := b.proves(layer, &layer.Symptoms[i]); c != nil || err != nil {
			return c, err
		}
	}
	return nil, nil
}

// proves gives the cause if all that proves it holds and nothing takes it back.
func (b *bench) proves(layer *labs.Layer, s *labs.Symptom) (*Cause, error) {
	var shown []Exhibit
	for i := range s.Proof {
		state, mine, err := b.try(&s.Proof[i])
		if err != nil {
			return nil, fmt.Errorf("symptom %s: %w", s.ID, err)
		}
		if state != holds {
			return nil, nil
		}
		shown = append(shown, mine...)
	}
	if back, _, err := b.anyOf(s.Unless); err != nil || back == holds {
		return nil, err
	}
	return &Cause{ID: s.ID, Title: s.Title, Cause: s.Cause, Fix: s.Fix, Command: s.Command,
		Stage: s.Stage, Page: cmp.Or(s.Stage, layer.Page), Source: s.Source, Shown: shown}, nil
}
