package diagnose

import (
	"slices"
	"strings"
	"testing"

	"bootlab/labs/inspect/mask"
	"bootlab/labs/sample"
)

// masked is the evidence as a masked bundle has it; what a line complained too.
func masked(t *testing.T, e evidence) {
	m := mask.New([]byte("a secret of the lab"))
	for id, text := range e {
		before, found := "", text
		if rest, bad := strings.CutPrefix(text, failed); bad && rest != "" {
			before, found = failed+string([]rune(rest)[0]), string([]rune(rest)[1:])
		}
		e[id] = before + string(m.Document([]byte(found)))
	}
}

// Masking takes away nothing by which a cause is proven: each case leads to the
// same verdict, cause and warnings, and shows the same lines.
func TestMaskedEvidenceSaysTheSame(t *testing.T) {
	sameMasked := func(name string, c recorded, layers ...string) {
		t.Run(name, func(t *testing.T) {
			before := c.walk(t, layers...)
			c.changes = append(c.changes[:len(c.changes):len(c.changes)], masked)
			after := c.walk(t, layers...)
			if before.Verdict != after.Verdict || causeOf(before) != causeOf(after) {
				t.Errorf("%s, %s; masked %s, %s", before.Verdict, causeOf(before), after.Verdict, causeOf(after))
			}
		})
	}
	sameMasked("healthy", recorded{}, allLayers()...)
	type place struct{ layer, id string }
	var places []place
	for layer, group := range cases {
		for id := range group {
			places = append(places, place{layer, id})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return strings.Compare(a.layer+" "+a.id, b.layer+" "+b.id) })
	for _, p := range sample.Of(t, 60, places) {
		sameMasked(p.layer+" "+p.id, cases[p.layer][p.id], p.layer)
	}
}

// causeOf is what a report names, with the lines that it shows.
func causeOf(r *Report) string {
	var names []string
	for _, w := range r.Warnings {
		names = append(names, "warning "+w.ID)
	}
	if r.Cause != nil {
		names = append(names, "cause "+r.Cause.ID)
		for _, shown := range r.Cause.Shown {
			names = append(names, strings.Join(shown.Lines, "\n"))
		}
	}
	return strings.Join(names, "; ")
}
