package diagnose

import (
	"testing"

	"bootlab/labs/inspect/check"
)

func failing(stage, id string) *check.Report {
	return &check.Report{Stages: []check.Stage{{ID: stage, Checks: []check.Result{
		{ID: "other", Outcome: check.Passed},
		{ID: id, Title: "a title", Outcome: check.Failed, Found: "the first line\nthe second", Hint: "a hint"},
	}}}}
}

// A check that failed is never success: the cause is not known, and the check leads.
func TestAFailedCheckIsAFinding(t *testing.T) {
	for name, verdict := range map[string]Verdict{"healthy": Healthy, "on its way": NotReached, "not seen": Unseen} {
		r := &Report{Verdict: verdict, Layer: "etcd"}
		r.Count(failing("render-etcd", "pod-image-of-release"))
		if r.Verdict != Unknown || r.Layer != "render" || r.Lead == nil || r.Lead.Line != "the first line" || r.Lead.Stage != "render-etcd" || len(r.FailedChecks) != 1 {
			t.Errorf("%s: %+v, lead %+v", name, r, r.Lead)
		}
	}
}

// A cause stays the cause, and what failed is listed beside it.
func TestAFailedCheckTakesNoCauseAway(t *testing.T) {
	r := &Report{Verdict: Proven, Layer: "image", Cause: &Cause{ID: "pull-denied"}}
	r.Count(failing("render-etcd", "pod-image-of-release"))
	if r.Verdict != Proven || r.Layer != "image" || len(r.FailedChecks) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsNoFindingOfChecks(t *testing.T) {
	done := []Answer{{Layer: "finished", Answer: "yes"}}
	for name, c := range map[string]struct {
		layers []Answer
		checks *check.Report
	}{
		"certificates that ended behind the handover": {done, failing("render-kube-apiserver", "serving-fresh")},
		"a stage that later ones undo":                {nil, failing("wait-for-etcd", "healthy")},
		"all passed":                                  {nil, &check.Report{Stages: []check.Stage{{ID: "render-etcd", Checks: []check.Result{{ID: "x", Outcome: check.Passed}, {ID: "y", Outcome: check.CannotTell}}}}}},
	} {
		r := &Report{Verdict: Healthy, Layers: c.layers}
		if r.Count(c.checks); r.Verdict != Healthy || len(r.FailedChecks) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	r := &Report{Verdict: Healthy}
	if r.Count(failing("render-kube-apiserver", "serving-fresh")); r.Verdict != Unknown {
		t.Error("certificates that ended before the handover are no finding")
	}
}
