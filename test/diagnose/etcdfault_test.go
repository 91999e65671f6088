package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bootlab/test/controlplane"
)

const etcdServes = "ready to serve client requests"

func TestFaultsOfARealEtcdAreProven(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	well := controlplane.Leaf{Names: []string{"localhost", "127.0.0.1"}}
	judge := func(what, cause string, r *program) {
		t.Helper()
		p.texts["etcd-log"] = r.container("etcd")
		p.wants(what, cause, "etcd")
	}
	r := p.etcd()
	r.said(etcdServes)
	judge("well", "", r)

	// The same process, other files: of another render, or of somebody else.
	client := func(what, cause string, damage func()) {
		t.Helper()
		damage()
		judge(what, cause, r)
		p.trust("tls/etcd-ca-bundle.crt", p.signer)
		p.issue("tls/etcd-client", p.signer, controlplane.Leaf{})
		p.issue(serving, p.signer, well)
	}
	client("another CA trusted", "etcd-other-ca", func() { p.trust("tls/etcd-ca-bundle.crt", p.other) })
	client("a stranger's client", "etcd-client-refused", func() { p.issue("tls/etcd-client", p.other, controlplane.Leaf{}) })
	client("ended", "etcd-expired", func() {
		p.issue(serving, p.signer, controlplane.Leaf{Names: well.Names, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)})
	})
	client("another name", "etcd-other-name", func() { p.issue(serving, p.signer, controlplane.Leaf{Names: []string{"elsewhere.example"}}) })
	judge("well again", "", r)
	time.Sleep(1100 * time.Millisecond)
	p.trust("root/etc/kubernetes/static-pod-resources/etcd-member/ca.crt", p.other)
	client("rendered again", "etcd-rerendered", func() {
		p.trust("tls/etcd-ca-bundle.crt", p.other)
		p.issue("tls/etcd-client", p.other, controlplane.Leaf{})
		p.issue(serving, p.other, well)
	})
	r.stop()
	p.trust("root/etc/kubernetes/static-pod-resources/etcd-member/ca.crt", p.signer)

	taken := listens(t, p.network, "0.0.0.0:2380")
	r = p.etcd()
	r.said("address already in use")
	<-r.ended
	judge("port taken", "etcd-port", r)
	taken.Close()

	p.issue(serving, p.signer, well)
	if err := os.Remove(p.path(serving) + ".key"); err != nil {
		t.Fatal(err)
	}
	r = p.etcd()
	r.said("no such file or directory")
	<-r.ended
	judge("without its key", "etcd-stops", r)
	p.issue(serving, p.signer, well)

	r = p.etcd("--quota-backend-bytes=65536")
	r.said(etcdServes)
	fill(t, p)
	judge("full", "etcd-no-space", r)
}

// fill puts more into etcd than it may hold.
func fill(t *testing.T, p *plane) {
	t.Helper()
	for range 4 {
		r := p.start("etcdctl", "--endpoints=https://localhost:2379", "--cacert="+p.path("tls/etcd-ca-bundle.crt"),
			"--cert="+p.path("tls/etcd-client.crt"), "--key="+p.path("tls/etcd-client.key"), "put", "key", strings.Repeat("x", 40000))
		<-r.ended
		if strings.Contains(r.text(), "database space exceeded") {
			return
		}
	}
	t.Fatal("etcd took everything")
}

// Data that are older than the CA are of an earlier try.
func TestDataOfAnEarlierTryAreWarnedOf(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.etcd().said(etcdServes)
	if r := p.judge("etcd"); len(r.Warnings) > 0 {
		t.Fatalf("fresh data, and %+v", r.Warnings)
	}
	later := time.Now().Add(2 * time.Hour)
	if err := os.Chtimes(filepath.Join(p.dir, "root/etc/kubernetes/static-pod-resources/etcd-member/ca.crt"), later, later); err != nil {
		t.Fatal(err)
	}
	if r := p.judge("etcd"); len(r.Warnings) != 1 || r.Warnings[0].ID != "etcd-old-data" {
		t.Errorf("old data, and %+v", r.Warnings)
	}
}
