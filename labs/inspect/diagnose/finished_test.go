package diagnose

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ending is a bootstrap that is done but for its end: no ConfigMap, and etcd
// still with the bootstrap's member.
func ending(more ...change) []change {
	return append([]change{
		edit("bootstrap-configmap", `.items = []`), without("progress-journal", "2026-01-02T04:22:06"),
		edit("etcd", `.items[0].status.conditions |= map(if .type == "EtcdRunningInCluster" then .reason = "EnoughEtcdMembers" | .message = "enough members found" elif .type == "EtcdBootstrapMemberRemoved" then empty else . end)`),
	}, more...)
}

// atStage is one whose record ends with the start of a stage.
func atStage(stage, at string) change {
	return edit("bootkube-record", `map(select(.phase != "service end" and (.stage // "" | startswith("check-") or . == "wait-for-ceo" or . == "`+stage+`" | not))) + [{timestamp: "`+at+`", stage: "`+stage+`", phase: "stage start"}]`)
}

const progress = "+0000 bootstrap report-progress.sh[2411]: "

// Messages are those of report-progress.sh and wait-for-ha-api.sh, and of oc.
func init() {
	notDone := []change{swaps("markers", ".bootkube.done\n", "")}
	active := swaps("units", "Id=progress.service\nLoadState=loaded\nActiveState=inactive\nSubState=dead", "Id=progress.service\nLoadState=loaded\nActiveState=active\nSubState=running")
	cases["finished"] = map[string]recorded{
		"bootstrap-balanced":    {changes: []change{swaps("balancer-stats", "MAINT", "UP")}},
		"bootstrap-still-there": {changes: []change{adds("domains", " 9    bootlab-ha-bootstrap   running\n")}},
		"overrides-not-restored": {changes: ending(append(notDone, atStage("cvo-overrides", "2026-01-02T05:40:00Z"), without("bootkube-journal", "2026-01-02T04:18:05"),
			adds("bootkube-journal", "2026-01-02T05:40:10+0000 bootstrap bootkube.sh[2410]: Unable to connect to the server: dial tcp: lookup api-int.ha.bootlab.test on 192.168.126.1:53: no such host\n2026-01-02T05:40:20+0000 bootstrap bootkube.sh[2410]: Trying again to restore CVO overrides\n"))...)},
		"etcd-after-pivot": {changes: append([]change{atStage("wait-for-etcd", "2026-01-02T05:40:00Z")}, notDone...)},
		"configmap-other":  {changes: ending(edit("bootstrap-configmap", `.items = [{metadata: {name: "bootstrap", namespace: "kube-system", creationTimestamp: "2026-01-02T04:10:00Z"}, data: {status: "started"}}]`))},
		"gate-addresses": {release: "4.16", changes: ending(active, edit("endpoints", `.items[0].subsets[0].addresses |= .[0:1]`),
			adds("progress-journal", "2026-01-02T04:22:06"+progress+"Waiting for at least 2 available IP addresses for the default/kubernetes service\n"))},
		"gate-addresses-by-hand": {release: "4.17", changes: ending(edit("endpoints", `.items[0].subsets[0].addresses |= .[0:1]`), says("bootkube-journal", ""),
			byHand("finish-bootstrap", "2026-01-02T05:10:00Z", "error: no sign of two addresses behind the service default/kubernetes within 2700 s"))},
		"progress-cannot-report": {changes: ending(active,
			adds("progress-journal", "2026-01-02T04:22:06"+progress+"Reporting install progress...\n2026-01-02T05:59:30"+progress+"The connection to the server api-int.ha.bootlab.test:6443 was refused - did you specify the right host or port?\n"))},
		"progress-off":       {changes: ending()},
		"bootkube-not-ended": {changes: ending(append(notDone, edit("bootkube-record", `map(select(.phase != "service end" and (.stage // "" | startswith("check-") | not)))`))...)},
		"member-stays": {changes: ending(edit("bootstrap-configmap", `.items = [{metadata: {name: "bootstrap", namespace: "kube-system", creationTimestamp: "2026-01-02T04:23:00Z"}, data: {status: "complete"}}]`),
			edit("etcd", `(.items[0].status.conditions[] | select(.type == "BootstrapTeardownDegraded")) |= (.status = "True" | .reason = "Error" | .message = "error while removing bootstrap member [3e8]: etcdserver: unhealthy cluster")`))},
		"bootkube-failed": {changes: ending(append(notDone, swaps("units", "Id=bootkube.service\nLoadState=loaded\nActiveState=inactive", "Id=bootkube.service\nLoadState=loaded\nActiveState=activating"),
			edit("bootkube-record", `map(select(.phase != "service end" and (.stage // "" | startswith("check-") | not) and .stage != "wait-for-ceo")) + [{timestamp: "2026-01-02T05:50:00Z", stage: "wait-for-ceo", phase: "stage start"}, {timestamp: "2026-01-02T05:50:10Z", stage: "wait-for-ceo", phase: "stage end", result: "failure", errorLine: "1 main ./bootkube.sh", errorMessage: "Error: error creating container storage: the container name \"wait-for-ceo\" is already in use"}, {timestamp: "2026-01-02T05:50:10Z", phase: "service end", result: "failure"}, {timestamp: "2026-01-02T05:50:15Z", phase: "service start"}]`))...)},
	}
}

func TestFinished(t *testing.T) { proveAll(t, "finished") }

func TestAnEndThatIsOnItsWayIsNotWrong(t *testing.T) {
	for name, c := range map[string]recorded{
		"etcd has not let go yet": {changes: ending(edit("bootstrap-configmap", `.items = [{metadata: {name: "bootstrap", namespace: "kube-system", creationTimestamp: "2026-01-02T05:59:00Z"}, data: {status: "complete"}}]`))},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.walk(t, "finished"); r.Cause != nil || len(r.Warnings) > 0 {
				t.Errorf("%s, %v, %+v", r.Verdict, r.Warnings, r.Cause)
			}
		})
	}
}

// All layers of the masters' side, in every release, with the machine there and
// with the machine gone.
func TestAnInstalledClusterIsHealthy(t *testing.T) {
	after := []change{gone("bootkube-journal", "bootkube-record", "markers", "units", "progress-journal", "containers", "etcd-members", "machine-config-server-log", "cluster-version-operator-log")}
	for release, changes := range map[string][]change{
		"4.21": nil, "main": after, "4.18": nil, "4.16": after, "4.15": nil,
		"4.14": {swaps("etcd", "EtcdBootstrapMemberRemoved", "EtcdBoostrapMemberRemoved")},
	} {
		t.Run(release, func(t *testing.T) {
			r := recorded{release: release, changes: changes}.walk(t, "masters", "members", "operators", "finished")
			if r.Verdict != Healthy || len(r.Warnings) > 0 || len(r.Layers) != 4 {
				t.Errorf("%s in %s, %v, %+v", r.Verdict, r.Layer, r.Warnings, r.Cause)
			}
		})
	}
}

// running makes the bootstrap node's side that of a node which still runs the
// control plane; what cases change themselves stays as it is.
func running(t *testing.T, e evidence) {
	before := maps.Clone(e)
	waiting()[0](t, e)
	for _, id := range []string{"bootkube-journal", "bootstrap-configmap", "markers", "containers"} {
		e[id] = before[id]
	}
}

// etcdRunning is a node whose control plane is gone, and its etcd is not.
func etcdRunning(t *testing.T, e evidence) {
	before := maps.Clone(e)
	waiting()[0](t, e)
	for id, text := range before {
		if !slices.Contains([]string{"etcd-answer", "etcd-files", "etcd-metrics"}, id) {
			e[id] = text
		}
	}
	e["static-pods"] = "total 4\n-rw-r--r--. 1 root root 2902 2026-01-02 04:01:11.000000000 +0000 etcd-member-pod.yaml\n"
}

// removed says whether etcd has let the bootstrap's member go.
func removed(t *testing.T, r recorded) bool {
	e := healthy(t)
	for _, c := range r.changes {
		c(t, e)
	}
	return strings.Contains(e["etcd"], "EtcdBootstrapMemberRemoved") && strings.Contains(e["bootstrap-configmap"], "complete")
}

// What is wrong with masters, members or operators is found behind the layers of
// the bootstrap node, and none of those takes it for something of theirs.
func TestWhatIsWrongAboveTheBootstrapNodeIsFoundOnTheWholeWayUp(t *testing.T) {
	for _, layer := range []string{"masters", "members", "operators", "finished"} {
		for id, c := range cases[layer] {
			t.Run(id, func(t *testing.T) {
				switch {
				case layer == "masters":
					c.changes = append([]change{running}, c.changes...)
				case removed(t, c):
				default:
					c.changes = append([]change{etcdRunning}, c.changes...)
				}
				r := c.walk(t, allLayers()...)
				if r.Cause != nil && r.Cause.ID == id || slices.ContainsFunc(r.Warnings, func(w Cause) bool { return w.ID == id }) {
					return
				}
				t.Errorf("%s at %s: cause %+v", r.Verdict, r.Layer, r.Cause)
			})
		}
	}
}

// Without an answer about the ConfigMap nothing is known of the end.
func TestAnEndThatCannotBeAskedForIsNotBad(t *testing.T) {
	c := recorded{changes: []change{fails("bootstrap-configmap", 1, "Unable to connect to the server: context deadline exceeded\n")}}
	if r := c.walk(t, "finished"); r.Verdict != Unseen {
		t.Errorf("%s, %+v", r.Verdict, r.Cause)
	}
}

// finish-bootstrap.sh makes .bootkube.done and waits then; so does whoever has
// just ended bootkube.sh.
func TestProgressIsNotOffWhileAScriptDoesItsWork(t *testing.T) {
	for name, c := range map[string]change{
		"a script is running": locked("held"),
		"a moment ago":        edit("bootkube-record", `map(if .phase == "service end" then .timestamp = "2026-01-02T05:59:30Z" else . end)`),
	} {
		r := recorded{changes: ending(c, says("progress-journal", ""))}.walk(t, "finished")
		if r.Cause != nil {
			t.Errorf("%s: %s, %s", name, r.Verdict, r.Cause.ID)
		}
	}
	// Beyond the time that a script has there is something wrong, though it is not known what.
	if r := (recorded{changes: ending(locked("held"), says("progress-journal", ""))}).walk(t, "finished"); r.Verdict != Unknown {
		t.Errorf("after an hour and a half: %s", r.Verdict)
	}
}
