package diagnose

import (
	"strings"
	"testing"
)

// growing is a bootstrap that waits for etcd's members since the time that is
// given: cluster-bootstrap is done, wait-for-ceo is not.
func growing(since string, more ...change) []change {
	return append([]change{
		edit("bootkube-record", `map(select((.stage // "" | startswith("check-") | not) and .phase != "service end")) | map(select(.stage != "wait-for-ceo" or .phase == "stage start")) | map(if .stage == "wait-for-ceo" then .timestamp = "`+since+`" else . end)`),
		edit("bootstrap-configmap", `.items = []`), without("bootkube-journal", "2026-01-02T04:22"), swaps("markers", ".bootkube.done\n", ""),
		edit("etcd", `.items[0].status.conditions |= map(if .type == "EtcdRunningInCluster" then .status = "False" | .reason = "NotEnoughEtcdMembers" | .message = "still waiting for three healthy etcd members" | .lastTransitionTime = "`+since+`" elif .type == "EtcdBootstrapMemberRemoved" then empty else . end)`),
		edit("etcd-members", `.members |= [{ID: 11593607183411741000, name: "etcd-bootstrap", peerURLs: ["https://192.168.126.10:2380"], clientURLs: ["https://192.168.126.10:2379"]}] + .[0:2]`),
	}, more...)
}

// stuck are members that have not come for forty minutes.
func stuck(more ...change) []change { return growing("2026-01-02T05:20:00Z", more...) }

func etcdCondition(kind, reason, message string) change {
	return edit("etcd", `.items[0].status.conditions |= map(select(.type != "`+kind+`")) + [{type: "`+kind+`", status: "True", reason: "`+reason+`", message: "`+message+`", lastTransitionTime: "2026-01-02T05:30:00Z"}]`)
}

// byHand is what a script printed in its last run; in the one before it gave up for
// a reason that was overcome, and another script has a log behind it.
func byHand(script, at string, lines ...string) change {
	return says("stage-logs", "==> "+script+".log\n==> "+script+".sh begins, 2026-01-02T04:30:00Z\nerror: no sign of etcd within 60 s\n"+
		"+==> "+script+".sh starts, "+at+"\n"+strings.Join(lines, "\n")+"\n\n==> zz-after.log\n==> zz-after.sh begins, "+at+"\nerror: failed to list *v1.Etcd: of another\n")
}

// Messages are those of cluster-etcd-operator pkg/etcdcli/health.go, of
// library-go's static pod controllers, of etcd's wal and of the reflector that
// wait-for-ceo was seen to print.
func init() {
	slow := ""
	for range 6 {
		slow += `{"level":"warn","ts":"2026-01-02T05:58:30.000000Z","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"1.9s","expected-duration":"1s"}` + "\n"
	}
	cases["members"] = map[string]recorded{
		"master-disk-slow": {changes: []change{adds("master-etcd-log", slow)}},
		"member-unhealthy": {changes: []change{etcdCondition("EtcdMembersDegraded", "UnhealthyMembers", "2 of 3 members are available, master-1 is unhealthy")}},
		"learner-stuck": {changes: stuck(
			edit("etcd-members", `.members += [{ID: 11593607183411741178, peerURLs: ["https://192.168.126.22:2380"], isLearner: true}]`),
			edit("events", `(.items[] | select(.reason == "MemberAddAsLearner" and (.message | contains(".22:"))) | .lastTimestamp) = "2026-01-02T05:25:00Z"`))},
		"etcd-pod-loops": {changes: stuck(edit("pods", `(.items[] | select(.metadata.name == "etcd-master-2") | .status.containerStatuses[1]) |= (.ready = false | .restartCount = 9 | .state = {waiting: {reason: "CrashLoopBackOff", message: "back-off 5m0s restarting failed container=etcd"}} | .lastState = {terminated: {exitCode: 1, message: "error validating peerURLs: member count is unequal"}})`))},
		"manifest-refused": {changes: []change{
			edit("bootstrap-configmap", `.items = []`),
			edit("kubescheduler", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 3}]`),
			adds("bootkube-journal", strings.Repeat(`2026-01-02T05:40:00+0000 bootstrap bootkube.sh[2410]: "50-extra-service.yaml": failed to create services.v1./extra -n extra: Service "extra" is invalid: spec.ports[0].nodePort: Invalid value: 31313: provided port is already allocated`+"\n", 6))}},
		"revision-fails": {changes: []change{
			edit("kubeapiserver", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 3}, {nodeName: "master-1", currentRevision: 0, targetRevision: 3, lastFailedRevision: 3, lastFailedReason: "InstallerFailed", lastFailedCount: 4, lastFailedRevisionErrors: ["installer: timed out waiting for the condition"]}]`)}},
		"installer-pod-hangs": {changes: []change{
			edit("kubescheduler", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 3}] | (.items[0].status.conditions[] | select(.type == "InstallerPodContainerWaitingDegraded")) |= (.status = "True" | .reason = "ImagePullBackOff" | .message = "Pod \"installer-3-master-1\" on node \"master-1\" container \"installer\" is waiting since 2026-01-02 05:20:00 +0000 UTC because \"Back-off pulling image\"")`)}},
		"ceo-cannot-list":        {changes: stuck(adds("bootkube-journal", `2026-01-02T05:59:30+0000 bootstrap bootkube.sh[2410]: E0102 05:59:30.000000       1 reflector.go:204] "Failed to watch" err="failed to list *v1.Etcd: Get \"https://api-int.ha.bootlab.test:6443/apis/operator.openshift.io/v1/etcds?fieldSelector=metadata.name%3Dcluster&limit=500&resourceVersion=0\": tls: failed to verify certificate: x509: certificate signed by unknown authority"`+"\n"))},
		"etcd-operator-absent":   {changes: stuck(edit("pods", `.items |= map(select(.metadata.namespace != "openshift-etcd-operator"))`), edit("etcd", `.items[0].status.conditions |= map(select(.type != "EtcdRunningInCluster"))`))},
		"etcd-operator-degraded": {changes: stuck(etcdCondition("EtcdCertSignerControllerDegraded", "Error", "EtcdCertSignerController can't evaluate whether quorum is safe: CheckSafeToScaleCluster 3 nodes are required, but only 2 are available"))},
		"too-few-members":        {changes: stuck()},
		"gate-revisions": {changes: ending(edit("kubeapiserver", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 6}, {nodeName: "master-1", targetRevision: 6}]`),
			adds("progress-journal", "2026-01-02T04:22:06"+progress+"Waiting for at least 3 available IP addresses for the default/kubernetes service\n"))},
		"ceo-cannot-list-by-hand": {changes: stuck(says("bootkube-journal", ""), byHand("wait-for-ceo", "2026-01-02T05:20:00Z",
			"I0102 05:20:10.000000       1 waitforceo.go:69] waiting on condition EtcdRunningInCluster in etcd CR /cluster to be True.",
			`E0102 05:59:30.000000       1 reflector.go:204] "Failed to watch" err="failed to list *v1.Etcd: Get \"https://api-int.ha.bootlab.test:6443/apis/operator.openshift.io/v1/etcds?fieldSelector=metadata.name%3Dcluster&limit=500&resourceVersion=0\": tls: failed to verify certificate: x509: certificate signed by unknown authority"`,
			"   2370 s  EtcdRunningInCluster False NotEnoughEtcdMembers still waiting for three healthy etcd members"))},
		"gate-revisions-by-hand": {changes: ending(says("bootkube-journal", ""), edit("kubeapiserver", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 6}, {nodeName: "master-1", targetRevision: 6}]`),
			byHand("finish-bootstrap", "2026-01-02T05:10:00Z", "==> waiting for two nodes that run a revision of the API server, at most 2700 s", "      0 s  1 of 2: master-0",
				"error: no sign of two nodes that run a revision of the API server within 2700 s", "  hint: what was seen last stands above; finish-bootstrap.sh waits again"))},
		"too-few-revisions-by-hand": {changes: []change{says("bootkube-journal", ""),
			edit("bootkube-record", `map(select((.stage // "") != "cvo-overrides" and .stage != "wait-for-ceo" and .phase != "service end" and (.stage // "" | startswith("check-") | not))) | map(if .stage == "cb-bootstrap" and .phase == "stage end" then .result = "failure" | .errorMessage = "cluster-bootstrap ended with status 1" else . end)`),
			edit("bootstrap-configmap", `.items = []`), swaps("markers", ".bootkube.done\n", ""), swaps("markers", "cb-bootstrap.done\n", ""),
			edit("kubescheduler", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 3}, {nodeName: "master-1", targetRevision: 3}]`),
			byHand("start-bootstrap", "2026-01-02T05:00:00Z", "Starting temporary bootstrap control plane...", "API is up",
				`Error: time out waiting for condition: "scheduler should be available on at least two master nodes", err: timed out waiting for the condition`)}},
		"too-few-revisions": {changes: []change{
			edit("kubescheduler", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 3}, {nodeName: "master-1", targetRevision: 3}]`),
			adds("bootkube-journal", "2026-01-02T05:40:00+0000 bootstrap bootkube.sh[2410]: Error: time out waiting for condition: \"scheduler should be available on at least two master nodes\", err: timed out waiting for the condition\n")}},
	}
}

func TestMembers(t *testing.T) { proveAll(t, "members") }

func TestMembersThatAreOnTheirWayAreNotWrong(t *testing.T) {
	for name, c := range map[string]recorded{
		"two of four": {changes: growing("2026-01-02T05:55:00Z")},
		"a learner that was just added": {changes: growing("2026-01-02T05:50:00Z",
			edit("etcd-members", `.members += [{ID: 11593607183411741178, peerURLs: ["https://192.168.126.22:2380"], isLearner: true}]`),
			edit("events", `(.items[] | select(.message | contains(".22:")) | .lastTimestamp) = "2026-01-02T05:58:00Z"`))},
		"no static pod yet":            {changes: growing("2026-01-02T05:55:00Z", edit("kubeapiserver", `.items[0].status.nodeStatuses = []`))},
		"an installer pod failed once": {changes: growing("2026-01-02T05:50:00Z", edit("kubeapiserver", `.items[0].status.nodeStatuses = [{nodeName: "master-0", targetRevision: 2, lastFailedRevision: 2, lastFailedReason: "InstallerFailed", lastFailedCount: 1}]`))},
		"the list failed once, and came": {changes: growing("2026-01-02T05:50:00Z",
			adds("bootkube-journal", "2026-01-02T05:51:00+0000 bootstrap bootkube.sh[2410]: E0102 reflector.go:204] \"Failed to watch\" err=\"failed to list *v1.Etcd: Unauthorized\"\n2026-01-02T05:52:00+0000 bootstrap bootkube.sh[2410]: I0102 waitforceo.go:69] waiting on condition EtcdRunningInCluster in etcd CR /cluster to be True.\n"))},
		"a member restarts": {changes: growing("2026-01-02T05:50:00Z", etcdCondition("EtcdMembersDegraded", "UnhealthyMembers", "2 of 3 members are available, master-1 is unhealthy"), swaps("etcd", "2026-01-02T05:30:00Z", "2026-01-02T05:59:10Z"))},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.walk(t, "members"); r.Verdict != NotReached || len(r.Warnings) > 0 {
				t.Errorf("%s, %v, %+v", r.Verdict, r.Warnings, r.Cause)
			}
		})
	}
}

// Only the bootstrap's member may be unhealthy: the operator goes on.
func TestABootstrapMemberThatIsDownIsNoCause(t *testing.T) {
	c := recorded{changes: stuck(etcdCondition("EtcdMembersDegraded", "UnhealthyMembers", "3 of 4 members are available, etcd-bootstrap is unhealthy"))}
	if r := c.walk(t, "members"); r.Cause == nil || r.Cause.ID != "too-few-members" {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// What a script of the stage said in an earlier run is no cause of today.
func TestWhatAnEarlierRunOfAScriptSaidIsNoCause(t *testing.T) {
	few := edit("kubeapiserver", `.items[0].status.nodeStatuses = [{nodeName: "master-0", currentRevision: 6}]`)
	logs := map[string]string{
		"the list failed, and came":         "==> wait-for-ceo.log\n==> wait-for-ceo.sh begins, 2026-01-02T05:50:00Z\nE0102 05:51:00.000000       1 reflector.go:204] failed to list *v1.Etcd: Unauthorized\nI0102 05:52:00.000000       1 waitforceo.go:69] waiting on condition EtcdRunningInCluster in etcd CR /cluster to be True.\n",
		"the list failed in the run before": "==> wait-for-ceo.log\n==> wait-for-ceo.sh begins, 2026-01-02T05:50:00Z\nE0102 05:51:00.000000       1 reflector.go:204] failed to list *v1.Etcd: Unauthorized\n==> wait-for-ceo.sh begins, 2026-01-02T05:52:00Z\n",
		"finish-bootstrap is running again": "==> finish-bootstrap.log\n==> finish-bootstrap.sh begins, 2026-01-02T05:00:00Z\nerror: no sign of two nodes that run a revision of the API server within 2700 s\n+==> finish-bootstrap.sh starts, 2026-01-02T05:52:00Z\n==> waiting for two nodes\n",
	}
	for name, log := range logs {
		t.Run(name, func(t *testing.T) {
			c := recorded{changes: growing("2026-01-02T05:50:00Z", few, says("stage-logs", log))}
			if r := c.walk(t, "members"); r.Verdict != NotReached {
				t.Errorf("%s, %+v", r.Verdict, r.Cause)
			}
		})
	}
}

// A refusal of a try that was overcome does not make the members late.
func TestATryThatFailedBeforeAGoodOneDoesNotMakeMembersLate(t *testing.T) {
	c := recorded{changes: growing("2026-01-02T05:50:00Z", edit("bootkube-record",
		`[.[] | select(.stage == "cb-bootstrap" and .phase == "stage start")] as $first | $first + [$first[0] + {phase: "stage end", result: "failure"}] + .`))}
	if r := c.walk(t, "members"); r.Verdict != NotReached {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}
