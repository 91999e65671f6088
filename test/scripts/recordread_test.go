package scripts

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/inspect/host"
	"bootlab/labs/inspect/record"
)

// What the scripts' library writes, bootlab timeline reads: also behind a
// torn file, which they set aside.
func TestWhatScriptsRecordIsRead(t *testing.T) {
	s := newScriptAlone(t, labs.OnNode, "render-etcd.sh", nil)
	write := func(text string) {
		t.Helper()
		if r := s.Library(t, text); r.Status != 0 {
			t.Fatal(r.All)
		}
	}
	look := func() string {
		t.Helper()
		services, err := record.Collect(context.Background(), host.Local{}, filepath.Join(s.Dir, "host"))
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, span := range record.TimeLine(services...) {
			text := fmt.Sprintf("%s %d %s", span.Name, span.Attempt, span.State)
			if span.State == record.Failed {
				text += " " + span.ErrorLine + ": " + span.ErrorMessage
			}
			told = append(told, text)
		}
		for _, service := range services {
			if service.Problem != "" {
				told = append(told, "problem: "+service.Problem)
			}
			if service.Older != nil {
				told = append(told, "older: "+service.Older.Problem)
			}
		}
		return strings.Join(told, "; ")
	}
	write(`record 'stage start'; record 'stage end' failure '88 main render-etcd.sh' $'two\nlines "quoted"'; record 'stage start'`)
	if got, want := look(), "etcd-bootstrap 1 failure 88 main render-etcd.sh: two\nlines \"quoted\"; etcd-bootstrap 2 no end"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	write(`truncate --size=-20 "${RECORDS}"; PHASE=''; record 'stage start'; record 'stage end' success`)
	if got, want := look(), "etcd-bootstrap 1 failure 88 main render-etcd.sh: two\nlines \"quoted\"; etcd-bootstrap 2 success; older: it is torn, behind entry 3"; !strings.HasPrefix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
