package answer

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"
	"time"

	"bootlab/labs/inspect/record"
)

// bundle is an archive of files.
func bundle(t *testing.T, files map[string]string) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: "log-bundle-20260102060000/" + name, Size: int64(len(text)), Mode: 0o644, ModTime: time.Date(2026, 1, 2, 6, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestAnAnswerHasTheReportAndWhatWasLookedAt(t *testing.T) {
	a, err := Of(t.Context(), "log-bundle-20260102060000.tar", bundle(t, map[string]string{
		"bootstrap/journals/bootkube.log": "Jan 02 05:10:05 bootstrap bootkube.sh[1843]: Rendering Kubernetes API server core manifests...\n" +
			"Jan 02 05:10:06 bootstrap bootkube.sh[1843]: Error: unknown flag: --infra-config-file\n" +
			"Jan 02 05:10:06 bootstrap systemd[1]: bootkube.service: Main process exited, code=exited, status=1/FAILURE\n" +
			"Jan 02 05:10:06 bootstrap systemd[1]: bootkube.service: Failed with result 'exit-code'.\n",
		"bootstrap/services/bootkube.json": `[{"timestamp":"2026-01-02T05:10:00Z","phase":"service start"},
			{"timestamp":"2026-01-02T05:10:05Z","phase":"stage start","stage":"kube-apiserver-bootstrap"},
			{"timestamp":"2026-01-02T05:10:06Z","phase":"stage end","stage":"kube-apiserver-bootstrap","result":"failure","errorMessage":"unknown flag"}]`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.Report, `"id": "release-mismatch"`) || !strings.HasPrefix(a.Markdown, "## The installer and the release do not match\n") {
		t.Errorf("the report is\n%s\nas Markdown\n%s", a.Report, a.Markdown)
	}
	had := 0
	for _, l := range a.Looked {
		if l.Had != (l.Problem == "") {
			t.Errorf("%s: had %t, problem %q", l.Title, l.Had, l.Problem)
		}
		if l.Had {
			had++
		}
	}
	if had < 2 || had == len(a.Looked) {
		t.Errorf("%d of %d were had", had, len(a.Looked))
	}
	var stage *Span
	for i := range a.Spans {
		if a.Spans[i].Kind == record.Stage {
			stage = &a.Spans[i]
		}
	}
	if stage == nil || stage.Name != "kube-apiserver-bootstrap" || stage.State != record.Failed || stage.Seconds == nil || *stage.Seconds != 1 || stage.Error != "unknown flag" {
		t.Errorf("the time line is %+v", a.Spans)
	}
}

func TestWhatIsNoBundleHasNoAnswer(t *testing.T) {
	if a, err := Of(t.Context(), "x.tar", bundle(t, map[string]string{"notes.txt": "x"})); err == nil || !strings.Contains(err.Error(), "no log bundle") {
		t.Errorf("%+v, %v", a, err)
	}
}
