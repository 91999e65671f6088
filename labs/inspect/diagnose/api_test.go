package diagnose

import (
	"slices"
	"strings"
	"testing"
)

// apiEnds is kube-apiserver that ended with those lines, and whose port refuses.
func apiEnds(lines ...string) []change {
	return waiting(fails("api-answer", 7, noListener), says("kube-apiserver-log", container("kube-apiserver", "CONTAINER_EXITED", lines...)))
}

func apiSays(status int, complaint string, more ...change) []change {
	return waiting(append([]change{fails("api-answer", status, complaint)}, more...)...)
}

// What kube-apiserver 1.34.2 said when these faults were put into it; see
// test/diagnose, which does it again.
func init() {
	dialing := func(why string) []change {
		return apiEnds(`W0102 05:28:00.432432   26117 logging.go:55] [core] [Channel #1 SubChannel #3]grpc: addrConn.createTransport failed to connect to {Addr: "localhost:2379", ServerName: "localhost:2379", }. Err: connection error: desc = "`+why+`"`,
			`F0102 05:28:10.176452   26117 instance.go:232] Error creating leases: error creating storage factory: context deadline exceeded`)
	}
	const handshake = "transport: authentication handshake failed: tls: failed to verify certificate: x509: "
	cases["api"] = map[string]recorded{
		"api-port":             {changes: apiEnds(`E0102 05:28:33.570539   26947 run.go:72] "command failed" err="failed to create listener: failed to listen on 0.0.0.0:6443: listen tcp 0.0.0.0:6443: bind: address already in use"`)},
		"api-flag":             {changes: apiEnds("Error: unknown flag: --no-such-flag")},
		"api-etcd-ca":          {changes: dialing(handshake + "certificate signed by unknown authority")},
		"api-etcd-time":        {changes: dialing(handshake + "certificate has expired or is not yet valid: current time 2026-01-02T05:28:00Z is after 2026-01-01T05:28:00Z")},
		"api-etcd-name":        {changes: dialing(handshake + "certificate is valid for elsewhere.example, not localhost")},
		"api-etcd-client":      {changes: dialing("error reading server preface: remote error: tls: unknown certificate authority")},
		"api-etcd-unreachable": {changes: dialing("transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused")},
		"api-files":            {changes: apiEnds(`E0102 05:27:49.646064   26095 run.go:72] "command failed" err="tls: private key does not match public key"`)},
		"api-certificate-ended": {changes: apiSays(60, hasEnded, swaps("certificate-ends",
			"good kube-apiserver-localhost-server.crt", "ended kube-apiserver-localhost-server.crt"))},
		"api-client-ended": {changes: waiting(says("api-answer", "[-]poststarthook failed\n\nlocalhost status 500\n"), swaps("certificate-ends",
			"good aggregator-signer.crt", "ended aggregator-signer.crt"))},
		"api-certificate-time": {changes: apiSays(60, hasEnded)},
		"api-other-ca":         {changes: apiSays(60, noIssuer)},
		"api-other-name":       {changes: apiSays(60, otherName)},
		"api-foreign":          {changes: apiSays(35, noTLS)},
		"api-out-of-memory": {changes: apiSays(7, noListener, adds("kernel-journal",
			"2026-01-02T05:55:00+0000 bootstrap kernel: Out of memory: Killed process 4711 (kube-apiserver) total-vm:2871964kB, anon-rss:1204012kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:3292kB oom_score_adj:999\n"))},
		"api-silent": {changes: apiSays(28, "curl: (28) Operation timed out after 8001 milliseconds with 0 bytes received\n")},
		"api-image": {changes: apiSays(7, noListener, fails("kube-apiserver-log", 1, "there is no container kube-apiserver\n"), says("containers", `{"containers":[]}`), adds("kubelet-journal",
			`2026-01-02T05:59:51+0000 bootstrap kubelet.sh[1890]: E0102 05:59:51.000000    1890 pod_workers.go:1324] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"setup\" with ErrImagePull: \"unauthorized\"" pod="openshift-kube-apiserver/bootstrap-kube-apiserver-bootstrap"`+"\n"))},
		"api-stops":            {changes: apiEnds(`E0102 05:27:24.657057   25808 run.go:72] "command failed" err="Unable to find suitable network address.error='no default routes found in \"/proc/net/route\" or \"/proc/net/ipv6_route\"'. Try to set the AdvertiseAddress directly or provide a valid BindAddress to fix this."`)},
		"api-certificate-soon": {changes: waiting(swaps("certificate-ends", "good kubelet-signer.crt", "soon kubelet-signer.crt"))},
	}
}

func TestEachCauseOfTheAPIServerIsProven(t *testing.T) { proveAll(t, "api") }

// cluster-bootstrap takes the control plane down when it gives up on masters: then
// neither the API nor its names are what is wrong.
func TestAnAPIServerThatWasTakenDownIsNoCause(t *testing.T) {
	const log = "Starting temporary bootstrap control plane...\nWaiting up to 20m0s for the Kubernetes API\nAPI is up\n" +
		"Error: error while checking pod status: timed out waiting for the condition\nTearing down temporary bootstrap control plane...\n"
	for name, where := range map[string][]change{
		"by hand":     {says("stage-logs", "==> start-bootstrap.log\n"+log+"==> wait-for-etcd.log\nhealthy\n"), gone("bootkube-journal")},
		"by bootkube": {says("bootkube-journal", log), gone("stage-logs")},
	} {
		changes := apiSays(7, noListener, says("static-pods", "total 8\n-rw-r--r--. 1 root root 2902 2026-01-02 04:01:11.000000000 +0000 etcd-member-pod.yaml\n"),
			says("name-answers", "api is 192.168.126.1\napi fails 000curl: (35) Recv failure\napi-int is 192.168.126.1\napi-int fails 000curl: (35) Recv failure\n"))
		r := recorded{changes: append(changes, where...)}.walk(t, "api", "names")
		if r.Verdict != Healthy {
			t.Errorf("%s: %s in layer %s, cause %+v", name, r.Verdict, r.Layer, r.Cause)
		}
	}
}

// What a running API server complained of, and got over, is no cause of what is
// wrong later: here it does not get ready for an unknown reason.
func TestAComplaintOfTheAPIServerThatWasOvercomeProvesNothing(t *testing.T) {
	later := strings.Repeat("I0102 05:59:20.100000       1 trace.go:236] Trace[1]: \"Get\" (total time: 501ms)\n", 80)
	for id, c := range cases["api"] {
		r := recorded{changes: slices.Concat(c.changes, waiting(), []change{
			says("api-answer", "[-]poststarthook/of-nothing failed\n\nlocalhost status 500\n"),
			func(t *testing.T, e evidence) {
				broken := healthy(t)
				for _, change := range c.changes {
					change(t, broken)
				}
				text := strings.Replace(broken["kube-apiserver-log"], "CONTAINER_EXITED", "CONTAINER_RUNNING", 1)
				text = strings.NewReplacer("Error: unknown", "it was unknown", `"command failed"`, `"key failed"`, "F0102", "E0102").Replace(text)
				if !strings.Contains(text, "already in use") {
					e["kube-apiserver-log"] = text + later
				}
			},
		})}
		if strings.HasPrefix(id, "api-etcd") || id == "api-files" || id == "api-stops" || id == "api-flag" {
			if got := r.walk(t, "api"); got.Verdict != Unknown {
				t.Errorf("%s: %s, cause %+v", id, got.Verdict, got.Cause)
			}
		}
	}
}
