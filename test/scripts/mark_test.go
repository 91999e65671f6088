package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestASignalBehindTheMarkerLeavesNoFailure: a marker and a record that says
// interrupted would contradict each other until somebody runs the stage again.
func TestASignalBehindTheMarkerLeavesNoFailure(t *testing.T) {
	t.Parallel()
	l := generated(t)
	dir := t.TempDir()
	touch := "#!/bin/bash\n# stand-in for touch\n/usr/bin/touch \"$@\"\nkill -TERM \"${PPID}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "touch"), []byte(touch), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", `set -Eeuo pipefail
SCRIPTS="$1" ASSET_DIR="$2" HOST_ROOT="$2/host" STAGE=x RECORD=x MARKER=x.done NEXT=''
cd "$2"
source "${SCRIPTS}/lib/stage.sh"
open_log
record 'stage start'
mark
log after`, "bash", filepath.Join(l.Dir, "out", "scripts"), dir)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	records, err := ParseRecords(mustRead(t, filepath.Join(dir, "host/var/log/openshift/bootkube.json")))
	if err != nil || Last(records, "x") != "success" {
		t.Errorf("%v, recorded %+v", err, records)
	}
}
