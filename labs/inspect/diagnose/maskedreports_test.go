package diagnose

import (
	"context"
	"path/filepath"
	"testing"

	"bootlab/labs/inspect/mask"
	"bootlab/labs/sample"
)

func TestMaskedReportsSayTheSame(t *testing.T) {
	for _, r := range sample.Of(t, 30, reports(t)) {
		t.Run(r.Name, func(t *testing.T) {
			dir := r.write(t, t.TempDir(), nil)
			masked := filepath.Join(t.TempDir(), filepath.Base(dir)+".tar.gz")
			if _, err := mask.New().Bundle(context.Background(), dir, masked); err != nil {
				t.Fatal(err)
			}
			before, after := judged(t, dir), judged(t, masked)
			cause := func(w *Report) string {
				if w.Cause == nil {
					return ""
				}
				return w.Cause.ID
			}
			if before.Verdict != after.Verdict || before.Layer != after.Layer || cause(before) != cause(after) {
				t.Errorf("%s %s %s; masked %s %s %s", before.Verdict, before.Layer, cause(before), after.Verdict, after.Layer, cause(after))
			}
		})
	}
}
