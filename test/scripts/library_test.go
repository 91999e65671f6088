package scripts

import (
	"os"
	"path/filepath"
	"testing"

	"bootlab/labs"
)

// TestALeftOverOfAKilledCopyIsSweptAway: what a killed run had begun to copy comes
// to manifests/ as little as to the kubelet.
func TestALeftOverOfAKilledCopyIsSweptAway(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	left := []string{".new/half.yaml", "/etc/kubernetes/manifests/.etcd-member-pod.yaml"}
	for _, name := range left {
		if err := os.MkdirAll(filepath.Dir(l.Asset(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(l.Asset(name), []byte("kind: Po"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l.Env.Own(t, l.Dir)
	l.Must(t, "render-etcd.sh", "--force")
	for _, name := range append(left, ".new", "manifests/half.yaml") {
		if _, err := os.Stat(l.Asset(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	allGood(t, l, stage(t, "render-etcd"))
}

// TestOtherAnswersOfTheReleaseUnmarkWhatWasMadeWithThem: an image that lab.yaml
// puts in the place of the release's must not be taken for done.
func TestOtherAnswersOfTheReleaseUnmarkWhatWasMadeWithThem(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	fixture{Break: `edit '1s/$/x/' release-info/images
sha256sum release-info/{digest,version,kubernetes-version,images} > release-info/sums`}.apply(t, l)
	l.Must(t, "release-info.sh", "--force").Says(t, "run render-etcd.sh again", "run render-cco.sh again")
	for _, s := range Stages(t, release, labs.Local) {
		if rendersMarked(s, l) {
			t.Errorf("%s is still marked as done", s.ID)
		}
	}
}

// TestTheSameAnswersUnmarkNothing: nor do the first ones, behind stages that
// bootkube.sh itself has done.
func TestTheSameAnswersUnmarkNothing(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	for _, first := range []bool{false, true} {
		if first {
			if err := os.RemoveAll(l.Asset("release-info")); err != nil {
				t.Fatal(err)
			}
		}
		l.Must(t, "release-info.sh", "--force")
		for _, s := range Stages(t, release, labs.Local) {
			if s.Kind == "render" && !rendersMarked(s, l) {
				t.Errorf("first answers %v: %s is no longer marked as done", first, s.ID)
			}
		}
	}
}

func rendersMarked(s *labs.Stage, l *Lab) bool {
	_, err := os.Stat(l.markers(s)[0])
	return s.Kind == "render" && err == nil
}

// TestADryRunWinsOverAStep: what is only to be shown is never done.
func TestADryRunWinsOverAStep(t *testing.T) {
	t.Parallel()
	l := goodClone(t)
	before := l.Snapshot(t)
	for _, args := range [][]string{{"--dry-run", "--step", "--force"}, {"--step", "--dry-run", "--force"}, {"--dry-run", "--verify"}} {
		l.Must(t, "render-cco.sh", args...)
	}
	before.Same(t, l.Snapshot(t))
}
