package diagnose

import (
	"fmt"
	"testing"
)

// container is a log of one container as the evidence line prints it.
func container(name, state string, lines ...string) string {
	text := fmt.Sprintf("==> %s-0123456789ab attempt 3 %s\n", name, state)
	for _, line := range lines {
		text += line + "\n"
	}
	return text
}

// etcdEnds is etcd that ended with those lines, and whose port refuses.
func etcdEnds(lines ...string) []change {
	return waiting(fails("etcd-answer", 7, "curl: (7) Failed to connect to localhost port 9978 after 0 ms: Couldn't connect to server\n"),
		says("etcd-log", container("etcd", "CONTAINER_EXITED", lines...)))
}

// etcdSays is etcd that runs, and what curl complains of it.
func etcdSays(status int, complaint string, more ...change) []change {
	return waiting(append([]change{fails("etcd-answer", status, complaint)}, more...)...)
}

const (
	unknownCA  = "curl: (56) OpenSSL SSL_read: OpenSSL/3.0.22: error:0A000418:SSL routines::tlsv1 alert unknown ca, errno 0\n"
	noIssuer   = "curl: (60) SSL certificate problem: unable to get local issuer certificate\n"
	hasEnded   = "curl: (60) SSL certificate problem: certificate has expired\n"
	otherName  = "curl: (60) SSL: no alternative certificate subject name matches target host name 'localhost'\n"
	noTLS      = "curl: (35) OpenSSL/3.0.22: error:0A00010B:SSL routines::wrong version number\n"
	noListener = "curl: (7) Failed to connect to localhost port 6443 after 0 ms: Couldn't connect to server\n"
)

// What etcd 3.6.5 and curl 7.88 said when these faults were put into them; see
// test/diagnose, which does it again.
func init() {
	cases["etcd"] = map[string]recorded{
		"etcd-port": {changes: etcdEnds(
			`{"level":"info","ts":"2026-01-02T05:26:44.964053Z","caller":"embed/etcd.go:428","msg":"closed etcd server","name":"etcd-bootstrap","data-dir":"/var/lib/etcd"}`,
			`{"level":"fatal","ts":"2026-01-02T05:26:44.965294Z","caller":"etcdmain/etcd.go:183","msg":"discovery failed","error":"listen tcp 0.0.0.0:2380: bind: address already in use"}`)},
		"etcd-no-space": {changes: waiting(says("etcd-answer", `{"health":"false","reason":"ALARM NOSPACE"}`+"\nstatus 503\n"))},
		"etcd-disk-full": {changes: etcdEnds(
			`{"level":"fatal","ts":"2026-01-02T05:26:44.965294Z","caller":"storage/storage.go:93","msg":"failed to save Raft hard state and entries","error":"write /var/lib/etcd/member/wal/0000000000000000-0000000000000000.wal: no space left on device"}`)},
		"etcd-removed": {changes: etcdEnds(
			`{"level":"warn","ts":"2026-01-02T05:26:44.965294Z","caller":"etcdserver/server.go:1162","msg":"server error","error":"the member has been permanently removed from the cluster"}`)},
		"etcd-rerendered":     {changes: etcdSays(56, unknownCA, swaps("etcd-files", "changed 1767326471", "changed 1767330000"), swaps("etcd-files", "made 1767326581", "made 1767330000"))},
		"etcd-client-refused": {changes: etcdSays(56, unknownCA)},
		"etcd-other-ca":       {changes: etcdSays(60, noIssuer)},
		"etcd-expired":        {changes: etcdSays(60, hasEnded)},
		"etcd-other-name":     {changes: etcdSays(60, otherName)},
		"etcd-foreign":        {changes: etcdSays(35, noTLS)},
		"etcd-twice": {changes: etcdSays(7, noListener, adds("static-pods",
			"-rw-r--r--. 1 root root 2902 2026-01-02 05:40:00.000000000 +0000 etcd-member-pod.yaml.bak\n"))},
		"etcd-image": {changes: etcdSays(7, noListener, fails("etcd-log", 1, "there is no container etcd\n"), says("containers", `{"containers":[]}`), adds("kubelet-journal",
			`2026-01-02T05:59:51+0000 bootstrap kubelet.sh[1890]: E0102 05:59:51.000000    1890 pod_workers.go:1324] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"etcd\" with ImagePullBackOff: \"Back-off pulling image \\\"quay.io/x@sha256:0\\\": unauthorized\"" pod="openshift-etcd/etcd-bootstrap-member-bootstrap"`+"\n"))},
		"etcd-sandbox": {changes: etcdSays(7, noListener, fails("etcd-log", 1, "there is no container etcd\n"), says("containers", `{"containers":[]}`), adds("kubelet-journal",
			`2026-01-02T05:59:51+0000 bootstrap kubelet.sh[1890]: E0102 05:59:51.000000    1890 remote_runtime.go:105] RunPodSandbox from runtime service failed: rpc error: code = Unknown desc = error creating pod sandbox with name "k8s_etcd-bootstrap-member-bootstrap_openshift-etcd_05d8_0": Error initializing source docker://k8s.gcr.io/pause:3.1: error pinging docker registry k8s.gcr.io: Get https://k8s.gcr.io/v2/: dial tcp 198.51.100.82:443: i/o timeout`+"\n"))},
		"etcd-on-masters": {changes: etcdSays(7, noListener, failedByBootkube("wait-for-etcd", "https://etcd-2.lab.example.com:2379 is unhealthy: failed to connect: dial tcp 192.0.2.23:2379: connect: connection refused"))},
		"etcd-stops": {changes: etcdEnds(
			`{"level":"fatal","ts":"2026-01-02T05:26:44.714596Z","caller":"etcdmain/etcd.go:183","msg":"discovery failed","error":"open /etc/ssl/etcd/etcd-all-certs/etcd-peer-bootstrap.crt: no such file or directory"}`)},
		"etcd-slow-disk": {changes: waiting(adds("etcd-log",
			`{"level":"warn","ts":"2026-01-02T05:10:00.000000Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"1.381234567s","expected-duration":"1s"}`+"\n"))},
		"etcd-slow-fsync": {changes: waiting(swaps("etcd-metrics", `le="0.016"} 4404`, `le="0.016"} 4100`))},
		"etcd-old-data":   {changes: waiting(swaps("etcd-files", "made 1767326581", "made 1767240000"))},
	}
}

func TestEachCauseOfEtcdIsProven(t *testing.T) { proveAll(t, "etcd") }
