package scripts

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/labs/sample"
	"bootlab/test/assets"
	"bootlab/test/podman"
	"bootlab/test/standin"
)

// faulty gives a lab with good assets and a release that misbehaves.
func faulty(t *testing.T, options standin.Options) *Lab {
	t.Helper()
	account := podman.Ordinary(t)
	good := Good(t, account, labs.Local)
	r, err := standin.Push(Registry(t), release, options)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLab(t, podman.New(t, account, Registry(t)), Options{Release: r})
	if err := l.takeAssets(good, bootstrapAssets...); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd-ca-bundle.crt", "etcd-client.crt", "etcd-client.key"} {
		if err := os.RemoveAll(l.Asset("tls/" + name)); err != nil {
			t.Fatal(err)
		}
	}
	l.Env.Own(t, l.Dir)
	return l
}

// TestARenderThatSucceedsWithBrokenOutputIsCaught: exit 0 of an operator is no
// proof. The checks are those that must say so, as far as they run at all: a
// file that is not there stops the stage when it is to be copied.
func TestARenderThatSucceedsWithBrokenOutputIsCaught(t *testing.T) {
	faults := map[string]string{
		"empty-image":      "pod-image",
		"other-image":      "pod-image-of-release",
		"other-name":       "pod-name",
		"no-pod":           "pod-manifest",
		"no-ca":            "client-chain",
		"empty-ca":         "client-chain",
		"no-client-key":    "client-key",
		"foreign-client":   "client-chain",
		"other-client-key": "client-key",
		"no-peer":          "peer-chain",
		"no-serving":       "serving",
		"no-manifests":     "api-manifests",
		"expired":          "client-chain",
	}
	for _, fault := range sample.Of(t, 3, slices.Sorted(maps.Keys(faults))) {
		check := faults[fault]
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			l := faulty(t, standin.Options{Faults: map[string][]string{"cluster-etcd-operator": {fault}}})
			l.Must(t, "release-info.sh")
			r := l.Run(t, "render-etcd.sh")
			if r.Status != 3 && r.Status != 1 {
				t.Errorf("status %d:\n%s", r.Status, r.All)
			}
			if _, err := os.Stat(l.Asset("etcd-bootstrap.done")); err == nil {
				t.Error("it is marked as done")
			}
			points, _ := verified(t, l, stage(t, "render-etcd"))
			if failed := Failed(points); !slices.Contains(failed, check) {
				t.Errorf("%s is not among the failed checks %v", check, failed)
			}
		})
	}
}

func TestAReleaseThatIsNotWhatItShouldBeIsCaught(t *testing.T) {
	for name, c := range map[string]struct {
		options standin.Options
		check   string
	}{
		"it answers nothing":        {standin.Options{Faults: map[string][]string{"release": {"image-empty"}}}, "agreement"},
		"it answers something else": {standin.Options{Faults: map[string][]string{"release": {"image-other"}}}, "agreement"},
		"an image is missing":       {standin.Options{Without: []string{"cluster-etcd-operator"}}, "images"},
		"it is of another release":  {standin.Options{Version: "4.20.7"}, "version"},
		"no version at all":         {standin.Options{Version: "tomorrow"}, "version"},
		"no Kubernetes version":     {standin.Options{NoKubernetesVersion: true}, "kubernetes-version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := faulty(t, c.options)
			l.Run(t, "release-info.sh").Want(t, 3)
			points, _ := verified(t, l, stage(t, "release-info"))
			if failed := Failed(points); len(failed) != 1 || failed[0] != c.check {
				t.Errorf("failed are %v, not %s", failed, c.check)
			}
		})
	}
}

func TestTheUsualFailuresAreExplained(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	for name, c := range map[string]struct {
		installConfig, failure string
	}{
		"a reserved network": {strings.Replace(assets.InstallConfig, "192.168.126.0", "192.0.2.0", 1), "reserved-network"},
		"no machine network": {strings.Replace(assets.InstallConfig, "  machineNetwork:\n  - cidr: 192.168.126.0/24\n", "", 1), "no-machine-network"},
	} {
		file := l.Asset("manifests/cluster-config.yaml")
		if err := os.WriteFile(file, []byte(assets.ClusterConfig(c.installConfig)), 0o644); err != nil {
			t.Fatal(err)
		}
		r := l.Run(t, "render-etcd.sh", "--force")
		for _, f := range stage(t, "render-etcd").Failures {
			if f.ID == c.failure {
				r.Want(t, 1, f.Cause, f.Fix)
			} else if strings.Contains(r.All, f.Cause) {
				t.Errorf("%s: explained as %s:\n%s", name, f.ID, r.All)
			}
		}
	}
}

// TestAnAnswerThatPodmanLosesIsAskedForAgain: on a busy machine podman now and
// then ends with status 0 and has lost what a short container printed.
func TestAnAnswerThatPodmanLosesIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for lost := 1; lost <= 3; lost++ {
		t.Run(fmt.Sprint("answer ", lost), func(t *testing.T) {
			t.Parallel()
			l := faulty(t, standin.Options{})
			calls := filepath.Join(l.Env.Dir, "tmp", "calls")
			l.Wrap(t, "podman", fmt.Sprintf(`[ "$1" != run ] || echo >> %[1]s
if [ "$1" = run ] && [ "$(wc -l < %[1]s)" = %[2]d ]; then "$REAL" "$@" > /dev/null; else exec "$REAL" "$@"; fi`, calls, lost))
			l.Must(t, "release-info.sh")
			allGood(t, l, stage(t, "release-info"))
		})
	}
}

func TestAnImageOverrideReachesThePod(t *testing.T) {
	t.Parallel()
	account := podman.Ordinary(t)
	r, err := standin.Push(Registry(t), release, standin.Options{AnyImage: true})
	if err != nil {
		t.Fatal(err)
	}
	override := r.Images["haproxy-router"] // any other image
	l := NewLab(t, podman.New(t, account, Registry(t)), Options{Release: r, Edit: func(_, text string) (string, error) {
		return text + "\nimages:\n  etcd: " + override + "\n", nil
	}})
	if err := l.takeAssets(Good(t, account, labs.Local), bootstrapAssets...); err != nil {
		t.Fatal(err)
	}
	l.Must(t, "release-info.sh")
	l.Must(t, "render-etcd.sh")
	pod, err := os.ReadFile(l.Asset("/etc/kubernetes/manifests/etcd-member-pod.yaml"))
	if err != nil || strings.Count(string(pod), override) != 2 {
		t.Errorf("%v\n%s", err, pod)
	}
}
