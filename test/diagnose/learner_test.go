package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"bootlab/labs"
)

// asksEtcd is what a line of evidence has etcdctl do.
var asksEtcd = regexp.MustCompile(`(?m)^\s*crictl exec "\$\{id\}" etcdctl (.*)$`)

// etcdctl runs the words of a line of evidence against the plane's etcd.
func (p *plane) etcdctl(words ...string) string {
	p.t.Helper()
	r := p.start("etcdctl", append([]string{"--endpoints=https://localhost:2379", "--cacert=" + p.path("tls/etcd-ca-bundle.crt"),
		"--cert=" + p.path("tls/etcd-client.crt"), "--key=" + p.path("tls/etcd-client.key")}, words...)...)
	<-r.ended
	return r.text()
}

// What etcdctl really prints says who is a learner; a learner that has no name yet
// is told by its address.
func TestALearnerOfARealEtcdIsProven(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.etcd().said(etcdServes)
	const peer = "https://127.0.0.1:12380"
	if said := p.etcdctl("member", "add", "master-0", "--learner", "--peer-urls="+peer); !strings.Contains(said, "added as learner") {
		t.Fatal(said)
	}
	added := func(ago time.Duration) {
		p.texts["events"] = fmt.Sprintf(`{"items":[{"reason":"MemberAddAsLearner","message":"successfully added new member %s","lastTimestamp":%q}]}`,
			peer, time.Now().Add(-ago).UTC().Format(time.RFC3339))
	}
	// A master's line is the same, and is judged as the bootstrap node's.
	for _, id := range []string{"etcd-members", "master-etcd-members"} {
		words := asksEtcd.FindStringSubmatch(labs.BuiltinDiagnosis().Find(id).Run)
		if words == nil {
			t.Fatalf("%s does not run etcdctl", id)
		}
		p.texts["etcd-members"] = p.etcdctl(strings.Fields(words[1])...)
		added(20 * time.Minute)
		if r := p.judge("members"); r.Cause == nil || r.Cause.ID != "learner-stuck" {
			t.Errorf("%s: %s, cause %+v; etcdctl said %s", id, r.Verdict, r.Cause, p.texts["etcd-members"])
		}
		added(time.Minute)
		if r := p.judge("members"); r.Cause != nil {
			t.Errorf("%s, just added: %+v", id, r.Cause)
		}
	}
}
