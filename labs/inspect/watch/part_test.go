package watch

import (
	"testing"

	"bootlab/labs"
)

// What a reader is told follows from the data of a stage, so a new one needs no
// change here.
func TestThePartOfAStageIsItsPhase(t *testing.T) {
	plan := &labs.Plan{Stages: []*labs.Stage{
		{ID: "make-example", Kind: "prepare"},
		{ID: "render-example", Kind: "render", Phase: labs.PhaseRender},
		{ID: "start-example", Kind: "start", Phase: labs.PhaseControlPlane},
		{ID: "wait-for-example", Kind: "wait", Phase: labs.PhaseHandOver},
		{ID: "verify-example", Kind: "check", Phase: labs.PhaseEnd},
	}}
	for id, want := range map[string]string{
		"make-example": "making ready: ", "render-example": "rendering: ", "start-example": "temporary control plane: ",
		"wait-for-example": "the cluster moves to the masters: ", "verify-example": "", "unknown": "",
	} {
		if got := part(plan, &Stage{Name: id}); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}
