package scripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootlab/labs"
	"bootlab/test/podman"
)

// onNode gives a lab on the bootstrap node with podman of its own.
func onNode(t *testing.T) *Lab {
	t.Helper()
	account := podman.Accounts(t)[0]
	if !account.Root() {
		t.Skip("on the bootstrap node scripts run as root; only root can make a mount namespace")
	}
	return Good(t, account, labs.OnNode).Apart(t)
}

func TestTheScriptsOfTheNodeRunInBootkubesDirectories(t *testing.T) {
	t.Parallel()
	l := onNode(t)
	for _, s := range Stages(t, release, labs.OnNode) {
		allGood(t, l, s)
	}
	for _, path := range []string{
		"etcd-bootstrap.done", "openshift-manifests.done",
		"/etc/kubernetes/manifests/etcd-member-pod.yaml",
		"/etc/kubernetes/static-pod-resources/etcd-member/ca.crt",
		"/var/log/openshift/bootkube.json",
	} {
		if _, err := os.Stat(l.Asset(path)); err != nil {
			t.Error(err)
		}
	}
	records := l.Records(t)
	if Last(records, "etcd-bootstrap") != "success" || Last(records, "openshift-manifests") != "success" {
		t.Errorf("%+v", records)
	}
}

func TestRenderingEtcdAgainOnANodeWaitsForTheOldOneToEnd(t *testing.T) {
	t.Parallel()
	l := onNode(t)
	// The kubelet's part: etcd runs for as long as the manifest is there, and a
	// little longer.
	l.Wrap(t, "crictl", `[ -e /etc/kubernetes/manifests/etcd-member-pod.yaml ] && touch "$TMPDIR/alive"
if [ -e "$TMPDIR/alive" ]; then echo 0123456789ab; rm "$TMPDIR/alive"; fi`)
	if err := os.WriteFile(filepath.Join(l.Env.Dir, "tmp", "alive"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(l.Asset("tls/etcd-ca-bundle.crt"))
	if err != nil {
		t.Fatal(err)
	}
	l.Must(t, "render-etcd.sh", "--force").Says(t, "Stop the etcd of an earlier render")
	if _, err := os.Stat(filepath.Join(l.Env.Dir, "tmp", "alive")); err == nil {
		t.Error("the old etcd was not waited for")
	}
	after, err := os.ReadFile(l.Asset("tls/etcd-ca-bundle.crt"))
	if err != nil || string(before) == string(after) {
		t.Errorf("the authority is the same; %v", err)
	}
	allGood(t, l, stage(t, "render-etcd"))
}

// TestAnEtcdThatDoesNotStopIsNamed: the kubelet may be down, and then nothing stops
// the container.
func TestAnEtcdThatDoesNotStopIsNamed(t *testing.T) {
	t.Parallel()
	l := onNode(t)
	l.Wrap(t, "crictl", `echo 0123456789ab`)
	l.Wrap(t, "timeout", `[ "$2" != 120 ] || set -- "$1" 1 "${@:3}"
exec "$REAL" "$@"`)
	l.Run(t, "render-etcd.sh", "--force").Want(t, 1, "etcd still runs after 120 s", "journalctl --unit kubelet", "error: step 3 ")
	if _, err := os.Stat(l.Asset("/etc/kubernetes/static-pod-resources/etcd-member")); err != nil {
		t.Errorf("the files of the running etcd are gone: %v", err)
	}
}

func TestOnANodeOnlyRootMayRunAStage(t *testing.T) {
	t.Parallel()
	l := onNode(t)
	user := podman.New(t, podman.Ordinary(t), Registry(t))
	r := finish(t, user.Command(filepath.Join(l.Scripts(), "render-etcd.sh"), "--force"))
	r.Want(t, 4, "root")
	if strings.Contains(r.All, "podman run") {
		t.Error("it went on:", r.All)
	}
}

func TestWhereThereIsNoBootstrapNodeTheStageSaysSo(t *testing.T) {
	t.Parallel()
	l := onNode(t)
	if err := os.RemoveAll(l.Assets()); err != nil {
		t.Fatal(err)
	}
	l.Run(t, "render-etcd.sh").Want(t, 4, "/opt/openshift")
}

func TestEtcdIsNotRenderedAgainOnceTheAPIRan(t *testing.T) {
	t.Parallel()
	l := onNode(t)
	if err := os.WriteFile(l.Asset("cb-bootstrap.done"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := l.Snapshot(t)
	l.Run(t, "render-etcd.sh", "--force").Want(t, 1, "cannot run again")
	after := l.Snapshot(t)
	for path := range before {
		if !strings.Contains(path, "/var/log/") && before[path] != after[path] {
			t.Errorf("changed: %s", path)
		}
	}
}

// TestRenderingEtcdAgainLeavesTheAPIServerMarked: what render-kube-apiserver.sh made
// holds the names of etcd's certificates, and nothing of their content.
func TestRenderingEtcdAgainLeavesTheAPIServerMarked(t *testing.T) {
	t.Parallel()
	l := Good(t, podman.Ordinary(t), labs.Local).Apart(t)
	if r := l.Must(t, "render-etcd.sh", "--force"); len(saidInvalidated(r)) > 0 {
		t.Errorf("it says that it invalidates something:\n%s", r.All)
	}
	s := stage(t, "render-kube-apiserver")
	if !l.marked(s)[0] {
		t.Error("kube-apiserver is no longer marked as done")
	}
	allGood(t, l, s)
}
