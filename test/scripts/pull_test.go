package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
	"bootlab/test/registry"
	"bootlab/test/standin"
)

// pullFailed is what a stage says when the release image cannot be had.
const pullFailed = "error: step 1 (Pull the release image) failed"

// pulling gives a lab that has pulled nothing yet from a registry of its own.
func pulling(t *testing.T) (*Lab, *registry.Registry) {
	t.Helper()
	account := podman.Ordinary(t)
	reg := registry.Start(t)
	r, err := standin.Push(reg, release, standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewLab(t, podman.New(t, account, reg), Options{Release: r}), reg
}

func TestAFailedPullIsToldAndRepeatedLater(t *testing.T) {
	for name, fault := range map[string]registry.Fault{
		"no such image":           {Status: 404},
		"a login is wanted":       {Status: 401},
		"the registry is broken":  {Status: 500},
		"the connection is cut":   {Kind: "blobs", CutAfter: 1000},
		"the registry is too hot": {Status: 503, Kind: "blobs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, reg := pulling(t)
			reg.Break(l.Release.ReleaseRepository, fault)
			l.Run(t, "release-info.sh").Want(t, 1, pullFailed, l.Release.Image)
			if _, err := os.Stat(l.Asset("release-info/digest")); err == nil {
				t.Error("a digest was written")
			}
			if Last(l.Records(t), "release-info") != "failure" {
				t.Error("no failure is recorded")
			}
			reg.Fix()
			l.Must(t, "release-info.sh")
			allGood(t, l, stage(t, "release-info"))
		})
	}
}

func TestARegistryThatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	l, reg := pulling(t)
	reg.Close()
	l.Run(t, "release-info.sh").Want(t, 1, pullFailed, "connection refused")
}

func TestASlowPullIsWaitedFor(t *testing.T) {
	t.Parallel()
	l, reg := pulling(t)
	reg.Break(l.Release.ReleaseRepository, registry.Fault{Kind: "blobs", BytesPerSecond: 1 << 20})
	l.Must(t, "release-info.sh")
}

func TestAnImageIsPulledOnce(t *testing.T) {
	t.Parallel()
	l, reg := pulling(t)
	l.Must(t, "release-info.sh")
	before := reg.Pulls(l.Release.ReleaseRepository)
	l.Must(t, "release-info.sh", "--force")
	if after := reg.Pulls(l.Release.ReleaseRepository); before == 0 || after != before {
		t.Errorf("%d pulls, then %d", before, after)
	}
	if err := l.takeAssets(Good(t, l.Env.Account, labs.Local), bootstrapAssets...); err != nil {
		t.Fatal(err)
	}
	l.Must(t, "render-etcd.sh")
	if pulls := reg.Pulls(l.Release.Repository); pulls != 1 {
		t.Errorf("the etcd stage pulled %d images", pulls)
	}
}

func TestAReleaseByTagIsPinnedToItsDigest(t *testing.T) {
	t.Parallel()
	reg := registry.Start(t)
	r, err := standin.Push(reg, release, standin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	digest := r.Image
	r.Image = r.TagImage
	l := NewLab(t, podman.New(t, podman.Ordinary(t), reg), Options{Release: r})
	l.Must(t, "release-info.sh")
	data, err := os.ReadFile(l.Asset("release-info/digest"))
	if err != nil || string(data) != digest+"\n" {
		t.Errorf("the digest is %q, not %q; %v", data, digest, err)
	}
	// The tag may name another image by now, although one is here.
	calls := filepath.Join(l.Env.Dir, "tmp", "calls")
	l.Wrap(t, "podman", `echo "$1" >> `+calls+`; exec "$REAL" "$@"`)
	l.Must(t, "release-info.sh", "--force")
	if !strings.HasPrefix(readFile(t, calls), "pull\n") {
		t.Errorf("the tag was not pulled again: %s", readFile(t, calls))
	}
}
