package check_test

import (
	"testing"
	"testing/fstest"
	"time"

	"bootlab/labs"
	"bootlab/labs/inspect/check"
	"bootlab/labs/inspect/mask"
)

// TestWhatMaskTookOutIsKnown: what stands in the place of a secret is what
// mask puts there.
func TestWhatMaskTookOutIsKnown(t *testing.T) {
	text := mask.New().Bytes([]byte("kind: Config\npassword: correct-horse-battery\n"))
	lab, problems := labs.LoadLabFS(labs.Examples, "compact", labs.Builtin())
	if errs := problems.Errors(); len(errs) > 0 {
		t.Fatal(errs)
	}
	plan, err := labs.Builtin().Resolve(lab)
	if err != nil {
		t.Fatal(err)
	}
	s := &labs.Stage{ID: "some", Checks: []labs.Check{{ID: "one", Objects: &labs.PresentCheck{Paths: []string{"a"}}}}}
	d := &check.Declared{Plan: plan, Files: &check.Files{Assets: fstest.MapFS{"a": {Data: text}}, Bundle: true, Now: time.Now()}}
	if c := d.Run([]check.Choice{{Stage: s, Named: true}}).Stages[0].Checks[0]; c.Outcome != check.CannotTell {
		t.Errorf("%s: %s%s in\n%s", c.Outcome, c.Found, c.Problem, text)
	}
}
