package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
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

// verdicts are the last words of a report.
var verdicts = map[Verdict]string{
	Healthy:    "All is well.",
	Unknown:    "Cause not known.",
	NotReached: "Nothing is wrong so far; it has not got further yet.",
	Unseen:     "It cannot be seen whether this works. What is missing:",
}

// Words are the last words of a report that names no cause.
func (v Verdict) Words() string { return verdicts[v] }

// Limit says that a cloud has part in the bootstrap, of which bootlab sees nothing;
// empty where none has, or where all is well.
func (r *Report) Limit() string {
	if r.Subject == nil || !r.Subject.Foreign() || r.Verdict == Healthy {
		return ""
	}
	return "Platform " + r.Subject.Platform + ": its machines, load balancers and names are not ours to judge. Look at the installer's own log for them too."
}

// Report is what a walk found. Its form in JSON is for other programs and stays.
type Report struct {
	Verdict Verdict `json:"verdict"`
	// Layer is where the walk ended; empty when all are good.
	Layer string `json:"layer,omitempty"`
	// Cause is the proven symptom, for Verdict "cause".
	Cause    *Cause  `json:"cause,omitempty"`
	Warnings []Cause `json:"warnings"`
	// Harmless is what looks like a failure and is none.
	Harmless []Cause  `json:"harmless"`
	Layers   []Answer `json:"layers"`
	// Subject is whose bootstrap it is, where no lab was given.
	Subject *Subject `json:"subject,omitempty"`
	// Lead and Likely say where to begin where the cause is not known: the line that
	// failed, and causes that may be it, with the command that would show each.
	Lead   *Lead   `json:"lead,omitempty"`
	Likely []Cause `json:"likely,omitempty"`
	// Evidence is what there is to look at where the walk ended without a cause.
	Evidence []Exhibit `json:"evidence,omitempty"`
	// FailedChecks are the checks of stages that failed, where they were asked.
	FailedChecks []FailedCheck `json:"failedChecks,omitempty"`
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
	ID      string `json:"id"`
	Title   string `json:"title"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"`
	Command string `json:"command"` // shows the proof to one's own eyes
	Stage   string `json:"stage,omitempty"`
	Page    string `json:"page,omitempty"`
	// Address is where the guide explains it, below guide/ and without .md.
	Address string    `json:"address"`
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
	r := &Report{Verdict: Healthy, Warnings: []Cause{}, Harmless: []Cause{}, Layers: []Answer{}, Missing: b.missing(local)}
	w := &walk{bench: b, report: r}
	for _, layer := range diagnosis.Layers {
		if !local || layer.Local {
			w.layers = append(w.layers, layer)
		}
	}
	if err := w.ask(); err != nil {
		return nil, err
	}
	if r.Verdict == Unknown || r.Verdict == Unseen {
		r.Lead = b.lead()
		for _, layer := range w.layers {
			if layer.ID == r.Layer {
				var err error
				if r.Likely, err = b.likely(layer); err != nil {
					return nil, err
				}
			}
		}
	}
	return r, nil
}

// walk is one walk over the layers.
type walk struct {
	*bench
	report *Report
	layers []*labs.Layer
	goods  []state
	shown  [][]Exhibit
}

// ask asks the layers' questions from the ground upwards. A layer that cannot be
// seen does not stop the walk: what is good above it shows that it was good, and
// causes above it are causes.
func (w *walk) ask() error {
	w.goods, w.shown = make([]state, len(w.layers)), make([][]Exhibit, len(w.layers))
	for i, layer := range w.layers {
		var err error
		if w.goods[i], w.shown[i], err = w.anyOf(layer.Good); err != nil {
			return fmt.Errorf("layer %s: %w", layer.ID, err)
		}
	}
	for i, layer := range w.layers {
		on, err := w.layer(i)
		if err != nil {
			return fmt.Errorf("layer %s: %w", layer.ID, err)
		}
		if !on {
			return nil
		}
	}
	return nil
}

// layer asks one question, and says whether the walk goes on.
func (w *walk) layer(i int) (on bool, _ error) {
	layer, r := w.layers[i], w.report
	a := Answer{Layer: layer.ID, Ask: layer.Ask, Shown: []Exhibit{}}
	defer func() { r.Layers = append(r.Layers, a) }()
	if err := r.warn(w.bench, layer); err != nil {
		return false, err
	}
	if w.goods[i] == holds {
		a.Answer, a.Shown = "yes", w.shown[i]
		return true, nil
	}
	cause, err := r.firstCause(w.bench, layer)
	switch {
	case err != nil:
		return false, err
	case cause != nil:
		a.Answer, a.Shown = "no", cause.Shown
		r.Verdict, r.Layer, r.Cause, r.Evidence = Proven, layer.ID, cause, nil
		return false, nil
	}
	begun, shown, err := w.anyOf(layer.Begun)
	if err != nil {
		return false, err
	}
	if !w.canSee(layer) {
		w.goods[i], begun = unseen, unseen
	}
	above := w.shownAbove(i)
	switch {
	case len(layer.Good) == 0 && begun != holds:
		a.Answer = "nothing found"
		return true, nil
	case above >= 0 && begun != not && (begun == unseen || w.goods[i] == unseen):
		a.Answer, a.Shown = "yes", w.shown[above]
		return true, nil
	case len(layer.Begun) > 0 && begun == not:
		a.Answer = "not yet"
		return w.open(layer, NotReached), nil
	case w.goods[i] == unseen && w.stageFailed(layer):
		a.Answer = "no"
		w.open(layer, Unknown)
		return true, nil
	case w.goods[i] == unseen && len(layer.Good) > 0, len(layer.Begun) > 0 && begun != holds:
		a.Answer = "cannot be seen"
		w.open(layer, Unseen)
		return true, nil
	}
	a.Answer, a.Shown = "no", shown
	w.open(layer, Unknown)
	return false, nil
}

// canSee says whether there is what the layer's question is answered by.
func (w *walk) canSee(layer *labs.Layer) bool {
	return len(layer.SeenBy) == 0 || slices.ContainsFunc(layer.SeenBy, func(id string) bool { return len(w.had(id)) > 0 })
}

// shownAbove is the first later layer that is good and shows that this one is too;
// -1 if there is none.
func (w *walk) shownAbove(i int) int {
	return slices.IndexFunc(w.layers, func(l *labs.Layer) bool {
		return slices.Contains(w.layers[i].ShownBy, l.ID) && w.goods[slices.Index(w.layers, l)] == holds
	})
}

// open keeps that a layer is not good, and says whether the walk goes on. The first
// such layer counts, but one that cannot be seen gives way to a later one that is
// seen. What failed again and again is not on its way, although it is tried once
// more.
func (w *walk) open(layer *labs.Layer, v Verdict) (on bool) {
	r := w.report
	if v == NotReached && (w.unitFailed() || slices.ContainsFunc(w.failed, func(f failure) bool { return f.again })) {
		v, on = Unknown, true
	}
	if r.Verdict == Healthy || r.Verdict == Unseen && v != Unseen {
		r.Verdict, r.Layer = v, layer.ID
		r.Evidence = nil
		if v == Unknown {
			r.Evidence = w.failedTries()
		}
		r.Evidence = append(r.Evidence, w.exhibits(layer)...)
	}
	return on
}

// stageFailed says whether a stage that belongs to the layer failed, or hangs: then
// the layer is not good, although it cannot be seen.
func (w *walk) stageFailed(layer *labs.Layer) bool {
	return slices.ContainsFunc(w.failed, func(f failure) bool { return f.script != "" && slices.Contains(layer.Stages, f.script) })
}

// unitFailed says whether a unit that a bootstrap needs failed when it was last
// tried. That of node-image-finish always seems to.
func (b *bench) unitFailed() bool {
	for unit := range b.units {
		if unit != "node-image-finish.service" {
			return true
		}
	}
	return false
}

// warn adds the layer's warnings that are proven, and what is harmless.
func (r *Report) warn(b *bench, layer *labs.Layer) error {
	for i := range layer.Symptoms {
		s := &layer.Symptoms[i]
		if !s.Warning && !s.Harmless {
			continue
		}
		c, err := b.proves(layer, s)
		switch {
		case err != nil:
			return err
		case c != nil && s.Harmless:
			r.Harmless = append(r.Harmless, *c)
		case c != nil:
			r.Warnings = append(r.Warnings, *c)
		}
	}
	return nil
}

func (r *Report) firstCause(b *bench, layer *labs.Layer) (*Cause, error) {
	for i := range layer.Symptoms {
		if layer.Symptoms[i].Warning || layer.Symptoms[i].Harmless {
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
	ok, shown, err := b.allOf(s.Proof)
	if err == nil && !ok && len(s.Or) > 0 {
		ok, shown, err = b.allOf(s.Or)
	}
	if err != nil || !ok {
		return nil, wrapped(s.ID, err)
	}
	if back, _, err := b.anyOf(s.Unless); err != nil || back == holds {
		return nil, err
	}
	return &Cause{ID: s.ID, Title: s.Title, Cause: s.Cause, Fix: s.Fix, Command: s.Command,
		Stage: s.Stage, Page: cmp.Or(s.Stage, layer.Page), Address: s.Address(), Source: s.Source, Shown: shown}, nil
}

// allOf is whether all of them hold, and by what.
func (b *bench) allOf(proofs []labs.Proof) (bool, []Exhibit, error) {
	var shown []Exhibit
	for i := range proofs {
		state, mine, err := b.try(&proofs[i])
		if err != nil || state != holds {
			return false, nil, err
		}
		shown = append(shown, mine...)
	}
	return len(proofs) > 0, shown, nil
}

func wrapped(symptom string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("symptom %s: %w", symptom, err)
}
