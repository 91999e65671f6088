package scripts

import (
	"os"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/podman"
)

func TestMain(m *testing.M) {
	os.Exit(podman.Main(m))
}

// eachAccount runs a test as root and as an ordinary user; in CI as one of them,
// which hangs on the test's name.
func eachAccount(t *testing.T, test func(*testing.T, podman.Account)) {
	t.Parallel()
	for _, account := range sample.Of(t, 1, podman.Accounts(t)) {
		t.Run(account.Name, func(t *testing.T) {
			t.Parallel()
			test(t, account)
		})
	}
}

// eachScript runs a test for every script of a local run, on the good lab.
func eachScript(t *testing.T, test func(*testing.T, *Lab, *labs.Stage)) {
	someScripts(t, 1000, test)
}

// someScripts does the same for n of them in CI, and for each in the complete run.
func someScripts(t *testing.T, n int, test func(*testing.T, *Lab, *labs.Stage)) {
	t.Parallel()
	good := Good(t, podman.Ordinary(t), labs.Local)
	for _, s := range sample.Of(t, n, append(Stages(t, release, labs.Local), unpackStage(t))) {
		t.Run(s.ID, func(t *testing.T) {
			t.Parallel()
			l := good
			if s.ID == unpackID {
				l = Unpacked(t)
			}
			test(t, l, s)
		})
	}
}

// unchanged runs a test for every script of a local run, one after the other on
// one copy of the good lab: none of them may change a file of it.
func unchanged(t *testing.T, test func(*testing.T, *Lab, *labs.Stage)) {
	t.Parallel()
	for good, stages := range map[*Lab][]*labs.Stage{
		Good(t, podman.Ordinary(t), labs.Local): Stages(t, release, labs.Local),
		Unpacked(t):                             {unpackStage(t)},
	} {
		l := good.Clone(t)
		before := l.Snapshot(t)
		for _, s := range stages {
			t.Run(s.ID, func(t *testing.T) { test(t, l, s) })
		}
		before.Same(t, l.Snapshot(t))
	}
}

// stage finds a stage of a local run.
func stage(t *testing.T, id string) *labs.Stage {
	t.Helper()
	for _, s := range Stages(t, release, labs.Local) {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("%s has no script", id)
	return nil
}

// verified runs a script with --verify and reads what it says.
func verified(t *testing.T, l *Lab, s *labs.Stage) (points []Point, status int) {
	t.Helper()
	r := l.RunStage(t, s, "--verify")
	points, err := ParseTAP(r.Out)
	if err != nil {
		t.Fatalf("%v in\n%s%s", err, r.Out, r.Err)
	}
	if failed := Failed(points); (len(failed) > 0) != (r.Status == 3) {
		t.Errorf("status %d, failed are %v", r.Status, failed)
	}
	return points, r.Status
}

// allGood is a --verify where nothing fails and no check is left out.
func allGood(t *testing.T, l *Lab, s *labs.Stage) {
	t.Helper()
	points, _ := verified(t, l, s)
	for _, p := range points {
		if !p.OK {
			t.Errorf("%s %s: found %s, expected %s", s.ID, p.ID, p.Found, p.Expected)
		}
	}
	var got, want []string
	for _, p := range points {
		got = append(got, p.ID)
	}
	for _, c := range s.Checks {
		if l.counts(c.When) {
			want = append(want, c.ID)
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s checked %v, declared are %v", s.ID, got, want)
	}
}

// counts says whether something that hangs on files counts in the lab.
func (l *Lab) counts(when labs.Condition) bool {
	for _, path := range []string{when.File, when.Dir, when.NotEmpty} {
		if path == "" {
			continue
		}
		info, err := os.Stat(l.Asset(path))
		if err != nil || info.IsDir() != (path != when.File) {
			return false
		}
		if entries, err := os.ReadDir(l.Asset(path)); path == when.NotEmpty && (err != nil || len(entries) == 0) {
			return false
		}
	}
	return true
}
