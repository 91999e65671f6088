package scripts

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

// The tests here let hand and bootkube.sh take turns on one node. bootkube.sh is
// a stand-in with its markers and its records, whose stages are the stage data's.

// interchangeNode gives a bootstrap node with what the installer puts there, and
// with release-info, on which no stage of bootkube.sh ran.
func interchangeNode(t *testing.T) *Lab {
	t.Helper()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	l := chainLab(t, account, release, labs.OnNode)
	if err := l.takeAssets(Good(t, account, labs.Local), bootstrapAssets...); err != nil {
		t.Fatal(err)
	}
	if err := l.removeRendered(t); err != nil {
		t.Fatal(err)
	}
	l.withoutNames(t)
	l.Must(t, "release-info.sh")
	return l
}

// markedStages are bootkube's with a marker, up to the last render.
func markedStages(t *testing.T) []*labs.Stage {
	t.Helper()
	var out []*labs.Stage
	for _, s := range chainStages(t, release, labs.OnNode) {
		if s.Bootkube != "" && s.Kind != "check" {
			out = append(out, s)
		}
	}
	return out
}

// finishWithBootkube lets bootkube.sh do what is left, and looks at its end.
func (l *Lab) finishWithBootkube(t *testing.T) {
	t.Helper()
	l.services(t, l.bootkube(t))
	l.tell(t, "etcd-is-healthy", "")
	l.Run(t, "release-hold.sh", "bootkube").Want(t, 0)
	until(t, "the end of bootkube.sh", func() bool { return l.there(".bootkube.done") || l.unit(t, "bootkube") != "active" })
	until(t, "the end of bootkube.service", func() bool { return l.unit(t, "bootkube") == "inactive" })
	if !l.there(".bootkube.done") {
		journal, _ := os.ReadFile(l.Asset("/opt/stand-in/bootkube.service.journal"))
		t.Fatalf("bootkube.sh came to nothing:\n%s", journal)
	}
	if err := os.Remove(l.Asset(".bootkube.done")); err != nil {
		t.Fatal(err)
	}
	l.noStageIsOpen(t)
}

// results are the files that a node has when all is rendered, with mode and sum.
func (l *Lab) results(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"/opt/openshift", "/etc/kubernetes", "/etc/mcc", "/etc/mcs", "/etc/ssl/mcs"} {
		err := filepath.WalkDir(l.Asset(dir), func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) || err != nil || d.IsDir() {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(path, l.Host())
			out[name] = fmt.Sprintf("%o %x", info.Mode().Perm(), sumOfKind(data))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	maps.DeleteFunc(out, func(name, _ string) bool { return notCompared.MatchString(name) })
	return out
}

// notCompared are locks, what tells of podman alone, and markers of names that
// may or may not resolve: the stand-in asks none.
var notCompared = regexp.MustCompile(`\.lock$|/release-info/|/api(-int)?-dns[^/]*\.done$`)

// sameResults compares names, modes and contents, keys and certificates by their
// kind.
func sameResults(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, its := range want {
		other, there := got[name]
		switch {
		case !there:
			t.Errorf("%s: %s is missing", what, name)
		case other != its:
			t.Errorf("%s: %s is %.12s, not %.12s", what, name, other, its)
		}
	}
	for name := range got {
		if _, there := want[name]; !there {
			t.Errorf("%s: %s is there too", what, name)
		}
	}
}

func TestHandAndBootkubeTakeTurns(t *testing.T) {
	t.Parallel()
	hand := interchangeNode(t)
	begin := hand.Clone(t)
	stages := markedStages(t)
	var every []int
	for n := range len(stages) {
		every = append(every, n)
	}
	after := sample.Of(t, 1, every)
	results := map[string]map[string]string{}
	for n := range len(stages) {
		if slices.Contains(after, n) {
			name := fmt.Sprintf("%d by hand, then bootkube.sh", n)
			l := hand.Clone(t)
			l.finishWithBootkube(t)
			results[name] = l.results(t)
			for _, s := range stages {
				allGood(t, l, s)
			}
		}
		hand.Must(t, stages[n].ScriptName())
	}
	want := hand.results(t)
	for _, name := range slices.Sorted(maps.Keys(results)) {
		sameResults(t, name, results[name], want)
	}

	for _, id := range sample.Of(t, 1, []string{"render-api", "render-etcd", "render-mco"}) {
		l := begin.Clone(t)
		l.services(t, l.bootkube(t))
		r := l.Run(t, "run-bootkube-until.sh", id)
		r.Want(t, 0, "run-bootkube-until is done")
		l.stopped(t)
		if left := l.Env.Containers(t); len(left) > 0 {
			t.Errorf("containers are left behind %s: %v", id, left)
		}
		l.noStageIsOpen(t)
		l.withoutNames(t)
		l.Must(t, "render-all.sh")
		l.noStageIsOpen(t)
		sameResults(t, "bootkube.sh until "+id+", the rest by hand", l.results(t), want)
		for _, s := range stages {
			allGood(t, l, s)
		}
	}
}
