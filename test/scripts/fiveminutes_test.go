package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

// TestTheFiveMinutePath looks at labs on which every script was run in turn;
// each ended with status 0, or there would be no good lab.
func TestTheFiveMinutePath(t *testing.T) {
	kubernetes := "/etc/kubernetes"
	_, before := os.Stat(kubernetes)
	eachAccount(t, func(t *testing.T, account podman.Account) {
		l := Good(t, account, labs.Local)
		stages := Stages(t, release, labs.Local)
		for _, s := range stages {
			allGood(t, l, s)
		}
		records := l.Records(t)
		for _, s := range stages {
			if Last(records, s.RecordName()) != "success" {
				t.Errorf("the records hold no success of %s", s.RecordName())
			}
			if _, err := os.Stat(l.Asset("/var/log/openshift/bootlab/" + s.ID + ".log")); err != nil {
				t.Error(err)
			}
			for _, marker := range l.markers(s) {
				if _, err := os.Stat(marker); err != nil {
					t.Error(err)
				}
			}
		}
		if left := l.Env.Containers(t); len(left) > 0 {
			t.Errorf("containers are left: %v", left)
		}
		if _, after := os.Stat(kubernetes); (before == nil) != (after == nil) {
			t.Errorf("a local run touched %s", kubernetes)
		}
		onlyWorkIsWritten(t, l)
	})
}

// onlyWorkIsWritten: a local run writes below out/work and nowhere else.
func onlyWorkIsWritten(t *testing.T, l *Lab) {
	t.Helper()
	report, err := Bootlab("generate", l.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report, "0 files written") {
		t.Errorf("generated files were changed: %s", report)
	}
	temporary, err := filepath.Glob(filepath.Join(l.Env.Dir, "tmp", "*"))
	if err != nil || len(temporary) > 0 {
		t.Errorf("the temporary directory holds %v, %v", temporary, err)
	}
}

func TestEveryReleaseRendersEtcd(t *testing.T) {
	t.Parallel()
	account := podman.Accounts(t)[0]
	good := Good(t, account, labs.Local)
	for _, id := range sample.Of(t, 3, labs.Builtin().ReleaseIDs()) {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			l := NewLab(t, podman.New(t, account, Registry(t)), Options{Release: SharedRelease(t, id)})
			if err := l.takeAssets(good, bootstrapAssets...); err != nil {
				t.Fatal(err)
			}
			for _, script := range []string{"release-info.sh", "render-etcd.sh"} {
				l.Must(t, script)
			}
		})
	}
}
